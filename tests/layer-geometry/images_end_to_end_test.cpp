// The images in the descriptors of launches, under the layer with accesses recorded.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "tests/layer-geometry/scenes.hpp"

namespace rayreplay::layer::geometry {
namespace {

using enum spool::ImageFilter;

constexpr auto kStorage = VK_DESCRIPTOR_TYPE_STORAGE_IMAGE;
constexpr auto kSampled = VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE;
constexpr auto kCombined = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;

void require(VkResult result) {
  if (result != VK_SUCCESS) {
    throw std::runtime_error("a Vulkan function failed with " + std::to_string(result));
  }
}

/// The program's images, and two sets beside that of its shaders: set 1 of the test's bindings, set 2 of push
/// descriptors with two storage images.
class Pictures {
 public:
  explicit Pictures(VulkanProgram& of) : program(of) {}
  Pictures(const Pictures&) = delete;
  Pictures& operator=(const Pictures&) = delete;
  ~Pictures() {
    vkDeviceWaitIdle(program.device);
    for (auto at = cleanup_.rbegin(); at != cleanup_.rend(); ++at) {
      (*at)();
    }
  }

  VkImage image(VkExtent3D size, VkFormat format, std::uint32_t levels = 1, std::uint32_t layers = 1,
                VkImageUsageFlags usage = VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_SAMPLED_BIT) {
    VkImageCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO;
    info.imageType = size.depth > 1 ? VK_IMAGE_TYPE_3D : VK_IMAGE_TYPE_2D;
    info.format = format;
    info.extent = size;
    info.mipLevels = levels;
    info.arrayLayers = layers;
    info.samples = VK_SAMPLE_COUNT_1_BIT;
    info.usage = usage;
    VkImage made = VK_NULL_HANDLE;
    require(vkCreateImage(program.device, &info, nullptr, &made));
    VkMemoryRequirements needs{};
    vkGetImageMemoryRequirements(program.device, made, &needs);
    std::uint32_t type = 0;
    while ((needs.memoryTypeBits >> type & 1U) == 0) {
      ++type;
    }
    const VkMemoryAllocateInfo allocate{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, nullptr, needs.size, type};
    VkDeviceMemory memory = VK_NULL_HANDLE;
    require(vkAllocateMemory(program.device, &allocate, nullptr, &memory));
    require(vkBindImageMemory(program.device, made, memory, 0));
    cleanup_.push_back([this, made, memory] {
      vkDestroyImage(program.device, made, nullptr);
      vkFreeMemory(program.device, memory, nullptr);
    });
    return made;
  }

  VkImageView view(VkImage of, VkFormat format, VkImageViewType type = VK_IMAGE_VIEW_TYPE_2D,
                   std::uint32_t base_level = 0, std::uint32_t levels = 1, std::uint32_t base_layer = 0,
                   std::uint32_t layers = 1) {
    VkImageViewCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO;
    info.image = of;
    info.viewType = type;
    info.format = format;
    info.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, base_level, levels, base_layer, layers};
    VkImageView made = VK_NULL_HANDLE;
    require(vkCreateImageView(program.device, &info, nullptr, &made));
    cleanup_.push_back([this, made] { vkDestroyImageView(program.device, made, nullptr); });
    return made;
  }

  VkSampler sampler(VkFilter filter) {
    VkSamplerCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO;
    info.magFilter = info.minFilter = filter;
    VkSampler made = VK_NULL_HANDLE;
    require(vkCreateSampler(program.device, &info, nullptr, &made));
    cleanup_.push_back([this, made] { vkDestroySampler(program.device, made, nullptr); });
    return made;
  }

  void set_bindings(const std::vector<VkDescriptorSetLayoutBinding>& bindings) {
    const std::vector<VkDescriptorBindingFlags> late(
        bindings.size(), VK_DESCRIPTOR_BINDING_UPDATE_AFTER_BIND_BIT | VK_DESCRIPTOR_BINDING_PARTIALLY_BOUND_BIT);
    const auto count = static_cast<std::uint32_t>(bindings.size());
    const VkDescriptorSetLayoutBindingFlagsCreateInfo flags{
        VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO, nullptr, count, late.data()};
    const VkDescriptorSetLayoutCreateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, &flags,
                                               VK_DESCRIPTOR_SET_LAYOUT_CREATE_UPDATE_AFTER_BIND_POOL_BIT, count,
                                               bindings.data()};
    set_layout = add_layout(info);
    const VkDescriptorSetLayoutBinding pushed{0, kStorage, 2, VK_SHADER_STAGE_RAYGEN_BIT_KHR, nullptr};
    const VkDescriptorSetLayoutCreateInfo push{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, nullptr,
                                               VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR, 1, &pushed};
    const VkDescriptorSetLayout sets[] = {program.set_layout, set_layout, add_layout(push)};
    VkPipelineLayoutCreateInfo pipeline{};
    pipeline.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
    pipeline.setLayoutCount = 3;
    pipeline.pSetLayouts = sets;
    require(vkCreatePipelineLayout(program.device, &pipeline, nullptr, &layout));
    cleanup_.push_back([this] { vkDestroyPipelineLayout(program.device, layout, nullptr); });
    const VkDescriptorPoolSize sizes[] = {{kStorage, 64}, {kSampled, 64}, {kCombined, 64}};
    const VkDescriptorPoolCreateInfo pool{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                          nullptr,
                                          VK_DESCRIPTOR_POOL_CREATE_UPDATE_AFTER_BIND_BIT,
                                          8,
                                          3,
                                          sizes};
    require(vkCreateDescriptorPool(program.device, &pool, nullptr, &pool_));
    cleanup_.push_back([this] { vkDestroyDescriptorPool(program.device, pool_, nullptr); });
  }

  VkDescriptorSet set() {
    const VkDescriptorSetAllocateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, nullptr, pool_, 1,
                                           &set_layout};
    VkDescriptorSet made = VK_NULL_HANDLE;
    require(vkAllocateDescriptorSets(program.device, &info, &made));
    return made;
  }

  void write(VkDescriptorSet to, std::uint32_t binding, std::uint32_t element, VkDescriptorType type,
             const std::vector<VkDescriptorImageInfo>& infos) {
    const VkWriteDescriptorSet write = write_of(to, binding, element, type, infos);
    vkUpdateDescriptorSets(program.device, 1, &write, 0, nullptr);
  }
  static VkWriteDescriptorSet write_of(VkDescriptorSet to, std::uint32_t binding, std::uint32_t element,
                                       VkDescriptorType type, const std::vector<VkDescriptorImageInfo>& infos) {
    VkWriteDescriptorSet write{};
    write.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
    write.dstSet = to;
    write.dstBinding = binding;
    write.dstArrayElement = element;
    write.descriptorCount = static_cast<std::uint32_t>(infos.size());
    write.descriptorType = type;
    write.pImageInfo = infos.data();
    return write;
  }

  void bind(VkDescriptorSet to) {
    vkCmdBindDescriptorSets(program.commands(), VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR, layout, 1, 1, &to, 0, nullptr);
  }

  VulkanProgram& program;
  VkDescriptorSetLayout set_layout = VK_NULL_HANDLE;
  VkPipelineLayout layout = VK_NULL_HANDLE;

 private:
  VkDescriptorSetLayout add_layout(const VkDescriptorSetLayoutCreateInfo& info) {
    VkDescriptorSetLayout made = VK_NULL_HANDLE;
    require(vkCreateDescriptorSetLayout(program.device, &info, nullptr, &made));
    cleanup_.push_back([this, made] { vkDestroyDescriptorSetLayout(program.device, made, nullptr); });
    return made;
  }

  VkDescriptorPool pool_ = VK_NULL_HANDLE;
  std::vector<std::function<void()>> cleanup_;
};

VkDescriptorSetLayoutBinding binding(std::uint32_t number, VkDescriptorType type, std::uint32_t count,
                                     const VkSampler* samplers = nullptr) {
  return {number, type, count, VK_SHADER_STAGE_RAYGEN_BIT_KHR, samplers};
}

VkDescriptorImageInfo held(VkImageView view, VkSampler sampler = VK_NULL_HANDLE) {
  return {sampler, view, VK_IMAGE_LAYOUT_GENERAL};
}

/// (set, binding, element), place of the image, (first layer, first level), filter.
using Row = std::tuple<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t,
                       std::pair<std::uint32_t, std::uint32_t>, spool::ImageFilter>;

std::vector<Row> rows(const spool::Images& of) {
  std::vector<Row> made;
  for (const spool::ImageDescriptor& d : of.descriptors) {
    made.emplace_back(std::tuple(d.set, d.binding, d.element), d.place, std::pair(d.base_layer, d.base_level),
                      d.filter);
  }
  return made;
}

/// Format, width, height, depth, layers, levels.
std::vector<std::uint32_t> size(const spool::Image& of) {
  return {static_cast<std::uint32_t>(of.format), of.width, of.height, of.depth, of.layers, of.levels};
}

const Environment& memory() {
  static const Environment kMemory{{"RAYREPLAY_CAPTURE_PROFILE", "memory"}};
  return kMemory;
}

TestStructure any_scene(VulkanProgram& program) {
  const TestStructure bottom = program.built(mesh(program.filled(triangle_vertices(4, 3))));
  return program.built(scene(program, {instance_of(bottom)}));
}

TEST(ImagesEndToEnd, EveryWayIntoASetIsFollowed) {
  VulkanProgram program(memory());
  const TestStructure top = any_scene(program);
  Pictures pictures(program);
  constexpr auto kBytes = VK_FORMAT_R8G8B8A8_UNORM;
  constexpr auto kFloats = VK_FORMAT_R32G32B32A32_SFLOAT;
  VkImage plain = pictures.image({40, 30, 1}, kFloats);
  VkImage levels = pictures.image({64, 16, 1}, kBytes, 4, 6);
  VkImage solid = pictures.image({8, 9, 10}, kBytes);
  VkImageView of_plain = pictures.view(plain, kFloats);
  VkImageView part = pictures.view(levels, kBytes, VK_IMAGE_VIEW_TYPE_2D_ARRAY, 1, 2, 3, 2);
  VkImageView other = pictures.view(levels, kBytes);
  VkImageView of_solid = pictures.view(solid, kBytes, VK_IMAGE_VIEW_TYPE_3D);
  VkSampler nearest = pictures.sampler(VK_FILTER_NEAREST);
  VkSampler linear = pictures.sampler(VK_FILTER_LINEAR);
  const VkSampler fixed[] = {linear, nearest};
  pictures.set_bindings({binding(0, kStorage, 2), binding(1, kStorage, 1), binding(2, kCombined, 2, fixed),
                         binding(4, kCombined, 3), binding(7, kSampled, 2)});
  VkDescriptorSet set = pictures.set();
  VkDescriptorSet source = pictures.set();

  // Written, from the end of binding 0 into binding 1; with samplers of the layout and with the application's.
  pictures.write(set, 0, 1, kStorage, {held(of_plain), held(other)});
  pictures.write(set, 2, 0, kCombined, {held(part), held(of_solid)});
  pictures.write(set, 4, 0, kCombined, {held(part, nearest)});
  // Copied.
  pictures.write(source, 4, 2, kCombined, {held(other, linear)});
  VkCopyDescriptorSet copy{};
  copy.sType = VK_STRUCTURE_TYPE_COPY_DESCRIPTOR_SET;
  copy.srcSet = source;
  copy.srcBinding = 4;
  copy.srcArrayElement = 2;
  copy.dstSet = set;
  copy.dstBinding = 4;
  copy.dstArrayElement = 1;
  copy.descriptorCount = 1;
  vkUpdateDescriptorSets(program.device, 0, nullptr, 1, &copy);
  // By a template.
  struct Data {
    std::uint64_t other;
    VkDescriptorImageInfo image;
  } data{0, held(of_solid)};
  const VkDescriptorUpdateTemplateEntry entry{7, 1, 1, kSampled, offsetof(Data, image), 0};
  VkDescriptorUpdateTemplateCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_UPDATE_TEMPLATE_CREATE_INFO;
  info.descriptorUpdateEntryCount = 1;
  info.pDescriptorUpdateEntries = &entry;
  info.templateType = VK_DESCRIPTOR_UPDATE_TEMPLATE_TYPE_DESCRIPTOR_SET;
  info.descriptorSetLayout = pictures.set_layout;
  VkDescriptorUpdateTemplate made = VK_NULL_HANDLE;
  ASSERT_EQ(vkCreateDescriptorUpdateTemplate(program.device, &info, nullptr, &made), VK_SUCCESS);
  vkUpdateDescriptorSetWithTemplate(program.device, set, made, &data);
  vkDestroyDescriptorUpdateTemplate(program.device, made, nullptr);
  // Pushed.
  program.bind(program.descriptor_set(top.handle));
  pictures.bind(set);
  const std::vector<VkDescriptorImageInfo> pushed{held(other), held(of_plain)};
  const VkWriteDescriptorSet push = Pictures::write_of(VK_NULL_HANDLE, 0, 0, kStorage, pushed);
  program.CmdPushDescriptorSetKHR(program.commands(), VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR, pictures.layout, 2, 1,
                                  &push);
  program.record_launch();
  program.run();

  const SpoolFile spool = program.spool();
  ASSERT_EQ(spool.launches.size(), 1U);
  ASSERT_EQ(spool.launches[0].structures.size(), 1U);
  const spool::Images& images = spool.images.at(0);
  ASSERT_EQ(images.images.size(), 3U);
  EXPECT_EQ(size(images.images[0]), (std::vector<std::uint32_t>{kFloats, 40, 30, 1, 1, 1}));
  EXPECT_EQ(size(images.images[1]), (std::vector<std::uint32_t>{kBytes, 64, 16, 1, 6, 4}));
  EXPECT_EQ(size(images.images[2]), (std::vector<std::uint32_t>{kBytes, 8, 9, 10, 1, 1}));
  EXPECT_EQ(rows(images), (std::vector<Row>{{{1, 0, 1}, 0, {0, 0}, None},
                                            {{1, 1, 0}, 1, {0, 0}, None},
                                            {{1, 2, 0}, 1, {3, 1}, Linear},
                                            {{1, 2, 1}, 2, {0, 0}, Nearest},
                                            {{1, 4, 0}, 1, {3, 1}, Nearest},
                                            {{1, 4, 1}, 1, {0, 0}, Linear},
                                            {{1, 7, 1}, 2, {0, 0}, None},
                                            {{2, 0, 0}, 1, {0, 0}, None},
                                            {{2, 0, 1}, 0, {0, 0}, None}}));
}

TEST(ImagesEndToEnd, DescriptorsAreTakenAsTheyAreAtSubmission) {
  VulkanProgram program(memory());
  const TestStructure top = any_scene(program);
  Pictures pictures(program);
  constexpr auto kBytes = VK_FORMAT_R8G8B8A8_UNORM;
  VkImageView a = pictures.view(pictures.image({5, 6, 1}, kBytes), kBytes);
  VkImageView b = pictures.view(pictures.image({7, 8, 1}, kBytes), kBytes);
  pictures.set_bindings({binding(3, kStorage, 4)});
  VkDescriptorSet set = pictures.set();
  pictures.write(set, 3, 2, kStorage, {held(a)});
  program.bind(program.descriptor_set(top.handle));
  pictures.bind(set);
  program.record_launch();
  pictures.write(set, 3, 2, kStorage, {held(b)});  // after it was bound
  program.run();
  pictures.write(set, 3, 0, kStorage, {held(a)});
  program.run_again();

  const SpoolFile spool = program.spool();
  ASSERT_EQ(spool.launches.size(), 2U);
  const spool::Images& first = spool.images.at(0);
  EXPECT_EQ(rows(first), (std::vector<Row>{{{1, 3, 2}, 0, {0, 0}, None}}));
  EXPECT_EQ(first.images.at(0).width, 7U);
  const spool::Images& second = spool.images.at(1);
  EXPECT_EQ(rows(second), (std::vector<Row>{{{1, 3, 0}, 0, {0, 0}, None}, {{1, 3, 2}, 1, {0, 0}, None}}));
  EXPECT_EQ(second.images.at(0).width, 5U);
  EXPECT_EQ(second.images.at(1).width, 7U);
  EXPECT_EQ(second.images[1].image, first.images[0].image);
}

TEST(ImagesEndToEnd, WithoutAccessesOrGeometryThereAreNone) {
  for (const Environment& environment :
       {Environment{}, Environment{{"RAYREPLAY_CAPTURE_PROFILE", "paths"}},
        Environment{{"RAYREPLAY_CAPTURE_PROFILE", "memory"}, {"RAYREPLAY_CAPTURE_GEOMETRY", "off"}}}) {
    VulkanProgram program(environment);
    const TestStructure top = any_scene(program);
    Pictures pictures(program);
    constexpr auto kBytes = VK_FORMAT_R8G8B8A8_UNORM;
    pictures.set_bindings({binding(0, kStorage, 1)});
    VkDescriptorSet set = pictures.set();
    pictures.write(set, 0, 0, kStorage, {held(pictures.view(pictures.image({5, 6, 1}, kBytes), kBytes))});
    program.bind(program.descriptor_set(top.handle));
    pictures.bind(set);
    program.record_launch();
    program.run();
    const SpoolFile spool = program.spool();
    ASSERT_EQ(spool.launches.size(), 1U);
    EXPECT_TRUE(spool.images.empty());
    EXPECT_EQ(std::count(spool.notes.begin(), spool.notes.end(),
                         "which images lie in descriptors is not known, because geometry is off"),
              environment.size() == 2 ? 1 : 0);
  }
}

}  // namespace
}  // namespace rayreplay::layer::geometry
