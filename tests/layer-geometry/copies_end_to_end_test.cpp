// Structures that get their content from another one: clones, compaction, serialised data; and re-creation.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "tests/layer-geometry/scenes.hpp"

namespace rayreplay::layer::geometry {
namespace {

constexpr auto kBottom = VK_ACCELERATION_STRUCTURE_TYPE_BOTTOM_LEVEL_KHR;
constexpr auto kTop = VK_ACCELERATION_STRUCTURE_TYPE_TOP_LEVEL_KHR;

void record_copy(VulkanProgram& program, const TestStructure& from, const TestStructure& to,
                 VkCopyAccelerationStructureModeKHR mode) {
  const VkCopyAccelerationStructureInfoKHR info{VK_STRUCTURE_TYPE_COPY_ACCELERATION_STRUCTURE_INFO_KHR, nullptr,
                                                from.handle, to.handle, mode};
  program.CmdCopyAccelerationStructureKHR(program.commands(), &info);
  program.barrier();
}

/// Serialised into a buffer of its own, with room behind it.
TestBuffer serialized(VulkanProgram& program, const TestStructure& from) {
  const std::uint64_t bytes = program.property(from, VK_QUERY_TYPE_ACCELERATION_STRUCTURE_SERIALIZATION_SIZE_KHR);
  // The address of the data is to be aligned to 256 bytes.
  const TestBuffer made = program.buffer(
      bytes + 1000, VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT | VK_BUFFER_USAGE_ACCELERATION_STRUCTURE_STORAGE_BIT_KHR);
  VkCopyAccelerationStructureToMemoryInfoKHR info{};
  info.sType = VK_STRUCTURE_TYPE_COPY_ACCELERATION_STRUCTURE_TO_MEMORY_INFO_KHR;
  info.src = from.handle;
  info.dst.deviceAddress = made.address;
  info.mode = VK_COPY_ACCELERATION_STRUCTURE_MODE_SERIALIZE_KHR;
  program.CmdCopyAccelerationStructureToMemoryKHR(program.commands(), &info);
  program.barrier();
  program.run();
  return made;
}

TestStructure deserialized(VulkanProgram& program, VkAccelerationStructureTypeKHR type, const TestBuffer& from) {
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, from.data + 40, sizeof bytes);
  TestStructure made = program.create_structure(type, bytes);
  VkCopyMemoryToAccelerationStructureInfoKHR info{};
  info.sType = VK_STRUCTURE_TYPE_COPY_MEMORY_TO_ACCELERATION_STRUCTURE_INFO_KHR;
  info.src.deviceAddress = from.address;
  info.dst = made.handle;
  info.mode = VK_COPY_ACCELERATION_STRUCTURE_MODE_DESERIALIZE_KHR;
  program.CmdCopyMemoryToAccelerationStructureKHR(program.commands(), &info);
  program.barrier();
  program.run();
  return made;
}

std::vector<std::uint8_t> vertices_of(const SpoolFile& spool, const spool::Launch& launch, std::size_t instance = 0) {
  return spool.bottom(spool.used(launch), instance).geometries.at(0).vertices;
}

TEST(CopiesEndToEnd, ClonesAndCompactedOnesHoldWhatTheirSourceHeld) {
  VulkanProgram program;
  const auto vertices = triangle_vertices(4, 3);
  const BuildRequest request =
      mesh(program.filled(vertices), 0, VK_BUILD_ACCELERATION_STRUCTURE_ALLOW_COMPACTION_BIT_KHR);
  TestStructure source = program.built(request);
  const TestStructure clone = program.create_structure(kBottom, source.memory.bytes);
  const TestStructure compact = program.create_structure(
      kBottom, program.property(source, VK_QUERY_TYPE_ACCELERATION_STRUCTURE_COMPACTED_SIZE_KHR));
  record_copy(program, source, clone, VK_COPY_ACCELERATION_STRUCTURE_MODE_CLONE_KHR);
  record_copy(program, source, compact, VK_COPY_ACCELERATION_STRUCTURE_MODE_COMPACT_KHR);
  program.run();
  program.destroy(source);
  const TestStructure top = program.built(scene(program, {instance_of(clone), instance_of(compact)}));
  const TestStructure top_clone = program.create_structure(kTop, top.memory.bytes);
  record_copy(program, top, top_clone, VK_COPY_ACCELERATION_STRUCTURE_MODE_CLONE_KHR);
  program.run();
  program.launch(top_clone);

  const SpoolFile spool = program.spool();
  ASSERT_EQ(spool.launches.at(0).structures.size(), 1U);
  EXPECT_EQ(vertices_of(spool, spool.launches[0], 0), bytes_of(vertices));
  EXPECT_EQ(vertices_of(spool, spool.launches[0], 1), bytes_of(vertices));
  EXPECT_EQ(spool.structures.size(), 2U);  // one bottom level, one top level: shared by their copies
}

TEST(CopiesEndToEnd, SerialisedDataIsRecognisedAfterItMoved) {
  VulkanProgram program;
  const auto vertices = triangle_vertices(4, 3);
  TestStructure source = program.built(mesh(program.filled(vertices)));
  const TestBuffer data = serialized(program, source);
  program.destroy(source);
  const TestBuffer moved = program.buffer(data.bytes + 4096, VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT);
  std::memcpy(moved.data, data.data, data.bytes);
  std::memset(data.data, 0, data.bytes);
  const TestStructure again = deserialized(program, kBottom, moved);
  program.launch(program.built(scene(program, {instance_of(again, 7)})));

  const SpoolFile spool = program.spool();
  EXPECT_EQ(vertices_of(spool, spool.launches.at(0)), bytes_of(vertices));
  EXPECT_EQ(spool.used(spool.launches[0]).instances.at(0).custom_index, 7U);
}

TEST(CopiesEndToEnd, ADeserialisedTopLevelRefersToTheBottomLevelsItWasGiven) {
  VulkanProgram program;
  const auto first = triangle_vertices(4, 3);
  const auto second = triangle_vertices(4, 4);
  const TestStructure a = program.built(mesh(program.filled(first)));
  const TestStructure b = program.built(mesh(program.filled(second)));
  const TestStructure top = program.built(scene(program, {instance_of(a, 1)}));
  const TestBuffer data = serialized(program, top);
  std::uint64_t handles = 0;
  std::memcpy(&handles, data.data + 48, sizeof handles);
  ASSERT_EQ(handles, 1U);
  std::memcpy(data.data + 56, &b.address, sizeof b.address);
  const TestStructure again = deserialized(program, kTop, data);
  program.launch(again);

  const SpoolFile spool = program.spool();
  EXPECT_EQ(vertices_of(spool, spool.launches.at(0)), bytes_of(second));
  EXPECT_EQ(spool.used(spool.launches[0]).instances.at(0).custom_index, 1U);
}

TEST(CopiesEndToEnd, DataOfUnknownOriginIsSaidToBeMissing) {
  VulkanProgram program;
  const TestStructure source = program.built(mesh(program.filled(triangle_vertices(4, 3))));
  const TestBuffer data = serialized(program, source);
  // Another z of a vertex (lavapipe keeps them as they are): so the data of another process would differ.
  const float z = 3;
  const float other_z = 3.5;
  const auto* z_bytes = reinterpret_cast<const std::uint8_t*>(&z);
  std::uint8_t* found = std::search(data.data + 56, data.data + data.bytes, z_bytes, z_bytes + sizeof z);
  ASSERT_NE(found, data.data + data.bytes);
  std::memcpy(found, &other_z, sizeof other_z);
  const TestStructure again = deserialized(program, kBottom, data);
  program.launch(program.built(scene(program, {instance_of(again)})));

  const SpoolFile spool = program.spool();
  const spool::Structure& made = spool.bottom(spool.used(spool.launches.at(0)), 0);
  EXPECT_NE(made.missing.find("not serialised in this process"), std::string::npos) << made.missing;
  EXPECT_TRUE(std::any_of(spool.notes.begin(), spool.notes.end(), [](const std::string& note) {
    return note.find("not serialised in this process") != std::string::npos;
  }));
}

TEST(CopiesEndToEnd, AStructureMayComeAgainAtTheSamePlaceAndShareItsBuffer) {
  VulkanProgram program;
  const auto first = triangle_vertices(4, 3);
  const auto second = triangle_vertices(4, 4);
  TestStructure old = program.built(mesh(program.filled(first)));
  program.launch(program.built(scene(program, {instance_of(old)})));
  program.destroy(old);
  const TestStructure fresh = program.create_structure_at(kBottom, old);
  EXPECT_EQ(fresh.address, old.address);
  program.record_build(mesh(program.filled(second)), fresh);
  program.run();
  program.launch(program.built(scene(program, {instance_of(fresh)})));

  const SpoolFile spool = program.spool();
  EXPECT_EQ(vertices_of(spool, spool.launches.at(0)), bytes_of(first));
  EXPECT_EQ(vertices_of(spool, spool.launches.at(1)), bytes_of(second));
}

}  // namespace
}  // namespace rayreplay::layer::geometry
