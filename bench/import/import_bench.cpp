// How fast memory traces are read, both forms: `import_bench [--records=N] [--folder=DIR]`.
//
// Made up once, one million records by default: 32, 32, 32, 8 or 1 lanes in nodes and vertices, some 20 addresses a
// record. The files are in the page cache when they are measured. Each iteration reads a file by the reader, with every
// check and the hash, and right after it does the least that any reader must do, so that the ratio holds on a machine
// that others use too:
//   of_read   read() of the file in pieces of 256 KiB / our time (binary and text)
//   of_lines  read() and memchr for the line feeds / our time (text)
// Processor time of this thread; the median of the iterations. MB are 10^6 bytes of the file.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/split_mix.hpp"
#include "capture/import/memory_trace.hpp"

namespace rayreplay::import {
namespace {

namespace fs = std::filesystem;

struct Settings {
  std::uint64_t records = 1'000'000;
  fs::path folder = fs::temp_directory_path();
};

struct File {
  fs::path path;
  std::uint64_t bytes = 0, records = 0, lanes = 0;
};

TraceHeader made_up_header() {
  TraceHeader header;
  header.tool = "import_bench";
  header.sms = 68;
  header.allocations = {{"nodes", 0, 0x7f20'0000'0000U, 1U << 30U, 64},
                        {"vertices", 2, 0x7f30'0000'0000U, 1U << 30U, 12}};
  return header;
}

File make(const Settings& settings, TraceForm form) {
  File file;
  file.path = settings.folder / fmt::format("import_bench-{}.{}", ::getpid(), form == TraceForm::Text ? "txt" : "rrm");
  const TraceHeader header = made_up_header();
  const auto writer = create_memory_trace(file.path, form, true, header);
  constexpr std::array<std::uint32_t, 5> kLanes = {32, 32, 32, 8, 1};
  constexpr std::array<std::uint32_t, 3> kBytes = {4, 12, 16};
  std::uint64_t drawn = 0;
  const auto draw = [&](std::uint64_t below) { return (split_mix(7, drawn++) >> 32U) * below >> 32U; };
  RecordBlock block;
  std::vector<std::uint64_t> addresses;
  while (file.records < settings.records) {
    block.clear();
    for (; block.records() < kMaxBlockRecords && file.records < settings.records; ++file.records) {
      const std::uint32_t lanes = kLanes[draw(kLanes.size())];
      const std::uint64_t start = header.allocations[draw(5) < 3 ? 0 : 1].start + draw(1U << 24U) * 32;
      addresses.clear();
      for (std::uint32_t lane = 0; lane < lanes; ++lane) {
        addresses.push_back(start + draw(8) * 64);
      }
      block.add(static_cast<std::uint16_t>(draw(header.sms)), static_cast<std::uint32_t>(draw(32)), draw(8) == 0,
                kBytes[draw(kBytes.size())], (std::uint64_t{1} << lanes) - 1, addresses.data());
      file.lanes += lanes;
    }
    writer->append(block);
  }
  writer->commit();
  file.bytes = fs::file_size(file.path);
  return file;
}

double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

/// The file in pieces; with `lines`, a look at every byte.
double seconds_to_read(const fs::path& path, bool lines) {
  const double start = processor_seconds();
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::vector<char> buffer(1U << 18U);
  std::uint64_t found = 0;
  for (ssize_t got = 0; (got = ::read(descriptor, buffer.data(), buffer.size())) > 0;) {
    const char* const end = buffer.data() + got;
    for (const char* at = buffer.data(); lines && at != end; ++found) {
      const void* const feed = std::memchr(at, '\n', static_cast<std::size_t>(end - at));
      at = feed == nullptr ? end : static_cast<const char*>(feed) + 1;
    }
    benchmark::DoNotOptimize(buffer.data());
  }
  ::close(descriptor);
  benchmark::DoNotOptimize(found);
  return processor_seconds() - start;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void read(benchmark::State& state, const File& file, bool text) {
  std::vector<double> ours, reads, lines;
  for (auto _ : state) {
    const double start = processor_seconds();
    const auto reader = open_memory_trace(file.path);
    RecordBlock block;
    std::uint64_t lanes = 0;
    while (reader->next(block)) {
      lanes += block.address.size();
    }
    ours.push_back(processor_seconds() - start);
    state.SetIterationTime(ours.back());
    reads.push_back(seconds_to_read(file.path, false));
    lines.push_back(seconds_to_read(file.path, true));
    if (lanes != file.lanes) {
      state.SkipWithError("not all was read");
      return;
    }
  }
  const double seconds = median(ours);
  state.counters["MB/s"] = static_cast<double>(file.bytes) / seconds / 1e6;
  state.counters["Mrecords/s"] = static_cast<double>(file.records) / seconds / 1e6;
  state.counters["Mlanes/s"] = static_cast<double>(file.lanes) / seconds / 1e6;
  state.counters["of_read"] = median(reads) / seconds;
  if (text) {
    state.counters["of_lines"] = median(lines) / seconds;
  }
}

int run(int argc, char** argv) {
  Settings settings;
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word.starts_with("--records=")) {
      settings.records = std::strtoull(argv[i] + std::strlen("--records="), nullptr, 10);
    } else if (word.starts_with("--folder=")) {
      settings.folder = argv[i] + std::strlen("--folder=");
    } else {
      argv[kept++] = argv[i];
    }
  }
  benchmark::Initialize(&kept, argv);
  if (benchmark::ReportUnrecognizedArguments(kept, argv)) {
    return 2;
  }
  const File text = make(settings, TraceForm::Text);
  const File binary = make(settings, TraceForm::Binary);
  for (const auto& [name, file] : {std::pair<const char*, const File*>{"text", &text}, {"binary", &binary}}) {
    benchmark::RegisterBenchmark(
        name, [file = file, is_text = file == &text](benchmark::State& state) { read(state, *file, is_text); })
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond)
        ->MinTime(2);
  }
  benchmark::RunSpecifiedBenchmarks();
  fs::remove(text.path);
  fs::remove(binary.path);
  return 0;
}

}  // namespace
}  // namespace rayreplay::import

int main(int argc, char** argv) {
  return rayreplay::import::run(argc, argv);
}
