#include "capture/layer/geometry/descriptor_table.hpp"

#include <gtest/gtest.h>

namespace rayreplay::layer::geometry {
namespace {

constexpr auto kStructure = VK_DESCRIPTOR_TYPE_ACCELERATION_STRUCTURE_KHR;

template <class Handle>
Handle handle(std::uint64_t number) {
  return reinterpret_cast<Handle>(number);
}
VkAccelerationStructureKHR structure(std::uint64_t number) {
  return handle<VkAccelerationStructureKHR>(number);
}

/// A write of acceleration structures that keeps what it points at.
struct Write {
  Write(VkDescriptorSet set, std::uint32_t binding, std::uint32_t element, std::vector<VkAccelerationStructureKHR> of)
      : structures(std::move(of)) {
    extension.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET_ACCELERATION_STRUCTURE_KHR;
    extension.accelerationStructureCount = static_cast<std::uint32_t>(structures.size());
    extension.pAccelerationStructures = structures.data();
    write.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
    write.pNext = &extension;
    write.dstSet = set;
    write.dstBinding = binding;
    write.dstArrayElement = element;
    write.descriptorCount = extension.accelerationStructureCount;
    write.descriptorType = kStructure;
  }
  std::vector<VkAccelerationStructureKHR> structures;
  VkWriteDescriptorSetAccelerationStructureKHR extension{};
  VkWriteDescriptorSet write{};
};

class DescriptorTableTest : public testing::Test {
 protected:
  DescriptorTableTest() {
    // Bindings: 0 image, 2 two structures, 3 none of them (count 0), 5 three structures.
    const VkDescriptorSetLayoutBinding bindings[] = {{0, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, 1, 0, nullptr},
                                                     {5, kStructure, 3, 0, nullptr},
                                                     {2, kStructure, 2, 0, nullptr},
                                                     {3, kStructure, 0, 0, nullptr}};
    const VkDescriptorSetLayoutCreateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, nullptr, 0, 4,
                                               bindings};
    table.add_layout(layout, info);
    const VkDescriptorSetLayoutCreateInfo images{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, nullptr, 0, 1,
                                                 bindings};
    table.add_layout(image_layout, images);
    const VkDescriptorSetLayout sets[] = {image_layout, layout};
    VkPipelineLayoutCreateInfo pipeline{};
    pipeline.setLayoutCount = 2;
    pipeline.pSetLayouts = sets;
    table.add_pipeline_layout(pipeline_layout, pipeline);
    table.add_set(a, pool, layout);
    table.add_set(b, pool, layout);
    table.add_set(images_only, pool, image_layout);
  }

  VkAccelerationStructureKHR at(VkDescriptorSet set, std::uint32_t binding, std::uint32_t element) const {
    const SetContents* held = table.get(set);
    if (held == nullptr || !held->contains({binding, element})) {
      return VK_NULL_HANDLE;
    }
    return held->at({binding, element}).structure;
  }

  DescriptorTable table;
  VkDescriptorSetLayout layout = handle<VkDescriptorSetLayout>(1), image_layout = handle<VkDescriptorSetLayout>(2);
  VkPipelineLayout pipeline_layout = handle<VkPipelineLayout>(3);
  VkDescriptorPool pool = handle<VkDescriptorPool>(4);
  VkDescriptorSet a = handle<VkDescriptorSet>(10), b = handle<VkDescriptorSet>(11),
                  images_only = handle<VkDescriptorSet>(12);
};

TEST_F(DescriptorTableTest, WritesOverflowIntoTheNextBinding) {
  table.write(Write(a, 2, 1, {structure(100), structure(101), structure(102)}).write);
  EXPECT_EQ(at(a, 2, 0), VkAccelerationStructureKHR{VK_NULL_HANDLE});
  EXPECT_EQ(at(a, 2, 1), structure(100));
  EXPECT_EQ(at(a, 5, 0), structure(101));  // binding 3 has no descriptors
  EXPECT_EQ(at(a, 5, 1), structure(102));
  table.write(Write(a, 5, 2, {structure(103), structure(104)}).write);  // beyond the end: dropped
  EXPECT_EQ(at(a, 5, 2), structure(103));
  EXPECT_EQ(table.get(a)->size(), 4U);
}

TEST_F(DescriptorTableTest, OtherSetsAndOtherTypesAreNotKept) {
  EXPECT_EQ(table.get(images_only), nullptr);
  table.write(Write(images_only, 0, 0, {structure(1)}).write);
  EXPECT_EQ(table.get(images_only), nullptr);
  Write write(a, 2, 0, {structure(1)});
  write.write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_IMAGE;
  EXPECT_EQ(structures_of(write.write), nullptr);
  table.write(write.write);
  write.write.descriptorType = kStructure;
  write.write.pNext = nullptr;
  table.write(write.write);
  EXPECT_TRUE(table.get(a)->empty());
}

TEST_F(DescriptorTableTest, CopiesTakeAndClear) {
  table.write(Write(a, 2, 0, {structure(100), structure(101), structure(102)}).write);
  table.write(Write(b, 5, 0, {structure(7), structure(8), structure(9)}).write);
  VkCopyDescriptorSet copy{};
  copy.srcSet = a;
  copy.srcBinding = 2;
  copy.srcArrayElement = 1;
  copy.dstSet = b;
  copy.dstBinding = 5;
  copy.dstArrayElement = 0;
  copy.descriptorCount = 3;  // (2, 1), (5, 0), (5, 1); the last was never written
  table.copy(copy);
  EXPECT_EQ(at(b, 5, 0), structure(101));
  EXPECT_EQ(at(b, 5, 1), structure(102));
  EXPECT_EQ(at(b, 5, 2), VkAccelerationStructureKHR{VK_NULL_HANDLE});
  copy.srcBinding = 0;  // an image
  copy.descriptorCount = 1;
  table.copy(copy);
  EXPECT_EQ(at(b, 5, 0), structure(101));
}

TEST_F(DescriptorTableTest, FreedSetsAndResetPoolsAreForgotten) {
  table.write(Write(a, 2, 0, {structure(100)}).write);
  table.remove_set(a);
  EXPECT_EQ(table.get(a), nullptr);
  table.add_set(a, pool, layout);
  ASSERT_NE(table.get(a), nullptr);
  EXPECT_TRUE(table.get(a)->empty());
  table.remove_pool(pool);
  EXPECT_EQ(table.get(a), nullptr);
  EXPECT_EQ(table.get(b), nullptr);
  table.write(Write(a, 2, 0, {structure(100)}).write);
  EXPECT_EQ(table.get(a), nullptr);
}

TEST_F(DescriptorTableTest, TemplatesWriteTheirStructures) {
  struct Data {
    int image = 0;
    VkAccelerationStructureKHR first;
    int gap = 0;
    VkAccelerationStructureKHR second[2];
  } data{0, structure(50), 0, {structure(51), structure(52)}};
  const VkDescriptorUpdateTemplateEntry entries[] = {
      {0, 0, 1, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, offsetof(Data, image), 0},
      {2, 1, 1, kStructure, offsetof(Data, first), 0},
      {5, 0, 2, kStructure, offsetof(Data, second), sizeof(VkAccelerationStructureKHR)}};
  VkDescriptorUpdateTemplateCreateInfo info{};
  info.descriptorUpdateEntryCount = 3;
  info.pDescriptorUpdateEntries = entries;
  info.pipelineBindPoint = VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR;
  const auto made = handle<VkDescriptorUpdateTemplate>(77);
  table.add_template(made, info);
  EXPECT_TRUE(table.pushes(made));
  table.write_template(a, made, &data);
  EXPECT_EQ(at(a, 2, 1), structure(50));
  EXPECT_EQ(at(a, 5, 0), structure(51));
  EXPECT_EQ(at(a, 5, 1), structure(52));

  SetContents pushed;
  table.push_template(pushed, pipeline_layout, 1, made, &data);
  EXPECT_EQ(pushed, *table.get(a));

  info.pipelineBindPoint = VK_PIPELINE_BIND_POINT_COMPUTE;
  table.add_template(made, info);
  EXPECT_FALSE(table.pushes(made));
  table.remove_template(made);
  table.write_template(b, made, &data);
  EXPECT_TRUE(table.get(b)->empty());
}

TEST_F(DescriptorTableTest, PushedDescriptorsOverflowByTheLayout) {
  SetContents pushed;
  table.push(pushed, pipeline_layout, 1, Write(VK_NULL_HANDLE, 2, 1, {structure(1), structure(2)}).write);
  EXPECT_EQ(pushed.at({5, 0}).structure, structure(2));
  // Without a layout the binding is taken to have room.
  pushed.clear();
  table.push(pushed, handle<VkPipelineLayout>(99), 1, Write(VK_NULL_HANDLE, 2, 1, {structure(1), structure(2)}).write);
  EXPECT_EQ(pushed.at({2, 2}).structure, structure(2));
}

TEST_F(DescriptorTableTest, LayoutsMayBeDestroyedBeforeTheirSets) {
  table.remove_layout(layout);
  table.remove_pipeline_layout(pipeline_layout);
  table.write(Write(a, 2, 1, {structure(1), structure(2)}).write);
  EXPECT_EQ(at(a, 5, 0), structure(2));
}

}  // namespace
}  // namespace rayreplay::layer::geometry
