// --device and --device-memory: where the heavy stages run. The same for every command that has such stages.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "kernels/accelerator.hpp"

namespace rayreplay::app {

class DeviceOption {
 public:
  void add_to(CLI::App& command);
  /// Usage for a choice or a size that is not understood; Missing where a device was asked for that is not there. What
  /// falls back to the processor later is told on standard error.
  [[nodiscard]] std::unique_ptr<Accelerator> open() const;
  /// For workers side by side: each device that the choice names by itself; none for the processor alone. `part` of
  /// `parts`: processes of one machine that share its devices out; each gets at most one where there are several parts.
  [[nodiscard]] std::vector<std::unique_ptr<Accelerator>> open_each(std::uint32_t part, std::uint32_t parts) const;

 private:
  [[nodiscard]] std::unique_ptr<Accelerator> open(const std::string& choice) const;

  std::string choice_ = "auto";
  std::string memory_;
};

}  // namespace rayreplay::app
