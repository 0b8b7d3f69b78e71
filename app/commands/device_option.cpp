#include "app/commands/device_option.hpp"

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <limits>

#include <fmt/format.h>

#include "app/console/console.hpp"
#include "base/error.hpp"

namespace rayreplay::app {
namespace {

constexpr const char* kGroup = "Device";

/// "512MiB", "8GiB", bytes; empty: 0.
std::uint64_t parse_memory(const std::string& text) {
  if (text.empty()) {
    return 0;
  }
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string unit(end, text.data() + text.size());
  const int shift = unit.empty() ? 0 : unit == "KiB" ? 10 : unit == "MiB" ? 20 : unit == "GiB" ? 30 : -1;
  if (error != std::errc() || shift < 0 || number == 0 ||
      number > (std::numeric_limits<std::uint64_t>::max() >> static_cast<unsigned>(shift))) {
    throw Error(ErrorKind::Usage,
                {"a size is not understood", "--device-memory", text, "bytes, KiB, MiB or GiB, such as 8GiB", ""});
  }
  return number << static_cast<unsigned>(shift);
}

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
  options.memory_limit = parse_memory(memory_);
  options.cache_folder = cache_folder();
  return kernels::make_accelerator(choice_, options,
                                   [](const std::string& line) { console::log("rayreplay: note: " + line); });
}

}  // namespace rayreplay::app
