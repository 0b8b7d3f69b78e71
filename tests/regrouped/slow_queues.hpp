// The accesses of queues in memory once more: warp by warp in the order of their starts, with maps and counters.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "capture/trace/trace.hpp"
#include "scheduler-models/regrouping/segments.hpp"
#include "sim/memory/streams/launch_source.hpp"
#include "tests/memory/launch_streams.hpp"

namespace rayreplay::test {

/// Of one lane: lane, address, element, thread.
using QueueLane = std::tuple<std::uint32_t, std::uint64_t, std::uint32_t, std::uint32_t>;
struct QueueInstruction {
  bool store = false;
  std::uint32_t bytes = 0;
  std::vector<QueueLane> lanes;
  bool operator==(const QueueInstruction&) const = default;
};

/// Those of the kind `queue` in a stream.
inline std::vector<QueueInstruction> queue_instructions(const memory::Instructions& raw) {
  std::vector<QueueInstruction> found;
  for (const memory::Instruction& row : raw.rows) {
    if (row.kind != memory::DataKind::Queue) {
      continue;
    }
    QueueInstruction one{row.store, row.bytes, {}};
    std::uint32_t at = row.first;
    for (std::uint32_t lane = 0; lane < 64; ++lane) {
      if ((row.mask >> lane & 1U) != 0) {
        one.lanes.emplace_back(lane, raw.address[at], raw.element[at], raw.thread[at]);
        ++at;
      }
    }
    found.push_back(one);
  }
  return found;
}

class SlowMemoryQueues {
 public:
  /// The shader or record that a segment's thread waits for.
  using Key = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;

  /// `bindless`: a queue of each SM for each record, else two for each shader, in turn.
  SlowMemoryQueues(const trace::Launch& launch, const scheduler::Segments& segments, bool bindless)
      : bindless_(bindless) {
    for (std::uint32_t thread = 0; thread + 1 < segments.first.size(); ++thread) {
      for (std::uint32_t s = segments.first[thread]; s < segments.first[thread + 1]; ++s) {
        thread_of_[s] = thread;
        round_of_[s] = s - segments.first[thread];
        if (round_of_[s] > 0) {
          key_of_[s] = bindless ? record(launch, segments, thread, s) : shader(launch, segments, s);
          keys_.insert(key_of_[s]);
        }
      }
    }
  }

  /// The entries that the launch's longest queue gets in a round.
  [[nodiscard]] std::uint64_t longest() const {
    std::map<std::pair<std::uint32_t, Key>, std::uint64_t> count;
    std::uint64_t most = 1;
    for (const auto& [segment, key] : key_of_) {
      most = std::max(most, ++count[{round_of_.at(segment), key}]);
    }
    return most;
  }
  [[nodiscard]] std::size_t entries() const {
    return key_of_.size();
  }

  /// The next warp that starts, on this one of the SMs that shade.
  std::vector<QueueInstruction> run(std::span<const std::uint32_t> lanes, std::uint32_t sm,
                                    const memory::Allocations& table, std::uint64_t places, std::uint32_t bytes) {
    const memory::Allocation& queues = named(table, "queues");
    const memory::Allocation& counters = named(table, "queue counters");
    EXPECT_EQ(queues.element_bytes, (places * bytes + 255) / 256 * 256);
    EXPECT_EQ(counters.start, queues.start + queues.bytes);
    EXPECT_EQ(queues.bytes / queues.element_bytes, keys_.size() * groups(table));
    QueueInstruction loaded{false, bytes, {}};
    QueueInstruction counted{true, 4, {}};
    QueueInstruction stored{true, bytes, {}};
    std::set<std::uint32_t> seen;
    for (std::uint32_t lane = 0; lane < lanes.size(); ++lane) {
      const std::uint32_t segment = lanes[lane];
      if (segment == scheduler::kNoSegment) {
        continue;
      }
      const auto entry = [&](std::uint32_t of) {
        const auto [queue, place] = place_of_.at(of);
        return QueueLane{lane, queues.start + std::uint64_t{queue} * queues.element_bytes + place % places * bytes,
                         queues.first_element + queue, thread_of_.at(of)};
      };
      if (key_of_.contains(segment)) {
        loaded.lanes.push_back(entry(segment));
      }
      if (!key_of_.contains(segment + 1)) {
        continue;
      }
      const std::uint32_t round = round_of_.at(segment + 1);
      const std::uint32_t group = bindless_ ? sm : round % 2;
      const auto queue =
          static_cast<std::uint32_t>(group * keys_.size() + static_cast<std::size_t>(std::distance(
                                                                keys_.begin(), keys_.find(key_of_.at(segment + 1)))));
      place_of_[segment + 1] = {queue, appended_[{queue, bindless_ ? 0 : round}]++};
      stored.lanes.push_back(entry(segment + 1));
      if (seen.insert(queue).second) {
        counted.lanes.emplace_back(lane, counters.start + std::uint64_t{queue} * 4, counters.first_element + queue,
                                   thread_of_.at(segment));
      }
    }
    std::vector<QueueInstruction> made;
    for (const QueueInstruction& one : {loaded, counted, stored}) {
      if (!one.lanes.empty()) {
        made.push_back(one);
      }
    }
    return made;
  }

 private:
  [[nodiscard]] std::size_t groups(const memory::Allocations& table) const {
    return bindless_ ? named(table, "queue counters").bytes / 4 / keys_.size() : 2;
  }
  /// Misses before hits, each by shader.
  static Key shader(const trace::Launch& launch, const scheduler::Segments& segments, std::uint32_t segment) {
    const trace::Events& events = launch.data.events;
    const std::uint64_t event = segments.event_offset[segment];
    return {events.kind[event] == trace::EventKind::ClosestHit ? 1U : 0U, events.shader[event], 0};
  }
  /// Shader, kind, and for a trace call the site of the trace call to which it returns.
  static Key record(const trace::Launch& launch, const scheduler::Segments& segments, std::uint32_t thread,
                    std::uint32_t segment) {
    const trace::Events& events = launch.data.events;
    const std::uint64_t event = segments.event_offset[segment];
    std::uint64_t returns_to = 0;
    if (trace::begins_ray(events.kind[event])) {
      std::uint64_t rays = 0;
      for (std::uint64_t e = launch.data.event_offset[thread]; e < event; ++e) {
        rays += trace::begins_ray(events.kind[e]) ? 1U : 0U;
      }
      const auto& site = launch.data.rays.site;
      returns_to = rays == 0 ? 257 : site.empty() ? 256 : site[launch.data.ray_offset[thread] + rays - 1];
    }
    return {events.shader[event], static_cast<std::uint64_t>(events.kind[event]), returns_to};
  }

  bool bindless_;
  std::map<std::uint32_t, std::uint32_t> thread_of_, round_of_;  ///< by segment
  std::map<std::uint32_t, Key> key_of_;                          ///< by later segment
  std::set<Key> keys_;
  std::map<std::uint32_t, std::pair<std::uint32_t, std::uint64_t>> place_of_;  ///< by segment: queue, entry
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> appended_;  ///< by queue and round
};

}  // namespace rayreplay::test
