#include "mesh_files.hpp"

#include <bit>
#include <cstdint>
#include <cstring>

namespace rayreplay::test {
namespace {

void append_bits(std::string& out, std::uint64_t bits, std::size_t bytes, bool big) {
  for (std::size_t i = 0; i < bytes; ++i) {
    out.push_back(static_cast<char>((bits >> (8 * (big ? bytes - 1 - i : i))) & 0xFFU));
  }
}

void append_float(std::string& out, float value, bool big = false) {
  append_bits(out, std::bit_cast<std::uint32_t>(value), 4, big);
}

std::string base64(const std::string& bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      bits = bits << 8U | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text.push_back(i + k <= bytes.size() ? kDigits[(bits >> (18 - 6 * k)) & 63U] : '=');
    }
  }
  return text;
}

/// Three positions, three texture coordinates, three 16-bit indices and two bytes of padding: 68 bytes.
std::string gltf_buffer() {
  std::string data;
  for (const float x : {0.F, 0.F, 0.F, 1.F, 0.F, 0.F, 0.F, 1.F, 0.F}) {
    append_float(data, x);
  }
  for (const float x : {0.F, 0.F, 1.F, 0.F, 0.F, 1.F}) {
    append_float(data, x);
  }
  for (const std::uint64_t index : {0U, 1U, 2U, 0U}) {
    append_bits(data, index, 2, false);
  }
  return data;
}

std::string gltf_json(const std::string& uri_member, std::string_view extra_root) {
  return R"({"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0,2]}],)"
         R"("nodes":[{"children":[1],"translation":[1,2,3]},)"
         R"({"mesh":0,"rotation":[0,0.7071067811865476,0,0.7071067811865476],"scale":[2,2,2]},)"
         R"({"mesh":0,"matrix":[1,0,0,0,0,1,0,0,0,0,1,0,-5,0,0,1]}],)"
         R"("meshes":[{"name":"leaf","primitives":[{"attributes":{"POSITION":0,"TEXCOORD_0":1},"indices":2,"material":0}]}],)"
         R"("materials":[{"name":"ivy","alphaMode":"MASK","alphaCutoff":0.25,"pbrMetallicRoughness":)"
         R"({"baseColorFactor":[0.1,0.5,0.2,1],"metallicFactor":0}}],)"
         R"("accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3"},)"
         R"({"bufferView":1,"componentType":5126,"count":3,"type":"VEC2"},)"
         R"({"bufferView":2,"componentType":5123,"count":3,"type":"SCALAR"}],)"
         R"("bufferViews":[{"buffer":0,"byteOffset":0,"byteLength":36},{"buffer":0,"byteOffset":36,"byteLength":24},)"
         R"({"buffer":0,"byteOffset":60,"byteLength":6}],)"
         R"("buffers":[{)" +
         uri_member + R"("byteLength":68}])" + std::string(extra_root) + "}";
}

}  // namespace

std::string binary_ply(bool big) {
  std::string out(kPly.substr(0, kPly.find("end_header\n") + 11));
  out.replace(out.find("ascii"), 5, big ? "binary_big_endian" : "binary_little_endian");
  const float vertices[5][3] = {{0, 0, 0}, {1, 0, 0}, {1, 0, 1}, {0, 0, 1}, {0.5F, 1, 0.5F}};
  for (std::size_t i = 0; i < 5; ++i) {
    for (const float x : vertices[i]) {
      append_float(out, x, big);
    }
    append_bits(out, i + 1, 1, big);
  }
  for (const std::string_view face : {"0123", "014", "124"}) {
    append_bits(out, 9, 1, big);
    append_bits(out, face.size(), 1, big);
    for (const char digit : face) {
      append_bits(out, static_cast<std::uint64_t>(digit - '0'), 4, big);
    }
  }
  append_bits(out, 7, 4, big);
  append_bits(out, 2, 1, big);
  append_float(out, 0.5F, big);
  append_float(out, 0.25F, big);
  return out;
}

std::string gltf(std::string_view extra_root) {
  return gltf_json(R"("uri":"data:application/octet-stream;base64,)" + base64(gltf_buffer()) + R"(",)", extra_root);
}

std::string glb() {
  std::string json = gltf_json("", "");
  json.resize((json.size() + 3) / 4 * 4, ' ');
  const std::string data = gltf_buffer();
  std::string out = "glTF";
  append_bits(out, 2, 4, false);
  append_bits(out, 12 + 8 + json.size() + 8 + data.size(), 4, false);
  append_bits(out, json.size(), 4, false);
  out += "JSON" + json;
  append_bits(out, data.size(), 4, false);
  out += std::string("BIN\0", 4) + data;
  return out;
}

}  // namespace rayreplay::test
