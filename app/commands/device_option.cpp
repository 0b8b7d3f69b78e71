#include "app/commands/device_option.hpp"

#include <cstdlib>
#include <filesystem>

#include "app/commands/options.hpp"
#include "app/console/console.hpp"

namespace rayreplay::app {
namespace {

constexpr const char* kGroup = "Device";

/// As the XDG base directory specification has it; empty: nowhere.
std::string cache_folder() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  const std::string cache = variable("XDG_CACHE_HOME");
  if (cache.starts_with('/')) {
    return cache + "/rayreplay";
  }
  const std::string home = variable("HOME");
  return home.empty() ? std::string() : home + "/.cache/rayreplay";
}

}  // namespace

void DeviceOption::add_to(CLI::App& command) {
  command
      .add_option(
          "--device", choice_,
          "Where heavy stages run: auto (a GPU where there is one), cpu, vulkan, vulkan:N, all, a name or uuid, "
          "or several between commas")
      ->type_name("DEVICE")
      ->envname("RAYREPLAY_DEVICE")
      ->capture_default_str()
      ->group(kGroup);
  command.add_option("--device-memory", memory_, "Device memory to use at most, such as 8GiB [all that is free]")
      ->type_name("SIZE")
      ->group(kGroup);
}

std::unique_ptr<kernels::Accelerator> DeviceOption::open() const {
  kernels::DeviceOptions options;
  options.memory_limit = memory_.empty() ? 0 : parse_bytes(memory_, "--device-memory");
  options.cache_folder = cache_folder();
  return kernels::make_accelerator(choice_, options,
                                   [](const std::string& line) { console::log("rayreplay: note: " + line); });
}

}  // namespace rayreplay::app
