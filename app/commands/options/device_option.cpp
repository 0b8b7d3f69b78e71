#include "app/commands/options/device_option.hpp"

#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "app/commands/options/options.hpp"
#include "app/console/console.hpp"
#include "base/error.hpp"
#include "base/list_items.hpp"
#include "kernels/accelerator.hpp"
#include "kernels/device/device_list.hpp"

namespace rayreplay::app {
namespace {

constexpr const char* kDeviceGroup = "Device";

/// By the XDG base directory specification; empty: none.
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

/// "vulkan:N" of every GPU that can run kernels. A missing loader means none, unless GPUs were requested.
std::vector<std::string> gpus(bool asked) {
  std::vector<std::string> result;
  try {
    for (const kernels::DeviceInfo& info : kernels::list_devices()) {
      if (info.unfit.empty() && info.type != kernels::DeviceType::Cpu && info.type != kernels::DeviceType::Other) {
        result.push_back(fmt::format("vulkan:{}", info.index));
      }
    }
  } catch (const Error& error) {
    if (asked || error.kind() != ErrorKind::Missing) {
      throw;
    }
  }
  if (asked && result.empty()) {
    throw Error(ErrorKind::Missing, {"there is no GPU", "--device", "all", "", "see rayreplay devices"});
  }
  return result;
}

}  // namespace

void DeviceOption::add_to(CLI::App& command) {
  add_value(command, "--device", choice_, "DEVICE",
            "Where heavy stages run: auto (a GPU where there is one), cpu, vulkan, vulkan:N, all, a name or uuid, "
            "or several between commas",
            kDeviceGroup)
      ->envname("RAYREPLAY_DEVICE");
  add_plain(command, "--device-memory", memory_, "SIZE",
            "Device memory to use at most, such as 8GiB [all that is free]", kDeviceGroup);
}

std::unique_ptr<Accelerator> DeviceOption::open(const std::string& choice) const {
  kernels::DeviceOptions options;
  options.memory_limit = memory_.empty() ? 0 : parse_bytes(memory_, "--device-memory");
  options.cache_folder = cache_folder();
  return kernels::make_accelerator(choice, options, [](const std::string& line) { console::note("{}", line); });
}

std::unique_ptr<Accelerator> DeviceOption::open() const {
  return open(choice_);
}

std::vector<std::unique_ptr<Accelerator>> DeviceOption::open_each(std::uint32_t part, std::uint32_t parts) const {
  std::vector<std::string> choices;
  if (choice_ == "all" || (choice_ == "auto" && parts > 1)) {
    for (const std::string& device : gpus(choice_ == "all")) {
      choices.push_back(device);
    }
  } else {
    choices = list_items(choice_, ',');
  }
  std::vector<std::unique_ptr<Accelerator>> result;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    // With more processes than devices, several share one, each with its own connection.
    const bool mine = parts <= 1 || i == part % choices.size();
    if (!mine) {
      continue;
    }
    std::unique_ptr<Accelerator> accelerator = open(choices[i]);
    if (accelerator->has_device()) {
      result.push_back(std::move(accelerator));
    }
  }
  return result;
}

}  // namespace rayreplay::app
