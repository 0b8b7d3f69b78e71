// Fuzzer of the reader of schedules. Sound schedules of random launches are changed: values, rows, columns, attributes,
// bytes of the file. `read_schedule` must refuse them as Input or Resource, naming the file, or give a schedule that is
// sound and comes to its end when dispatchers play it.
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "sim/launch/launch_stream.hpp"
#include "sim/launch/schedule_file.hpp"
#include "tests/fuzz/support/fuzzer.hpp"
#include "tests/fuzz/support/recipe.hpp"
#include "tests/fuzz/support/scratch.hpp"
#include "tests/support/schedule_parts.hpp"

namespace rayreplay::fuzz {
namespace {

namespace fs = std::filesystem;
using test::ScheduleParts;

constexpr const char* kKinds[] = {"schedules"};
constexpr std::uint64_t kSound = 8;
constexpr std::uint64_t kChanges = 8;  ///< kinds of them
constexpr int kMaxChanges = 16;
constexpr std::uint32_t kWarpSize = 4;
constexpr std::uint32_t kSms = 3;

struct Sound {
  trace::Trace trace;
  ScheduleParts parts;
};

/// Each thread's events in segments of one call, the k-th segments of all threads together.
ScheduleParts parts_of(const trace::Trace& trace, bool by_warps) {
  const trace::ThreadData& data = trace.launches[0].data;
  ScheduleParts parts;
  parts.texts = {{"schema", std::string(experiment::kScheduleSchema)},
                 {"trace_hash", trace.hash},
                 {"placement", std::string(by_warps ? experiment::kPlacedByWarps : experiment::kPlacedByUnits)}};
  parts.numbers = {{"launch", 0}, {"warp_size", kWarpSize}, {"sms", kSms}, {"state_bytes", 16},
                   {"spread", 1}, {"withheld_sms", 1}};
  struct Segment {
    std::uint64_t number, thread, first, events;
  };
  std::vector<std::vector<Segment>> rounds;
  std::uint64_t number = 0;
  for (std::size_t thread = 0; thread + 1 < data.event_offset.size(); ++thread) {
    std::uint64_t begin = data.event_offset[thread];
    for (std::size_t round = 0; begin < data.event_offset[thread + 1]; ++round) {
      std::uint64_t end = begin + 1;
      while (end < data.event_offset[thread + 1] && !trace::is_warp_event(data.events.kind[end])) {
        ++end;
      }
      rounds.resize(std::max(rounds.size(), round + 1));
      rounds[round].push_back({number++, thread, begin, end - begin});
      begin = end;
    }
  }
  auto& columns = parts.columns;
  for (const char* name : {"warps/sm", "warps/unit", "warps/round", "warps/delay", "places/segment", "places/thread",
                           "places/first_event", "places/events", "places/state"}) {
    columns[name];
  }
  columns["units/sm"] = {scheduler::kAnySm};
  for (std::size_t round = 0; round < rounds.size(); ++round) {
    rounds[round].resize((rounds[round].size() + kWarpSize - 1) / kWarpSize * kWarpSize,
                         {scheduler::kNoSegment, scheduler::kNoThread, 0, 0});
    for (std::size_t i = 0; i < rounds[round].size(); ++i) {
      const Segment& one = rounds[round][i];
      if (i % kWarpSize == 0) {
        columns["warps/sm"].push_back(1 + (i / kWarpSize) % (kSms - 1));
        columns["warps/unit"].push_back(0);
        columns["warps/round"].push_back(round);
        columns["warps/delay"].push_back(100 * round);
      }
      columns["places/segment"].push_back(one.number);
      columns["places/thread"].push_back(one.thread);
      columns["places/first_event"].push_back(one.first);
      columns["places/events"].push_back(one.events);
      columns["places/state"].push_back(round > 0 && one.events > 0 && one.thread % 2 == 0 ? 1 : 0);
    }
  }
  return parts;
}

const std::vector<Sound>& sound_schedules() {
  static const std::vector<Sound> kAll = [] {
    std::vector<Sound> all;
    for (std::uint64_t s = 0; s < kSound; ++s) {
      Sound one;
      one.trace = test::random_trace({.seed = s, .size = {2 + static_cast<std::uint32_t>(s), 3, 1}, .scene = false});
      one.trace.hash = "0123456789abcdef";
      one.parts = parts_of(one.trace, s % 2 == 0);
      all.push_back(std::move(one));
    }
    return all;
  }();
  return kAll;
}

void change(ScheduleParts& parts, std::uint64_t kind, Choices& choices) {
  const auto column = [&] {
    auto it = parts.columns.begin();
    std::advance(it, static_cast<std::ptrdiff_t>(choices.below(parts.columns.size())));
    return it;
  };
  if (parts.columns.empty() || parts.numbers.empty()) {
    return;
  }
  auto& values = column()->second;
  switch (kind) {
    case 0:
    case 1:
      if (!values.empty()) {
        std::uint64_t& value = values[choices.below(values.size())];
        value = changed(value, choices);
      }
      break;
    case 2:
    case 3:
      if (!values.empty()) {
        const std::uint64_t from = choices.below(values.size());
        std::swap(values[from], values[choices.below(values.size())]);
      }
      break;
    case 4:
      values.resize(choices.below(2) == 0 ? values.size() + choices.below(5)
                                          : values.size() - std::min<std::size_t>(values.size(), choices.below(5)));
      break;
    case 5:
      choices.below(2) == 0 ? static_cast<void>(parts.columns.erase(column()))
                            : static_cast<void>(parts.types[column()->first] = H5T_STD_U16LE);
      break;
    default: {
      auto it = parts.numbers.begin();
      std::advance(it, static_cast<std::ptrdiff_t>(choices.below(parts.numbers.size())));
      it->second = static_cast<std::uint32_t>(changed(it->second, choices));
    }
  }
}

/// Every warp starts and ends, each as soon as it can.
void play(const experiment::RegroupedLaunch& launch) {
  machine::Machine machine;
  machine.sms = kSms;
  const auto dispatcher = experiment::dispatcher_of({}, &launch, machine);
  std::uint64_t given = 0;
  std::vector<machine::Release> releases;
  for (std::uint64_t cycle = 0, idle = 0; given < dispatcher->items(); cycle += machine.l2_latency_cycles + 1) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> running;
    const auto run_own = [&](std::uint32_t sm) {
      for (std::uint32_t item = dispatcher->take_own(sm, cycle); item != machine::Dispatcher::kNone;
           item = dispatcher->take_own(sm, cycle)) {
        running.emplace_back(item, sm);
      }
    };
    for (std::uint32_t sm = dispatcher->first_sm(); sm < kSms; ++sm) {
      run_own(sm);
      while (dispatcher->has_shared(sm, cycle)) {
        const std::uint32_t item = dispatcher->take_shared(sm, cycle, releases);
        if (item == machine::Dispatcher::kNone) {
          break;
        }
        running.emplace_back(item, sm);
        run_own(sm);
      }
    }
    for (const auto& [item, sm] : running) {
      dispatcher->ended(item, sm, cycle, releases);
    }
    given += running.size();
    idle = running.empty() ? idle + 1 : 0;
    if (idle > 2) {
      finding("a schedule that was accepted does not come to its end");
    }
  }
}

std::vector<std::string> seeds() {
  return recipes(kSound, kChanges);
}

Verdict run(std::string_view input) {
  use_one_worker();
  static const fs::path kFile = scratch() / "s.h5";
  Choices choices(input);
  const Sound& sound = sound_schedules()[choices.below(kSound)];
  ScheduleParts parts = sound.parts;
  const bool bytes = follow(choices, kChanges, kMaxChanges, [&](std::uint64_t kind) { change(parts, kind, choices); });
  parts.write(kFile);
  if (bytes) {
    change_file(kFile, 0, choices);
  }
  const bool accepted = taken({ErrorKind::Input, ErrorKind::Resource}, [&] {
    experiment::RegroupedLaunch launch;
    try {
      launch = experiment::read_schedule(kFile, sound.trace, {.launch = 0, .warp_size = kWarpSize, .sms = kSms});
    } catch (const Error& error) {
      if (!error.info().where.starts_with(kFile.string())) {
        finding(std::string("the error does not name the file: ") + error.what());
      }
      throw;
    }
    if (launch.sm.empty()) {
      scheduler::check(launch.schedule, launch.segments);
    }
    play(launch);
  });
  return {0, accepted};
}

}  // namespace

const Fuzzer kFuzzer{"schedule", kKinds, &seeds, &run, nullptr, 3000};

}  // namespace rayreplay::fuzz
