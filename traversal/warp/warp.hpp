// A warp of lanes, and the log of their common steps.
//
// Contract: `load` puts a ray into a lane; `step` executes a step of the lanes of a mask, lowest first, and logs it.
// `nodes` and `leaves` are the lanes that can take a node or a leaf's reference. A ray's hit and counters are stored
// when its lane is finished. One warp serves one worker.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "traversal/warp/lane.hpp"
#include "traversal/warp_traversal.hpp"

namespace rayreplay::traversal {

/// Steps of one or several warps, in the form of WarpTraceResult.
struct StepLog {
  std::array<StepTally, kStepKinds> tally{};
  std::vector<WarpStep> steps;
  std::vector<StepTests> tests;
  std::vector<std::uint32_t> ray;
  std::vector<std::uint64_t> access_end;  ///< per active lane: rows of `accesses` up to and with its own
  AccessRows accesses;
  std::uint64_t ignored_rays = 0;
};

template <class Kernel, class Observer>
class Warp {
 public:
  Warp(const bvh::Bvh& bvh, Kernel kernel, std::span<const Ray> rays, const WarpTraceOptions& options, bool speculative,
       StepLog& log, WarpTraceResult& result)
      : rays_(rays),
        logs_steps_(options.steps || options.accesses),
        logs_tests_(logs_steps_ && options.tests),
        log_(&log),
        result_(&result) {
    for (std::uint32_t lane = 0; lane < options.warp_size; ++lane) {
      lanes_.push_back(std::make_unique<Lane<Kernel, Observer>>(bvh, kernel, options.shaders, speculative,
                                                                Observer::kLogsAccesses ? &log.accesses : nullptr,
                                                                options.stack_entries));
    }
  }

  [[nodiscard]] std::uint64_t nodes() const {
    return nodes_;
  }
  [[nodiscard]] std::uint64_t leaves() const {
    return leaves_;
  }
  [[nodiscard]] std::uint64_t busy() const {
    return nodes_ | leaves_;
  }
  [[nodiscard]] std::uint32_t size() const {
    return static_cast<std::uint32_t>(lanes_.size());
  }

  /// An untraversable ray is counted and leaves the lane idle.
  void load(std::uint32_t lane, std::size_t row) {
    if (!is_traversable(rays_[row])) {
      ++log_->ignored_rays;
      return;
    }
    lanes_[lane]->begin(row, rays_[row]);
    note(lane);
  }

  void step(std::uint32_t warp, StepKind kind, std::uint64_t mask) {
    count(warp, kind, mask);
    StepTests tests;
    for (std::uint64_t rest = mask; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
      if (logs_steps_) {
        log_->ray.push_back(static_cast<std::uint32_t>(lanes_[lane]->row()));
      }
      if (kind == StepKind::Node) {
        tests.boxes = static_cast<std::uint16_t>(tests.boxes + lanes_[lane]->step_node());
      } else {
        tests.leaves = static_cast<std::uint16_t>(tests.leaves + (lanes_[lane]->step_leaf() ? 1 : 0));
      }
      note(lane);
      log_accesses();
    }
    log_tests(tests);
  }

  /// Lanes of the mask take rows [first, first + popcount), lowest lane first.
  void fetch(std::uint32_t warp, std::uint64_t mask, std::span<const std::uint32_t> rows) {
    count(warp, StepKind::Fetch, mask);
    std::size_t next = 0;
    for (std::uint64_t rest = mask; rest != 0; rest &= rest - 1) {
      const std::uint32_t row = rows[next++];
      if (logs_steps_) {
        log_->ray.push_back(row);
      }
      load(static_cast<std::uint32_t>(std::countr_zero(rest)), row);
      log_accesses();
    }
    log_tests({});
  }

 private:
  void count(std::uint32_t warp, StepKind kind, std::uint64_t mask) {
    StepTally& tally = log_->tally[static_cast<std::size_t>(kind)];
    ++tally.steps;
    tally.lanes += static_cast<std::uint64_t>(std::popcount(mask));
    if (logs_steps_) {
      log_->steps.push_back({mask, warp, kind});
    }
  }
  void log_tests(const StepTests& tests) {
    if (logs_tests_) {
      log_->tests.push_back(tests);
    }
  }
  void log_accesses() {
    if constexpr (Observer::kLogsAccesses) {
      log_->access_end.push_back(log_->accesses.size());
    }
  }

  void note(std::uint32_t index) {
    const Lane<Kernel, Observer>& lane = *lanes_[index];
    const std::uint64_t bit = std::uint64_t{1} << index;
    nodes_ = lane.wants_node() ? nodes_ | bit : nodes_ & ~bit;
    leaves_ = lane.wants_leaf() ? leaves_ | bit : leaves_ & ~bit;
    if ((busy() & bit) == 0) {
      result_->hits[lane.row()] = lane.hit();
      if (!result_->counters.empty()) {
        result_->counters[lane.row()] = lane.counters();
      }
    }
  }

  std::span<const Ray> rays_;
  bool logs_steps_;
  bool logs_tests_;
  StepLog* log_;
  WarpTraceResult* result_;
  std::vector<std::unique_ptr<Lane<Kernel, Observer>>> lanes_;
  std::uint64_t nodes_ = 0;
  std::uint64_t leaves_ = 0;
};

}  // namespace rayreplay::traversal
