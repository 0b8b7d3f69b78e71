#include "kernels/accelerator.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/list_items.hpp"

namespace rayreplay::kernels {
namespace {

constexpr const char* kVulkan = "vulkan";

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// 0: not a GPU.
int rank(const DeviceInfo& info) {
  switch (info.type) {
    case DeviceType::Discrete:
      return 3;
    case DeviceType::Integrated:
      return 2;
    case DeviceType::Virtual:
      return 1;
    default:
      return 0;
  }
}

std::string describe(const std::vector<DeviceInfo>& devices) {
  std::string text;
  for (const DeviceInfo& info : devices) {
    text += fmt::format("{}vulkan:{} ({})", text.empty() ? "" : ", ", info.index, info.name);
  }
  return text.empty() ? "no Vulkan device" : text;
}

Error no_such(const std::string& choice, const std::vector<DeviceInfo>& devices, const char* what) {
  return {ErrorKind::Usage,
          {what, "--device", choice, "auto, cpu, vulkan, all, or one of " + describe(devices),
           "rayreplay devices lists them"}};
}

bool is_number(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

std::string without_prefix(const std::string& text) {
  const std::string prefix = std::string(kVulkan) + ":";
  return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}

const DeviceInfo& find(const std::string& choice, const std::vector<DeviceInfo>& devices) {
  const std::string wanted = without_prefix(lower(choice));
  if (wanted.size() < choice.size() && is_number(wanted)) {
    constexpr std::size_t kMaxDigits = 6;
    const std::size_t index = wanted.size() > kMaxDigits ? devices.size() : std::stoul(wanted);
    if (index >= devices.size()) {
      throw no_such(choice, devices, "there is no such device");
    }
    return devices[index];
  }
  if (wanted.empty()) {
    throw no_such(choice, devices, "there is no such device");
  }
  std::string uuid = wanted;
  uuid.erase(std::remove(uuid.begin(), uuid.end(), '-'), uuid.end());
  const auto only = [&](const auto& fits) {
    const DeviceInfo* found = nullptr;
    for (const DeviceInfo& info : devices) {
      if (fits(info)) {
        if (found != nullptr) {
          throw no_such(choice, devices, "several devices match");
        }
        found = &info;
      }
    }
    return found;
  };
  const DeviceInfo* found =
      only([&](const DeviceInfo& info) { return info.uuid == uuid || lower(info.name) == wanted; });
  constexpr std::size_t kMinPart = 3;
  if (found == nullptr && wanted.size() >= kMinPart) {
    found = only([&](const DeviceInfo& info) { return lower(info.name).find(wanted) != std::string::npos; });
  }
  if (found == nullptr) {
    throw no_such(choice, devices, "there is no such device");
  }
  return *found;
}

std::vector<DeviceInfo> fit_gpus(const std::vector<DeviceInfo>& devices) {
  std::vector<DeviceInfo> gpus;
  std::copy_if(devices.begin(), devices.end(), std::back_inserter(gpus),
               [](const DeviceInfo& info) { return rank(info) > 0 && info.unfit.empty(); });
  std::stable_sort(gpus.begin(), gpus.end(),
                   [](const DeviceInfo& a, const DeviceInfo& b) { return rank(a) > rank(b); });
  return gpus;
}

Error no_gpu(const std::string& choice, const std::vector<DeviceInfo>& devices) {
  std::string why;
  for (const DeviceInfo& info : devices) {
    why += fmt::format("{}{}: {}", why.empty() ? "" : "; ", info.name,
                       info.unfit.empty() ? "a processor; ask for it by its number" : info.unfit);
  }
  return {ErrorKind::Missing,
          {"there is no GPU that can run the kernels", "--device " + choice, why.empty() ? "no Vulkan device" : why, "",
           "use --device auto or --device cpu"}};
}

std::vector<DeviceInfo> chosen(const std::string& choice, const std::vector<DeviceInfo>& devices) {
  if (choice == kVulkan || choice == "all") {
    std::vector<DeviceInfo> gpus = fit_gpus(devices);
    if (gpus.empty()) {
      throw no_gpu(choice, devices);
    }
    if (choice == kVulkan) {
      gpus.resize(1);
    }
    return gpus;
  }
  // Names may hold commas themselves.
  const bool whole = std::any_of(devices.begin(), devices.end(), [&](const DeviceInfo& info) {
    return !choice.empty() && lower(info.name).find(without_prefix(lower(choice))) != std::string::npos;
  });
  std::vector<DeviceInfo> result;
  for (const std::string& item : whole ? std::vector{choice} : list_items(choice, ',')) {
    const std::string part = whole ? item : trimmed(item);
    const DeviceInfo& info = find(part, devices);
    if (!info.unfit.empty()) {
      throw Error(ErrorKind::Missing, {"the device cannot run the kernels: " + info.unfit, "--device " + part,
                                       info.name, "", "use --device auto or --device cpu"});
    }
    if (std::any_of(result.begin(), result.end(), [&](const DeviceInfo& other) { return other.index == info.index; })) {
      throw no_such(choice, devices, "a device is named twice");
    }
    result.push_back(info);
  }
  return result;
}

std::vector<std::unique_ptr<Device>> open_all(const std::vector<DeviceInfo>& infos, const DeviceOptions& options) {
  std::vector<std::unique_ptr<Device>> devices;
  for (const DeviceInfo& info : infos) {
    devices.push_back(std::make_unique<Device>(info, options));
  }
  return devices;
}

}  // namespace

std::unique_ptr<Accelerator> make_accelerator(const std::string& asked, const DeviceOptions& options,
                                              Accelerator::Log log) {
  const std::string small = lower(asked);
  const bool word = small == "auto" || small == "cpu" || small == kVulkan || small == "all";
  const std::string& choice = word ? small : asked;
  if (choice == "cpu") {
    return std::make_unique<Accelerator>();
  }
  const bool required = choice != "auto";
  std::vector<DeviceInfo> devices;
  try {
    devices = list_devices();
    if (devices.empty() && !required && log) {
      log("everything runs on the processor: there is no Vulkan device");
    }
  } catch (const Error& error) {
    if (required) {
      throw;
    }
    if (log) {
      log(fmt::format("everything runs on the processor: {}", error.info().what));
    }
  }
  if (required) {
    return std::make_unique<Accelerator>(open_all(chosen(choice, devices), options), true, std::move(log));
  }
  const std::vector<DeviceInfo> gpus = fit_gpus(devices);
  for (const DeviceInfo& gpu : gpus) {
    try {
      return std::make_unique<Accelerator>(open_all({gpu}, options), false, log);
    } catch (const DeviceError& error) {
      if (log) {
        log(fmt::format("{} is not used: {}", gpu.name, error.what()));
      }
    }
  }
  if (gpus.empty()) {
    for (const DeviceInfo& info : devices) {
      if (rank(info) > 0 && log) {
        log(fmt::format("everything runs on the processor: {} cannot run the kernels: {}", info.name, info.unfit));
      }
    }
  }
  return std::make_unique<Accelerator>();
}

}  // namespace rayreplay::kernels
