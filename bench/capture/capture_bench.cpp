// What capturing costs: device time of a launch recorded, with the layer loaded but not recording, and plain, in turn
// within one run; bytes of an event on the device and in the trace; wall time of the capture and of ingest.
//
//   capture_bench [--programs=one_weekend,mesh_viewer] [--size=128x72] [--spp=1] [--frames=3] [--recorded=3]
//                 [--rounds=2] [--warm-up=1] [--profiles=blocks;branches,loads] [Google Benchmark's options]
//
// With --profiles, in place of all that: device time of a launch whose shaders count, for each of these values of
// `capture --profile`, by themselves and with events recorded, against the plain launch, all in turn. "blocks/minimal"
// is --profile blocks with --block-counters minimal. Paths and memory are always recorded with events. A program may
// have arguments: --programs="one_weekend,mesh_viewer --scene hall".
//
// --frames are timed in each run, --recorded of them in the run that records (each is written to $TMPDIR). Warm-up
// frames compile pipelines and raise clocks; they are neither timed nor recorded. Compare ratios, not times.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <numeric>
#include <sstream>
#include <stdexcept>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "bench/capture/program_run.hpp"
#include "capture/ingest/ingest.hpp"
#include "capture/spool/payload.hpp"
#include "capture/spool/reader.hpp"
#include "capture/trace/reader.hpp"
#include "tests/support/temporary_folder.hpp"

namespace {

namespace fs = std::filesystem;
using namespace rayreplay;

struct Flags {
  std::string programs = "one_weekend,mesh_viewer";
  bench::Workload workload;
  std::uint32_t frames = 3, recorded = 3, rounds = 2;
  std::vector<std::string> profiles;
};
Flags flags;

/// All rounds of one program: medians over their launches.
struct Measured {
  std::vector<double> plain_ms, loaded_ms, recorded_ms;
  std::vector<double> plain_wall_s, recorded_wall_s, ingest_s;
  std::uint64_t events = 0, words = 0, file_bytes = 0,
                dropped = 0;  ///< of the last round, all its launches; file: their columns
};

std::uint64_t words_of(const fs::path& file) {
  const spool::SpoolReader reader(file);
  std::uint64_t words = 0;
  for (const spool::Block& block : reader.blocks()) {
    spool::Launch launch;
    if (block.type == spool::BlockType::Launch && spool::decode(block.payload, launch)) {
      words += launch.words;
    }
  }
  return words;
}

void append(std::vector<double>& to, const std::vector<double>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

void record(const bench::Workload& workload, Measured& result) {
  const test::TemporaryFolder folder;
  const fs::path spools = folder / "spool";
  fs::create_directory(spools);
  const bench::ProgramRun run =
      bench::run(workload, flags.recorded, spools, {fmt::format("RAYREPLAY_CAPTURE_FRAMES={}..", workload.warm_up)});
  append(result.recorded_ms, run.launch_ms);
  result.recorded_wall_s.push_back(run.wall_s);
  const auto files = ingest::find_spools(spools);
  const fs::path rrt = folder / "t.rrt";
  const auto start = std::chrono::steady_clock::now();
  const ingest::IngestResult ingested = ingest::ingest(files, rrt);
  result.ingest_s.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  if (ingested.traces.size() != 1 || ingested.traces[0].launches.size() != flags.recorded) {
    throw std::runtime_error(workload.program + ": not every launch was recorded");
  }
  result.events = result.words = result.dropped = 0;
  for (const ingest::LaunchSummary& launch : ingested.traces[0].launches) {
    result.events += launch.events;
    result.dropped += launch.dropped_events;
  }
  for (const fs::path& file : files) {
    result.words += words_of(file);
  }
  result.file_bytes = 0;
  for (const trace::ColumnInfo& column : trace::read_info(rrt).columns) {
    // Geometry and shaders are stored once, for any number of events.
    result.file_bytes += column.dataset.rfind("/launch/", 0) == 0 ? column.stored_bytes : 0;
  }
}

/// Kinds run in turn, so that other load of the machine affects all.
Measured measure(const std::string& program) {
  bench::Workload workload = flags.workload;
  workload.program = program;
  Measured result;
  for (std::uint32_t round = 0; round < flags.rounds; ++round) {
    const bench::ProgramRun plain = bench::run(workload, flags.frames);
    append(result.plain_ms, plain.launch_ms);
    // The wall time to compare with is that of as many frames.
    result.plain_wall_s.push_back(flags.recorded == flags.frames ? plain.wall_s
                                                                 : bench::run(workload, flags.recorded).wall_s);
    const test::TemporaryFolder idle;
    append(result.loaded_ms,
           bench::run(workload, flags.frames, idle.path(), {"RAYREPLAY_CAPTURE_FRAMES=1000000000"}).launch_ms);
    record(workload, result);
  }
  if (result.dropped != 0) {
    throw std::runtime_error(fmt::format("{}: {} events did not fit the device's memory", program, result.dropped));
  }
  return result;
}

const Measured& measured(const std::string& program) {
  static std::map<std::string, Measured> known;
  const auto found = known.find(program);
  return found != known.end() ? found->second : known.emplace(program, measure(program)).first->second;
}

/// Launches of one program: plain, and for each profile those that count and those that record, too.
struct Profiled {
  std::vector<double> plain_ms;
  std::map<std::string, std::vector<double>> counting_ms, recording_ms;
};

bool needs_events(const std::string& profile) {
  return profile.find("paths") != std::string::npos || profile.find("memory") != std::string::npos || profile == "all";
}

Profiled measure_profiles(const std::string& program) {
  bench::Workload workload = flags.workload;
  workload.program = program;
  Profiled result;
  for (std::uint32_t round = 0; round < flags.rounds; ++round) {
    append(result.plain_ms, bench::run(workload, flags.frames).launch_ms);
    for (const std::string& profile : flags.profiles) {
      const auto slash = profile.find("/minimal");
      std::vector<std::string> settings = {"RAYREPLAY_CAPTURE_PROFILE=" + profile.substr(0, slash)};
      if (slash != std::string::npos) {
        settings.emplace_back("RAYREPLAY_CAPTURE_BLOCK_COUNTERS=minimal");
      }
      const auto run = [&](std::uint32_t frames, const std::string& setting) {
        const test::TemporaryFolder spools;
        std::vector<std::string> all = settings;
        all.push_back(setting);
        return bench::run(workload, frames, spools.path(), all).launch_ms;
      };
      if (!needs_events(profile)) {
        append(result.counting_ms[profile], run(flags.frames, "RAYREPLAY_CAPTURE_RECORD=off"));
      }
      append(result.recording_ms[profile],
             run(flags.recorded, fmt::format("RAYREPLAY_CAPTURE_FRAMES={}..", workload.warm_up)));
    }
  }
  return result;
}

/// The first benchmark of a program measures all its profiles.
const Profiled& profiled(const std::string& program) {
  static std::map<std::string, Profiled> known;
  const auto found = known.find(program);
  return found != known.end() ? found->second : known.emplace(program, measure_profiles(program)).first->second;
}

/// One iteration that reports what `report` takes from the measurement.
template <class Report>
void add(const std::string& kind, const std::string& program, Report report) {
  benchmark::RegisterBenchmark((kind + "/" + program).c_str(),
                               [=](benchmark::State& state) {
                                 for (auto unused : state) {
                                   (void)unused;
                                   try {
                                     report(state);
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

void add_program(const std::string& program) {
  using benchmark::State;
  add("plain", program,
      [=](State& state) { state.SetIterationTime(bench::median(measured(program).plain_ms) * 1e-3); });
  add("loaded", program, [=](State& state) {
    const Measured& m = measured(program);
    const double ms = bench::median(m.loaded_ms);
    state.SetIterationTime(ms * 1e-3);
    state.counters["ratio"] = ms / bench::median(m.plain_ms);
  });
  add("recorded", program, [=](State& state) {
    const Measured& m = measured(program);
    const double ms = bench::median(m.recorded_ms);
    const auto events = static_cast<double>(m.events);
    state.SetIterationTime(ms * 1e-3);
    state.counters["ratio"] = ms / bench::median(m.plain_ms);
    state.counters["Gevents/s"] = events / flags.recorded / (ms * 1e-3) * 1e-9;
    state.counters["device_bytes/event"] = static_cast<double>(m.words) * 4 / events;
    state.counters["file_bytes/event"] = static_cast<double>(m.file_bytes) / events;
    state.counters["Mevents"] = events / flags.recorded * 1e-6;
  });
  // Wall time of the process that records, less that of the plain one: instrumentation, copies, spool.
  add("host", program, [=](State& state) {
    const Measured& m = measured(program);
    const double wall = bench::median(m.recorded_wall_s);
    const double ingest = bench::median(m.ingest_s);
    state.SetIterationTime(wall);
    state.counters["plain_s"] = bench::median(m.plain_wall_s);
    state.counters["added_s"] = wall - bench::median(m.plain_wall_s);
    state.counters["ingest_s"] = ingest;
    state.counters["ingest_Mevents/s"] = static_cast<double>(m.events) / ingest * 1e-6;
  });
}

void add_profiles(const std::string& program) {
  using benchmark::State;
  add("plain", program,
      [=](State& state) { state.SetIterationTime(bench::median(profiled(program).plain_ms) * 1e-3); });
  for (const std::string& profile : flags.profiles) {
    const auto add_kind = [&](const std::string& kind, auto times) {
      add(kind + "/" + profile, program, [=](State& state) {
        const Profiled& all = profiled(program);
        const double ms = bench::median((all.*times).at(profile));
        state.SetIterationTime(ms * 1e-3);
        state.counters["ratio"] = ms / bench::median(all.plain_ms);
      });
    };
    if (!needs_events(profile)) {
      add_kind("counters", &Profiled::counting_ms);
    }
    add_kind("with_events", &Profiled::recording_ms);
  }
}

std::uint32_t positive(const std::string& text) {
  const unsigned long value = std::stoul(text);
  if (value == 0 || value > 1'000'000) {
    throw std::out_of_range("numbers are 1 to 1000000");
  }
  return static_cast<std::uint32_t>(value);
}

/// Takes our flags out of the command line.
void take_flags(int& count, char** arguments) {
  int kept = 1;
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    const auto equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : argument.substr(equals + 1);
    if (name == "--programs") {
      flags.programs = value;
    } else if (name == "--size") {
      flags.workload.size = value;
    } else if (name == "--spp") {
      flags.workload.spp = positive(value);
    } else if (name == "--frames") {
      flags.frames = positive(value);
    } else if (name == "--recorded") {
      flags.recorded = positive(value);
    } else if (name == "--rounds") {
      flags.rounds = positive(value);
    } else if (name == "--profiles") {
      std::istringstream profiles(value);
      for (std::string profile; std::getline(profiles, profile, ';');) {
        flags.profiles.push_back(profile);
      }
    } else if (name == "--warm-up") {
      flags.workload.warm_up = positive(value);
    } else {
      arguments[kept++] = arguments[i];
    }
  }
  count = kept;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    take_flags(count, arguments);
  } catch (const std::exception&) {
    std::fputs("capture_bench: a flag's value cannot be read: --frames=4\n", stderr);
    return 2;
  }
  std::istringstream programs(flags.programs);
  for (std::string program; std::getline(programs, program, ',');) {
    flags.profiles.empty() ? add_program(program) : add_profiles(program);
  }
  benchmark::Initialize(&count, arguments);
  if (benchmark::ReportUnrecognizedArguments(count, arguments)) {
    return 2;
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
