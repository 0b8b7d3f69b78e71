#include "capture/layer/geometry/build_inputs.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

namespace rayreplay::layer::geometry {
namespace {

constexpr std::uint64_t kVertices = 0x1000, kIndices = 0x9000, kTransform = 0xA000;

VkAccelerationStructureGeometryKHR triangles(VkFormat format, std::uint64_t stride, std::uint32_t max_vertex,
                                             VkIndexType index_type) {
  VkAccelerationStructureGeometryKHR geometry{};
  geometry.geometryType = VK_GEOMETRY_TYPE_TRIANGLES_KHR;
  geometry.flags = VK_GEOMETRY_OPAQUE_BIT_KHR;
  auto& data = geometry.geometry.triangles;
  data.vertexFormat = format;
  data.vertexData.deviceAddress = kVertices;
  data.vertexStride = stride;
  data.maxVertex = max_vertex;
  data.indexType = index_type;
  data.indexData.deviceAddress = index_type == VK_INDEX_TYPE_NONE_KHR ? 0 : kIndices;
  return geometry;
}

Stretch input(const Inputs& inputs, Input which) {
  return inputs[static_cast<std::size_t>(which)];
}

/// Windows on memory that holds `bytes` at `address`.
Window window(std::uint64_t address, const std::vector<std::uint8_t>& bytes) {
  return {address, bytes.size(), bytes.data(), {}};
}

std::vector<std::uint8_t> counted(std::size_t bytes) {
  std::vector<std::uint8_t> made(bytes);
  std::iota(made.begin(), made.end(), std::uint8_t{1});
  return made;
}

TEST(BuildInputs, OffsetsOfTrianglesWithoutIndices) {
  const auto geometry = triangles(VK_FORMAT_R32G32B32_SFLOAT, 16, 99, VK_INDEX_TYPE_NONE_KHR);
  const Inputs inputs = inputs_of(geometry, {2, 32, 5, 0});
  EXPECT_EQ(input(inputs, Input::Vertices).address, kVertices + 32 + 5 * 16);
  EXPECT_EQ(input(inputs, Input::Vertices).bytes, 5U * 16 + 12);
  EXPECT_EQ(input(inputs, Input::Indices).bytes, 0U);
  EXPECT_EQ(input(inputs, Input::Transform).bytes, 0U);
}

TEST(BuildInputs, OffsetsOfIndexedTriangles) {
  auto geometry = triangles(VK_FORMAT_R16G16B16A16_SFLOAT, 24, 9, VK_INDEX_TYPE_UINT16);
  geometry.geometry.triangles.transformData.deviceAddress = kTransform;
  const Inputs inputs = inputs_of(geometry, {2, 6, 3, 96});
  EXPECT_EQ(input(inputs, Input::Indices).address, kIndices + 6);
  EXPECT_EQ(input(inputs, Input::Indices).bytes, 12U);
  EXPECT_EQ(input(inputs, Input::Vertices).address, kVertices + 3 * 24);
  EXPECT_EQ(input(inputs, Input::Vertices).bytes, 9U * 24 + 8);
  EXPECT_EQ(input(inputs, Input::Transform).address, kTransform + 96);
  EXPECT_EQ(input(inputs, Input::Transform).bytes, 48U);
}

TEST(BuildInputs, ABuildOfNothingReadsNothing) {
  for (const Stretch& stretch :
       inputs_of(triangles(VK_FORMAT_R32G32B32_SFLOAT, 12, 9, VK_INDEX_TYPE_UINT32), {0, 5, 5, 5})) {
    EXPECT_EQ(stretch.bytes, 0U);
  }
}

TEST(BuildInputs, EnormousNumbersDoNotOverflow) {
  const auto geometry = triangles(VK_FORMAT_R32G32B32_SFLOAT, ~std::uint64_t{0}, 0xFFFF'FFFF, VK_INDEX_TYPE_UINT32);
  const Inputs inputs = inputs_of(geometry, {0xFFFF'FFFF, 0xFFFF'FFFF, 0xFFFF'FFFF, 0xFFFF'FFFF});
  EXPECT_EQ(input(inputs, Input::Vertices).address, ~std::uint64_t{0});
  EXPECT_EQ(input(inputs, Input::Vertices).bytes, ~std::uint64_t{0});
  EXPECT_EQ(input(inputs, Input::Indices).bytes, std::uint64_t{0xFFFF'FFFF} * 12);
}

TEST(BuildInputs, ReadChecksBothEnds) {
  const auto bytes = counted(16);
  const Window at = window(100, bytes);
  EXPECT_EQ(read(at, {100, 16}), bytes.data());
  EXPECT_EQ(read(at, {110, 6}), bytes.data() + 10);
  EXPECT_EQ(read(at, {110, 7}), nullptr);
  EXPECT_EQ(read(at, {99, 1}), nullptr);
  EXPECT_EQ(read(at, {200, 0}), nullptr);
  EXPECT_EQ(read(at, {101, ~std::uint64_t{0}}), nullptr);
  EXPECT_EQ(read(Window{}, {0, 0}), nullptr);
}

TEST(Assemble, PacksVerticesWithoutIndices) {
  const auto geometry = triangles(VK_FORMAT_R32G32B32_SFLOAT, 20, 0, VK_INDEX_TYPE_NONE_KHR);
  const VkAccelerationStructureBuildRangeInfoKHR range{1, 4, 2, 0};
  const auto memory = counted(4 + 2 * 20 + 2 * 20 + 12);
  Windows windows;
  windows[0] = window(kVertices, memory);
  const spool::Geometry made = assemble(geometry, range, windows);
  EXPECT_EQ(made.missing, "");
  EXPECT_EQ(made.flags, VkGeometryFlagsKHR{VK_GEOMETRY_OPAQUE_BIT_KHR});
  EXPECT_EQ(made.primitive_count, 1U);
  EXPECT_EQ(made.vertex_count, 3U);
  EXPECT_EQ(made.vertex_stride, 12U);
  ASSERT_EQ(made.vertices.size(), 36U);
  for (std::size_t v = 0; v < 3; ++v) {
    EXPECT_EQ(std::memcmp(made.vertices.data() + v * 12, memory.data() + 4 + (2 + v) * 20, 12), 0);
  }
}

template <class Index>
void check_indexed(VkIndexType type) {
  // Vertices 2, 4 and 7 of those from first_vertex = 3 on, indices from the third index on.
  const Index indices[] = {9, 9, 9, 4, 2, 7};
  std::vector<std::uint8_t> index_bytes(sizeof indices);
  std::memcpy(index_bytes.data(), indices, sizeof indices);
  const auto memory = counted((3 + 7) * 8 + 6);
  const auto geometry = triangles(VK_FORMAT_R16G16B16_SNORM, 8, 10, type);
  Windows windows;
  windows[0] = window(kVertices, memory);
  windows[1] = window(kIndices, index_bytes);
  const spool::Geometry made = assemble(geometry, {1, 3 * sizeof(Index), 3, 0}, windows);
  EXPECT_EQ(made.missing, "");
  EXPECT_EQ(made.index_type, type);
  const Index rebased[] = {2, 0, 5};
  ASSERT_EQ(made.indices.size(), sizeof rebased);
  EXPECT_EQ(std::memcmp(made.indices.data(), rebased, sizeof rebased), 0);
  EXPECT_EQ(made.vertex_count, 6U);
  ASSERT_EQ(made.vertices.size(), 36U);
  for (std::size_t v = 0; v < 6; ++v) {
    EXPECT_EQ(std::memcmp(made.vertices.data() + v * 6, memory.data() + (3 + 2 + v) * 8, 6), 0);
  }
}

TEST(Assemble, IndicesOfAllTypesCountFromTheFirstVertexUsed) {
  check_indexed<std::uint8_t>(VK_INDEX_TYPE_UINT8_EXT);
  check_indexed<std::uint16_t>(VK_INDEX_TYPE_UINT16);
  check_indexed<std::uint32_t>(VK_INDEX_TYPE_UINT32);
}

TEST(Assemble, SaysWhatIsMissing) {
  const auto geometry = triangles(VK_FORMAT_R32G32B32_SFLOAT, 12, 3, VK_INDEX_TYPE_UINT32);
  const std::uint32_t indices[] = {0, 1, 3};
  std::vector<std::uint8_t> index_bytes(sizeof indices);
  std::memcpy(index_bytes.data(), indices, sizeof indices);
  const auto memory = counted(3 * 12);  // the fourth vertex is not there
  Windows windows;
  windows[0].missing = "no buffer";
  EXPECT_NE(assemble(geometry, {1, 0, 0, 0}, windows).missing, "");
  windows[1] = window(kIndices, index_bytes);
  EXPECT_NE(assemble(geometry, {1, 0, 0, 0}, windows).missing.find("no buffer"), std::string::npos);
  windows[0] = window(kVertices, memory);
  const spool::Geometry made = assemble(geometry, {1, 0, 0, 0}, windows);
  EXPECT_NE(made.missing.find("4 are used, 3 are there"), std::string::npos) << made.missing;
  EXPECT_TRUE(made.vertices.empty());
  EXPECT_TRUE(made.indices.empty());
  EXPECT_EQ(made.primitive_count, 1U);
}

TEST(Assemble, UnknownFormatsTakeTheStrideAndUnknownIndexTypesAreMissing) {
  const auto memory = counted(64);
  Windows windows;
  windows[0] = window(kVertices, memory);
  windows[1] = window(kIndices, memory);
  const auto odd = triangles(VK_FORMAT_BC1_RGB_UNORM_BLOCK, 8, 9, VK_INDEX_TYPE_NONE_KHR);
  EXPECT_EQ(assemble(odd, {1, 0, 0, 0}, windows).vertex_stride, 8U);
  EXPECT_EQ(assemble(odd, {1, 0, 0, 0}, windows).missing, "");
  const auto strange = triangles(VK_FORMAT_R32G32B32_SFLOAT, 12, 9, static_cast<VkIndexType>(77));
  EXPECT_NE(assemble(strange, {1, 0, 0, 0}, windows).missing.find("77"), std::string::npos);
}

TEST(Assemble, TransformBoxesAndEmptyGeometries) {
  std::vector<std::uint8_t> transform(96 + 48);
  const float rows[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  std::memcpy(transform.data() + 96, rows, sizeof rows);
  const auto memory = counted(64);
  auto geometry = triangles(VK_FORMAT_R32G32B32_SFLOAT, 12, 9, VK_INDEX_TYPE_NONE_KHR);
  geometry.geometry.triangles.transformData.deviceAddress = kTransform;
  Windows windows;
  windows[0] = window(kVertices, memory);
  EXPECT_NE(assemble(geometry, {1, 0, 0, 96}, windows).missing.find("transform"), std::string::npos);
  windows[2] = window(kTransform, transform);
  const spool::Geometry made = assemble(geometry, {1, 0, 0, 96}, windows);
  EXPECT_EQ(made.missing, "");
  EXPECT_EQ(made.has_transform, 1);
  EXPECT_EQ(std::memcmp(made.transform, rows, sizeof rows), 0);

  VkAccelerationStructureGeometryKHR boxes{};
  boxes.geometryType = VK_GEOMETRY_TYPE_AABBS_KHR;
  boxes.geometry.aabbs.data.deviceAddress = 0x500;
  boxes.geometry.aabbs.stride = 40;
  const auto box_memory = counted(8 + 40 + 24);
  Windows box_windows;
  box_windows[3] = window(0x500, box_memory);
  const spool::Geometry boxed = assemble(boxes, {2, 8, 7, 0}, box_windows);
  EXPECT_EQ(boxed.missing, "");
  EXPECT_EQ(boxed.type, spool::GeometryType::Boxes);
  EXPECT_EQ(boxed.box_stride, 24U);
  ASSERT_EQ(boxed.boxes.size(), 48U);
  EXPECT_EQ(std::memcmp(boxed.boxes.data(), box_memory.data() + 8, 24), 0);
  EXPECT_EQ(std::memcmp(boxed.boxes.data() + 24, box_memory.data() + 48, 24), 0);
  EXPECT_NE(assemble(boxes, {3, 8, 0, 0}, box_windows).missing, "");

  EXPECT_EQ(assemble(geometry, {0, 0, 0, 0}, {}).missing, "");
  EXPECT_EQ(assemble(boxes, {0, 0, 0, 0}, {}).missing, "");
}

}  // namespace
}  // namespace rayreplay::layer::geometry
