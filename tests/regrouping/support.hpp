// What the tests of scheduler models share: a trace of one launch with all that models are given, and segments as the
// threads of a launch.
#pragma once

#include <string>
#include <vector>

#include "scheduler-models/regrouping/scheduler_model.hpp"
#include "tests/simt/support.hpp"

namespace rayreplay::test {

/// A launch as whatever replays threads sees its segments.
inline trace::Launch segments_as_threads(const trace::Launch& launch, const scheduler::Segments& segments) {
  trace::Launch result = launch;
  result.data.event_offset = segments.event_offset;
  result.size = {static_cast<std::uint32_t>(segments.size()), 1, 1};
  return result;
}

/// The warps of a schedule as an assignment of segments_as_threads.
inline scheduler::WarpAssignment schedule_as_assignment(const scheduler::SegmentSchedule& schedule) {
  scheduler::WarpAssignment assignment;
  assignment.warp_size = schedule.warp_size;
  assignment.thread_at = schedule.segment_at;
  for (std::size_t warp = 0; warp < schedule.warps(); ++warp) {
    assignment.start_rank.push_back(static_cast<std::uint32_t>(warp));
    assignment.tile.push_back(0);
  }
  return assignment;
}

/// Everything that a model is given, with the launch in a trace of its own. The launch order is `linear_assignment`
/// unless one is given.
class Plan {
 public:
  Plan(trace::Trace trace, scheduler::WarpAssignment order) : trace_(std::move(trace)), order_(std::move(order)) {}
  Plan(const trace::Launch& launch, std::vector<trace::Shader> shaders, std::uint32_t warp_size)
      : order_(linear_assignment(launch.data.threads(), warp_size)) {
    trace_.shaders = std::move(shaders);
    trace_.launches.push_back(launch);
  }

  scheduler::SegmentSchedule schedule(const std::string& spec) {
    const auto created = scheduler::SchedulerModels::create(spec);
    cut(created.model->cut());
    return created.model->schedule(context());
  }
  void cut(const scheduler::Cut& cut) {
    segments_ = scheduler::cut_paths(launch(), cut);
  }
  [[nodiscard]] scheduler::PlanContext context() const {
    return {trace_, launch(), order_, segments_, machine, hints};
  }
  [[nodiscard]] const trace::Launch& launch() const {
    return trace_.launches.at(0);
  }
  [[nodiscard]] const std::vector<trace::Shader>& shaders() const {
    return trace_.shaders;
  }
  [[nodiscard]] const scheduler::WarpAssignment& order() const {
    return order_;
  }
  [[nodiscard]] const scheduler::Segments& segments() const {
    return segments_;
  }

  scheduler::MachineFacts machine;
  scheduler::HintSources hints;

 private:
  trace::Trace trace_;
  scheduler::WarpAssignment order_;
  scheduler::Segments segments_;
};

}  // namespace rayreplay::test
