// Compiles tinygltf, without its assertions, which would end the program on a bad file.
#ifndef NDEBUG
#define NDEBUG
#endif
#define TINYGLTF_IMPLEMENTATION
#include <fstream>  // tinygltf uses it without including it

#include "capture/reference/meshes/gltf_model.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/json_depth.hpp"
#include "capture/reference/meshes/mesh_file.hpp"

namespace rayreplay::reference {
namespace {

// Supported, or of small visual effect.
constexpr std::array<std::string_view, 6> kSupported{"KHR_materials_transmission",      "KHR_materials_ior",
                                                     "KHR_materials_emissive_strength", "KHR_mesh_quantization",
                                                     "KHR_texture_transform",           "KHR_materials_unlit"};

constexpr std::size_t kMaxDepth = 64;  // tinygltf walks extras and extensions by recursion

bool keep_image_bytes(tinygltf::Image* image, int, std::string*, std::string*, int, int, const unsigned char* bytes,
                      int size, void*) {
  // A picture in a buffer view is found by image_bytes instead, which checks the view's range.
  if (image->bufferView < 0) {
    image->image.assign(bytes, bytes + size);
    image->as_is = true;
  }
  return true;
}

bool file_exists(const std::string& name, void*) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(name, ignored);
}

std::string keep_path(const std::string& name, void*) {
  return name;
}

bool read_whole_file(std::vector<unsigned char>* out, std::string* error, const std::string& name, void*) {
  try {
    const std::string bytes = read_file(name);
    out->assign(bytes.begin(), bytes.end());
    return true;
  } catch (const Error& reason) {
    *error += reason.what();
    return false;
  }
}

bool write_nothing(std::string*, const std::string&, const std::vector<unsigned char>&, void*) {
  return false;
}

std::string_view json_of(const std::string& bytes, const std::filesystem::path& path) {
  if (!bytes.starts_with("glTF")) {
    return bytes;
  }
  std::uint32_t length = 0;
  if (bytes.size() >= 20) {
    for (std::size_t i = 0; i < 4; ++i) {
      length |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[12 + i])) << (8 * i);
    }
  }
  if (bytes.size() < 20 || length > bytes.size() - 20) {
    bad_mesh(path, "header", "the file is cut off", fmt::format("{} bytes", bytes.size()),
             fmt::format("a header of 20 bytes and a JSON chunk of {}", length));
  }
  return std::string_view(bytes).substr(20, length);
}

/// A whole number of at least 0 that a double holds exactly; the fallback when it is absent.
std::uint64_t whole(const nlohmann::json& object, const char* key, std::uint64_t fallback, const std::string& place,
                    const std::filesystem::path& path) {
  const auto found = object.find(key);
  if (found == object.end()) {
    return fallback;
  }
  if (!found->is_number_unsigned() || found->get<std::uint64_t>() > (std::uint64_t{1} << 53U)) {
    bad_mesh(path, place + "." + key, "a value is not a size", found->dump().substr(0, 40),
             "a whole number of at least 0");
  }
  return found->get<std::uint64_t>();
}

/// A uri with %XX decoded, as tinygltf does before it opens the file.
std::string decoded(std::string_view uri) {
  std::string text;
  for (std::size_t i = 0; i < uri.size(); ++i) {
    unsigned value = 0;
    if (uri[i] == '%' && i + 2 < uri.size()) {
      const auto [stop, error] = std::from_chars(&uri[i + 1], &uri[i + 1] + 2, value, 16);
      if (error == std::errc() && stop == &uri[i + 1] + 2) {
        text += static_cast<char>(value);
        i += 2;
        continue;
      }
    }
    text += uri[i];
  }
  return text;
}

/// Untrusted files may only name files below their own folder.
void check_uris(const nlohmann::json& items, const char* list, const std::filesystem::path& path) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto uri = items[i].is_object() ? items[i].find("uri") : items[i].end();
    if (!items[i].is_object() || uri == items[i].end() || !uri->is_string()) {
      continue;
    }
    const auto text = uri->get<std::string>();
    if (text.starts_with("data:") && text.find("..") == std::string::npos) {
      continue;  // base64 has no dots; other data-like uris are opened as files
    }
    const std::string name = decoded(text);
    const std::filesystem::path file(name);
    const bool leaves = file.is_absolute() || name.starts_with("~") || name.find('\0') != std::string::npos ||
                        std::find(file.begin(), file.end(), "..") != file.end();
    if (leaves) {
      bad_mesh(path, fmt::format("{}[{}].uri", list, i), "a uri leaves the file's folder",
               "'" + text.substr(0, 200) + "'", "a path below the folder of the file, without '..'");
    }
  }
}

/// Checks what tinygltf opens, recurses into or indexes without a check of its own.
void check_before_parsing(std::string_view text, const std::filesystem::path& path) {
  // The parser's callback is not used: it would search the whole list around each object.
  if (is_json_deeper_than(text, kMaxDepth)) {
    bad_mesh(path, "", "the JSON is nested too deeply", fmt::format("more than {} levels", kMaxDepth),
             fmt::format("at most {}", kMaxDepth));
  }
  nlohmann::json document;
  try {
    document = nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    bad_mesh(path, "", "the JSON cannot be parsed", error.what(), "a glTF 2.0 document");
  }
  const auto list = [&](const char* key) {
    const auto found = document.is_object() ? document.find(key) : document.end();
    return found != document.end() && found->is_array() ? *found : nlohmann::json::array();
  };
  const nlohmann::json buffers = list("buffers");
  check_uris(buffers, "buffers", path);
  check_uris(list("images"), "images", path);
  const nlohmann::json views = list("bufferViews");
  for (std::size_t i = 0; i < views.size(); ++i) {
    const std::string place = fmt::format("bufferViews[{}]", i);
    if (!views[i].is_object()) {
      bad_mesh(path, place, "a buffer view is not an object", views[i].dump().substr(0, 40), "an object");
    }
    const std::uint64_t buffer = whole(views[i], "buffer", buffers.size(), place, path);
    if (buffer >= buffers.size() || !buffers[buffer].is_object()) {
      bad_mesh(path, place, "a buffer view's buffer is out of range", fmt::format("{}", buffer),
               fmt::format("less than {}, the number of buffers", buffers.size()));
    }
    const std::uint64_t size = whole(buffers[buffer], "byteLength", 0, fmt::format("buffers[{}]", buffer), path);
    const std::uint64_t end =
        whole(views[i], "byteOffset", 0, place, path) + whole(views[i], "byteLength", 0, place, path);
    if (end > size || end == 0) {
      bad_mesh(path, place, "a buffer view reaches past its buffer", fmt::format("its end at byte {}", end),
               fmt::format("at most {}, the buffer's length, and not empty", size));
    }
  }
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  while (!text.empty() && text.back() == ' ') {
    text.pop_back();
  }
  return text.substr(0, 300);
}

}  // namespace

tinygltf::Model load_gltf(const std::filesystem::path& path) {
  const std::string bytes = read_file(path);
  if (bytes.size() > 0xFFFF'FFFFU) {
    bad_mesh(path, "", "the file is too large", fmt::format("{} bytes", bytes.size()), "less than 4 GiB");
  }
  check_before_parsing(json_of(bytes, path), path);

  tinygltf::TinyGLTF loader;
  loader.SetImageLoader(keep_image_bytes, nullptr);
  loader.SetFsCallbacks({file_exists, keep_path, read_whole_file, write_nothing, nullptr});
  tinygltf::Model model;
  std::string error;
  std::string warning;
  bool loaded = false;
  const std::string folder = path.has_parent_path() ? path.parent_path().string() : std::string(".");
  const auto size = static_cast<unsigned int>(bytes.size());
  try {
    loaded = bytes.starts_with("glTF")
                 ? loader.LoadBinaryFromMemory(&model, &error, &warning,
                                               reinterpret_cast<const unsigned char*>(bytes.data()), size, folder)
                 : loader.LoadASCIIFromString(&model, &error, &warning, bytes.data(), size, folder);
  } catch (const std::exception& exception) {
    error = exception.what();
  }
  if (!loaded) {
    bad_mesh(path, "", "the glTF document is not sound", error.empty() ? "no reason given" : one_line(error),
             "a glTF 2.0 document and the files that it names");
  }
  for (const std::string& extension : model.extensionsRequired) {
    if (std::find(kSupported.begin(), kSupported.end(), extension) == kSupported.end()) {
      bad_mesh(path, "extensionsRequired", "the file needs an extension that is not supported", extension,
               fmt::format("none but {}", fmt::join(kSupported, ", ")));
    }
  }
  return model;
}

AccessorRows::AccessorRows(const tinygltf::Model& model, int accessor_id, const std::filesystem::path& path,
                           const std::string& what) {
  const auto fail = [&](std::string problem, std::string found, std::string expected) {
    bad_mesh(path, what, std::move(problem), std::move(found), std::move(expected));
  };
  if (accessor_id < 0 || static_cast<std::size_t>(accessor_id) >= model.accessors.size()) {
    fail("an accessor is out of range", fmt::format("{}", accessor_id),
         fmt::format("less than {}, the number of accessors", model.accessors.size()));
  }
  const tinygltf::Accessor& accessor = model.accessors[static_cast<std::size_t>(accessor_id)];
  const std::string name = fmt::format("accessor {}", accessor_id);
  if (accessor.sparse.isSparse || accessor.bufferView < 0) {
    fail("a sparse accessor is not supported", name, "an accessor with a buffer view only");
  }
  if (static_cast<std::size_t>(accessor.bufferView) >= model.bufferViews.size()) {
    fail("an accessor's buffer view is out of range", fmt::format("{} of {}", accessor.bufferView, name),
         fmt::format("less than {}, the number of buffer views", model.bufferViews.size()));
  }
  const tinygltf::BufferView& view = model.bufferViews[static_cast<std::size_t>(accessor.bufferView)];
  if (view.buffer < 0 || static_cast<std::size_t>(view.buffer) >= model.buffers.size()) {
    fail("a buffer view's buffer is out of range", fmt::format("{} of {}", view.buffer, name), "a buffer of the file");
  }
  const auto& data = model.buffers[static_cast<std::size_t>(view.buffer)].data;
  const std::int32_t component_bytes =
      tinygltf::GetComponentSizeInBytes(static_cast<std::uint32_t>(accessor.componentType));
  const std::int32_t components = tinygltf::GetNumComponentsInType(static_cast<std::uint32_t>(accessor.type));
  if (component_bytes <= 0 || components <= 0 || components > 4 ||
      accessor.componentType == TINYGLTF_COMPONENT_TYPE_INT ||
      accessor.componentType == TINYGLTF_COMPONENT_TYPE_DOUBLE) {
    fail("an accessor's type is not supported", fmt::format("component type {} of {}", accessor.componentType, name),
         "numbers or vectors of float, byte, short or unsigned int");
  }
  const std::size_t row_bytes = static_cast<std::size_t>(component_bytes) * static_cast<std::size_t>(components);
  stride_ = view.byteStride == 0 ? row_bytes : view.byteStride;
  rows_ = accessor.count;
  // Nothing can overflow: every term is compared before it is added or multiplied.
  const bool inside = view.byteOffset <= data.size() && view.byteLength <= data.size() - view.byteOffset &&
                      accessor.byteOffset <= view.byteLength && rows_ > 0 && stride_ >= row_bytes &&
                      row_bytes <= view.byteLength - accessor.byteOffset &&
                      rows_ - 1 <= (view.byteLength - accessor.byteOffset - row_bytes) / stride_;
  if (!inside) {
    fail("an accessor is empty or reaches past its buffer view",
         fmt::format("{}: {} rows of {} bytes, {} apart, from byte {}", name, rows_, row_bytes, stride_,
                     accessor.byteOffset),
         fmt::format("rows within {} bytes", view.byteLength));
  }
  data_ = data.data() + view.byteOffset + accessor.byteOffset;
  component_type_ = accessor.componentType;
  components_ = components;
  normalized_ = accessor.normalized;
}

bool AccessorRows::is_unsigned() const {
  return component_type_ == TINYGLTF_COMPONENT_TYPE_UNSIGNED_BYTE ||
         component_type_ == TINYGLTF_COMPONENT_TYPE_UNSIGNED_SHORT ||
         component_type_ == TINYGLTF_COMPONENT_TYPE_UNSIGNED_INT;
}

float AccessorRows::number(std::size_t row, int component) const {
  const unsigned char* from = data_ + row * stride_;
  const auto k = static_cast<std::size_t>(component);
  const auto scaled = [&](float value, float most) { return normalized_ ? std::max(value / most, -1.0F) : value; };
  const auto short_at = [&] { return static_cast<std::uint16_t>(from[2 * k] | (from[2 * k + 1] << 8U)); };
  const auto word_at = [&] {
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      bits |= static_cast<std::uint32_t>(from[4 * k + i]) << (8 * i);
    }
    return bits;
  };
  switch (component_type_) {
    case TINYGLTF_COMPONENT_TYPE_BYTE:
      return scaled(static_cast<float>(static_cast<std::int8_t>(from[k])), 127);
    case TINYGLTF_COMPONENT_TYPE_UNSIGNED_BYTE:
      return scaled(static_cast<float>(from[k]), 255);
    case TINYGLTF_COMPONENT_TYPE_SHORT:
      return scaled(static_cast<float>(static_cast<std::int16_t>(short_at())), 32767);
    case TINYGLTF_COMPONENT_TYPE_UNSIGNED_SHORT:
      return scaled(static_cast<float>(short_at()), 65535);
    case TINYGLTF_COMPONENT_TYPE_UNSIGNED_INT:
      return static_cast<float>(word_at());
    default:
      return std::bit_cast<float>(word_at());
  }
}

std::uint32_t AccessorRows::index(std::size_t row) const {
  const unsigned char* from = data_ + row * stride_;
  std::uint32_t value = from[0];
  if (component_type_ != TINYGLTF_COMPONENT_TYPE_UNSIGNED_BYTE) {
    value |= static_cast<std::uint32_t>(from[1]) << 8U;
  }
  if (component_type_ == TINYGLTF_COMPONENT_TYPE_UNSIGNED_INT) {
    value |= static_cast<std::uint32_t>(from[2]) << 16U | static_cast<std::uint32_t>(from[3]) << 24U;
  }
  return value;
}

std::span<const unsigned char> image_bytes(const tinygltf::Model& model, const tinygltf::Image& image) {
  if (image.bufferView < 0) {
    return image.image;
  }
  // In range: check_before_parsing compared every view with its buffer.
  const tinygltf::BufferView& view = model.bufferViews.at(static_cast<std::size_t>(image.bufferView));
  const auto& data = model.buffers.at(static_cast<std::size_t>(view.buffer)).data;
  return std::span(data).subspan(view.byteOffset, view.byteLength);
}

}  // namespace rayreplay::reference
