#include "kernels/device/instance.hpp"

#include <memory>

#include "base/error.hpp"

namespace rayreplay::kernels {
namespace {

struct Process {
  vk::raii::Context context;
  vk::raii::Instance instance = nullptr;
};

std::unique_ptr<Process> make_process() {
  std::unique_ptr<Process> process;
  try {
    process = std::make_unique<Process>();
  } catch (const std::exception& error) {
    throw Error(ErrorKind::Missing, {"there is no Vulkan loader", "libvulkan.so.1", error.what(), "",
                                     "install it (Debian: libvulkan1) and a driver, or use --device cpu"});
  }
  try {
    vk::ApplicationInfo application;
    application.pApplicationName = "rayreplay";
    application.apiVersion = VK_API_VERSION_1_3;
    vk::InstanceCreateInfo info;
    info.pApplicationInfo = &application;
    process->instance = vk::raii::Instance(process->context, info);
  } catch (const vk::SystemError& error) {
    throw Error(ErrorKind::Missing, {"the Vulkan loader cannot create an instance", "vkCreateInstance", error.what(),
                                     "a driver for Vulkan 1.2 or later", "install a driver, or use --device cpu"});
  }
  return process;
}

}  // namespace

const vk::raii::Instance& vulkan_instance() {
  // Never destroyed: the drivers' global objects may be destroyed first.
  static const Process* const process = make_process().release();
  return process->instance;
}

std::vector<vk::raii::PhysicalDevice> physical_devices() {
  const vk::raii::Instance& instance = vulkan_instance();
  try {
    return vk::raii::PhysicalDevices(instance);
  } catch (const vk::SystemError&) {  // this loader's answer for "none"
    return {};
  }
}

}  // namespace rayreplay::kernels
