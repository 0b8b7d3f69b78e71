// Spool and ingest against what the machine can do: writing a spool beside copying and writing the same bytes, ingest
// beside reading the spool. The records are those of --events=N warp-coherent events (default 4 M): rays with an
// any-hit or intersection each and a closest hit or miss, 8 lanes to a warp, groups of 1 to 8 lanes.
//
//   ingest_bench [--events=100000000] [Google Benchmark's options]
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "base/split_mix.hpp"
#include "capture/ingest/ingest.hpp"
#include "capture/instrument/probes/record.h"
#include "capture/spool/writer.hpp"
#include "tests/support/temporary_folder.hpp"

namespace {

namespace fs = std::filesystem;
using namespace rayreplay;

constexpr std::uint32_t kWidth = 1920;
constexpr std::uint32_t kHeight = 1080;
constexpr std::uint32_t kLanes = 8;
constexpr std::uint64_t kPieceWords = std::uint64_t{1} << 22;

std::uint64_t events_wanted = 4'000'000;

/// Writes the spool piece by piece, so that the benchmark itself needs no memory.
class Program {
 public:
  Program(const fs::path& path, std::uint64_t events) : events_(events) {
    fs::remove(path);
    check(writer_.open(path.string()));
    describe();
    run();
    flush();
    check(writer_.append(spool::End{1, 1}));
  }
  [[nodiscard]] std::uint64_t made() const {
    return made_;
  }

 private:
  void check(bool sound) const {
    if (!sound) {
      throw std::runtime_error(writer_.error());
    }
  }
  void describe() {
    spool::Process process;
    process.executable = "bench";
    check(writer_.append(process));
    spool::Device device;
    device.subgroup_size = kLanes;
    device.events_words = 1;
    check(writer_.append(device));
    for (std::uint16_t id = 0; id < 6; ++id) {
      spool::Shader shader;
      shader.shader = id;
      shader.stage = static_cast<std::uint8_t>(id);
      check(writer_.append(shader));
    }
    spool::Launch launch;
    launch.width = kWidth;
    launch.height = kHeight;
    launch.depth = 1;
    launch.words = total_words();
    check(writer_.append(launch));
  }
  /// A dry run that counts.
  std::uint64_t total_words() {
    counting_ = true;
    run();
    counting_ = false;
    const std::uint64_t words = words_;
    words_ = made_ = 0;
    return words;
  }

  void run() {
    constexpr std::uint32_t kWarps = kWidth * kHeight / kLanes;
    for (std::uint32_t w = 0; w < kWarps; ++w) {
      chunk(RR_RAY_GENERATION, 0, w, 0xFF, 1);
    }
    for (std::uint32_t bounce = 0; made_ < events_; ++bounce) {
      for (std::uint32_t w = 0; w < kWarps && made_ < events_; ++w) {
        const std::uint64_t random = split_mix(std::uint64_t{bounce} << 32U | w, 0);
        const auto alive = static_cast<std::uint32_t>(random & 0xFFU) | 1U;
        chunk(RR_TRACE, 0, w, alive, 12);
        for (std::uint32_t tests = 0; tests < 3; ++tests) {
          const std::uint32_t met = alive & static_cast<std::uint32_t>(random >> (8 + 8 * tests));
          if (met != 0) {
            chunk(tests == 1 ? RR_INTERSECTION : RR_ANY_HIT, tests == 1 ? 1 : 2, w, met, 5);
          }
        }
        const std::uint32_t hits = alive & static_cast<std::uint32_t>(random >> 40U);
        if (hits != 0) {
          chunk(RR_CLOSEST_HIT, 3, w, hits, 5);
        }
        if ((alive & ~hits) != 0) {
          chunk(RR_MISS, 4, w, alive & ~hits, 1);
        }
      }
    }
  }

  void chunk(std::uint32_t kind, std::uint32_t shader, std::uint32_t warp, std::uint32_t mask, std::uint32_t fields) {
    const auto n = static_cast<std::uint32_t>(std::popcount(mask));
    made_ += kind == RR_RAY_GENERATION ? 0 : n;
    words_ += RR_HEADER_WORDS + std::uint64_t{n} * fields;
    if (counting_) {
      return;
    }
    piece_.insert(piece_.end(),
                  {kind | shader << 8U, mask, n << 20U | warp % 132U, static_cast<std::uint32_t>(words_)});
    for (std::uint32_t field = 0; field < fields; ++field) {
      for (std::uint32_t left = mask; left != 0; left &= left - 1) {
        const std::uint32_t lane = static_cast<std::uint32_t>(std::countr_zero(left));
        // Thread; flags, sbt and miss as applications have them; floats; small ids.
        const bool real = kind == RR_TRACE ? field >= 4 : field == 1;
        const std::uint64_t random = split_mix(words_ + field * kLanes + lane, 0);
        piece_.push_back(field == 0         ? warp * kLanes + lane
                         : real             ? std::bit_cast<std::uint32_t>(static_cast<float>(random >> 40U) * 1e-4F)
                         : kind == RR_TRACE ? (field == 2 ? 0xFFU : 0U)
                         : field == 4       ? 0U
                                            : static_cast<std::uint32_t>(random % (field == 2 ? 64U : 50'000U)));
      }
    }
    if (piece_.size() >= kPieceWords) {
      flush();
    }
  }
  void flush() {
    check(piece_.empty() || writer_.append_events(0, done_, piece_.data(), piece_.size()));
    done_ += piece_.size();
    piece_.clear();
  }

  std::uint64_t events_;
  spool::SpoolWriter writer_;
  std::vector<std::uint32_t> piece_;
  std::uint64_t words_ = 0, made_ = 0, done_ = 0;
  bool counting_ = false;
};

const test::TemporaryFolder& folder() {
  static const test::TemporaryFolder the_folder;
  return the_folder;
}

const std::vector<std::uint32_t>& words_to_write() {
  static const std::vector<std::uint32_t> words(std::size_t{64} << 20U, 0x1234567);
  return words;
}

void set_bytes(benchmark::State& state, std::uint64_t bytes) {
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes * static_cast<std::uint64_t>(state.iterations())));
}

void spool_write(benchmark::State& state) {
  const auto& words = words_to_write();
  for (auto _ : state) {
    fs::remove(folder() / "w");
    spool::SpoolWriter writer;
    if (!writer.open((folder() / "w").string()) || !writer.append_events(0, 0, words.data(), words.size())) {
      state.SkipWithError(writer.error().c_str());
    }
  }
  set_bytes(state, words.size() * 4);
}

void plain_write(benchmark::State& state) {
  const auto& words = words_to_write();
  for (auto _ : state) {
    fs::remove(folder() / "w");
    const int file = open((folder() / "w").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    for (std::size_t done = 0; done < words.size() * 4;) {
      const ssize_t count = write(file, reinterpret_cast<const char*>(words.data()) + done, words.size() * 4 - done);
      if (count <= 0) {
        state.SkipWithError("write failed");
        break;
      }
      done += static_cast<std::size_t>(count);
    }
    close(file);
  }
  set_bytes(state, words.size() * 4);
}

void copy_memory(benchmark::State& state) {
  const auto& words = words_to_write();
  std::vector<std::uint32_t> to(words.size());
  for (auto _ : state) {
    std::memcpy(to.data(), words.data(), words.size() * 4);
    benchmark::DoNotOptimize(to.data());
  }
  set_bytes(state, words.size() * 4);
}

const fs::path& spool_file(std::uint64_t& events) {
  static const fs::path path = folder() / "bench.rrspool";
  static const std::uint64_t made = Program(path, events_wanted).made();
  events = made;
  return path;
}

void read_spool(benchmark::State& state) {
  std::uint64_t events = 0;
  const fs::path& path = spool_file(events);
  std::vector<char> buffer(std::size_t{1} << 22U);
  for (auto _ : state) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    while (read(file, buffer.data(), buffer.size()) > 0) {
      benchmark::DoNotOptimize(buffer.data());
    }
    close(file);
  }
  set_bytes(state, fs::file_size(path));
}

void ingest_spool(benchmark::State& state) {
  std::uint64_t events = 0;
  const fs::path& path = spool_file(events);
  const fs::path output = folder() / "t.rrt";
  ingest::IngestOptions options;
  options.overwrite = true;
  for (auto _ : state) {
    const ingest::IngestResult result = ingest::ingest({path}, output, options);
    if (result.traces.size() != 1 || result.traces[0].launches.size() != 1 ||
        result.traces[0].launches[0].events != events) {
      state.SkipWithError("the trace does not hold the events");
    }
  }
  set_bytes(state, fs::file_size(path));
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto count = static_cast<double>(events);
  state.counters["Mevents/s"] =
      benchmark::Counter(count * 1e-6 * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
  state.counters["spool_bytes/event"] = static_cast<double>(fs::file_size(path)) / count;
  state.counters["file_bytes/event"] = static_cast<double>(fs::file_size(output)) / count;
  state.counters["peak_rss_GB"] = static_cast<double>(usage.ru_maxrss) * 1024e-9;
}

BENCHMARK(copy_memory)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(plain_write)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(spool_write)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(read_spool)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(ingest_spool)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace

int main(int argc, char** argv) {
  constexpr const char* kEvents = "--events=";
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], kEvents, std::strlen(kEvents)) == 0) {
      events_wanted = std::strtoull(argv[i] + std::strlen(kEvents), nullptr, 10);
    } else {
      argv[kept++] = argv[i];
    }
  }
  argc = kept;
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
    return 2;
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
