// The command line that the programs share, and how they end.
//
// Contract: `run_program` parses the arguments, runs the program and turns errors into one line on standard error,
// "PROGRAM: error: …", and an exit code (docs/exit-codes.md). --help and --list-devices are answered without running.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <string>

#include "capture/apps/framework/device.hpp"

namespace rayreplay::apps {

struct Options {
  std::string device;
  std::string size = "1280x720";
  std::uint32_t width = 0;  ///< both from `size`
  std::uint32_t height = 0;
  std::uint32_t samples = 6;
  std::uint32_t depth = 16;
  std::uint32_t seed = 1;
  std::uint32_t frames = 1;
  std::uint32_t warm_up = 0;
  std::uint32_t launches = 1;
  std::uint32_t hit_work = 0;
  std::string hit_groups = "single";
  std::string opaque;  ///< "", "yes", "no"
  std::string swizzle;
  std::string image;
  bool any_hit = false;
  bool recursion = false;
  bool reorder = false;
  bool no_reorder_call = false;
  bool time = false;

  [[nodiscard]] bool per_material() const {
    return hit_groups == "per-material";
  }
};

struct Program {
  std::string name;
  std::string description;
  std::function<void(CLI::App&)> add_options;  ///< its own, may be empty
  std::function<void(Options&)> run;
};

[[nodiscard]] int run_program(int argc, char** argv, const Program& program);

/// Throws what `options` ask and the device cannot: too large a picture, too deep a recursion. `nested`: trace calls
/// inside each other with --recursion.
void require_within(const Options& options, const DeviceLimits& limits, std::uint32_t nested);

}  // namespace rayreplay::apps
