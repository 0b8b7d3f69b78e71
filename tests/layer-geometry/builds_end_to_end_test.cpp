// Builds and updates on a real driver: the spool holds what the application built from, byte by byte.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "capture/layer/geometry/build_inputs.hpp"
#include "tests/layer-geometry/scenes.hpp"

namespace rayreplay::layer::geometry {
namespace {

constexpr std::uint32_t kTriangles = 5, kVertexCount = 9;

/// Vertices of a format, all finite, with `stride` and rubbish between them.
std::vector<std::uint8_t> vertex_memory(VkFormat format, std::size_t stride, std::size_t count, std::mt19937& random) {
  std::vector<std::uint8_t> bytes(stride * count);
  for (auto& byte : bytes) {
    byte = static_cast<std::uint8_t>(random());
  }
  const bool floats = format == VK_FORMAT_R32G32_SFLOAT || format == VK_FORMAT_R32G32B32_SFLOAT ||
                      format == VK_FORMAT_R32G32B32A32_SFLOAT;
  const bool halves = format == VK_FORMAT_R16G16_SFLOAT || format == VK_FORMAT_R16G16B16_SFLOAT ||
                      format == VK_FORMAT_R16G16B16A16_SFLOAT;
  for (std::size_t v = 0; v < count; ++v) {
    for (std::size_t c = 0; floats && c < vertex_bytes(format) / 4; ++c) {
      const float value = static_cast<float>(random() % 800) / 100;
      std::memcpy(bytes.data() + v * stride + 4 * c, &value, 4);
    }
    for (std::size_t c = 0; halves && c < vertex_bytes(format) / 2; ++c) {
      const auto value = static_cast<std::uint16_t>(random() % 0x4800);
      std::memcpy(bytes.data() + v * stride + 2 * c, &value, 2);
    }
  }
  return bytes;
}

std::vector<std::uint8_t> index_memory(const std::vector<std::uint32_t>& indices, std::uint32_t size) {
  std::vector<std::uint8_t> bytes;
  for (const std::uint32_t index : indices) {
    const auto* first = reinterpret_cast<const std::uint8_t*>(&index);
    bytes.insert(bytes.end(), first, first + size);
  }
  return bytes;
}

TEST(BuildsEndToEnd, VertexFormatsIndexTypesOffsetsAndTransforms) {
  VulkanProgram program;
  std::mt19937 random(1);
  struct Expected {
    spool::Geometry geometry;
    std::string what;
  };
  std::vector<Expected> expected;
  std::vector<VkAccelerationStructureInstanceKHR> placed;
  std::size_t formats = 0;
  for (const VkFormat format :
       {VK_FORMAT_R32G32_SFLOAT, VK_FORMAT_R32G32B32_SFLOAT, VK_FORMAT_R32G32B32A32_SFLOAT, VK_FORMAT_R16G16_SFLOAT,
        VK_FORMAT_R16G16B16_SFLOAT, VK_FORMAT_R16G16B16A16_SFLOAT, VK_FORMAT_R16G16_SNORM, VK_FORMAT_R16G16B16_SNORM,
        VK_FORMAT_R16G16B16A16_SNORM, VK_FORMAT_R8G8_SNORM, VK_FORMAT_R8G8B8_SNORM, VK_FORMAT_R8G8B8A8_SNORM,
        VK_FORMAT_R16G16_UNORM, VK_FORMAT_R16G16B16A16_UNORM, VK_FORMAT_R8G8_UNORM, VK_FORMAT_R8G8B8A8_UNORM,
        VK_FORMAT_A2B10G10R10_UNORM_PACK32, VK_FORMAT_A2B10G10R10_SNORM_PACK32, VK_FORMAT_R64G64B64_SFLOAT}) {
    VkFormatProperties properties{};
    vkGetPhysicalDeviceFormatProperties(program.physical, format, &properties);
    if ((properties.bufferFeatures & VK_FORMAT_FEATURE_ACCELERATION_STRUCTURE_VERTEX_BUFFER_BIT_KHR) == 0) {
      continue;
    }
    ++formats;
    for (const VkIndexType type : {VK_INDEX_TYPE_NONE_KHR, VK_INDEX_TYPE_UINT16, VK_INDEX_TYPE_UINT32}) {
      const std::uint32_t element = vertex_bytes(format);
      const std::uint32_t stride = (element + 3) / 4 * 4 + 8;
      const bool indexed = type != VK_INDEX_TYPE_NONE_KHR;
      const std::uint32_t first_vertex = indexed ? 0 : 2;  // lavapipe builds wrong geometry of indices with an offset
      const std::uint32_t count = indexed ? kVertexCount : 3 * kTriangles + first_vertex;
      const auto memory = vertex_memory(format, stride, count, random);
      const TestBuffer vertices = program.filled(memory, 16);
      spool::Geometry geometry;
      geometry.flags = random() % 4;
      geometry.primitive_count = kTriangles;
      geometry.vertex_format = format;
      geometry.vertex_stride = element;
      geometry.index_type = type;
      VkDeviceAddress index_address = 0;
      std::uint32_t least = first_vertex;
      std::uint32_t most = count - 1;
      if (indexed) {
        std::vector<std::uint32_t> indices(3 + 3 * kTriangles);  // the first three are left out by the offset
        for (auto& index : indices) {
          index = 2 + static_cast<std::uint32_t>(random() % 6);
        }
        indices[0] = indices[1] = indices[2] = 0;
        index_address = program.filled(index_memory(indices, index_bytes(type)), 12).address + 12;
        indices.erase(indices.begin(), indices.begin() + 3);
        least = *std::min_element(indices.begin(), indices.end());
        most = *std::max_element(indices.begin(), indices.end());
        for (auto& index : indices) {
          index -= least;
        }
        geometry.indices = index_memory(indices, index_bytes(type));
      }
      geometry.vertex_count = most - least + 1;
      for (std::uint32_t v = least; v <= most; ++v) {
        const auto* from = memory.data() + std::size_t{v} * stride;
        geometry.vertices.insert(geometry.vertices.end(), from, from + element);
      }
      std::vector<float> transform(24);
      for (auto& number : transform) {
        number = static_cast<float>(random() % 100) / 50;
      }
      geometry.has_transform = formats % 2 == 0 ? 1 : 0;
      if (geometry.has_transform != 0) {
        std::copy_n(transform.data() + 12, 12, geometry.transform);
      }
      BuildRequest request;
      request.flags = VK_BUILD_ACCELERATION_STRUCTURE_PREFER_FAST_TRACE_BIT_KHR;
      request.add(
          triangles(vertices.address + 16, format, stride, count - 1, type, index_address,
                    geometry.has_transform != 0 ? program.filled(transform).address : 0, geometry.flags),
          {kTriangles, indexed ? 3 * index_bytes(type) : 0, first_vertex, geometry.has_transform != 0 ? 48U : 0U});
      placed.push_back(instance_of(program.built(request)));
      expected.push_back({geometry, "format " + std::to_string(format) + " index type " + std::to_string(type)});
    }
  }
  ASSERT_GE(formats, 8U);
  const TestStructure top = program.built(scene(program, placed));
  program.launch(top);

  const SpoolFile spool = program.spool();
  ASSERT_EQ(spool.launches.size(), 1U);
  ASSERT_EQ(spool.launches[0].structures.size(), 1U);
  const spool::Structure& made = spool.used(spool.launches[0]);
  ASSERT_EQ(made.instances.size(), expected.size());
  EXPECT_EQ(made.missing, "");
  for (std::size_t i = 0; i < expected.size(); ++i) {
    SCOPED_TRACE(expected[i].what);
    const spool::Structure& bottom = spool.bottom(made, i);
    EXPECT_EQ(bottom.flags,
              VkBuildAccelerationStructureFlagsKHR{VK_BUILD_ACCELERATION_STRUCTURE_PREFER_FAST_TRACE_BIT_KHR});
    ASSERT_EQ(bottom.geometries.size(), 1U);
    const spool::Geometry& got = bottom.geometries[0];
    const spool::Geometry& want = expected[i].geometry;
    EXPECT_EQ(got.missing, "");
    EXPECT_EQ(got.type, spool::GeometryType::Triangles);
    EXPECT_EQ(got.flags, want.flags);
    EXPECT_EQ(got.primitive_count, want.primitive_count);
    EXPECT_EQ(got.vertex_format, want.vertex_format);
    EXPECT_EQ(got.vertex_stride, want.vertex_stride);
    EXPECT_EQ(got.vertex_count, want.vertex_count);
    EXPECT_EQ(got.index_type, want.index_type);
    EXPECT_EQ(got.has_transform, want.has_transform);
    EXPECT_EQ(std::memcmp(got.transform, want.transform, sizeof want.transform), 0);
    EXPECT_EQ(got.vertices, want.vertices);
    EXPECT_EQ(got.indices, want.indices);
  }
}

TEST(BuildsEndToEnd, BoxesWithAStrideAndSeveralGeometriesInOneStructure) {
  VulkanProgram program;
  std::vector<float> memory;  // far from the rays: the pipeline has no intersection shader
  for (int i = 0; i < 6 * 10; ++i) {
    memory.push_back(10000.0F + static_cast<float>(i));
  }
  const TestBuffer data = program.filled(memory);
  BuildRequest request;
  request.add(boxes(data.address, 40, VK_GEOMETRY_OPAQUE_BIT_KHR), {4, 40, 0, 0});
  request.add(boxes(data.address, 24), {2, 8, 0, 0});
  const TestStructure bottom = program.built(request);
  program.launch(program.built(scene(program, {instance_of(bottom)})));

  const SpoolFile spool = program.spool();
  const spool::Structure& made = spool.bottom(spool.used(spool.launches.at(0)), 0);
  ASSERT_EQ(made.geometries.size(), 2U);
  const auto bytes = bytes_of(memory);
  std::vector<std::uint8_t> strided;
  for (std::size_t i = 1; i <= 4; ++i) {
    strided.insert(strided.end(), bytes.data() + 40 * i, bytes.data() + 40 * i + 24);
  }
  EXPECT_EQ(made.geometries[0].type, spool::GeometryType::Boxes);
  EXPECT_EQ(made.geometries[0].flags, VkGeometryFlagsKHR{VK_GEOMETRY_OPAQUE_BIT_KHR});
  EXPECT_EQ(made.geometries[0].box_stride, 24U);
  EXPECT_EQ(made.geometries[0].boxes, strided);
  EXPECT_EQ(made.geometries[1].boxes, std::vector<std::uint8_t>(bytes.data() + 8, bytes.data() + 8 + 48));
  EXPECT_EQ(made.geometries[1].primitive_count, 2U);
}

TEST(BuildsEndToEnd, UpdatesAreNewStructuresAndEqualRebuildsAreNot) {
  VulkanProgram program;
  const auto before = triangle_vertices(4, 0);
  const auto after = triangle_vertices(4, 5);
  const TestBuffer vertices = program.filled(before);
  const BuildRequest request = mesh(vertices, 0, VK_BUILD_ACCELERATION_STRUCTURE_ALLOW_UPDATE_BIT_KHR);
  const TestStructure bottom = program.built(request);
  const BuildRequest top_request = scene(program, {instance_of(bottom)});
  const TestStructure top = program.built(top_request);
  program.launch(top);
  // Rebuilt from the same data: the same structure.
  program.record_build(request, bottom);
  program.record_build(top_request, top);
  program.launch(top);
  std::memcpy(vertices.data, after.data(), vertices.bytes);
  program.record_build(request, bottom, &bottom);
  program.record_build(top_request, top);
  program.launch(top);

  const SpoolFile spool = program.spool();
  ASSERT_EQ(spool.launches.size(), 3U);
  EXPECT_EQ(spool.launches[0].structures, spool.launches[1].structures);
  EXPECT_NE(spool.launches[1].structures, spool.launches[2].structures);
  EXPECT_EQ(spool.structures.size(), 4U);
  EXPECT_EQ(spool.bottom(spool.used(spool.launches[0]), 0).geometries.at(0).vertices, bytes_of(before));
  EXPECT_EQ(spool.bottom(spool.used(spool.launches[2]), 0).geometries.at(0).vertices, bytes_of(after));
}

TEST(BuildsEndToEnd, WhatWasReadIsKeptThoughTheCommandBufferOverwritesIt) {
  VulkanProgram program;
  const auto first = triangle_vertices(4, 0);
  const auto second = triangle_vertices(4, 7);
  const TestBuffer vertices = program.filled(first, 0, VulkanProgram::kBuildInput | VK_BUFFER_USAGE_TRANSFER_DST_BIT);
  const TestBuffer next =
      program.filled(second, 0, VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT);
  const BuildRequest request = mesh(vertices);
  const TestStructure bottom = program.create_structure(request.type, program.sizes(request).accelerationStructureSize);
  const BuildRequest top_request = scene(program, {instance_of(bottom)});
  const TestStructure top =
      program.create_structure(top_request.type, program.sizes(top_request).accelerationStructureSize);
  program.record_build(request, bottom);
  program.record_build(top_request, top);
  program.bind(program.descriptor_set(top.handle));
  program.record_launch();
  const VkBufferCopy all{0, 0, vertices.bytes};
  vkCmdCopyBuffer(program.commands(), next.buffer, vertices.buffer, 1, &all);
  program.barrier();
  program.record_build(request, bottom);
  program.record_build(top_request, top);
  program.record_launch();
  program.run();
  // The same command buffer again: now it finds what it left behind.
  program.run_again();

  const SpoolFile spool = program.spool();
  ASSERT_EQ(spool.launches.size(), 4U);
  const auto vertices_of = [&](std::size_t launch) {
    return spool.bottom(spool.used(spool.launches[launch]), 0).geometries.at(0).vertices;
  };
  EXPECT_EQ(vertices_of(0), bytes_of(first));
  EXPECT_EQ(vertices_of(1), bytes_of(second));
  EXPECT_EQ(vertices_of(2), bytes_of(second));
  EXPECT_EQ(vertices_of(3), bytes_of(second));
}

TEST(BuildsEndToEnd, ABottomLevelThatIsBuiltAgainUnderItsTopLevelCountsAsItIs) {
  VulkanProgram program;
  const auto before = triangle_vertices(4, 0);
  const auto after = triangle_vertices(4, 0, 2);
  const TestBuffer vertices = program.filled(before);
  const TestStructure bottom = program.built(mesh(vertices));
  const TestStructure top = program.built(scene(program, {instance_of(bottom)}));
  program.launch(top);
  std::memcpy(vertices.data, after.data(), vertices.bytes);
  program.record_build(mesh(vertices), bottom);
  program.launch(top);

  const SpoolFile spool = program.spool();
  EXPECT_EQ(spool.bottom(spool.used(spool.launches.at(0)), 0).geometries.at(0).vertices, bytes_of(before));
  EXPECT_EQ(spool.bottom(spool.used(spool.launches.at(1)), 0).geometries.at(0).vertices, bytes_of(after));
  EXPECT_TRUE(std::any_of(spool.notes.begin(), spool.notes.end(), [](const std::string& note) {
    return note.find("built again after it") != std::string::npos;
  }));
}

TEST(BuildsEndToEnd, AfterTheLastChosenLaunchNothingIsCopiedAnyMore) {
  VulkanProgram program(Environment{{"RAYREPLAY_CAPTURE_LAUNCH", "1"}});
  const auto before = triangle_vertices(4, 0);
  const TestBuffer vertices = program.filled(before);
  const TestStructure bottom = program.built(mesh(vertices));
  const TestStructure top = program.built(scene(program, {instance_of(bottom)}));
  for (int i = 0; i < 3; ++i) {
    program.launch(top);
  }
  const SpoolFile spool = program.spool();
  ASSERT_EQ(spool.launches.size(), 1U);
  EXPECT_EQ(spool.launches[0].launch, 1U);
  EXPECT_EQ(spool.structures.size(), 2U);
  EXPECT_EQ(spool.bottom(spool.used(spool.launches[0]), 0).geometries.at(0).vertices, bytes_of(before));
}

TEST(BuildsEndToEnd, GeometriesThatShareALargeVertexBufferKeepOnlyTheirPart) {
  VulkanProgram program;
  const auto all = triangle_vertices(64, 1);
  const TestBuffer vertices = program.filled(all);
  std::vector<std::uint32_t> indices;
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    indices.push_back(i);
  }
  const TestBuffer index_buffer = program.filled(indices);
  BuildRequest request;
  for (std::uint32_t part = 0; part < 8; ++part) {
    request.add(triangles(vertices.address, VK_FORMAT_R32G32B32_SFLOAT, 12, static_cast<std::uint32_t>(all.size() - 1),
                          VK_INDEX_TYPE_UINT32, index_buffer.address),
                {8, part * 24 * 4, 0, 0});
  }
  program.launch(program.built(scene(program, {instance_of(program.built(request))})));
  const SpoolFile spool = program.spool();
  const spool::Structure& made = spool.bottom(spool.used(spool.launches.at(0)), 0);
  const auto bytes = bytes_of(all);
  for (std::size_t part = 0; part < 8; ++part) {
    EXPECT_EQ(made.geometries.at(part).vertex_count, 24U);
    EXPECT_EQ(made.geometries.at(part).vertices,
              std::vector<std::uint8_t>(bytes.data() + part * 24 * 12, bytes.data() + (part + 1) * 24 * 12));
    EXPECT_EQ(made.geometries.at(part).indices,
              bytes_of(std::vector<std::uint32_t>(indices.begin(), indices.begin() + 24)));
  }
}

}  // namespace
}  // namespace rayreplay::layer::geometry
