#include "capture/ingest/geometry.hpp"

#include <vulkan/vulkan_core.h>

#include <cstring>

#include <fmt/format.h>

#include "base/count_text.hpp"
#include "capture/ingest/vertex_format.hpp"

namespace rayreplay::ingest {
namespace {

/// Whether `count` items of `bytes`, `stride` apart, fit into `size` bytes. Items are packed, so the available bytes
/// bound the count.
bool fits(std::uint64_t count, std::uint64_t stride, std::uint64_t bytes, std::uint64_t size) {
  return count == 0 || (bytes <= size && stride >= bytes && count - 1 <= (size - bytes) / stride);
}

const std::byte* bytes_of(const std::vector<std::uint8_t>& data) {
  return reinterpret_cast<const std::byte*>(data.data());
}

std::string convert_vertices(const spool::Geometry& from, trace::Geometry& to) {
  const auto format = vertex_format(from.vertex_format);
  if (!format) {
    return fmt::format("its vertex format {} is not known", from.vertex_format);
  }
  if (!fits(from.vertex_count, from.vertex_stride, format->bytes, from.vertices.size())) {
    return "its vertices are not all there";
  }
  to.vertices.resize(std::size_t{3} * from.vertex_count);
  const float* const m = from.transform;
  for (std::uint64_t i = 0; i < from.vertex_count; ++i) {
    const auto v = format->read(bytes_of(from.vertices) + i * from.vertex_stride);
    for (std::size_t row = 0; row < 3; ++row) {
      to.vertices[3 * i + row] =
          from.has_transform == 0 ? v.at(row)
                                  : m[4 * row] * v[0] + m[4 * row + 1] * v[1] + m[4 * row + 2] * v[2] + m[4 * row + 3];
    }
  }
  return "";
}

template <class Index>
void widen(const std::vector<std::uint8_t>& from, trace::Column<std::uint32_t>& to) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    Index index;
    std::memcpy(&index, from.data() + i * sizeof index, sizeof index);
    to[i] = index;
  }
}

std::string convert_indices(const spool::Geometry& from, trace::Geometry& to) {
  std::uint64_t bytes = 0;
  switch (from.index_type) {
    case VK_INDEX_TYPE_NONE_KHR:
      break;
    case VK_INDEX_TYPE_UINT8_EXT:
      bytes = 1;
      break;
    case VK_INDEX_TYPE_UINT16:
      bytes = 2;
      break;
    case VK_INDEX_TYPE_UINT32:
      bytes = 4;
      break;
    default:
      return fmt::format("its index type {} is not known", from.index_type);
  }
  const std::uint64_t count = std::uint64_t{3} * from.primitive_count;
  if (bytes == 0 ? count > from.vertex_count : count > from.indices.size() / bytes) {
    return bytes == 0 ? "it has fewer vertices than its triangles take" : "its indices are not all there";
  }
  to.indices.resize(count);
  if (bytes == 4) {
    widen<std::uint32_t>(from.indices, to.indices);
  } else if (bytes == 2) {
    widen<std::uint16_t>(from.indices, to.indices);
  } else if (bytes == 1) {
    widen<std::uint8_t>(from.indices, to.indices);
  } else {
    for (std::uint64_t i = 0; i < count; ++i) {
      to.indices[i] = static_cast<std::uint32_t>(i);
    }
  }
  for (const std::uint32_t index : to.indices) {
    if (index >= from.vertex_count) {
      return fmt::format("its index {} lies beyond {}", index, counted(from.vertex_count, "vertex", "vertices"));
    }
  }
  return "";
}

std::string convert_boxes(const spool::Geometry& from, trace::Geometry& to) {
  constexpr std::size_t kBoxBytes = 6 * sizeof(float);
  if (!fits(from.primitive_count, from.box_stride, kBoxBytes, from.boxes.size())) {
    return "its boxes are not all there";
  }
  to.boxes.resize(std::size_t{6} * from.primitive_count);
  for (std::uint64_t i = 0; i < from.primitive_count; ++i) {
    std::memcpy(&to.boxes[6 * i], from.boxes.data() + i * from.box_stride, kBoxBytes);
  }
  return "";
}

}  // namespace

std::string convert_geometry(const spool::Geometry& from, trace::Geometry& to) {
  to = {};
  to.opaque = (from.flags & VK_GEOMETRY_OPAQUE_BIT_KHR) != 0;
  if (!from.missing.empty()) {
    return from.missing;
  }
  if (from.type == spool::GeometryType::Boxes) {
    to.type = trace::GeometryType::Boxes;
    return convert_boxes(from, to);
  }
  std::string fault = convert_vertices(from, to);
  return fault.empty() ? convert_indices(from, to) : fault;
}

}  // namespace rayreplay::ingest
