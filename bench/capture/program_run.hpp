// One run of a sample application with --time, by itself or with the capture layer.
//
// Contract: `run` starts the program that lies beside this one, waits for it and reads "frame N launch M: X ms" from
// its output. With a spool folder it loads the layer (in layer/ beside this program) by environment, as `rayreplay
// capture` does. Throws std::runtime_error if the program fails or says no times.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace rayreplay::bench {

struct ProgramRun {
  std::vector<double> launch_ms;  ///< on the device, warm-up left out
  double wall_s = 0;              ///< of the whole process
};

struct Workload {
  std::string program = "one_weekend";  ///< arguments may follow: "mesh_viewer --scene hall"
  std::string size = "128x72";
  std::uint32_t spp = 1;
  std::uint32_t warm_up = 1;
};

/// `settings`: variables for the layer, "RAYREPLAY_CAPTURE_FRAMES=3"; the layer is loaded if `spool` is not empty.
[[nodiscard]] ProgramRun run(const Workload& workload, std::uint32_t frames, const std::filesystem::path& spool = {},
                             const std::vector<std::string>& settings = {});

[[nodiscard]] double median(std::vector<double> values);

}  // namespace rayreplay::bench
