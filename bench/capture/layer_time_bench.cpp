// Cost of the layer in processor time of whole programs: idle (loaded, never recording), recording everything, counting
// the blocks of shaders (with all counters and with the minimal ones), their branches, their loads, and all of these
// (without records), each compared with the program by itself, in turn within one run. Drivers' shader caches are off,
// so that pipelines are compiled.
//
//   layer_time_bench [--rounds=3] ["--commands=layer_scenarios callables 256;one_weekend --size 64x36 --frames 3"]
//                    [Google Benchmark's options]
//
// Programs are those beside this one. Compare ratios, not times.
#include <sys/resource.h>
#include <sys/wait.h>

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

struct Kind {
  const char* ratio;  ///< counter of the benchmark
  std::string environment;
};

/// The first is the program without the layer.
std::vector<Kind> kinds() {
  const std::string counting = "RAYREPLAY_CAPTURE_RECORD=off RAYREPLAY_CAPTURE_PROFILE=";
  return {{"", ""},
          {"idle_ratio", "RAYREPLAY_CAPTURE_FRAMES=1000000000 "},
          {"recording_ratio", ""},
          {"counting_all_ratio", counting + "blocks "},
          {"counting_minimal_ratio", counting + "blocks RAYREPLAY_CAPTURE_BLOCK_COUNTERS=minimal "},
          {"counting_branches_ratio", counting + "branches "},
          {"counting_loads_ratio", counting + "loads "},
          {"counting_everything_ratio", counting + "all "}};
}

double processor_seconds(const std::string& command, const Kind& kind) {
  const fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
  const test::TemporaryFolder folder;
  std::string line = "cd '" + folder.path().string() + "' && exec env MESA_SHADER_CACHE_DISABLE=true ";
  if (*kind.ratio != 0) {
    line += fmt::format(
        "'VK_ADD_LAYER_PATH={}' VK_LOADER_LAYERS_ENABLE=VK_LAYER_RAYREPLAY_capture "
        "VK_INSTANCE_LAYERS=VK_LAYER_RAYREPLAY_capture RAYREPLAY_CAPTURE_SPOOL=spool ",
        (here / "layer").string());
  }
  line += kind.environment + here.string() + "/" + command + " >output";
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
  const std::vector<Kind> all = kinds();
  std::vector<std::vector<double>> seconds(all.size());
  for (unsigned long round = 0; round < rounds; ++round) {
    for (std::size_t k = 0; k < all.size(); ++k) {
      seconds[k].push_back(processor_seconds(command, all[k]));
    }
  }
  const double plain = bench::median(seconds[0]);
  state.SetIterationTime(plain);
  for (std::size_t k = 1; k < all.size(); ++k) {
    state.counters[all[k].ratio] = bench::median(seconds[k]) / plain;
  }
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
