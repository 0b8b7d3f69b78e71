// Images in descriptor sets: made-up handles, every way into a set.
#include "capture/layer/geometry/image_table.hpp"

#include <array>
#include <tuple>

#include <gtest/gtest.h>

#include "capture/layer/geometry/descriptor_table.hpp"

namespace rayreplay::layer::geometry {
namespace {

using enum spool::ImageFilter;

template <class Handle>
Handle made_up(std::uint64_t number) {
  return reinterpret_cast<Handle>(number);
}
VkImage image(std::uint64_t number) {
  return made_up<VkImage>(number);
}
VkImageView view(std::uint64_t number) {
  return made_up<VkImageView>(number);
}
VkSampler sampler(std::uint64_t number) {
  return made_up<VkSampler>(number);
}

VkImageViewCreateInfo view_of(VkImage of, std::uint32_t base_level = 0, std::uint32_t base_layer = 0) {
  VkImageViewCreateInfo info{};
  info.image = of;
  info.format = VK_FORMAT_R8G8B8A8_SRGB;
  info.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, base_level, VK_REMAINING_MIP_LEVELS, base_layer, 1};
  return info;
}

/// Images 1 and 2, views 11 and 12 of them and 13 of a level and layer of 1; samplers 21 nearest, 22 linear, 23 linear
/// for small pictures alone.
class ImageTableTest : public testing::Test {
 protected:
  ImageTableTest() {
    VkImageCreateInfo info{};
    info.format = VK_FORMAT_R8G8B8A8_UNORM;
    info.extent = {64, 32, 1};
    info.mipLevels = 3;
    info.arrayLayers = 4;
    info.samples = VK_SAMPLE_COUNT_1_BIT;
    images.add_image(image(1), info);
    info.format = VK_FORMAT_R32_SFLOAT;
    info.extent = {7, 8, 9};
    info.mipLevels = info.arrayLayers = 1;
    info.samples = VK_SAMPLE_COUNT_4_BIT;
    images.add_image(image(2), info);
    images.add_view(view(11), view_of(image(1)));
    images.add_view(view(12), view_of(image(2)));
    images.add_view(view(13), view_of(image(1), 2, 3));
    VkSamplerCreateInfo filters{};
    images.add_sampler(sampler(21), filters);
    filters.minFilter = VK_FILTER_LINEAR;
    images.add_sampler(sampler(23), filters);
    filters.magFilter = VK_FILTER_LINEAR;
    images.add_sampler(sampler(22), filters);

    // 0: storage images [2]; 1: combined [2] with samplers of the layout; 2: a buffer; 3: combined [2]; 4: structure.
    const VkSampler fixed[] = {sampler(22), sampler(21)};
    const auto* rubbish = reinterpret_cast<const VkSampler*>(std::uintptr_t{8});  // ignored: the type has no samplers
    const VkDescriptorSetLayoutBinding bindings[] = {{0, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, 2, 0, rubbish},
                                                     {1, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 2, 0, fixed},
                                                     {2, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, 0, nullptr},
                                                     {3, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 2, 0, nullptr},
                                                     {4, VK_DESCRIPTOR_TYPE_ACCELERATION_STRUCTURE_KHR, 1, 0, nullptr}};
    VkDescriptorSetLayoutCreateInfo layout{};
    layout.bindingCount = 5;
    layout.pBindings = bindings;
    table.add_layout(made_up<VkDescriptorSetLayout>(31), layout);
    without.add_layout(made_up<VkDescriptorSetLayout>(31), layout);
    const auto set_layout = made_up<VkDescriptorSetLayout>(31);
    VkPipelineLayoutCreateInfo pipeline{};
    pipeline.setLayoutCount = 1;
    pipeline.pSetLayouts = &set_layout;
    table.add_pipeline_layout(made_up<VkPipelineLayout>(32), pipeline);
    for (VkDescriptorSet set : {a, b}) {
      table.add_set(set, made_up<VkDescriptorPool>(33), set_layout);
    }
    without.add_set(a, made_up<VkDescriptorPool>(33), set_layout);
  }

  static VkWriteDescriptorSet write_of(VkDescriptorSet set, std::uint32_t binding, std::uint32_t element,
                                       VkDescriptorType type, const std::vector<VkDescriptorImageInfo>& infos) {
    VkWriteDescriptorSet write{};
    write.dstSet = set;
    write.dstBinding = binding;
    write.dstArrayElement = element;
    write.descriptorCount = static_cast<std::uint32_t>(infos.size());
    write.descriptorType = type;
    write.pImageInfo = infos.data();
    return write;
  }
  void write(VkDescriptorSet set, std::uint32_t binding, std::uint32_t element, VkDescriptorType type,
             const std::vector<VkDescriptorImageInfo>& infos) {
    table.write(write_of(set, binding, element, type, infos));
  }

  /// (binding, element, number of the image, its view's first level, filter) of every image.
  using Row = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, spool::ImageFilter>;
  static std::vector<Row> rows(const SetContents& contents) {
    std::vector<Row> made;
    for (const auto& [at, held] : contents) {
      if (held.view != nullptr && held.view->alive) {
        made.emplace_back(at.first, at.second, held.view->image == nullptr ? 99 : held.view->image->image,
                          held.view->base_level, held.filter);
      }
    }
    return made;
  }
  [[nodiscard]] std::vector<Row> rows(VkDescriptorSet set) const {
    return rows(*table.get(set));
  }

  ImageTable images;
  DescriptorTable table{&images}, without;
  VkDescriptorSet a = made_up<VkDescriptorSet>(41), b = made_up<VkDescriptorSet>(42);
  static constexpr auto kStorage = VK_DESCRIPTOR_TYPE_STORAGE_IMAGE;
  static constexpr auto kCombined = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
};

TEST_F(ImageTableTest, ViewsNameTheirImageAndItsPart) {
  const ImageViewPointer part = images.view(view(13));
  ASSERT_NE(part, nullptr);
  EXPECT_EQ(part->base_level, 2U);
  EXPECT_EQ(part->base_layer, 3U);
  EXPECT_EQ(part->format, VK_FORMAT_R8G8B8A8_SRGB);
  EXPECT_EQ(part->image, images.view(view(11))->image);
  const spool::Image& of = *part->image;
  EXPECT_EQ(std::tuple(of.image, of.format, of.width, of.height, of.depth, of.layers, of.levels, of.samples),
            std::tuple(0U, std::int32_t{VK_FORMAT_R8G8B8A8_UNORM}, 64U, 32U, 1U, 4U, 3U, 1U));
  const spool::Image& other = *images.view(view(12))->image;
  EXPECT_EQ(std::tuple(other.image, other.width, other.height, other.depth, other.samples),
            std::tuple(1U, 7U, 8U, 9U, 4U));
  EXPECT_EQ(images.view(VK_NULL_HANDLE), nullptr);
}

TEST_F(ImageTableTest, WhatWasNotSeenSaysSo) {
  images.add_view(view(14), view_of(image(77)));
  EXPECT_EQ(images.view(view(14))->image, nullptr);
  EXPECT_STREQ(images.view(view(14))->missing, "its image was not seen when it was created");
  EXPECT_EQ(images.view(view(15))->image, nullptr);
  EXPECT_STREQ(images.view(view(15))->missing, "its image view was not seen when it was created");
}

TEST_F(ImageTableTest, FiltersAreLinearIfOneIs) {
  EXPECT_EQ(images.filter(sampler(21)), Nearest);
  EXPECT_EQ(images.filter(sampler(22)), Linear);
  EXPECT_EQ(images.filter(sampler(23)), Linear);
  images.remove_sampler(sampler(22));
  EXPECT_EQ(images.filter(sampler(22)), spool::ImageFilter::None) << "destroyed";
}

TEST_F(ImageTableTest, ImagesOfASwapchainHaveItsSize) {
  VkSwapchainCreateInfoKHR info{};
  info.imageFormat = VK_FORMAT_B8G8R8A8_UNORM;
  info.imageExtent = {1920, 1080};
  info.imageArrayLayers = 1;
  const auto chain = made_up<VkSwapchainKHR>(51);
  images.add_swapchain(chain, info);
  const std::array<VkImage, 2> made = {image(3), image(4)};
  images.add_swapchain_images(chain, made);
  images.add_view(view(14), view_of(image(4)));
  images.add_swapchain_images(chain, made);  // asked for again
  images.add_view(view(15), view_of(image(4)));
  const spool::Image of = *images.view(view(14))->image;
  EXPECT_EQ(images.view(view(15))->image->image, of.image);
  EXPECT_EQ(std::tuple(of.image, of.format, of.width, of.height, of.depth, of.layers, of.levels, of.samples),
            std::tuple(3U, std::int32_t{VK_FORMAT_B8G8R8A8_UNORM}, 1920U, 1080U, 1U, 1U, 1U, 1U));
  images.remove_swapchain(chain);
  images.add_view(view(16), view_of(image(4)));
  EXPECT_EQ(images.view(view(16))->image, nullptr);
  images.add_swapchain_images(chain, made);  // of no swapchain
  images.add_view(view(17), view_of(image(3)));
  EXPECT_EQ(images.view(view(17))->image, nullptr);
}

TEST_F(ImageTableTest, WritesOverflowAndTakeTheSamplersOfTheLayout) {
  write(a, 0, 1, kStorage, {{VK_NULL_HANDLE, view(12), VK_IMAGE_LAYOUT_GENERAL}});
  EXPECT_EQ(rows(a), (std::vector<Row>{{0, 1, 1, 0, None}}));
  write(a, 1, 0, kCombined,
        {{sampler(21), view(11), VK_IMAGE_LAYOUT_GENERAL}, {sampler(22), view(13), VK_IMAGE_LAYOUT_GENERAL}});
  write(a, 3, 0, kCombined,
        {{sampler(22), view(11), VK_IMAGE_LAYOUT_GENERAL}, {sampler(21), view(11), VK_IMAGE_LAYOUT_GENERAL}});
  EXPECT_EQ(rows(a), (std::vector<Row>{{0, 1, 1, 0, None},
                                       {1, 0, 0, 0, Linear},
                                       {1, 1, 0, 2, Nearest},
                                       {3, 0, 0, 0, Linear},
                                       {3, 1, 0, 0, Nearest}}));
  // From the end of binding 0 into binding 1, with the layout's sampler there.
  write(b, 0, 1, kCombined,
        {{sampler(21), view(12), VK_IMAGE_LAYOUT_GENERAL}, {sampler(21), view(13), VK_IMAGE_LAYOUT_GENERAL}});
  EXPECT_EQ(rows(b), (std::vector<Row>{{0, 1, 1, 0, Nearest}, {1, 0, 0, 2, Linear}}));
}

TEST_F(ImageTableTest, SampledImagesHaveNoFilterAndOthersAreNotFollowed) {
  write(a, 3, 0, VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, {{sampler(22), view(11), VK_IMAGE_LAYOUT_GENERAL}});
  EXPECT_EQ(rows(a), (std::vector<Row>{{3, 0, 0, 0, None}}));
  write(b, 3, 0, VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT, {{VK_NULL_HANDLE, view(11), VK_IMAGE_LAYOUT_GENERAL}});
  write(b, 3, 0, VK_DESCRIPTOR_TYPE_SAMPLER, {{sampler(22), VK_NULL_HANDLE, VK_IMAGE_LAYOUT_GENERAL}});
  EXPECT_TRUE(rows(b).empty());
  const std::vector<VkDescriptorImageInfo> infos{{VK_NULL_HANDLE, view(11), VK_IMAGE_LAYOUT_GENERAL}};
  const VkWriteDescriptorSet storage = write_of(a, 0, 0, kStorage, infos);
  EXPECT_TRUE(table.concerns(storage));
  EXPECT_FALSE(table.concerns(write_of(a, 0, 0, VK_DESCRIPTOR_TYPE_SAMPLER, infos)));
  // A table that is not asked for images.
  EXPECT_FALSE(without.concerns(storage));
  without.write(storage);
  EXPECT_TRUE(without.get(a)->empty());
}

TEST_F(ImageTableTest, ADescriptorMayBeWrittenAgainAsNothing) {
  write(a, 0, 0, kStorage, {{VK_NULL_HANDLE, view(11), VK_IMAGE_LAYOUT_GENERAL}});
  write(a, 0, 0, kStorage, {{VK_NULL_HANDLE, VK_NULL_HANDLE, VK_IMAGE_LAYOUT_GENERAL}});
  EXPECT_TRUE(rows(a).empty());
}

TEST_F(ImageTableTest, CopiesTakeAndClearAndKeepTheLayoutsSamplers) {
  write(a, 3, 0, kCombined, {{sampler(21), view(13), VK_IMAGE_LAYOUT_GENERAL}});
  write(b, 1, 1, kCombined, {{sampler(21), view(12), VK_IMAGE_LAYOUT_GENERAL}});
  VkCopyDescriptorSet copy{};
  copy.srcSet = a;
  copy.srcBinding = 3;
  copy.dstSet = b;
  copy.dstBinding = 1;
  copy.descriptorCount = 2;  // the second was never written
  table.copy(copy);
  EXPECT_EQ(rows(b), (std::vector<Row>{{1, 0, 0, 2, Linear}}));
}

TEST_F(ImageTableTest, TemplatesAndPushesAreFollowed) {
  struct Data {
    int gap = 0;
    VkDescriptorImageInfo storage[2];
    VkDescriptorImageInfo combined;
  } data{0,
         {{VK_NULL_HANDLE, view(12), VK_IMAGE_LAYOUT_GENERAL}, {VK_NULL_HANDLE, view(11), VK_IMAGE_LAYOUT_GENERAL}},
         {sampler(22), view(13), VK_IMAGE_LAYOUT_GENERAL}};
  const VkDescriptorUpdateTemplateEntry entries[] = {
      {0, 0, 2, kStorage, offsetof(Data, storage), sizeof(VkDescriptorImageInfo)},
      {3, 1, 1, kCombined, offsetof(Data, combined), 0}};
  VkDescriptorUpdateTemplateCreateInfo info{};
  info.descriptorUpdateEntryCount = 2;
  info.pDescriptorUpdateEntries = entries;
  info.pipelineBindPoint = VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR;
  const auto made = made_up<VkDescriptorUpdateTemplate>(61);
  table.add_template(made, info);
  EXPECT_TRUE(table.pushes(made));
  table.write_template(a, made, &data);
  const std::vector<Row> expected{{0, 0, 1, 0, None}, {0, 1, 0, 0, None}, {3, 1, 0, 2, Linear}};
  EXPECT_EQ(rows(a), expected);
  SetContents pushed;
  table.push_template(pushed, made_up<VkPipelineLayout>(32), 0, made, &data);
  EXPECT_EQ(rows(pushed), expected);
  const std::vector<VkDescriptorImageInfo> infos{{VK_NULL_HANDLE, view(13), VK_IMAGE_LAYOUT_GENERAL},
                                                 {sampler(21), view(12), VK_IMAGE_LAYOUT_GENERAL}};
  table.push(pushed, made_up<VkPipelineLayout>(32), 0, write_of(VK_NULL_HANDLE, 0, 1, kCombined, infos));
  EXPECT_EQ(rows(pushed),
            (std::vector<Row>{{0, 0, 1, 0, None}, {0, 1, 0, 2, None}, {1, 0, 1, 0, Linear}, {3, 1, 0, 2, Linear}}));
  without.add_template(made, info);
  EXPECT_FALSE(without.pushes(made));
}

/// A handle that is given again does not change what a descriptor holds.
TEST_F(ImageTableTest, DestroyedViewsAndSamplersAreNotTheirSuccessors) {
  write(a, 3, 0, kCombined,
        {{sampler(22), view(11), VK_IMAGE_LAYOUT_GENERAL}, {sampler(22), view(12), VK_IMAGE_LAYOUT_GENERAL}});
  images.remove_view(view(11));
  images.add_view(view(11), view_of(image(2)));
  images.remove_sampler(sampler(22));
  images.add_sampler(sampler(22), VkSamplerCreateInfo{});
  images.remove_image(image(2));
  EXPECT_EQ(rows(a), (std::vector<Row>{{3, 1, 1, 0, Linear}}));
  write(a, 3, 0, kCombined, {{sampler(22), view(11), VK_IMAGE_LAYOUT_GENERAL}});
  EXPECT_EQ(rows(a), (std::vector<Row>{{3, 0, 1, 0, Nearest}, {3, 1, 1, 0, Linear}}));
}

TEST_F(ImageTableTest, StructuresAndImagesReplaceEachOther) {
  const auto scene = made_up<VkAccelerationStructureKHR>(71);
  VkWriteDescriptorSetAccelerationStructureKHR structures{};
  structures.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET_ACCELERATION_STRUCTURE_KHR;
  structures.accelerationStructureCount = 1;
  structures.pAccelerationStructures = &scene;
  VkWriteDescriptorSet of_scene{};
  of_scene.pNext = &structures;
  of_scene.dstSet = a;
  of_scene.descriptorCount = 1;
  of_scene.descriptorType = VK_DESCRIPTOR_TYPE_ACCELERATION_STRUCTURE_KHR;
  write(a, 0, 0, kStorage, {{VK_NULL_HANDLE, view(11), VK_IMAGE_LAYOUT_GENERAL}});
  table.write(of_scene);  // a mutable descriptor
  EXPECT_TRUE(rows(a).empty());
  EXPECT_EQ(table.get(a)->at({0, 0}).structure, scene);
  write(a, 0, 0, kStorage, {{VK_NULL_HANDLE, view(11), VK_IMAGE_LAYOUT_GENERAL}});
  EXPECT_EQ(rows(a).size(), 1U);
  EXPECT_EQ(table.get(a)->at({0, 0}).structure, VkAccelerationStructureKHR{VK_NULL_HANDLE});
}

}  // namespace
}  // namespace rayreplay::layer::geometry
