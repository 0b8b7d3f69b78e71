// Fuzzer of the importers of meshes. A mesh must be refused as Input or give a scene that passes `check` (make_scene
// calls it); faults of materials and pictures alone do not refuse a mesh.
//
// An input is a byte and parts, with byte 0x1E between them. The byte modulo 4: .obj (with .mtl and a picture as second
// and third part), .ply, .gltf (with a buffer's file as second part), .glb (JSON and buffer as parts: the lengths in
// its header are made right). A picture stands beside each as "a.png".
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "capture/reference/scene.hpp"
#include "tests/fuzz/support/fuzzer.hpp"
#include "tests/fuzz/support/scratch.hpp"
#include "tests/reference-scenes/mesh_files.hpp"
#include "tests/support/fuzzing.hpp"

namespace rayreplay::fuzz {
namespace {

enum Kind : std::uint8_t { Obj, Ply, Gltf, Glb, Kinds };
constexpr const char* kKinds[Kinds] = {".obj", ".ply", ".gltf", ".glb"};
constexpr char kSeparator = '\x1E';
constexpr std::size_t kJsonAt = 20;  ///< of a .glb: behind the file's and the chunk's header

constexpr const char* kWords[] = {
    // .obj and .mtl
    "v", "vt", "vn", "f", "l", "usemtl", "mtllib", "scene.mtl", "newmtl", "o", "g", "s", "map_Kd a.png", "map_d a.png",
    "Kd", "Ke", "Ks", "Ns", "Ni", "d", "Pm", "Pr", "illum", "1/1/1", "-1//-1", "1/2", "paint", "steel",
    // .ply
    "element vertex", "element face", "property list uchar int vertex_indices", "property float x", "property double",
    "uint64", "format ascii 1.0", "format binary_little_endian 1.0", "format binary_big_endian 1.0", "end_header",
    "property uchar material", "comment",
    // .gltf
    "\"sparse\":", "\"byteOffset\":", "\"byteStride\":", "\"normalized\":true", "\"componentType\":5121", "5120",
    "5122", "5123", "5125", "5126", "\"SCALAR\"", "\"VEC2\"", "\"VEC3\"", "\"VEC4\"", "\"MAT4\"", "\"mode\":4",
    "\"mode\":5", "\"mode\":6", "\"NORMAL\":0", "\"TEXCOORD_0\":1", "\"matrix\":", "\"rotation\":", "\"children\":[0]",
    "\"camera\":0", "\"cameras\":", "\"extensionsRequired\":", "\"KHR_materials_transmission\"",
    "\"KHR_texture_transform\"", "\"KHR_draco_mesh_compression\"",
    "\"KHR_materials_ior\":", "\"KHR_materials_emissive_strength\":", "\"alphaMode\":\"BLEND\"", "\"bufferView\":0",
    "\"uri\":\"a.png\"", "\"uri\":\"b.bin\"", "\"data:;base64,\""};

// 2x1: one texel opaque, one not.
constexpr unsigned char kPng[] = {
    0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0x00, 0x00, 0x00, 0x0D, 0x49, 0x48, 0x44, 0x52, 0x00, 0x00, 0x00,
    0x02, 0x00, 0x00, 0x00, 0x01, 0x08, 0x06, 0x00, 0x00, 0x00, 0xF4, 0x22, 0x7F, 0x8A, 0x00, 0x00, 0x00, 0x11, 0x49,
    0x44, 0x41, 0x54, 0x78, 0x9C, 0x63, 0x10, 0x50, 0x30, 0xF8, 0xEF, 0x10, 0x90, 0xC0, 0x00, 0x00, 0x0A, 0x34, 0x02,
    0x50, 0x69, 0x8C, 0x6A, 0x9F, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82};

std::string png() {
  return {reinterpret_cast<const char*>(kPng), sizeof kPng};
}

std::vector<std::string> parts_of(std::string_view input) {
  std::vector<std::string> parts(1);
  for (const char c : input) {
    if (c == kSeparator && parts.size() < 3) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  parts.resize(3);
  return parts;
}

void append_number(std::string& bytes, std::size_t number) {
  for (unsigned i = 0; i < 4; ++i) {
    bytes += static_cast<char>(number >> (8 * i));
  }
}

std::string glb_of(std::string json, const std::string& data) {
  json.resize((json.size() + 3) / 4 * 4, ' ');
  std::string bytes = "glTF";
  append_number(bytes, 2);
  append_number(bytes, kJsonAt + json.size() + (data.empty() ? 0 : 8 + data.size()));
  append_number(bytes, json.size());
  bytes += "JSON" + json;
  if (!data.empty()) {
    append_number(bytes, data.size());
    bytes += std::string("BIN\0", 4) + data;
  }
  return bytes;
}

std::vector<std::string> seeds() {
  const auto input = [](Kind kind, const std::string& first, const std::string& second = "",
                        const std::string& third = "") {
    return static_cast<char>(kind) + first + (second.empty() ? "" : kSeparator + second) +
           (third.empty() ? "" : kSeparator + third);
  };
  const std::string picture = R"(,"textures":[{"source":0}],"images":[{"uri":"a.png"}],)"
                              R"("cameras":[{"type":"perspective","perspective":{"yfov":1,"znear":0.1}}])";
  const std::string inner = R"(,"textures":[{"source":0}],"images":[{"bufferView":0,"mimeType":"image/png"}])";
  const std::string glb = test::glb();
  const std::size_t data = glb.find("BIN");
  return {input(Obj, std::string(test::kObj), std::string(test::kMtl)),
          input(Obj, std::string(test::kObj),
                std::string(test::kMtl) + "map_Kd -s 1 1 1 a.png\nmap_d a.png\nPr 0.5\nPm 1\n", png()),
          input(Ply, std::string(test::kPly)),
          input(Ply, test::binary_ply(false)),
          input(Ply, test::binary_ply(true)),
          input(Gltf, test::gltf()),
          input(Gltf, test::gltf(picture)),
          input(Gltf, test::gltf(inner)),
          input(Glb, glb.substr(kJsonAt, data - 4 - kJsonAt), glb.substr(data + 4))};
}

void mutate(std::string& input, Random& random) {
  std::string bytes = input.substr(std::min<std::size_t>(1, input.size()));
  // Binary forms: texts to their header's end, bytes behind it.
  const std::size_t split = std::min({bytes.find(kSeparator), bytes.find("end_header\n"), bytes.size()});
  if (random.one_in(3) && split < bytes.size()) {
    std::string tail = bytes.substr(split);
    change_bytes(tail, random);
    bytes = bytes.substr(0, split) + tail;
  } else {
    std::string head = bytes.substr(0, random.one_in(4) ? bytes.size() : split);
    const std::string tail = bytes.substr(head.size());
    change_text(head, random, kWords);
    bytes = head + tail;
  }
  input = (input.empty() ? '\0' : input[0]) + bytes;
}

Verdict run(std::string_view input) {
  const auto kind = static_cast<Kind>((input.empty() ? 0U : static_cast<unsigned char>(input.front())) % Kinds);
  const std::vector<std::string> parts = parts_of(input.substr(std::min<std::size_t>(1, input.size())));
  static const std::filesystem::path kFile = scratch() / "mesh";
  std::filesystem::path file = kFile;
  file += kKinds[kind];
  switch (kind) {
    case Obj:
      test::write_bytes(file, parts[0]);
      test::write_bytes(scratch() / "scene.mtl", parts[1]);
      test::write_bytes(scratch() / "a.png", parts[2]);
      break;
    case Gltf:
      test::write_bytes(file, parts[0]);
      test::write_bytes(scratch() / "b.bin", parts[1]);
      test::write_bytes(scratch() / "a.png", png());
      break;
    case Glb:
      test::write_bytes(file, glb_of(parts[0], parts[1]));
      break;
    default:
      test::write_bytes(file, std::string(input.substr(std::min<std::size_t>(1, input.size()))));
  }
  const bool read = taken({ErrorKind::Input}, [&] {
    const reference::RenderScene scene = reference::make_scene(file.string(), nullptr);
    if (scene.instances.empty()) {
      finding("a scene without instances");
    }
  });
  if (kind == Obj && !read && parts[0] == test::kObj) {
    finding("a sound mesh was refused for its materials or its picture");
  }
  return {kind, read};
}

}  // namespace

const Fuzzer kFuzzer{"mesh", kKinds, &seeds, &run, &mutate, 6000};

}  // namespace rayreplay::fuzz
