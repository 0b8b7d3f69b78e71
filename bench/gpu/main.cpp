// bench_gpu: every kernel on a device against its CPU twin on all cores, as one table.
//
//   bench_gpu [--device CHOICE] [--scale X] [--filter TEXT] [--repeat N] [--no-cpu] [--json FILE]
//
// Contract: gpu_case.hpp says what a case is. Of N runs on the device, after 1.5 s of them that warm it up, the fastest
// counts, of the twin's runs the fastest of two. Copy bandwidth is that of a kernel that copies 1 GiB (less where
// memory is small), bytes read and written. Times, rates and ratios go to standard output as one table; --json adds a
// line of JSON a case. Exit code 1 where a case failed or its results differ; the others still run.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "BenchCopy.spv.hpp"
#include "bench/gpu/gpu_case.hpp"
#include "kernels/accelerator.hpp"
#include "kernels/twins.hpp"

namespace rayreplay::bench {
namespace {

struct Options {
  std::string device = "vulkan";
  double scale = 1;
  std::string filter;
  int repeat = 5;
  bool cpu = true;
  std::string json;
};

Options parse(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string name = arguments[i];
    if (name == "--no-cpu") {
      options.cpu = false;
      continue;
    }
    if (i + 1 == count) {
      throw Error(ErrorKind::Usage, {"an option without a value, or an unknown one", name, "",
                                     "--device, --scale, --filter, --repeat, --no-cpu or --json", ""});
    }
    const std::string value = arguments[++i];
    if (name == "--device") {
      options.device = value;
    } else if (name == "--scale") {
      options.scale = std::strtod(value.c_str(), nullptr);
    } else if (name == "--filter") {
      options.filter = value;
    } else if (name == "--repeat") {
      options.repeat = std::max(1, std::atoi(value.c_str()));
    } else if (name == "--json") {
      options.json = value;
    } else {
      throw Error(ErrorKind::Usage,
                  {"unknown option", name, "", "--device, --scale, --filter, --repeat, --no-cpu or --json", ""});
    }
  }
  if (!(options.scale > 0)) {
    throw Error(ErrorKind::Usage, {"the scale is no share", "--scale", "", "a number above 0", ""});
  }
  return options;
}

double seconds(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

struct DeviceTime {
  double clock = std::numeric_limits<double>::infinity();  ///< the device's own, of all its launches
  double wall = std::numeric_limits<double>::infinity();
};

DeviceTime time_device(kernels::Device& device, const std::function<void()>& work, int repeat,
                       const std::function<double()>& own_clock = {}) {
  // An idle device clocks itself down, and takes a while to come back.
  constexpr double kWarmUp = 1.5;
  for (double spent = 0; spent < kWarmUp;) {
    spent += seconds(work);
  }
  DeviceTime best;
  for (int i = 0; i < repeat; ++i) {
    device.clear_times();
    const double wall = seconds(work);
    double clock = 0;
    for (const auto& [name, time] : device.times()) {
      clock += time.seconds;
    }
    best.clock = std::min(best.clock, own_clock ? own_clock() : clock);
    best.wall = std::min(best.wall, wall);
  }
  return best;
}

/// Bytes a second.
double copy_bandwidth(kernels::Device& device) {
  constexpr std::uint64_t kQuad = 16;
  constexpr std::uint64_t kGroup = 256;
  const bool small = device.info().type == kernels::DeviceType::Cpu;
  const std::uint64_t bytes = std::uint64_t{1} << (small ? 26U : 30U);
  struct Push {
    std::uint32_t first_group = 0, count = 0;
    std::uint64_t from = 0, to = 0;
  };
  const kernels::Program program = device.program({"copy", kBenchCopy});
  const kernels::Buffer from = device.allocate(bytes, "what is copied");
  const kernels::Buffer to = device.allocate(bytes, "the copy");
  const Push push{0, static_cast<std::uint32_t>(bytes / kQuad), from.address(), to.address()};
  constexpr int kRuns = 10;
  const DeviceTime time = time_device(
      device,
      [&] {
        kernels::Stream stream(device);
        stream.run(program, bytes / kQuad / kGroup, push);
        stream.wait();
      },
      kRuns);
  return 2 * static_cast<double>(bytes) / time.clock;
}

struct Row {
  std::string kernel, size, unit;
  double items = 0, least_bytes = 0, device_s = 0, wall_s = 0, cpu_s = 0;
  std::string failure;
};

/// Where the time went, launch by launch: the largest shares.
std::string split_of(const kernels::Device& device) {
  std::vector<std::pair<double, std::string>> parts;
  double all = 0;
  for (const auto& [name, time] : device.times()) {
    parts.emplace_back(time.seconds, fmt::format("{} x{}", name, time.launches));
    all += time.seconds;
  }
  std::sort(parts.rbegin(), parts.rend());
  std::string text;
  constexpr std::size_t kShown = 6;
  for (std::size_t i = 0; i < std::min(kShown, parts.size()); ++i) {
    text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", parts[i].second, 100 * parts[i].first / all);
  }
  return text;
}

Row run_case(kernels::Device& device, const GpuCase& one, const Options& options) {
  Row row;
  row.kernel = one.kernel;
  try {
    const std::string missing = device.info().lacks(one.needs);
    if (!missing.empty()) {
      throw Error(ErrorKind::Missing, {"the device lacks " + missing, one.kernel, "", "", ""});
    }
    const PreparedCase prepared = one.prepare(device, options.scale);
    row.size = prepared.size;
    row.unit = prepared.unit;
    row.items = prepared.items;
    row.least_bytes = prepared.least_bytes;
    const DeviceTime time = time_device(device, prepared.device, options.repeat, prepared.clock);
    row.device_s = prepared.by_wall_clock ? time.wall : time.clock;
    row.wall_s = time.wall;
    if (!prepared.by_wall_clock) {
      fmt::print(stderr, "{}: {}\n", row.kernel, split_of(device));
    }
    if (prepared.cpu && options.cpu) {
      const double first = seconds(prepared.cpu);
      row.cpu_s = std::min(first, seconds(prepared.cpu));
      if (prepared.check) {
        prepared.check();
      }
    }
  } catch (const std::exception& error) {
    row.failure = error.what();
    std::replace(row.failure.begin(), row.failure.end(), '"', '\'');
  }
  device.clear_times();
  return row;
}

void print(const Row& row, double bandwidth) {
  if (!row.failure.empty()) {
    fmt::print("{:<44} FAILED: {}\n", row.kernel, row.failure);
    return;
  }
  constexpr double kMilli = 1e3;
  constexpr double kMega = 1e6;
  fmt::print("{:<44} {:<40} {:>10.3f} {:>10.3f} {:>12.1f} M{}/s {:>7} {:>10} {:>8}\n", row.kernel, row.size,
             row.device_s * kMilli, row.wall_s * kMilli, row.items / row.device_s / kMega, row.unit,
             row.least_bytes > 0 ? fmt::format("{:.1f} %", 100 * row.least_bytes / row.device_s / bandwidth) : "-",
             row.cpu_s > 0 ? fmt::format("{:.2f}", row.cpu_s * kMilli) : "-",
             row.cpu_s > 0 ? fmt::format("{:.1f}x", row.cpu_s / row.device_s) : "-");
  std::fflush(stdout);
}

void write_json(std::ofstream& file, const Row& row, const kernels::DeviceInfo& info, double bandwidth) {
  file
      << fmt::format(
             R"({{"kernel":"{}","size":"{}","unit":"{}","items":{},"least_bytes":{},"device_s":{},"wall_s":{},"cpu_s":{},"cpu_threads":{},"device":"{}","driver":"{}","copy_bytes_per_s":{},"failure":"{}"}})",
             row.kernel, row.size, row.unit, row.items, row.least_bytes, row.device_s, row.wall_s, row.cpu_s,
             std::thread::hardware_concurrency(), info.name, info.driver, bandwidth, row.failure)
      << '\n';
  file.flush();
}

int run(const Options& options) {
  const std::unique_ptr<Accelerator> accelerator = kernels::make_accelerator(options.device, {}, {});
  kernels::Device& device = *kernels::devices_of(*accelerator).at(0);
  const kernels::DeviceInfo& info = device.info();
  const double bandwidth = copy_bandwidth(device);
  constexpr double kGiga = 1e9;
  fmt::print("{}, {}, Vulkan {}; copies {:.0f} GB/s; {} processor threads\n", info.name, info.driver, info.api,
             bandwidth / kGiga, std::thread::hardware_concurrency());
  fmt::print("{:<44} {:<40} {:>10} {:>10} {:>20} {:>7} {:>10} {:>8}\n", "kernel", "size", "device ms", "wall ms",
             "rate", "of copy", "CPU ms", "ratio");
  std::ofstream json;
  if (!options.json.empty()) {
    json.open(options.json);
  }
  std::vector<GpuCase> cases = GpuCases::all();
  std::stable_sort(cases.begin(), cases.end(), [](const GpuCase& a, const GpuCase& b) { return a.kernel < b.kernel; });
  bool good = true;
  for (const GpuCase& one : cases) {
    if (one.kernel.find(options.filter) == std::string::npos) {
      continue;
    }
    const Row row = run_case(device, one, options);
    print(row, bandwidth);
    if (json.is_open()) {
      write_json(json, row, info, bandwidth);
    }
    good = good && row.failure.empty();
  }
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace rayreplay::bench

int main(int count, char** arguments) {
  try {
    return rayreplay::bench::run(rayreplay::bench::parse(count, arguments));
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_gpu: {}\n", error.what());
    return EXIT_FAILURE;
  }
}
