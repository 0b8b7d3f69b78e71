// The leaves of the layout quantised-6 with leaves=quads: as Intel's ray tracing hardware reads them.
//
// Contract: the exact bytes, little-endian. A quad leaf (64 bytes) is a triangle, or two that share an edge:
//
//   | at | field      | type        | meaning                                                                   |
//   | -- | ---------- | ----------- | ------------------------------------------------------------------------- |
//   |  0 | descriptor | u32[2]      | bits 0–23 shader index, 24–31 mask (0xFF); bits 0–23 geometry index,      |
//   |    |            |             | 24–28 zero, 29 no culling by opacity (0), 30 opaque, 31 zero              |
//   |  8 | primitive  | u32         | number of the first triangle in its geometry                              |
//   | 12 | second     | u32         | bits 0–15 number of the second less that of the first; 16–17, 18–19,      |
//   |    |            |             | 20–21 its corners j0, j1, j2 among the vertices; 22 last of the leaf (1)  |
//   | 16 | vertices   | float[4][3] | the first triangle's; then the second's corner that is not among them     |
//
// A single triangle has 0 for the second's number and corners, and its third vertex twice. The third vertex is there
// twice, too, where all corners of the second triangle are vertices of the first. A procedural leaf (64 bytes) is a box
// primitive:
//
//   | at | field      | type    | meaning                                                                       |
//   | -- | ---------- | ------- | ----------------------------------------------------------------------------- |
//   |  0 | descriptor | u32[2]  | as above                                                                      |
//   |  8 | counts     | u32     | bits 0–3 primitives (1), bits 19–31 a bit for each primitive: last of a leaf  |
//   | 12 | primitive  | u32[13] | numbers in the geometry; 0xFFFFFFFF beyond the count                          |
//
// An instance leaf is 128 bytes, of which traversal reads the first 64:
//
//   | at  | field           | type        | meaning                                                                 |
//   | --- | --------------- | ----------- | ----------------------------------------------------------------------- |
//   |   0 | mask            | u32         | bits 0–23 zero, 24–31 the instance's mask                               |
//   |   4 | hit_group       | u32         | bits 0–23 the instance's offset into the hit groups                     |
//   |   8 | start           | u64         | bits 0–47 address of the structure's root, 48–55 the instance's flags   |
//   |  16 | to_object       | float[3][3] | world to object, without the translation, column by column              |
//   |  52 | world_offset    | float[3]    | translation of object to world                                          |
//   |  64 | structure       | u64         | bits 0–47 address of the structure                                      |
//   |  72 | custom_index    | u32         | the instance's                                                          |
//   |  76 | instance        | u32         | its number                                                              |
//   |  80 | to_world        | float[3][3] | object to world, without the translation, column by column              |
//   | 116 | object_offset   | float[3]    | translation of world to object                                          |
//
// The shader index is the geometry index, as Intel's driver sets it. Addresses are those of bvh::MemoryMap, written by
// `Layout::link`; a structure has no header here, so that its address is its root's. Makers throw Resource for 2^24
// geometries or more, Internal for leaves of another shape. Source: anv_prim_leaf_desc, anv_quad_leaf_node,
// anv_procedural_leaf_node, instance_leaf_part0 ("first 64 bytes accessed during traversal") and instance_leaf_part1
// ("not accessed by hardware but accessed during shading") of Mesa, src/intel/vulkan/bvh/anv_bvh.h, for Xe and Xe2; the
// same as PrimLeafDesc, QuadLeaf, ProceduralLeaf and InstanceLeaf of Embree 4, kernels/rthwif/rtbuild/leaf.h, and of
// Intel's GRL.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "bvh/layout.hpp"
#include "bvh/scene.hpp"

namespace rayreplay::bvh {

struct LeafDescriptor {
  static constexpr std::uint32_t kOpaque = 1U << 30U;
  static constexpr std::uint32_t kIndexMask = 0x00FF'FFFFU;

  std::uint32_t shader_and_mask;
  std::uint32_t geometry_and_flags;

  [[nodiscard]] std::uint32_t geometry() const {
    return geometry_and_flags & kIndexMask;
  }
  [[nodiscard]] bool opaque() const {
    return (geometry_and_flags & kOpaque) != 0;
  }
};

struct alignas(64) QuadLeaf {
  static constexpr std::uint32_t kLast = 1U << 22U;

  LeafDescriptor descriptor;
  std::uint32_t primitive;
  std::uint32_t second;
  std::array<std::array<float, 3>, 4> vertices;

  /// The corner of the second triangle that is vertex `corner(i)`.
  [[nodiscard]] std::uint32_t corner(std::uint32_t i) const {
    return second >> (16 + 2 * i) & 3U;
  }
  [[nodiscard]] std::uint32_t triangles() const {
    return (second >> 16U & 0x3FU) == 0 ? 1 : 2;
  }
  [[nodiscard]] std::uint32_t second_primitive() const {
    return primitive + (second & 0xFFFFU);
  }
};

struct alignas(64) ProceduralLeaf {
  LeafDescriptor descriptor;
  std::uint32_t counts;
  std::array<std::uint32_t, 13> primitive;
};

struct alignas(64) InstanceLeaf {
  std::uint32_t mask;
  std::uint32_t hit_group;
  std::uint64_t start;
  std::array<std::array<float, 3>, 3> to_object;
  std::array<float, 3> world_offset;
  std::uint64_t structure;
  std::uint32_t custom_index;
  std::uint32_t instance;
  std::array<std::array<float, 3>, 3> to_world;
  std::array<float, 3> object_offset;
};

static_assert(std::is_trivially_copyable_v<QuadLeaf> && sizeof(QuadLeaf) == 64 && offsetof(QuadLeaf, primitive) == 8 &&
              offsetof(QuadLeaf, vertices) == 16);
static_assert(std::is_trivially_copyable_v<ProceduralLeaf> && sizeof(ProceduralLeaf) == 64 &&
              offsetof(ProceduralLeaf, primitive) == 12);
static_assert(std::is_trivially_copyable_v<InstanceLeaf> && sizeof(InstanceLeaf) == 128 &&
              offsetof(InstanceLeaf, start) == 8 && offsetof(InstanceLeaf, world_offset) == 52 &&
              offsetof(InstanceLeaf, structure) == 64 && offsetof(InstanceLeaf, to_world) == 80 &&
              offsetof(InstanceLeaf, object_offset) == 116);

[[nodiscard]] inline const QuadLeaf& quad_leaf(const Level& level, std::uint32_t record) {
  return *reinterpret_cast<const QuadLeaf*>(level.record(record));
}

/// One or two triangles of a geometry, by dense numbers; two share an edge.
[[nodiscard]] QuadLeaf make_quad_leaf(const PreparedScene& scene, std::uint32_t blas,
                                      std::span<const std::uint32_t> numbers);
[[nodiscard]] ProceduralLeaf make_procedural_leaf(const PreparedScene& scene, std::uint32_t blas, std::uint32_t number);
/// Without addresses.
[[nodiscard]] InstanceLeaf make_instance_leaf(const PreparedScene& scene, std::uint32_t instance);

}  // namespace rayreplay::bvh
