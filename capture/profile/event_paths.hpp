// The execution of each event of a launch, from the paths of a trace captured with `--profile paths`.
//
// Contract: a *way* is the execution of one event's call: a path, or an equal part of a path that several trace calls
// share. Events with a way are entries of shaders that have a path of their shader, and the trace calls of ray
// generation: a thread's trace calls share its path's executions equally. The execution of all other events is unknown
// (way 0).
//
// Events that lanes make together execute each block as often as the lane with most executions of it
// (group_executions.hpp); `instructions` and `issue_slots` weigh the blocks.
//
// Memory: 4 bytes an event, and the paths' counts, to which this object refers: the trace must outlive it. O(events +
// paths · blocks); of one group O(lanes · blocks). Errors: those of path_profile.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "capture/profile/path_profile.hpp"
#include "capture/trace/trace.hpp"

namespace rayreplay::profile {

class EventPaths {
 public:
  EventPaths(const trace::Trace& trace, const trace::Launch& launch);

  /// 0: unknown.
  [[nodiscard]] std::uint32_t way(std::uint64_t row) const {
    return way_[row];
  }
  /// Ways are 1 to this.
  [[nodiscard]] std::uint32_t ways() const {
    return static_cast<std::uint32_t>(ways_.size());
  }
  [[nodiscard]] std::uint16_t shader(std::uint32_t way) const {
    return paths_->shader[ways_[way - 1].path];
  }
  /// True if an event has a way.
  [[nodiscard]] bool any() const;

  /// Of a group. `ways`: those of its lanes, one or more, known and of one shader.
  [[nodiscard]] double instructions(std::span<const std::uint32_t> ways) const;
  [[nodiscard]] double issue_slots(std::span<const std::uint32_t> ways) const;

 private:
  /// A path, and the number of events that share its executions.
  struct Way {
    std::uint32_t path = 0;
    std::uint32_t events = 1;
  };
  [[nodiscard]] const ShaderPaths& paths_of(std::uint32_t way) const;
  [[nodiscard]] double weigh(std::span<const std::uint32_t> weights, std::span<const std::uint32_t> ways) const;
  void find_ways(const trace::Launch& launch);
  void share_generation(const std::vector<trace::Shader>& shaders, const trace::Launch& launch);

  const trace::Paths* paths_;
  PathProfile profile_;
  std::vector<std::size_t> place_of_shader_;  ///< in profile_.shaders
  std::vector<Way> ways_;                     ///< by way − 1: first each path by itself
  trace::Column<std::uint32_t> way_;          ///< by event
};

/// Null if the trace has no paths or none of the launch's events has one.
[[nodiscard]] std::shared_ptr<const EventPaths> event_paths(const trace::Trace& trace, const trace::Launch& launch);

}  // namespace rayreplay::profile
