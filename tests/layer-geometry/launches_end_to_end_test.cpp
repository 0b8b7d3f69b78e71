// Launches: which structures and tables they used.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "tests/layer-geometry/scenes.hpp"

namespace rayreplay::layer::geometry {
namespace {

TEST(LaunchesEndToEnd, InstancesAreSpooledWithAllTheirFields) {
  VulkanProgram program;
  TestStructure bottom = program.built(mesh(program.filled(triangle_vertices(4, 3))));
  program.name(bottom.handle, "four triangles");
  std::vector<VkAccelerationStructureInstanceKHR> placed;
  for (std::uint32_t i = 0; i < 16; ++i) {
    auto instance = instance_of(bottom, 0xFFFFF0U + i,
                                static_cast<std::uint8_t>(i % 4 + (i / 4 == 1   ? 4
                                                                   : i / 4 == 2 ? 8
                                                                                : 0)));
    instance.mask = (1U + 16 * i) & 0xFFU;
    for (int r = 0; r < 3; ++r) {
      for (int c = 0; c < 4; ++c) {
        instance.transform.matrix[r][c] =
            (r == c ? 1.0F : 0.0F) + 0.01F * static_cast<float>(i + 1) * static_cast<float>(r + c);
      }
    }
    placed.push_back(instance);
  }
  placed[3].accelerationStructureReference = 0;  // inactive
  const TestStructure top = program.built(scene(program, placed));
  program.name(top.handle, "the scene");
  program.launch(top);

  const SpoolFile spool = program.spool();
  const spool::Structure& made = spool.used(spool.launches.at(0));
  EXPECT_EQ(made.name, "the scene");
  EXPECT_EQ(made.top_level, 1);
  ASSERT_EQ(made.instances.size(), placed.size());
  for (std::size_t i = 0; i < placed.size(); ++i) {
    const spool::Instance& got = made.instances[i];
    EXPECT_EQ(std::memcmp(got.transform, &placed[i].transform, sizeof got.transform), 0);
    EXPECT_EQ(got.custom_index, placed[i].instanceCustomIndex);
    EXPECT_EQ(got.hit_group_offset, 0U);
    EXPECT_EQ(got.mask, placed[i].mask);
    EXPECT_EQ(got.flags, placed[i].flags);
    EXPECT_EQ(got.structure == spool::kNullReference, i == 3);
  }
  EXPECT_EQ(spool.bottom(made, 0).name, "four triangles");
}

TEST(LaunchesEndToEnd, EachLaunchNamesTheSceneThatWasBound) {
  VulkanProgram program;
  const auto far = triangle_vertices(4, 9);
  const TestStructure bottom = program.built(mesh(program.filled(triangle_vertices(4, 3))));
  const TestStructure other = program.built(mesh(program.filled(far)));
  const TestStructure a = program.built(scene(program, {instance_of(bottom, 1)}));
  const TestStructure b = program.built(scene(program, {instance_of(other, 2)}));
  VkDescriptorSet set_a = program.descriptor_set(a.handle);
  VkDescriptorSet set_b = program.descriptor_set(b.handle);
  program.bind(set_a);
  program.record_launch();
  program.bind(set_b);
  program.record_launch();
  program.record_launch();
  program.bind(set_a);
  program.record_launch();
  program.run();

  const SpoolFile spool = program.spool();
  ASSERT_EQ(spool.launches.size(), 4U);
  std::vector<std::uint32_t> custom;
  for (const spool::Launch& launch : spool.launches) {
    ASSERT_EQ(launch.structures.size(), 1U);
    custom.push_back(spool.used(launch).instances.at(0).custom_index);
  }
  EXPECT_EQ(custom, (std::vector<std::uint32_t>{1, 2, 2, 1}));
}

TEST(LaunchesEndToEnd, DescriptorsUpdatedAfterRecordingCountAsTheyAreAtSubmission) {
  VulkanProgram program;
  const TestStructure bottom = program.built(mesh(program.filled(triangle_vertices(4, 3))));
  const TestStructure a = program.built(scene(program, {instance_of(bottom, 1)}));
  const TestStructure b = program.built(scene(program, {instance_of(bottom, 2)}));
  VkDescriptorSet set = program.descriptor_set(a.handle);
  VkDescriptorSet source = program.descriptor_set(b.handle);
  program.bind(set);
  program.record_launch();
  program.write_scene(set, b.handle);
  program.run();
  program.write_scene(set, a.handle);
  program.run_again();
  VkCopyDescriptorSet copy{};
  copy.sType = VK_STRUCTURE_TYPE_COPY_DESCRIPTOR_SET;
  copy.srcSet = source;
  copy.dstSet = set;
  copy.descriptorCount = 1;
  vkUpdateDescriptorSets(program.device, 0, nullptr, 1, &copy);
  program.run_again();

  const SpoolFile spool = program.spool();
  ASSERT_EQ(spool.launches.size(), 3U);
  EXPECT_EQ(spool.used(spool.launches[0]).instances.at(0).custom_index, 2U);
  EXPECT_EQ(spool.used(spool.launches[1]).instances.at(0).custom_index, 1U);
  EXPECT_EQ(spool.used(spool.launches[2]).instances.at(0).custom_index, 2U);
}

TEST(LaunchesEndToEnd, UpdateTemplatesAreFollowed) {
  VulkanProgram program;
  const TestStructure bottom = program.built(mesh(program.filled(triangle_vertices(4, 3))));
  const TestStructure a = program.built(scene(program, {instance_of(bottom, 1)}));
  program.built(scene(program, {instance_of(bottom, 2)}));
  const VkDescriptorUpdateTemplateEntry entry{0, 0, 1, VK_DESCRIPTOR_TYPE_ACCELERATION_STRUCTURE_KHR, 8, 0};
  VkDescriptorUpdateTemplateCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_UPDATE_TEMPLATE_CREATE_INFO;
  info.descriptorUpdateEntryCount = 1;
  info.pDescriptorUpdateEntries = &entry;
  info.templateType = VK_DESCRIPTOR_UPDATE_TEMPLATE_TYPE_DESCRIPTOR_SET;
  info.descriptorSetLayout = program.set_layout;
  VkDescriptorUpdateTemplate made = VK_NULL_HANDLE;
  ASSERT_EQ(vkCreateDescriptorUpdateTemplate(program.device, &info, nullptr, &made), VK_SUCCESS);
  VkDescriptorSet set = program.descriptor_set(VK_NULL_HANDLE);
  const struct {
    std::uint64_t other;
    VkAccelerationStructureKHR scene;
  } data{0, a.handle};
  vkUpdateDescriptorSetWithTemplate(program.device, set, made, &data);
  vkDestroyDescriptorUpdateTemplate(program.device, made, nullptr);
  program.bind(set);
  program.record_launch();
  program.run();

  const SpoolFile spool = program.spool();
  ASSERT_EQ(spool.launches.at(0).structures.size(), 1U);
  EXPECT_EQ(spool.used(spool.launches[0]).instances.at(0).custom_index, 1U);
}

bool noted(const SpoolFile& spool, const std::string& text) {
  return std::any_of(spool.notes.begin(), spool.notes.end(),
                     [&](const std::string& note) { return note.find(text) != std::string::npos; });
}

/// Only the device knows which buffers hold the instances; an application may destroy all others before it runs.
TEST(LaunchesEndToEnd, PointedToInstancesAreLeftOutAndBuffersOfNoUseMayGoBeforeTheBuildRuns) {
  VulkanProgram program;
  const TestStructure bottom = program.built(mesh(program.filled(triangle_vertices(4, 3))));
  const TestBuffer one = program.filled(std::vector{instance_of(bottom, 10)});
  const TestBuffer pointers = program.filled(std::vector<VkDeviceAddress>{one.address});
  const TestBuffer unrelated = program.buffer(65536);
  BuildRequest request;
  request.type = VK_ACCELERATION_STRUCTURE_TYPE_TOP_LEVEL_KHR;
  request.add(instances(pointers.address, true), {1, 0, 0, 0});
  const TestStructure top = program.create_structure(request.type, program.sizes(request).accelerationStructureSize);
  program.record_build(request, top);
  program.destroy(unrelated);
  program.run();
  program.launch(top);
  EXPECT_EQ(program.results().at(0), 2U + 16U);

  const SpoolFile spool = program.spool();
  const spool::Structure& made = spool.used(spool.launches.at(0));
  EXPECT_NE(made.missing.find("arrayOfPointers"), std::string::npos) << made.missing;
  EXPECT_TRUE(made.instances.empty());
  EXPECT_TRUE(noted(spool, "arrayOfPointers"));
}

void expect_tables(const VulkanProgram& program, const spool::Launch& launch) {
  ASSERT_EQ(launch.tables.size(), 4U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(launch.tables[i].region, static_cast<spool::TableRegion>(i));
    EXPECT_EQ(launch.tables[i].stride, 64U);
    EXPECT_EQ(launch.tables[i].missing, "");
    EXPECT_EQ(launch.tables[i].bytes,
              std::vector<std::uint8_t>(program.tables.data + 64 * i, program.tables.data + 64 * (i + 1)));
  }
  EXPECT_TRUE(launch.tables[3].bytes.empty());
  EXPECT_EQ(launch.tables[3].missing, "");
}

TEST(LaunchesEndToEnd, TablesAreAsTheLaunchSawThem) {
  VulkanProgram program;
  const TestStructure bottom = program.built(mesh(program.filled(triangle_vertices(4, 3))));
  program.launch(program.built(scene(program, {instance_of(bottom)})));
  expect_tables(program, program.spool().launches.at(0));
  // Record data changes between launches of one command buffer.
  std::memset(program.tables.data + 64 + 40, 0x5C, 8);
  program.run_again();
  const SpoolFile spool = program.spool();
  expect_tables(program, spool.launches.at(1));
  EXPECT_NE(spool.launches[0].tables[1].bytes, spool.launches[1].tables[1].bytes);
}

/// As above, of the tables that a launch's command names in device memory.
TEST(LaunchesEndToEnd, TablesNamedOnTheDeviceAreLeftOutAndBuffersOfNoUseMayGoBeforeTheLaunchRuns) {
  VulkanProgram program;
  const TestStructure bottom = program.built(mesh(program.filled(triangle_vertices(4, 3))));
  const TestStructure top = program.built(scene(program, {instance_of(bottom)}));
  program.launch(top);  // binds the pipeline once
  VkTraceRaysIndirectCommand2KHR command{};
  command.raygenShaderRecordAddress = program.tables.address;
  command.raygenShaderRecordSize = 64;
  command.missShaderBindingTableAddress = program.tables.address + 64;
  command.missShaderBindingTableSize = command.missShaderBindingTableStride = 64;
  command.hitShaderBindingTableAddress = program.tables.address + 128;
  command.hitShaderBindingTableSize = command.hitShaderBindingTableStride = 64;
  command.width = 4;
  command.height = 2;
  command.depth = 1;
  const TestBuffer memory = program.filled(
      std::vector{command}, 0, VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT);
  program.bind(program.descriptor_set(top.handle));
  program.bind_pipeline();
  const TestBuffer unrelated =
      program.buffer(65536, VK_BUFFER_USAGE_SHADER_BINDING_TABLE_BIT_KHR | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT);
  program.CmdTraceRaysIndirect2KHR(program.commands(), memory.address);
  program.destroy(unrelated);
  program.run();
  const SpoolFile spool = program.spool();
  ASSERT_EQ(spool.launches.size(), 2U);
  EXPECT_EQ(spool.launches[1].width, 4U);
  EXPECT_EQ(spool.launches[1].height, 2U);
  ASSERT_EQ(spool.launches[1].tables.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    const spool::Table& table = spool.launches[1].tables[i];
    EXPECT_EQ(table.region, static_cast<spool::TableRegion>(i));
    EXPECT_EQ(table.stride, i < 3 ? 64U : 0U);
    EXPECT_TRUE(table.bytes.empty());
    EXPECT_EQ(table.missing.find("vkCmdTraceRaysIndirect2KHR") != std::string::npos, i < 3) << table.missing;
  }
  EXPECT_TRUE(noted(spool, "vkCmdTraceRaysIndirect2KHR"));
  EXPECT_EQ(spool.launches[1].structures, spool.launches[0].structures);
}

TEST(LaunchesEndToEnd, WithGeometryOffNothingIsKept) {
  VulkanProgram program(Environment{{"RAYREPLAY_CAPTURE_GEOMETRY", "off"}});
  const TestStructure bottom = program.built(mesh(program.filled(triangle_vertices(4, 3))));
  program.launch(program.built(scene(program, {instance_of(bottom)})));
  const SpoolFile spool = program.spool();
  ASSERT_EQ(spool.launches.size(), 1U);
  EXPECT_TRUE(spool.launches[0].structures.empty());
  EXPECT_TRUE(spool.structures.empty());
  EXPECT_TRUE(spool.launches[0].tables.empty());
  EXPECT_EQ(program.results().at(0), 2U + 16U);
}

/// Opaque and other geometry, turned round by instances: launched twice; what the shaders count must be as without the
/// layer.
void launch_opaque_and_other(VulkanProgram& program) {
  // Rays 0–3: opaque, 4–7: not, 8–11 and 12–15: the same turned round by their instances.
  const TestBuffer opaque = program.filled(triangle_vertices(4, 3, 0));
  const TestBuffer open = program.filled(triangle_vertices(4, 3, 4));
  const TestBuffer opaque2 = program.filled(triangle_vertices(4, 3, 8));
  const TestBuffer open2 = program.filled(triangle_vertices(4, 3, 12));
  const auto both = [](const TestBuffer& a, const TestBuffer& b) {
    BuildRequest request = mesh(a, VK_GEOMETRY_OPAQUE_BIT_KHR);
    const BuildRequest other = mesh(b);
    request.add(other.geometries[0], other.ranges[0]);
    return request;
  };
  const TestStructure a = program.built(both(opaque, open));
  const TestStructure b = program.built(mesh(opaque2, VK_GEOMETRY_OPAQUE_BIT_KHR));
  const TestStructure c = program.built(mesh(open2));
  const TestStructure top =
      program.built(scene(program, {instance_of(a), instance_of(b, 0, VK_GEOMETRY_INSTANCE_FORCE_NO_OPAQUE_BIT_KHR),
                                    instance_of(c, 0, VK_GEOMETRY_INSTANCE_FORCE_OPAQUE_BIT_KHR)}));
  program.launch(top);
  program.run_again();
  const auto results = program.results();
  for (std::size_t i = 0; i < 20; ++i) {
    const std::uint32_t expected = i < 4 ? 2 : i < 12 ? 18 : i < 16 ? 2 : 1;
    EXPECT_EQ(results[i], expected) << i;
  }
}

TEST(LaunchesEndToEnd, ObserveAllKeepsTheResultsOfOpaqueAndOtherGeometry) {
  VulkanProgram program(Environment{{"RAYREPLAY_CAPTURE_OBSERVE_ALL", "on"}});
  launch_opaque_and_other(program);
  const SpoolFile spool = program.spool();
  ASSERT_EQ(spool.launches.size(), 2U);
  EXPECT_EQ(spool.launches[1].observe_all, 1);
  for (const std::string& note : spool.notes) {
    EXPECT_EQ(note.find("opacity table"), std::string::npos) << note;
    EXPECT_EQ(note.find("not observed"), std::string::npos) << note;
  }
}

TEST(LaunchesEndToEnd, ObserveAllKeepsTheResultsWhereThereIsNoOpacityTable) {
  for (const char* variable : {"RAYREPLAY_CAPTURE_GEOMETRY", "RAYREPLAY_CAPTURE_RECORD"}) {
    VulkanProgram program(Environment{{"RAYREPLAY_CAPTURE_OBSERVE_ALL", "on"}, {variable, "off"}});
    launch_opaque_and_other(program);
    for (const auto& launch : program.spool().launches) {
      EXPECT_EQ(launch.observe_all, 0) << variable;
    }
  }
}

/// What is opaque is not known when a structure is built by the launch's own submission.
TEST(LaunchesEndToEnd, ObserveAllSaysWhichLaunchesItDoesNotObserve) {
  VulkanProgram program(Environment{{"RAYREPLAY_CAPTURE_OBSERVE_ALL", "on"}});
  const TestStructure bottom = program.built(mesh(program.filled(triangle_vertices(4, 3)), VK_GEOMETRY_OPAQUE_BIT_KHR));
  const BuildRequest request = scene(program, {instance_of(bottom)});
  const TestStructure top = program.built(request);
  program.launch(top);
  program.record_build(request, top);
  program.barrier();
  program.launch(top);
  const auto results = program.results();
  EXPECT_EQ(results[0], 2U);
  const SpoolFile spool = program.spool();
  ASSERT_EQ(spool.launches.size(), 2U);
  EXPECT_EQ(spool.launches[0].observe_all, 1);
  EXPECT_EQ(spool.launches[1].observe_all, 0);
  EXPECT_TRUE(noted(spool, "not all opaque geometry of this launch is observed"));
}

TEST(LaunchesEndToEnd, ObserveAllKeepsTheResultsOfASceneThatIsBuiltInTheSameSubmission) {
  VulkanProgram program(Environment{{"RAYREPLAY_CAPTURE_OBSERVE_ALL", "on"}});
  const TestBuffer vertices = program.filled(triangle_vertices(4, 3));
  const TestStructure opaque = program.built(mesh(vertices, VK_GEOMETRY_OPAQUE_BIT_KHR));
  const TestStructure open = program.built(mesh(vertices));
  const BuildRequest with_opaque = scene(program, {instance_of(opaque)});
  const BuildRequest with_open = scene(program, {instance_of(open)});
  const TestStructure top = program.built(with_opaque);
  program.launch(top);
  EXPECT_EQ(program.results().at(0), 2U);
  // The table of the opaque scene would be wrong for this one, and the other way round.
  program.record_build(with_open, top);
  program.launch(top);
  EXPECT_EQ(program.results().at(0), 18U);
  program.record_build(with_opaque, top);
  program.launch(top);
  EXPECT_EQ(program.results().at(0), 2U);
  program.launch(top);
  EXPECT_EQ(program.results().at(0), 2U);
}

}  // namespace
}  // namespace rayreplay::layer::geometry
