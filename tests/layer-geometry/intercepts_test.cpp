// Geometry's intercepts where lavapipe has no such function, or fails in no such way: host and indirect builds, memory
// that is unknown or used up, descriptors of other kinds.
#include <gtest/gtest.h>

#include <thread>

#include "capture/layer/pipelines/pipelines.hpp"
#include "tests/layer-geometry/fake_layer.hpp"

namespace rayreplay::layer::geometry {
namespace {

constexpr auto kBottom = VK_ACCELERATION_STRUCTURE_TYPE_BOTTOM_LEVEL_KHR;
constexpr auto kTop = VK_ACCELERATION_STRUCTURE_TYPE_TOP_LEVEL_KHR;
using Range = VkAccelerationStructureBuildRangeInfoKHR;

VkAccelerationStructureGeometryKHR triangles_at(VkDeviceAddress vertices, std::uint32_t max_vertex,
                                                VkDeviceAddress indices = 0) {
  VkAccelerationStructureGeometryKHR made{};
  made.geometryType = VK_GEOMETRY_TYPE_TRIANGLES_KHR;
  auto& data = made.geometry.triangles;
  data.vertexFormat = VK_FORMAT_R32G32B32_SFLOAT;
  data.vertexData.deviceAddress = vertices;
  data.vertexStride = 12;
  data.maxVertex = max_vertex;
  data.indexType = indices == 0 ? VK_INDEX_TYPE_NONE_KHR : VK_INDEX_TYPE_UINT32;
  data.indexData.deviceAddress = indices;
  return made;
}

VkAccelerationStructureGeometryKHR instances_at(VkDeviceAddress data, bool pointers) {
  VkAccelerationStructureGeometryKHR made{};
  made.geometryType = VK_GEOMETRY_TYPE_INSTANCES_KHR;
  made.geometry.instances.data.deviceAddress = data;
  made.geometry.instances.arrayOfPointers = pointers ? VK_TRUE : VK_FALSE;
  return made;
}

VkAccelerationStructureBuildGeometryInfoKHR info_of(VkAccelerationStructureTypeKHR type, VkAccelerationStructureKHR to,
                                                    const std::vector<VkAccelerationStructureGeometryKHR>& geometries) {
  VkAccelerationStructureBuildGeometryInfoKHR info{};
  info.type = type;
  info.dstAccelerationStructure = to;
  info.geometryCount = static_cast<std::uint32_t>(geometries.size());
  info.pGeometries = geometries.data();
  return info;
}

class InterceptsTest : public testing::Test {
 protected:
  void build(VkAccelerationStructureTypeKHR type, VkAccelerationStructureKHR to,
             const VkAccelerationStructureGeometryKHR& geometry, const Range& range) {
    const std::vector<VkAccelerationStructureGeometryKHR> geometries{geometry};
    const auto info = info_of(type, to, geometries);
    const Range* ranges = &range;
    layer.call<std::remove_pointer_t<PFN_vkCmdBuildAccelerationStructuresKHR>>("vkCmdBuildAccelerationStructuresKHR")(
        layer.commands, 1, &info, &ranges);
  }
  VkResult build_host(VkAccelerationStructureTypeKHR type, VkAccelerationStructureKHR to,
                      const VkAccelerationStructureGeometryKHR& geometry, const Range& range) {
    const std::vector<VkAccelerationStructureGeometryKHR> geometries{geometry};
    const auto info = info_of(type, to, geometries);
    const Range* ranges = &range;
    return layer.call<std::remove_pointer_t<PFN_vkBuildAccelerationStructuresKHR>>("vkBuildAccelerationStructuresKHR")(
        layer.device.handle, VK_NULL_HANDLE, 1, &info, &ranges);
  }
  void build_indirect(VkAccelerationStructureKHR to, const std::vector<VkAccelerationStructureGeometryKHR>& geometries,
                      VkDeviceAddress address, std::uint32_t stride, const std::vector<std::uint32_t>& most) {
    const auto info = info_of(kBottom, to, geometries);
    const std::uint32_t* counts = most.data();
    layer.call<std::remove_pointer_t<PFN_vkCmdBuildAccelerationStructuresIndirectKHR>>(
        "vkCmdBuildAccelerationStructuresIndirectKHR")(layer.commands, 1, &info, &address, &stride, &counts);
  }
  [[nodiscard]] bool noted(const std::string& text) const {
    return std::any_of(layer.notes.begin(), layer.notes.end(),
                       [&](const std::string& note) { return note.find(text) != std::string::npos; });
  }
  static std::vector<float> numbers(std::size_t count) {
    std::vector<float> made(count);
    for (std::size_t i = 0; i < count; ++i) {
      made[i] = static_cast<float>(i);
    }
    return made;
  }
  static std::vector<std::uint8_t> bytes(const FakeBuffer& buffer, std::size_t first, std::size_t count) {
    const auto at = buffer.memory.begin() + static_cast<std::ptrdiff_t>(first);
    return {at, at + static_cast<std::ptrdiff_t>(count)};
  }

  FakeLayer layer;
};

TEST_F(InterceptsTest, IndirectBuildsAreReadByTheRangesThatTheDeviceSaw) {
  const FakeBuffer& vertices = layer.filled(numbers(3 * 40));
  const FakeBuffer& indices = layer.filled(std::vector<std::uint32_t>{9, 9, 9, 5, 6, 4, 7, 5, 4});
  struct Padded {
    Range range;
    std::uint32_t rubbish[2];
  };
  const FakeBuffer& ranges =
      layer.filled(std::vector<Padded>{{{2, 12, 3, 0}, {7, 7}}, {{1, 24, 1, 0}, {7, 7}}},
                   VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT);
  const auto structure = layer.structure(kBottom);
  build_indirect(structure,
                 {triangles_at(FakeLayer::address(vertices), 11, FakeLayer::address(indices)),
                  triangles_at(FakeLayer::address(vertices), 0)},
                 FakeLayer::address(ranges), sizeof(Padded), {5, 5});
  EXPECT_EQ(layer.passed_on.load(), 1);
  EXPECT_EQ(layer.content(structure), nullptr);
  layer.run();
  const auto content = layer.content(structure);
  ASSERT_NE(content, nullptr);
  EXPECT_EQ(content->missing, "");
  ASSERT_EQ(content->geometries.size(), 2U);
  const spool::Geometry& indexed = content->geometries[0];
  EXPECT_EQ(indexed.missing, "");
  EXPECT_EQ(indexed.primitive_count, 2U);
  const std::vector<std::uint32_t> rebased{1, 2, 0, 3, 1, 0};
  ASSERT_EQ(indexed.indices.size(), 24U);
  EXPECT_EQ(std::memcmp(indexed.indices.data(), rebased.data(), 24), 0);
  EXPECT_EQ(indexed.vertices, bytes(vertices, (3 + 4) * 12, 4 * 12));
  EXPECT_EQ(content->geometries[1].primitive_count, 1U);
  EXPECT_EQ(content->geometries[1].vertices, bytes(vertices, 24 + 12, 36));
}

TEST_F(InterceptsTest, IndirectBuildsOfUnknownOrTooManyPrimitivesAreMissing) {
  const FakeBuffer& vertices = layer.filled(numbers(90));
  const FakeBuffer& ranges = layer.filled(std::vector<Range>{{6, 0, 0, 0}}, VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT);
  const auto structure = layer.structure(kBottom);
  build_indirect(structure, {triangles_at(FakeLayer::address(vertices), 0)}, FakeLayer::address(ranges), sizeof(Range),
                 {5});
  layer.run();
  EXPECT_NE(layer.content(structure)->missing.find("at most 5"), std::string::npos);
  build_indirect(structure, {triangles_at(FakeLayer::address(vertices), 0)}, 8, sizeof(Range), {5});
  layer.run();
  EXPECT_NE(layer.content(structure)->missing.find("no buffer"), std::string::npos);
  EXPECT_TRUE(noted("ranges of its indirect build are unknown"));
}

TEST_F(InterceptsTest, HostBuildsAreReadFromTheApplicationsMemory) {
  const auto vertices = numbers(36);
  const std::vector<std::uint32_t> indices{2, 3, 4};
  const auto bottom = layer.structure(kBottom);
  const auto address_of = [](const auto& memory) { return reinterpret_cast<VkDeviceAddress>(memory.data()); };
  EXPECT_EQ(build_host(kBottom, bottom, triangles_at(address_of(vertices), 11, address_of(indices)), {1, 0, 1, 0}),
            VK_SUCCESS);
  const auto content = layer.content(bottom);
  ASSERT_NE(content, nullptr);
  ASSERT_EQ(content->geometries.at(0).vertices.size(), 36U);
  EXPECT_EQ(std::memcmp(content->geometries[0].vertices.data(), vertices.data() + 9, 36), 0);

  // Host builds refer to bottom levels by handle.
  VkAccelerationStructureInstanceKHR instance{};
  instance.instanceCustomIndex = 9;
  instance.accelerationStructureReference = reinterpret_cast<std::uint64_t>(bottom);
  const auto top = layer.structure(kTop);
  const std::vector<const VkAccelerationStructureInstanceKHR*> pointers{&instance, &instance};
  EXPECT_EQ(build_host(kTop, top, instances_at(address_of(pointers), true), {2, 0, 0, 0}), VK_SUCCESS);
  ASSERT_EQ(layer.content(top)->instances.size(), 2U);
  EXPECT_EQ(layer.content(top)->instances[1].bottom, content);
  EXPECT_EQ(layer.content(top)->instances[1].raw.instanceCustomIndex, 9U);
}

TEST_F(InterceptsTest, AHostBuildThatFailedChangesNothing) {
  const auto vertices = numbers(9);
  const auto bottom = layer.structure(kBottom);
  layer.host_result = VK_ERROR_OUT_OF_HOST_MEMORY;
  EXPECT_EQ(
      build_host(kBottom, bottom, triangles_at(reinterpret_cast<VkDeviceAddress>(vertices.data()), 0), {1, 0, 0, 0}),
      VK_ERROR_OUT_OF_HOST_MEMORY);
  EXPECT_EQ(layer.content(bottom), nullptr);
  layer.host_result = VK_OPERATION_DEFERRED_KHR;
  EXPECT_EQ(
      build_host(kBottom, bottom, triangles_at(reinterpret_cast<VkDeviceAddress>(vertices.data()), 0), {1, 0, 0, 0}),
      VK_OPERATION_DEFERRED_KHR);
  EXPECT_NE(layer.content(bottom), nullptr);
}

TEST_F(InterceptsTest, HostCopiesAndSerialisedData) {
  const auto vertices = numbers(9);
  const auto source = layer.structure(kBottom);
  build_host(kBottom, source, triangles_at(reinterpret_cast<VkDeviceAddress>(vertices.data()), 0), {1, 0, 0, 0});
  const auto clone = layer.structure(kBottom);
  VkCopyAccelerationStructureInfoKHR copy{};
  copy.src = source;
  copy.dst = clone;
  layer.call<std::remove_pointer_t<PFN_vkCopyAccelerationStructureKHR>>("vkCopyAccelerationStructureKHR")(
      layer.device.handle, VK_NULL_HANDLE, &copy);
  EXPECT_EQ(layer.content(clone), layer.content(source));

  std::vector<std::uint8_t> data(64);
  VkCopyAccelerationStructureToMemoryInfoKHR out{};
  out.src = source;
  out.dst.hostAddress = data.data();
  layer.call<std::remove_pointer_t<PFN_vkCopyAccelerationStructureToMemoryKHR>>(
      "vkCopyAccelerationStructureToMemoryKHR")(layer.device.handle, VK_NULL_HANDLE, &out);
  const auto again = layer.structure(kBottom);
  VkCopyMemoryToAccelerationStructureInfoKHR in{};
  in.src.hostAddress = data.data();
  in.dst = again;
  const auto deserialize = layer.call<std::remove_pointer_t<PFN_vkCopyMemoryToAccelerationStructureKHR>>(
      "vkCopyMemoryToAccelerationStructureKHR");
  deserialize(layer.device.handle, VK_NULL_HANDLE, &in);
  EXPECT_EQ(layer.content(again), layer.content(source));
  data[60] ^= 1;
  deserialize(layer.device.handle, VK_NULL_HANDLE, &in);
  EXPECT_NE(layer.content(again)->missing, "");
}

TEST_F(InterceptsTest, UnknownAddressesAndEndsOfBuffersAreSaid) {
  const auto structure = layer.structure(kBottom);
  build(kBottom, structure, triangles_at(0x10, 0), {1, 0, 0, 0});
  layer.run();
  EXPECT_NE(layer.content(structure)->geometries.at(0).missing.find("no buffer is known"), std::string::npos);
  EXPECT_TRUE(noted("no buffer is known"));
  const FakeBuffer& vertices = layer.filled(numbers(8));  // one number short
  build(kBottom, structure, triangles_at(FakeLayer::address(vertices), 0), {1, 0, 0, 0});
  layer.run();
  EXPECT_NE(layer.content(structure)->geometries.at(0).missing.find("3 are used, 2 are there"), std::string::npos);
  EXPECT_EQ(layer.passed_on.load(), 2);
}

TEST_F(InterceptsTest, WithoutMemoryForCopiesTheBuildGoesOnAndIsMissing) {
  const FakeBuffer& vertices = layer.filled(numbers(9));
  const auto structure = layer.structure(kBottom);
  layer.memory_left = false;
  build(kBottom, structure, triangles_at(FakeLayer::address(vertices), 0), {1, 0, 0, 0});
  layer.run();
  EXPECT_NE(layer.content(structure)->geometries.at(0).missing.find("no memory"), std::string::npos);
  layer.memory_left = true;
  layer.state->budget->limit = 35;
  build(kBottom, structure, triangles_at(FakeLayer::address(vertices), 0), {1, 0, 0, 0});
  layer.run();
  EXPECT_NE(layer.content(structure)->geometries.at(0).missing.find("no room"), std::string::npos);
  layer.state->budget->limit = 36;
  build(kBottom, structure, triangles_at(FakeLayer::address(vertices), 0), {1, 0, 0, 0});
  layer.run();
  EXPECT_EQ(layer.content(structure)->geometries.at(0).missing, "");
  EXPECT_EQ(layer.state->budget->used.load(), 0U);
  EXPECT_EQ(layer.passed_on.load(), 3);
}

/// What the pointers lead to is unknown while recording: no buffer is copied from, as it may be destroyed before.
TEST_F(InterceptsTest, PointedToInstancesOfDeviceBuildsAreSaidToBeUnknown) {
  const FakeBuffer& instances = layer.filled(std::vector<VkAccelerationStructureInstanceKHR>(1));
  const FakeBuffer& pointers = layer.filled(std::vector<std::uint64_t>{FakeLayer::address(instances)});
  const auto top = layer.structure(kTop);
  build(kTop, top, instances_at(FakeLayer::address(pointers), true), {1, 0, 0, 0});
  EXPECT_EQ(layer.state->budget->used.load(), 0U);
  layer.run();
  EXPECT_NE(layer.content(top)->missing.find("arrayOfPointers"), std::string::npos);
  EXPECT_TRUE(noted("arrayOfPointers"));
  // Without instances there is nothing that could be missing.
  build(kTop, top, instances_at(FakeLayer::address(pointers), true), {0, 0, 0, 0});
  layer.run();
  EXPECT_EQ(layer.content(top)->missing, "");
}

TEST_F(InterceptsTest, InstancesWithMotionAreSaidToBeUnknown) {
  const FakeBuffer& memory = layer.filled(std::vector<VkAccelerationStructureInstanceKHR>(8));
  const auto top = layer.structure(kTop);
  const std::vector<VkAccelerationStructureGeometryKHR> geometries{instances_at(FakeLayer::address(memory), false)};
  auto info = info_of(kTop, top, geometries);
  info.flags = VK_BUILD_ACCELERATION_STRUCTURE_MOTION_BIT_NV;
  const Range range{1, 0, 0, 0};
  const Range* ranges = &range;
  layer.call<std::remove_pointer_t<PFN_vkCmdBuildAccelerationStructuresKHR>>("vkCmdBuildAccelerationStructuresKHR")(
      layer.commands, 1, &info, &ranges);
  layer.run();
  EXPECT_NE(layer.content(top)->missing.find("motion"), std::string::npos);
  EXPECT_TRUE(layer.content(top)->instances.empty());
}

TEST_F(InterceptsTest, ALostDeviceIsLeftInPeace) {
  const FakeBuffer& vertices = layer.filled(numbers(9));
  const auto structure = layer.structure(kBottom);
  layer.device.lost = true;
  build(kBottom, structure, triangles_at(FakeLayer::address(vertices), 0), {1, 0, 0, 0});
  EXPECT_TRUE(layer.recording->operations.empty());
  EXPECT_EQ(layer.passed_on.load(), 1);
}

TEST_F(InterceptsTest, StructuresArePendingFromSubmissionToCompletion) {
  const FakeBuffer& vertices = layer.filled(numbers(9));
  const auto structure = layer.structure(kBottom);
  const auto object = layer.state->structures.get(structure);
  build(kBottom, structure, triangles_at(FakeLayer::address(vertices), 0), {1, 0, 0, 0});
  EXPECT_EQ(object->pending, 0U);
  for (const auto& operation : layer.recording->operations) {
    operation->submit(layer.device);
  }
  EXPECT_EQ(object->pending, 1U);
  Drain drain{layer.device};
  for (const auto& operation : layer.recording->operations) {
    operation->complete(drain);
  }
  EXPECT_EQ(object->pending, 0U);
}

class SceneTest : public InterceptsTest {
 protected:
  SceneTest() {
    for (auto* structure : {&first, &second}) {
      *structure = layer.structure(kTop);
      Content content;
      content.top_level = true;
      content.flags = structure == &first ? 1 : 2;
      layer.state->set_content(*layer.state->structures.get(*structure), std::move(content));
    }
    const VkDescriptorSetLayoutBinding binding{3, VK_DESCRIPTOR_TYPE_ACCELERATION_STRUCTURE_KHR, 4, 0, nullptr};
    VkDescriptorSetLayoutCreateInfo info{};
    info.bindingCount = 1;
    info.pBindings = &binding;
    VkDescriptorSetLayout layout = VK_NULL_HANDLE;
    layer.call<std::remove_pointer_t<PFN_vkCreateDescriptorSetLayout>>("vkCreateDescriptorSetLayout")(
        layer.device.handle, &info, nullptr, &layout);
    VkDescriptorSetAllocateInfo allocate{};
    allocate.descriptorSetCount = 1;
    allocate.pSetLayouts = &layout;
    layer.call<std::remove_pointer_t<PFN_vkAllocateDescriptorSets>>("vkAllocateDescriptorSets")(layer.device.handle,
                                                                                                &allocate, &set);
    pipeline.sites = {{0, 0, true, 1, 3}};
  }

  VkWriteDescriptorSet write_of(const VkAccelerationStructureKHR& structure) {
    structures.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET_ACCELERATION_STRUCTURE_KHR;
    structures.accelerationStructureCount = 1;
    structures.pAccelerationStructures = &structure;
    VkWriteDescriptorSet write{};
    write.pNext = &structures;
    write.dstSet = set;
    write.dstBinding = 3;
    write.descriptorCount = 1;
    write.descriptorType = VK_DESCRIPTOR_TYPE_ACCELERATION_STRUCTURE_KHR;
    return write;
  }
  void bind(std::uint32_t number) {
    layer.call<std::remove_pointer_t<PFN_vkCmdBindDescriptorSets>>("vkCmdBindDescriptorSets")(
        layer.commands, VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR, VK_NULL_HANDLE, number, 1, &set, 0, nullptr);
  }
  void update(const VkWriteDescriptorSet& write) {
    layer.call<std::remove_pointer_t<PFN_vkUpdateDescriptorSets>>("vkUpdateDescriptorSets")(layer.device.handle, 1,
                                                                                            &write, 0, nullptr);
  }
  /// Handles of the candidates.
  std::vector<VkAccelerationStructureKHR> candidates(const PipelineRecord* of) {
    LaunchScene scene = State::scene_of(*layer.recording, of);
    layer.state->evaluate(scene);
    exact = scene.exact;
    std::vector<VkAccelerationStructureKHR> found;
    for (const auto& structure : scene.candidates) {
      found.push_back(structure->handle);
    }
    return found;
  }
  using Handles = std::vector<VkAccelerationStructureKHR>;

  VkAccelerationStructureKHR first = VK_NULL_HANDLE, second = VK_NULL_HANDLE;
  VkDescriptorSet set = VK_NULL_HANDLE;
  VkWriteDescriptorSetAccelerationStructureKHR structures{};
  PipelineRecord pipeline;
  bool exact = false;
};

TEST_F(SceneTest, SitesNameTheStructuresOfTheirBinding) {
  EXPECT_EQ(candidates(&pipeline), Handles{});
  EXPECT_FALSE(exact);
  update(write_of(first));
  bind(1);
  EXPECT_EQ(candidates(&pipeline), Handles{first});
  EXPECT_TRUE(exact);
  pipeline.sites.push_back({0, 1, false, 0, 0});  // made from an address: may be any
  EXPECT_EQ(candidates(&pipeline), Handles{first});
  EXPECT_FALSE(exact);
  EXPECT_EQ(candidates(nullptr), Handles{first});  // bound somewhere: likelier than others
  EXPECT_FALSE(exact);
}

TEST_F(SceneTest, PushedDescriptorsReplaceBoundSets) {
  update(write_of(first));
  bind(1);
  const VkWriteDescriptorSet write = write_of(second);
  layer.call<std::remove_pointer_t<PFN_vkCmdPushDescriptorSetKHR>>("vkCmdPushDescriptorSetKHR")(
      layer.commands, VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR, VK_NULL_HANDLE, 1, 1, &write);
  EXPECT_EQ(candidates(&pipeline), Handles{second});
  EXPECT_TRUE(exact);
  layer.call<std::remove_pointer_t<PFN_vkCmdPushDescriptorSetKHR>>("vkCmdPushDescriptorSetKHR")(
      layer.commands, VK_PIPELINE_BIND_POINT_COMPUTE, VK_NULL_HANDLE, 1, 1, &write);
  bind(1);
  EXPECT_EQ(candidates(&pipeline), Handles{first});
}

TEST_F(SceneTest, DescriptorBuffersAreUnknown) {
  update(write_of(first));
  bind(1);
  const std::uint32_t buffer = 0;
  const VkDeviceSize offset = 0;
  layer.call<std::remove_pointer_t<PFN_vkCmdSetDescriptorBufferOffsetsEXT>>("vkCmdSetDescriptorBufferOffsetsEXT")(
      layer.commands, VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR, VK_NULL_HANDLE, 1, 1, &buffer, &offset);
  EXPECT_EQ(candidates(&pipeline), Handles{});
  EXPECT_FALSE(exact);
}

TEST_F(InterceptsTest, ManyThreadsCreateBuildAndDestroyAtOnce) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        const auto vertices = numbers(9);
        FakeBuffer& buffer = layer.buffer(64 + static_cast<std::size_t>(i));
        const bool found = layer.state->find(FakeLayer::address(buffer)).has_value();
        layer.call<std::remove_pointer_t<PFN_vkDestroyBuffer>>("vkDestroyBuffer")(layer.device.handle,
                                                                                  FakeLayer::handle(buffer), nullptr);
        const VkAccelerationStructureKHR made = layer.structure(kBottom);
        build_host(kBottom, made, triangles_at(reinterpret_cast<VkDeviceAddress>(vertices.data()), 0), {1, 0, 0, 0});
        layer.call<std::remove_pointer_t<PFN_vkDestroyAccelerationStructureKHR>>("vkDestroyAccelerationStructureKHR")(
            layer.device.handle, made, nullptr);
        wrong += found ? 0 : 1;
      }
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(wrong.load(), 0);
}

}  // namespace
}  // namespace rayreplay::layer::geometry
