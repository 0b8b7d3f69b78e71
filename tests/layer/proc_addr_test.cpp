// The layer's library between a program and a driver of the test's own: every command of Vulkan, asked for in every
// way, is answered and passed on as without the layer.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tests/support/temporary_folder.hpp"

namespace rayreplay::test {
namespace {

/// Commands of devices, queues and command buffers that the headers have, and those that newer ones have.
std::vector<std::string> device_commands() {
  std::vector<std::string> names = {"vkCmdBindDescriptorSets2",
                                    "vkCmdBindDescriptorSets2KHR",
                                    "vkCmdPushDescriptorSet",
                                    "vkCmdPushDescriptorSet2",
                                    "vkCmdPushDescriptorSet2KHR",
                                    "vkCmdPushDescriptorSetWithTemplate",
                                    "vkCmdPushDescriptorSetWithTemplate2",
                                    "vkCmdPushDescriptorSetWithTemplate2KHR",
                                    "vkCmdSetDescriptorBufferOffsets2EXT"};
  std::ifstream header(RAYREPLAY_VULKAN_HEADER);
  const std::regex command(R"(PFN_(vk\w+)\)\(Vk(Device|Queue|CommandBuffer)\s)");
  for (std::string line; std::getline(header, line);) {
    std::smatch found;
    if (std::regex_search(line, found, command)) {
      names.push_back(found[1]);
    }
  }
  return names;
}

// The driver's functions; the layer calls them through plain function pointers.
std::function<bool(const std::string&)> of_device;
bool of_instance = false;
int reached_of_device = 0;
int reached_of_instance = 0;

std::uint64_t device_function() {
  ++reached_of_device;
  return 0;
}
std::uint64_t instance_function() {
  ++reached_of_instance;
  return 0;
}

/// Dispatchable objects begin with the pointer that tells their device or instance.
struct Object {
  const void* key;
};
Object instance_object{&instance_object};
Object device_object{&device_object};

template <typename Function>
PFN_vkVoidFunction erased(Function* function) {
  return reinterpret_cast<PFN_vkVoidFunction>(function);
}

void destroy_instance(VkInstance, const VkAllocationCallbacks*) {}
void destroy_device(VkDevice, const VkAllocationCallbacks*) {}
VkResult create_instance(const VkInstanceCreateInfo*, const VkAllocationCallbacks*, VkInstance* handle) {
  *handle = reinterpret_cast<VkInstance>(&instance_object);
  return VK_SUCCESS;
}
VkResult create_device(VkPhysicalDevice, const VkDeviceCreateInfo*, const VkAllocationCallbacks*, VkDevice* handle) {
  *handle = reinterpret_cast<VkDevice>(&device_object);
  return VK_SUCCESS;
}

PFN_vkVoidFunction device_proc(VkDevice, const char* name) {
  if (std::string(name) == "vkDestroyDevice") {
    return erased(destroy_device);
  }
  return of_device(name) ? erased(device_function) : nullptr;
}

PFN_vkVoidFunction instance_proc(VkInstance, const char* name) {
  const std::string wanted = name;
  if (wanted == "vkCreateInstance") {
    return erased(create_instance);
  }
  if (wanted == "vkDestroyInstance") {
    return erased(destroy_instance);
  }
  if (wanted == "vkCreateDevice") {
    return erased(create_device);
  }
  return of_instance ? erased(instance_function) : nullptr;
}

class ProcAddr : public testing::Test {
 protected:
  ProcAddr() {
    setenv("RAYREPLAY_CAPTURE_SPOOL", (folder_ / "spool").c_str(), 1);
    setenv("RAYREPLAY_CAPTURE_LOG", "quiet", 1);
    library_ = dlopen(RAYREPLAY_LAYER_FOLDER "/libVkLayer_rayreplay_capture.so", RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr) {
      throw std::runtime_error(dlerror());
    }
    const auto negotiate = reinterpret_cast<PFN_vkNegotiateLoaderLayerInterfaceVersion>(
        dlsym(library_, "vkNegotiateLoaderLayerInterfaceVersion"));
    layer_.sType = LAYER_NEGOTIATE_INTERFACE_STRUCT;
    layer_.loaderLayerInterfaceVersion = 2;
    if (negotiate(&layer_) != VK_SUCCESS) {
      throw std::runtime_error("the layer refuses its interface");
    }
  }
  ProcAddr(const ProcAddr&) = delete;
  ProcAddr& operator=(const ProcAddr&) = delete;
  ~ProcAddr() override {
    dlclose(library_);
  }

  void create() {
    VkLayerInstanceLink below{nullptr, instance_proc, nullptr};
    VkLayerInstanceCreateInfo link{};
    link.sType = VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO;
    link.function = VK_LAYER_LINK_INFO;
    link.u.pLayerInfo = &below;
    VkInstanceCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
    info.pNext = &link;
    const auto make =
        reinterpret_cast<PFN_vkCreateInstance>(layer_.pfnGetInstanceProcAddr(VK_NULL_HANDLE, "vkCreateInstance"));
    ASSERT_EQ(make(&info, nullptr, &instance_), VK_SUCCESS);
    create_the_device();
  }

  void destroy() {
    reinterpret_cast<PFN_vkDestroyDevice>(of(device_, "vkDestroyDevice"))(device_, nullptr);
    reinterpret_cast<PFN_vkDestroyInstance>(of(instance_, "vkDestroyInstance"))(instance_, nullptr);
  }

  PFN_vkVoidFunction of(VkDevice device, const std::string& name) const {
    return layer_.pfnGetDeviceProcAddr(device, name.c_str());
  }
  PFN_vkVoidFunction of(VkInstance instance, const std::string& name) const {
    return layer_.pfnGetInstanceProcAddr(instance, name.c_str());
  }

  /// Calls it for the device, with memory of zeros for all other arguments.
  void call(PFN_vkVoidFunction function) {
    void* none = zeros_.data();
    reinterpret_cast<std::uint64_t (*)(VkDevice, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*,
                                       void*)>(function)(device_, none, none, none, none, none, none, none, none, none,
                                                         none, none);
  }

  VkInstance instance_ = VK_NULL_HANDLE;
  VkDevice device_ = VK_NULL_HANDLE;

 private:
  void create_the_device() {
    VkLayerDeviceLink below{nullptr, instance_proc, device_proc};
    VkLayerDeviceCreateInfo callback{};
    callback.sType = VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO;
    callback.function = VK_LOADER_DATA_CALLBACK;
    callback.u.pfnSetDeviceLoaderData = [](VkDevice, void*) { return VK_SUCCESS; };
    VkLayerDeviceCreateInfo link{};
    link.sType = VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO;
    link.pNext = &callback;
    link.function = VK_LAYER_LINK_INFO;
    link.u.pLayerInfo = &below;
    VkDeviceCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
    info.pNext = &link;
    const auto make = reinterpret_cast<PFN_vkCreateDevice>(of(instance_, "vkCreateDevice"));
    ASSERT_EQ(make(reinterpret_cast<VkPhysicalDevice>(&instance_object), &info, nullptr, &device_), VK_SUCCESS);
  }

  TemporaryFolder folder_;
  void* library_ = nullptr;
  VkNegotiateLayerInterface layer_{};
  std::array<std::uint64_t, 512> zeros_{};
};

const std::set<std::string> kAlwaysThere = {"vkDestroyDevice", "vkGetDeviceProcAddr"};

TEST_F(ProcAddr, WhatTheDriverLacksIsNotThere) {
  of_device = [](const std::string&) { return false; };
  of_instance = false;
  create();
  const auto names = device_commands();
  ASSERT_GT(names.size(), 300U);
  for (const auto& name : names) {
    const bool there = kAlwaysThere.contains(name);
    EXPECT_EQ(of(device_, name) != nullptr, there) << name;
    EXPECT_EQ(of(instance_, name) != nullptr, there) << name;
  }
  destroy();
}

TEST_F(ProcAddr, WhatADeviceLacksGoesWhereTheInstanceSays) {
  of_device = [](const std::string&) { return false; };
  of_instance = true;
  create();
  for (const auto& name : device_commands()) {
    if (kAlwaysThere.contains(name)) {
      continue;
    }
    EXPECT_EQ(of(device_, name), nullptr) << name;
    const auto function = of(instance_, name);
    ASSERT_NE(function, nullptr) << name;
    reached_of_instance = reached_of_device = 0;
    call(function);
    EXPECT_EQ(reached_of_instance, 1) << name;
    EXPECT_EQ(reached_of_device, 0) << name;
  }
  destroy();
}

TEST_F(ProcAddr, ADevicesFunctionIsFoundUnderEachOfItsNames) {
  for (const auto& name : device_commands()) {
    if (kAlwaysThere.contains(name)) {
      continue;
    }
    of_device = [&](const std::string& wanted) { return wanted == name; };
    of_instance = true;
    create();
    reached_of_instance = reached_of_device = 0;
    const auto function = of(device_, name);
    ASSERT_NE(function, nullptr) << name;
    call(function);
    EXPECT_EQ(reached_of_device, 1) << name;
    // Ours looks the device's up by the name that it was asked for; others are the driver's own.
    const auto other = of(instance_, name);
    ASSERT_NE(other, nullptr) << name;
    const bool ours = other != erased(instance_function);
    call(other);
    EXPECT_EQ(reached_of_device, ours ? 2 : 1) << name;
    EXPECT_EQ(reached_of_instance, ours ? 0 : 1) << name;
    destroy();
  }
}

}  // namespace
}  // namespace rayreplay::test
