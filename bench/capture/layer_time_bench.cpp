// Cost of the layer in processor time of whole programs: idle (loaded, never recording), recording everything, counting
// the blocks of shaders (with all counters and with the minimal ones, without records), each compared with the program
// by itself, in turn within one run. Drivers' shader caches are off, so that pipelines are compiled.
//
//   layer_time_bench [--rounds=3] ["--commands=layer_scenarios callables 256;one_weekend --size 64x36 --frames 3"]
//                    [Google Benchmark's options]
//
// Programs are those beside this one. Compare ratios, not times.
#include <sys/resource.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "bench/capture/program_run.hpp"
#include "tests/support/temporary_folder.hpp"

namespace {

namespace fs = std::filesystem;
using namespace rayreplay;

unsigned long rounds = 3;
std::string commands =
    "layer_scenarios callables 256;layer_scenarios callables 1024;layer_scenarios callables 4096;"
    "layer_scenarios modules;layer_scenarios library;layer_scenarios frames;layer_scenarios threads;"
    "one_weekend --size 96x54 --spp 1 --frames 3;mesh_viewer --size 96x54 --spp 1 --frames 3";

enum class Kind { Plain, Idle, Recording, CountingAll, CountingMinimal };
constexpr std::size_t kKinds = 5;

double processor_seconds(const std::string& command, Kind kind) {
  const fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
  const test::TemporaryFolder folder;
  std::string line = "cd '" + folder.path().string() + "' && exec env MESA_SHADER_CACHE_DISABLE=true ";
  if (kind != Kind::Plain) {
    line += fmt::format(
        "'VK_ADD_LAYER_PATH={}' VK_LOADER_LAYERS_ENABLE=VK_LAYER_RAYREPLAY_capture "
        "VK_INSTANCE_LAYERS=VK_LAYER_RAYREPLAY_capture RAYREPLAY_CAPTURE_SPOOL=spool ",
        (here / "layer").string());
  }
  if (kind == Kind::Idle) {
    line += "RAYREPLAY_CAPTURE_FRAMES=1000000000 ";
  }
  if (kind == Kind::CountingAll || kind == Kind::CountingMinimal) {
    line += fmt::format("RAYREPLAY_CAPTURE_RECORD=off RAYREPLAY_CAPTURE_PROFILE=blocks {}={} ",
                        "RAYREPLAY_CAPTURE_BLOCK_COUNTERS", kind == Kind::CountingAll ? "all" : "minimal");
  }
  line += here.string() + "/" + command + " >output";
  const auto used = [] {
    rusage usage{};
    getrusage(RUSAGE_CHILDREN, &usage);
    const auto seconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
  };
  const double before = used();
  const int status = std::system(line.c_str());
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw std::runtime_error("failed: " + line);
  }
  return used() - before;
}

void measure(benchmark::State& state, const std::string& command) {
  std::array<std::vector<double>, kKinds> seconds;
  for (unsigned long round = 0; round < rounds; ++round) {
    for (const auto kind : {Kind::Plain, Kind::Idle, Kind::Recording, Kind::CountingAll, Kind::CountingMinimal}) {
      seconds.at(static_cast<std::size_t>(kind)).push_back(processor_seconds(command, kind));
    }
  }
  const double plain = bench::median(seconds[0]);
  state.SetIterationTime(plain);
  state.counters["idle_ratio"] = bench::median(seconds[1]) / plain;
  state.counters["recording_ratio"] = bench::median(seconds[2]) / plain;
  state.counters["counting_all_ratio"] = bench::median(seconds[3]) / plain;
  state.counters["counting_minimal_ratio"] = bench::median(seconds[4]) / plain;
}

}  // namespace

int main(int count, char** arguments) {
  int kept = 1;
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    if (argument.starts_with("--rounds=")) {
      rounds = std::strtoul(argument.c_str() + 9, nullptr, 10);
    } else if (argument.starts_with("--commands=")) {
      commands = argument.substr(11);
    } else {
      arguments[kept++] = arguments[i];
    }
  }
  if (rounds == 0) {
    std::fputs("layer_time_bench: --rounds wants a number from 1\n", stderr);
    return 2;
  }
  std::istringstream list(commands);
  for (std::string command; std::getline(list, command, ';');) {
    benchmark::RegisterBenchmark(command.c_str(),
                                 [command](benchmark::State& state) {
                                   for (auto unused : state) {
                                     (void)unused;
                                     try {
                                       measure(state, command);
                                     } catch (const std::exception& error) {
                                       state.SkipWithError(error.what());
                                       break;
                                     }
                                   }
                                 })
        ->UseManualTime()
        ->Iterations(1)
        ->Unit(benchmark::kMillisecond);
  }
  benchmark::Initialize(&kept, arguments);
  if (benchmark::ReportUnrecognizedArguments(kept, arguments)) {
    return 2;
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
