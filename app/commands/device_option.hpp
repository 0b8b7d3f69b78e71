// --device and --device-memory: where the heavy stages run. The same for every command that has such stages.
#pragma once

#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "kernels/accelerator.hpp"

namespace rayreplay::app {

class DeviceOption {
 public:
  void add_to(CLI::App& command);
  /// Usage for a choice or a size that is not understood; Missing where a device was asked for that is not there. What
  /// falls back to the processor later is told on standard error.
  [[nodiscard]] std::unique_ptr<kernels::Accelerator> open() const;

 private:
  std::string choice_ = "auto";
  std::string memory_;
};

}  // namespace rayreplay::app
