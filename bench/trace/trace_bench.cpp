// Speed of loading a trace, against read() of the same file: `trace_bench [--events=N] [--paths] [--keep=FILE]`.
//
// With --paths each call of a shader and each thread has the path that it took (rayreplay capture --profile paths).
// The file is made first (10 million events by default; --events=100000000 needs 1.2 GB of disk and 3 GB of memory) and
// is in the page cache when it is measured. Each iteration of `load` also times read() of the file into fresh memory,
// so that the ratio holds on a machine that others use too:
//   ratio        read() of the file's bytes / load(): 1 would be as fast as reading
//   ratio_memory read() of as many bytes as the trace has in memory / load()
//   ratio_cpu    processor time of read() / half of that of load(): the ratio where two cores are free for it
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <unistd.h>

#include "bench/trace/synthetic.hpp"
#include "capture/trace/file/storage.hpp"
#include "capture/trace/reader.hpp"
#include "capture/trace/validate.hpp"

namespace rayreplay::bench {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

struct File {
  fs::path path;
  bool paths = false;
  SyntheticCounts counts;
  std::uint64_t bytes = 0;
};
File& file() {
  static File instance;
  return instance;
}

/// Reads `bytes` bytes into fresh memory, the file over and over if it is shorter; returns the seconds it took.
double seconds_to_read(std::uint64_t bytes) {
  const int descriptor = ::open(file().path.c_str(), O_RDONLY | O_CLOEXEC);
  const auto start = Clock::now();
  double seconds = 0;
  {
    const std::unique_ptr<char[]> memory(new char[bytes]);
    for (std::uint64_t at = 0; at < bytes;) {
      const ssize_t done = ::pread(descriptor, memory.get() + at, bytes - at, static_cast<off_t>(at % file().bytes));
      if (done <= 0) {
        std::abort();
      }
      at += static_cast<std::uint64_t>(done);
    }
    benchmark::DoNotOptimize(memory.get());
    seconds = std::chrono::duration<double>(Clock::now() - start).count();
  }
  ::close(descriptor);
  return seconds;
}

std::uint64_t resident_bytes(const trace::Trace& trace) {
  std::uint64_t bytes = 0;
  for (const trace::Launch& launch : trace.launches) {
    const auto add = [&](const auto& column) { bytes += column.size() * sizeof(column[0]); };
    add(launch.data.ray_offset);
    add(launch.data.event_offset);
    add(launch.thread_path);
    trace::visit_rays(launch.data.rays, [&](const char*, const auto& column, bool) { add(column); });
    trace::visit_events(launch.data.events, [&](const char*, const auto& column, bool) { add(column); });
  }
  return bytes;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double peak_resident_gigabytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1e6;
}

/// Processor time of all threads so far.
double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void read_file(benchmark::State& state) {
  for (auto _ : state) {
    state.SetIterationTime(seconds_to_read(file().bytes));
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * static_cast<std::int64_t>(file().bytes)));
}

void load(benchmark::State& state) {
  std::vector<double> loads;
  std::vector<double> reads;
  std::vector<double> memory_reads;
  double read_cpu = 0;
  double load_cpu = 0;
  // Once unmeasured: a virtual machine pays extra for memory that it has never used before.
  const std::uint64_t resident = resident_bytes(trace::load(file().path));
  for (auto _ : state) {
    const double before_read = cpu_seconds();
    reads.push_back(seconds_to_read(file().bytes));
    read_cpu += cpu_seconds() - before_read;
    memory_reads.push_back(seconds_to_read(resident));
    const double before_load = cpu_seconds();
    const auto start = Clock::now();
    const trace::Trace trace = trace::load(file().path);
    loads.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    load_cpu += cpu_seconds() - before_load;
    state.SetIterationTime(loads.back());
    benchmark::DoNotOptimize(&trace);
  }
  const auto events = static_cast<double>(file().counts.events);
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * static_cast<std::int64_t>(file().bytes)));
  state.counters["Mevents/s"] = events / median(loads) / 1e6;
  state.counters["ratio"] = median(reads) / median(loads);
  state.counters["ratio_memory"] = median(memory_reads) / median(loads);
  state.counters["ratio_cpu"] = read_cpu / (load_cpu / 2);
  state.counters["file_bytes/event"] = static_cast<double>(file().bytes) / events;
  state.counters["resident_bytes/event"] = static_cast<double>(resident) / events;
  state.counters["peak_rss_GB"] = peak_resident_gigabytes();
}

void check(benchmark::State& state) {
  const trace::Trace trace = trace::load(file().path);
  for (auto _ : state) {
    trace::check(trace, "bench");
  }
  state.counters["Mevents/s"] =
      benchmark::Counter(static_cast<double>(file().counts.events) / 1e6 * static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate);
}

void write(benchmark::State& state) {
  const fs::path path = file().path.string() + ".again";
  double seconds = 0;
  std::uint64_t events = 0;
  for (auto _ : state) {
    const SyntheticCounts counts =
        write_synthetic(path, std::min<std::uint64_t>(file().counts.events, 10'000'000), file().paths);
    state.SetIterationTime(counts.write_seconds);
    seconds += counts.write_seconds;
    events += counts.events;
  }
  fs::remove(path);
  state.counters["Mevents/s"] = static_cast<double>(events) / seconds / 1e6;
}

BENCHMARK(read_file)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(load)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(7);
BENCHMARK(check)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(write)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace
}  // namespace rayreplay::bench

int main(int argc, char** argv) {
  using namespace rayreplay::bench;
  std::uint64_t events = 10'000'000;
  std::string keep;
  std::vector<char*> rest;
  for (int i = 0; i < argc; ++i) {
    if (std::strncmp(argv[i], "--events=", 9) == 0) {
      events = std::strtoull(argv[i] + 9, nullptr, 10);
    } else if (std::strncmp(argv[i], "--keep=", 7) == 0) {
      keep = argv[i] + 7;
    } else if (std::strcmp(argv[i], "--paths") == 0) {
      file().paths = true;
    } else {
      rest.push_back(argv[i]);
    }
  }
  int count = static_cast<int>(rest.size());
  benchmark::Initialize(&count, rest.data());
  file().path = keep.empty() ? std::filesystem::temp_directory_path() / ("trace_bench-" + std::to_string(::getpid()))
                             : std::filesystem::path(keep);
  file().counts = write_synthetic(file().path, events, file().paths);
  file().bytes = std::filesystem::file_size(file().path);
  benchmark::AddCustomContext("events", std::to_string(file().counts.events));
  benchmark::AddCustomContext("rays", std::to_string(file().counts.rays));
  benchmark::AddCustomContext("threads", std::to_string(file().counts.threads));
  benchmark::AddCustomContext("paths", file().paths ? "yes" : "no");
  benchmark::AddCustomContext("file_bytes", std::to_string(file().bytes));
  benchmark::RunSpecifiedBenchmarks();
  if (keep.empty()) {
    std::filesystem::remove(file().path);
  }
  return 0;
}
