#include "capture/layer/geometry/build_inputs.hpp"

#include <algorithm>
#include <cstring>

namespace rayreplay::layer::geometry {
namespace {

constexpr std::uint64_t kMax = ~std::uint64_t{0};

std::uint64_t sum(std::uint64_t a, std::uint64_t b) {
  return a > kMax - b ? kMax : a + b;
}

std::uint64_t product(std::uint64_t a, std::uint64_t b) {
  return b != 0 && a > kMax / b ? kMax : a * b;
}

/// Bytes from the first of `count` elements to the end of the last.
std::uint64_t span_bytes(std::uint64_t count, std::uint64_t stride, std::uint64_t element) {
  return count == 0 ? 0 : sum(product(count - 1, stride), element);
}

/// The number of whole elements in so many bytes, at most `most`.
std::uint64_t whole_elements(std::uint64_t bytes, std::uint64_t stride, std::uint64_t element, std::uint64_t most) {
  if (bytes < element || element == 0) {
    return 0;
  }
  return stride == 0 ? most : std::min(most, (bytes - element) / stride + 1);
}

std::uint64_t element_bytes(const VkAccelerationStructureGeometryTrianglesDataKHR& triangles) {
  const std::uint32_t known = vertex_bytes(triangles.vertexFormat);
  return known != 0 ? known : triangles.vertexStride;
}

std::vector<std::uint8_t> packed(const std::uint8_t* from, std::uint64_t count, std::uint64_t stride,
                                 std::uint64_t element) {
  std::vector<std::uint8_t> bytes(count * element);
  if (stride == element) {
    std::copy_n(from, bytes.size(), bytes.data());
  } else {
    for (std::uint64_t i = 0; i < count; ++i) {
      std::memcpy(bytes.data() + i * element, from + i * stride, element);
    }
  }
  return bytes;
}

struct IndexBounds {
  std::uint64_t least = 0, most = 0;
};

/// The least and largest index of a non-empty array, after which the least is subtracted from all.
template <class Index>
IndexBounds rebase(std::vector<std::uint8_t>& bytes) {
  Index least = static_cast<Index>(-1);
  Index most = 0;
  const auto each = [&](auto&& visit) {
    for (std::size_t at = 0; at + sizeof(Index) <= bytes.size(); at += sizeof(Index)) {
      Index index;
      std::memcpy(&index, bytes.data() + at, sizeof index);
      visit(index, bytes.data() + at);
    }
  };
  each([&](Index index, std::uint8_t*) {
    least = std::min(least, index);
    most = std::max(most, index);
  });
  if (least != 0) {
    each([&](Index index, std::uint8_t* at) {
      index = static_cast<Index>(index - least);
      std::memcpy(at, &index, sizeof index);
    });
  }
  return {least, most};
}

IndexBounds rebase(std::vector<std::uint8_t>& bytes, std::uint32_t size) {
  return size == 1   ? rebase<std::uint8_t>(bytes)
         : size == 2 ? rebase<std::uint16_t>(bytes)
                     : rebase<std::uint32_t>(bytes);
}

std::string short_of(Input input, const Window& window) {
  return std::string("its ") + name_of(input) +
         (window.missing.empty() ? std::string(" lie outside what was copied") : " are unknown: " + window.missing);
}

/// Indices and vertices; what is missing, or empty.
std::string fill_triangles(const VkAccelerationStructureGeometryTrianglesDataKHR& triangles,
                           const VkAccelerationStructureBuildRangeInfoKHR& range, const Inputs& inputs,
                           const Windows& windows, spool::Geometry& out) {
  const auto vertex_input = static_cast<std::size_t>(Input::Vertices);
  const auto index_input = static_cast<std::size_t>(Input::Indices);
  const std::uint64_t element = element_bytes(triangles);
  const std::uint32_t index_size = index_bytes(triangles.indexType);
  out.vertex_format = triangles.vertexFormat;
  out.vertex_stride = element;
  out.index_type = triangles.indexType;
  if (index_size == 0 && triangles.indexType != VK_INDEX_TYPE_NONE_KHR) {
    return "index type " + std::to_string(triangles.indexType) + " is not known";
  }
  if (element == 0) {
    return "vertex format " + std::to_string(triangles.vertexFormat) + " is not known";
  }
  if (range.primitiveCount == 0) {
    return {};
  }
  std::uint64_t first = 0;
  std::uint64_t wanted = std::uint64_t{range.primitiveCount} * 3;
  if (index_size != 0) {
    const std::uint8_t* indices = read(windows[index_input], inputs[index_input]);
    if (indices == nullptr) {
      return short_of(Input::Indices, windows[index_input]);
    }
    out.indices.assign(indices, indices + inputs[index_input].bytes);
    // Geometries often share one large vertex buffer: only vertices between the least and the largest index are kept.
    const IndexBounds bounds = rebase(out.indices, index_size);
    first = bounds.least;
    wanted = bounds.most - bounds.least + 1;
  }
  const Stretch vertices{sum(inputs[vertex_input].address, product(first, triangles.vertexStride)),
                         span_bytes(wanted, triangles.vertexStride, element)};
  const std::uint8_t* from = read(windows[vertex_input], vertices);
  if (from == nullptr) {
    const Window& window = windows[vertex_input];
    const bool none = window.data == nullptr || vertices.address < window.address ||
                      vertices.address - window.address >= window.bytes;
    const std::uint64_t there = none ? 0
                                     : whole_elements(window.bytes - (vertices.address - window.address),
                                                      triangles.vertexStride, element, wanted);
    std::string text = short_of(Input::Vertices, window);
    if (!none) {
      text += " (" + std::to_string(first + wanted) + " are used, " + std::to_string(first + there) + " are there)";
    }
    out.indices = {};
    return text;
  }
  out.vertices = packed(from, wanted, triangles.vertexStride, element);
  out.vertex_count = static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, 0xFFFF'FFFFU));
  return {};
}

}  // namespace

const char* name_of(Input input) {
  constexpr const char* kNames[kInputs] = {"vertices", "indices", "transform", "boxes", "instances"};
  return kNames[static_cast<std::size_t>(input)];
}

std::uint32_t vertex_bytes(VkFormat format) {
  switch (format) {
    case VK_FORMAT_R8G8_UNORM:
    case VK_FORMAT_R8G8_SNORM:
      return 2;
    case VK_FORMAT_R8G8B8_UNORM:
    case VK_FORMAT_R8G8B8_SNORM:
      return 3;
    case VK_FORMAT_R8G8B8A8_UNORM:
    case VK_FORMAT_R8G8B8A8_SNORM:
    case VK_FORMAT_A2B10G10R10_UNORM_PACK32:
    case VK_FORMAT_A2B10G10R10_SNORM_PACK32:
    case VK_FORMAT_A2R10G10B10_UNORM_PACK32:
    case VK_FORMAT_A2R10G10B10_SNORM_PACK32:
    case VK_FORMAT_B10G11R11_UFLOAT_PACK32:
    case VK_FORMAT_R16G16_UNORM:
    case VK_FORMAT_R16G16_SNORM:
    case VK_FORMAT_R16G16_SFLOAT:
      return 4;
    case VK_FORMAT_R16G16B16_UNORM:
    case VK_FORMAT_R16G16B16_SNORM:
    case VK_FORMAT_R16G16B16_SFLOAT:
      return 6;
    case VK_FORMAT_R16G16B16A16_UNORM:
    case VK_FORMAT_R16G16B16A16_SNORM:
    case VK_FORMAT_R16G16B16A16_SFLOAT:
    case VK_FORMAT_R32G32_SFLOAT:
      return 8;
    case VK_FORMAT_R32G32B32_SFLOAT:
      return 12;
    case VK_FORMAT_R32G32B32A32_SFLOAT:
    case VK_FORMAT_R64G64_SFLOAT:
      return 16;
    case VK_FORMAT_R64G64B64_SFLOAT:
      return 24;
    case VK_FORMAT_R64G64B64A64_SFLOAT:
      return 32;
    default:
      return 0;
  }
}

std::uint32_t index_bytes(VkIndexType type) {
  switch (type) {
    case VK_INDEX_TYPE_UINT8_EXT:
      return 1;
    case VK_INDEX_TYPE_UINT16:
      return 2;
    case VK_INDEX_TYPE_UINT32:
      return 4;
    default:
      return 0;
  }
}

Inputs inputs_of(const VkAccelerationStructureGeometryKHR& geometry,
                 const VkAccelerationStructureBuildRangeInfoKHR& range) {
  Inputs inputs;
  const auto put = [&](Input input, std::uint64_t address, std::uint64_t offset, std::uint64_t bytes) {
    inputs[static_cast<std::size_t>(input)] = {sum(address, offset), bytes};
  };
  const std::uint64_t count = range.primitiveCount;
  if (count == 0) {
    return inputs;
  }
  switch (geometry.geometryType) {
    case VK_GEOMETRY_TYPE_TRIANGLES_KHR: {
      const auto& triangles = geometry.geometry.triangles;
      const std::uint64_t first = product(range.firstVertex, triangles.vertexStride);
      const std::uint64_t element = element_bytes(triangles);
      if (triangles.indexType == VK_INDEX_TYPE_NONE_KHR) {
        put(Input::Vertices, triangles.vertexData.deviceAddress, sum(range.primitiveOffset, first),
            span_bytes(count * 3, triangles.vertexStride, element));
      } else {
        put(Input::Indices, triangles.indexData.deviceAddress, range.primitiveOffset,
            product(count * 3, index_bytes(triangles.indexType)));
        put(Input::Vertices, triangles.vertexData.deviceAddress, first,
            span_bytes(std::uint64_t{triangles.maxVertex} + 1, triangles.vertexStride, element));
      }
      if (triangles.transformData.deviceAddress != 0) {
        put(Input::Transform, triangles.transformData.deviceAddress, range.transformOffset, 48);
      }
      break;
    }
    case VK_GEOMETRY_TYPE_AABBS_KHR:
      put(Input::Boxes, geometry.geometry.aabbs.data.deviceAddress, range.primitiveOffset,
          span_bytes(count, geometry.geometry.aabbs.stride, sizeof(VkAabbPositionsKHR)));
      break;
    case VK_GEOMETRY_TYPE_INSTANCES_KHR: {
      const auto& instances = geometry.geometry.instances;
      put(Input::Instances, instances.data.deviceAddress, range.primitiveOffset,
          count * (instances.arrayOfPointers != VK_FALSE ? 8 : sizeof(VkAccelerationStructureInstanceKHR)));
      break;
    }
    default:
      break;
  }
  return inputs;
}

const std::uint8_t* read(const Window& window, const Stretch& stretch) {
  if (window.data == nullptr || stretch.address < window.address) {
    return nullptr;
  }
  const std::uint64_t offset = stretch.address - window.address;
  if (offset > window.bytes || stretch.bytes > window.bytes - offset) {
    return nullptr;
  }
  return window.data + offset;
}

spool::Geometry assemble(const VkAccelerationStructureGeometryKHR& geometry,
                         const VkAccelerationStructureBuildRangeInfoKHR& range, const Windows& windows) {
  spool::Geometry out;
  out.flags = geometry.flags;
  out.primitive_count = range.primitiveCount;
  const Inputs inputs = inputs_of(geometry, range);
  if (geometry.geometryType == VK_GEOMETRY_TYPE_TRIANGLES_KHR) {
    out.type = spool::GeometryType::Triangles;
    out.missing = fill_triangles(geometry.geometry.triangles, range, inputs, windows, out);
    const auto at = static_cast<std::size_t>(Input::Transform);
    if (inputs[at].bytes != 0) {
      out.has_transform = 1;
      if (const std::uint8_t* from = read(windows[at], inputs[at])) {
        std::memcpy(out.transform, from, sizeof out.transform);
      } else if (out.missing.empty()) {
        out.missing = short_of(Input::Transform, windows[at]);
      }
    }
  } else if (geometry.geometryType == VK_GEOMETRY_TYPE_AABBS_KHR) {
    out.type = spool::GeometryType::Boxes;
    out.box_stride = sizeof(VkAabbPositionsKHR);
    const auto at = static_cast<std::size_t>(Input::Boxes);
    if (const std::uint8_t* from = range.primitiveCount == 0 ? nullptr : read(windows[at], inputs[at])) {
      out.boxes = packed(from, range.primitiveCount, geometry.geometry.aabbs.stride, sizeof(VkAabbPositionsKHR));
    } else if (range.primitiveCount != 0) {
      out.missing = short_of(Input::Boxes, windows[at]);
    }
  } else {
    out.missing = "geometry type " + std::to_string(geometry.geometryType) + " is not known";
  }
  return out;
}

}  // namespace rayreplay::layer::geometry
