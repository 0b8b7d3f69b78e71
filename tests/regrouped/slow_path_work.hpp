// The shader work of a warp by the definition, from the events of its segments: what the calls of its lanes cost
// together, where costs come from paths. Slow, and easy to believe.
//
// For streams with records and payloads, without pixels and live states: then each trace call ends in a store of
// payloads, and each round of calls begins with a load of records. A round without closest-hit and miss calls stores
// nothing, so that the trace call after it has its work in the same row.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "scheduler-models/regrouping/segment_schedule.hpp"
#include "sim/memory/streams/shader_calls.hpp"
#include "sim/memory/streams/warp_work.hpp"
#include "tests/machine/path_traces.hpp"

namespace rayreplay::test {

class SlowPathWork {
 public:
  /// The shader instructions of a row, and their stage.
  struct Row {
    std::uint64_t issue = 0, latency = 0;
    memory::WorkStage stage = memory::WorkStage::RayGeneration;

    bool operator==(const Row&) const = default;
  };

  SlowPathWork(const trace::Trace& trace, const machine::Costs& costs, const scheduler::Segments& segments,
               double cycles_per_instruction)
      : data_(trace.launches.at(0).data),
        costs_(costs),
        segments_(segments),
        cycles_per_instruction_(cycles_per_instruction),
        slow_(trace, costs) {}

  /// Of the rows of a warp that have shader instructions.
  [[nodiscard]] std::vector<Row> rows(std::span<const std::uint32_t> lanes) {
    rows_.clear();
    open_.clear();
    std::vector<Calls> calls;
    std::size_t rays = 0;
    for (const std::uint32_t segment : lanes) {
      if (segment != scheduler::kNoSegment) {
        calls.push_back(calls_of(segment));
        rays = std::max(rays, calls.back().trace_call.size());
      }
    }
    run_rounds(calls, 0);
    for (std::size_t ray = 1; ray <= rays; ++ray) {
      std::vector<std::uint64_t> begins;
      for (const Calls& of : calls) {
        if (ray <= of.trace_call.size()) {
          begins.push_back(of.trace_call[ray - 1]);
        }
      }
      run(begins, memory::WorkStage::RayGeneration);
      close();
      run_rounds(calls, ray);
    }
    close();
    return rows_;
  }

 private:
  /// Rows of the events of a segment: its trace calls, and other calls by the number of its ray, 0: other rays.
  struct Calls {
    std::vector<std::uint64_t> trace_call;
    std::map<std::size_t, std::vector<std::uint64_t>> others;
  };
  using StageSums = std::map<memory::WorkStage, std::pair<std::uint64_t, std::uint64_t>>;  // latency, issue

  [[nodiscard]] Calls calls_of(std::uint32_t segment) const {
    const auto thread = static_cast<std::size_t>(
        std::upper_bound(segments_.first.begin(), segments_.first.end(), segment) - segments_.first.begin() - 1);
    Calls calls;
    std::uint64_t before = 0, begun = 0;
    for (std::uint64_t row = data_.event_offset[thread]; row < segments_.event_offset[segment + 1]; ++row) {
      const bool inside = row >= segments_.event_offset[segment];
      if (trace::begins_ray(data_.events.kind[row])) {
        ++begun;
        before += inside ? 0U : 1U;
        if (inside) {
          calls.trace_call.push_back(row);
        }
      } else if (inside && trace::is_warp_event(data_.events.kind[row])) {
        const std::uint64_t ray = data_.events.ray.empty() ? begun : std::uint64_t{data_.events.ray[row]} + 1;
        calls.others[begun > 0 && ray > before && ray <= begun ? ray - before : 0].push_back(row);
      }
    }
    return calls;
  }

  void run_rounds(const std::vector<Calls>& calls, std::size_t ray) {
    for (std::size_t j = 0;; ++j) {
      std::vector<std::uint64_t> made;
      for (const Calls& of : calls) {
        if (const auto found = of.others.find(ray); found != of.others.end() && j < found->second.size()) {
          made.push_back(found->second[j]);
        }
      }
      if (made.empty()) {
        return;
      }
      close();  // records are loaded
      StageSums sums;
      for (const auto& [call, rows] : by_call(made)) {
        const auto [issue, latency] = cost(call, rows);
        auto& sum = sums[memory::stage_of(static_cast<trace::EventKind>(call % trace::kEventKinds))];
        sum.first += latency;
        sum.second += issue;
      }
      run(made, longest(sums));
      if (std::ranges::any_of(made, [this](std::uint64_t row) {
            return data_.events.kind[row] == trace::EventKind::ClosestHit ||
                   data_.events.kind[row] == trace::EventKind::Miss;
          })) {
        close();
      }
    }
  }

  [[nodiscard]] std::map<std::size_t, std::vector<std::uint64_t>> by_call(
      const std::vector<std::uint64_t>& rows) const {
    std::map<std::size_t, std::vector<std::uint64_t>> calls;
    for (const std::uint64_t row : rows) {
      calls[data_.events.shader[row] * trace::kEventKinds + static_cast<std::size_t>(data_.events.kind[row])].push_back(
          row);
    }
    return calls;
  }
  /// Issue in units of streams, and cycles.
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> cost(std::size_t call,
                                                             const std::vector<std::uint64_t>& rows) const {
    const machine::CallCost& cost = costs_.calls[call];
    double issue = cost.issue;
    double latency = cost.latency;
    if (cost.by_path()) {
      // Where a shader's cost is given as a factor, paths and means are without it.
      issue = slow_.group(call / trace::kEventKinds, call, rows) * cost.times;
      latency = cost.own_latency() ? std::max(latency, issue) : issue * cycles_per_instruction_;
    }
    return {static_cast<std::uint64_t>(std::llround(issue * memory::kIssueScale)),
            static_cast<std::uint64_t>(std::llround(latency))};
  }
  static memory::WorkStage longest(const StageSums& sums) {
    memory::WorkStage stage = memory::WorkStage::RayGeneration;
    std::pair<std::uint64_t, std::uint64_t> most{0, 0};
    for (const auto& [one, sum] : sums) {
      if (sum > most) {
        most = sum;
        stage = one;
      }
    }
    return stage;
  }

  void run(const std::vector<std::uint64_t>& rows, memory::WorkStage stage) {
    for (const auto& [call, of] : by_call(rows)) {
      const auto [issue, latency] = cost(call, of);
      auto& sum = open_[stage];
      sum.first += latency;
      sum.second += issue;
    }
  }
  /// Something is loaded or stored.
  void close() {
    Row row{.stage = longest(open_)};
    for (const auto& [stage, sum] : open_) {
      row.latency += sum.first;
      row.issue += sum.second;
    }
    open_.clear();
    if (row.issue + row.latency > 0) {
      rows_.push_back(row);
    }
  }

  const trace::ThreadData& data_;
  const machine::Costs& costs_;
  const scheduler::Segments& segments_;
  double cycles_per_instruction_;
  machine::by_path::SlowPathCosts slow_;
  StageSums open_;
  std::vector<Row> rows_;
};

}  // namespace rayreplay::test
