// A glTF file as tinygltf parses it, and its accessors with every range checked.
//
// Contract: tinygltf trusts offsets and counts; here they are checked before any access. `load_gltf` throws Input on
// JSON that does not parse, a required feature that is not supported, a missing buffer, a uri that leaves the file's
// folder, and buffer views beyond their buffer. Pictures are not decoded: `image_bytes` finds their bytes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#define TINYGLTF_NO_STB_IMAGE
#define TINYGLTF_NO_STB_IMAGE_WRITE
#define TINYGLTF_NO_FS
#include <tiny_gltf.h>

namespace rayreplay::reference {

[[nodiscard]] tinygltf::Model load_gltf(const std::filesystem::path& path);

/// The rows of an accessor: `components` numbers each.
class AccessorRows {
 public:
  /// Throws Input, naming `what`, when the accessor or anything that it refers to is out of range or sparse.
  AccessorRows(const tinygltf::Model& model, int accessor, const std::filesystem::path& path, const std::string& what);

  [[nodiscard]] std::size_t rows() const {
    return rows_;
  }
  [[nodiscard]] int components() const {
    return components_;
  }
  /// Normalised integers as numbers in [0, 1] or [-1, 1], others as they are.
  [[nodiscard]] float number(std::size_t row, int component) const;
  /// Of the first component; accessors of unsigned integers only.
  [[nodiscard]] std::uint32_t index(std::size_t row) const;
  [[nodiscard]] bool is_unsigned() const;

 private:
  const unsigned char* data_ = nullptr;
  std::size_t rows_ = 0;
  std::size_t stride_ = 0;
  int component_type_ = 0;
  int components_ = 0;
  bool normalized_ = false;
};

/// The file's bytes of a picture; empty when an external one is missing.
[[nodiscard]] std::span<const unsigned char> image_bytes(const tinygltf::Model& model, const tinygltf::Image& image);

}  // namespace rayreplay::reference
