// The Vulkan driver that tests of applications run on: the software driver where it is installed, whatever devices
// there are.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace rayreplay::test {

/// For VK_DRIVER_FILES; "": the loader's choice.
[[nodiscard]] inline std::string software_driver() {
  if (const char* chosen = std::getenv("VK_DRIVER_FILES")) {
    return chosen;
  }
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/usr/share/vulkan/icd.d", none)) {
    if (entry.path().filename().string().starts_with("lvp_icd")) {
      return entry.path().string();
    }
  }
  return {};
}

/// For this process and its children.
inline void use_software_driver() {
  if (const std::string driver = software_driver(); !driver.empty()) {
    ::setenv("VK_DRIVER_FILES", driver.c_str(), 1);
  }
}

}  // namespace rayreplay::test
