// --device and --device-memory: the devices of heavy stages, for every command with such stages.
//
// Contract: a device is opened by `open` or `open_each`, not when the option is parsed (kernels/ has the devices).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/accelerator.hpp"

namespace rayreplay::app {

class DeviceOption {
 public:
  void add_to(CLI::App& command);
  /// Usage for an invalid choice or size; Missing if a requested device does not exist. Later fallbacks to the
  /// processor are reported on standard error.
  [[nodiscard]] std::unique_ptr<Accelerator> open() const;
  /// For parallel workers: each selected device separately; none for the processor alone. Process `part` of `parts` on
  /// one machine gets its share of the devices, at most one if there are several parts.
  [[nodiscard]] std::vector<std::unique_ptr<Accelerator>> open_each(std::uint32_t part, std::uint32_t parts) const;

 private:
  [[nodiscard]] std::unique_ptr<Accelerator> open(const std::string& choice) const;

  std::string choice_ = "auto";
  std::string memory_;
};

}  // namespace rayreplay::app
