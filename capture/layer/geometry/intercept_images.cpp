// Images, image views, samplers and swapchains: followed where accesses of shaders are recorded.
#include "capture/layer/geometry/intercepts.hpp"
#include "capture/layer/geometry/state.hpp"
#include "capture/layer/process.hpp"

namespace rayreplay::layer::geometry {
namespace {

/// Runs `work(images)` under the lock, if images are followed. Without memory an object stays unknown, and the launches
/// that use it say so.
template <class Work>
void follow_images(Device& device, Work&& work) {
  State* state = state_of(device);
  if (state != nullptr && state->descriptors.follows_images()) {
    attempt("following images", [&] {
      const std::scoped_lock lock(state->mutex);
      work(state->images);
    });
  }
}

VkResult create_image(Device& device, VkDevice handle, const VkImageCreateInfo* info,
                      const VkAllocationCallbacks* allocator, VkImage* image) {
  const VkResult result = device.vk.CreateImage(handle, info, allocator, image);
  if (result == VK_SUCCESS) {
    follow_images(device, [&](ImageTable& table) { table.add_image(*image, *info); });
  }
  return result;
}

void destroy_image(Device& device, VkDevice handle, VkImage image, const VkAllocationCallbacks* allocator) {
  follow_images(device, [&](ImageTable& table) { table.remove_image(image); });
  device.vk.DestroyImage(handle, image, allocator);
}

VkResult create_view(Device& device, VkDevice handle, const VkImageViewCreateInfo* info,
                     const VkAllocationCallbacks* allocator, VkImageView* view) {
  const VkResult result = device.vk.CreateImageView(handle, info, allocator, view);
  if (result == VK_SUCCESS) {
    follow_images(device, [&](ImageTable& table) { table.add_view(*view, *info); });
  }
  return result;
}

void destroy_view(Device& device, VkDevice handle, VkImageView view, const VkAllocationCallbacks* allocator) {
  follow_images(device, [&](ImageTable& table) { table.remove_view(view); });
  device.vk.DestroyImageView(handle, view, allocator);
}

VkResult create_sampler(Device& device, VkDevice handle, const VkSamplerCreateInfo* info,
                        const VkAllocationCallbacks* allocator, VkSampler* sampler) {
  const VkResult result = device.vk.CreateSampler(handle, info, allocator, sampler);
  if (result == VK_SUCCESS) {
    follow_images(device, [&](ImageTable& table) { table.add_sampler(*sampler, *info); });
  }
  return result;
}

void destroy_sampler(Device& device, VkDevice handle, VkSampler sampler, const VkAllocationCallbacks* allocator) {
  follow_images(device, [&](ImageTable& table) { table.remove_sampler(sampler); });
  device.vk.DestroySampler(handle, sampler, allocator);
}

VkResult create_swapchain(Device& device, VkDevice handle, const VkSwapchainCreateInfoKHR* info,
                          const VkAllocationCallbacks* allocator, VkSwapchainKHR* swapchain) {
  const VkResult result = device.vk.CreateSwapchainKHR(handle, info, allocator, swapchain);
  if (result == VK_SUCCESS) {
    follow_images(device, [&](ImageTable& table) { table.add_swapchain(*swapchain, *info); });
  }
  return result;
}

VkResult get_swapchain_images(Device& device, VkDevice handle, VkSwapchainKHR swapchain, std::uint32_t* count,
                              VkImage* images) {
  const VkResult result = device.vk.GetSwapchainImagesKHR(handle, swapchain, count, images);
  if ((result == VK_SUCCESS || result == VK_INCOMPLETE) && images != nullptr) {
    follow_images(device, [&](ImageTable& table) { table.add_swapchain_images(swapchain, {images, *count}); });
  }
  return result;
}

void destroy_swapchain(Device& device, VkDevice handle, VkSwapchainKHR swapchain,
                       const VkAllocationCallbacks* allocator) {
  follow_images(device, [&](ImageTable& table) { table.remove_swapchain(swapchain); });
  device.vk.DestroySwapchainKHR(handle, swapchain, allocator);
}

}  // namespace

std::span<const Intercept> image_intercepts() {
  static const Intercept kTable[] = {
      intercept<create_image, &DeviceDispatch::CreateImage>("vkCreateImage"),
      intercept<destroy_image, &DeviceDispatch::DestroyImage>("vkDestroyImage"),
      intercept<create_view, &DeviceDispatch::CreateImageView>("vkCreateImageView"),
      intercept<destroy_view, &DeviceDispatch::DestroyImageView>("vkDestroyImageView"),
      intercept<create_sampler, &DeviceDispatch::CreateSampler>("vkCreateSampler"),
      intercept<destroy_sampler, &DeviceDispatch::DestroySampler>("vkDestroySampler"),
      intercept<create_swapchain, &DeviceDispatch::CreateSwapchainKHR>("vkCreateSwapchainKHR"),
      intercept<get_swapchain_images, &DeviceDispatch::GetSwapchainImagesKHR>("vkGetSwapchainImagesKHR"),
      intercept<destroy_swapchain, &DeviceDispatch::DestroySwapchainKHR>("vkDestroySwapchainKHR"),
  };
  return kTable;
}

}  // namespace rayreplay::layer::geometry
