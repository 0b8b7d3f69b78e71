// Running one of the programs as a user would: arguments and environment in; exit code and both streams out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/app/process.hpp"

namespace rayreplay::test {

/// Paths of the built programs.
inline constexpr const char* kOneWeekend = RAYREPLAY_ONE_WEEKEND;
inline constexpr const char* kMeshViewer = RAYREPLAY_MESH_VIEWER;

using Environment = Process::Variables;

/// `environment` is added to this process's own.
Outcome run_program(const std::string& path, std::vector<std::string> arguments, const Environment& environment = {});

struct Pixels {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::vector<std::uint8_t> rgb;
  bool operator==(const Pixels&) const = default;
};

/// Runs a program on lavapipe with --image and reads the picture; throws with the program's message if it fails.
Pixels render(const std::string& path, std::vector<std::string> arguments, const Environment& environment = {});

/// A PNG file's bytes.
Pixels decode_png(const std::string& bytes);

/// Mean of the absolute differences of all channels, 0 to 255.
double mean_difference(const Pixels& a, const Pixels& b);

}  // namespace rayreplay::test
