#include "bench/capture/program_run.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <stdexcept>

#include <fmt/format.h>

#include "base/shell_word.hpp"

namespace rayreplay::bench {
namespace {

namespace fs = std::filesystem;
std::string command_of(const Workload& workload, std::uint32_t frames, const fs::path& spool,
                       const std::vector<std::string>& settings) {
  const fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
  std::string command = "env ";
  if (!spool.empty()) {
    command += shell_word("VK_ADD_LAYER_PATH=" + (here / "layer").string()) +
               " VK_LOADER_LAYERS_ENABLE=VK_LAYER_RAYREPLAY_capture VK_INSTANCE_LAYERS=VK_LAYER_RAYREPLAY_capture " +
               shell_word("RAYREPLAY_CAPTURE_SPOOL=" + spool.string()) + " ";
  }
  for (const std::string& setting : settings) {
    command += shell_word(setting) + " ";
  }
  const auto space = std::min(workload.program.find(' '), workload.program.size());
  return command + fmt::format("{}{} --size {} --spp {} --frames {} --warm-up {} --time",
                               shell_word((here / workload.program.substr(0, space)).string()),
                               workload.program.substr(space), shell_word(workload.size), workload.spp, frames,
                               workload.warm_up);
}

}  // namespace

ProgramRun run(const Workload& workload, std::uint32_t frames, const fs::path& spool,
               const std::vector<std::string>& settings) {
  ProgramRun result;
  const std::string command = command_of(workload, frames, spool, settings);
  const auto start = std::chrono::steady_clock::now();
  FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) {
    throw std::runtime_error("the shell cannot be started");
  }
  char line[512];
  while (std::fgets(line, sizeof line, pipe) != nullptr) {
    unsigned frame = 0;
    unsigned launch = 0;
    double ms = 0;
    if (std::sscanf(line, "frame %u launch %u: %lf ms", &frame, &launch, &ms) == 3) {
      result.launch_ms.push_back(ms);
    }
  }
  const int status = ::pclose(pipe);
  result.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || result.launch_ms.size() != frames) {
    throw std::runtime_error(
        fmt::format("failed, or said {} times instead of {}: {}", result.launch_ms.size(), frames, command));
  }
  return result;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 != 0) {
    return *middle;
  }
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

}  // namespace rayreplay::bench
