#include "sim/simt/reference/replay_reference.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace rayreplay::simt {
namespace {

struct Call {
  trace::EventKind kind;
  std::uint16_t shader;
  bool operator<(const Call& other) const {
    return std::tie(kind, shader) < std::tie(other.kind, other.shader);
  }
};

using Lanes = std::set<std::size_t>;
using Queues = std::vector<std::deque<Call>>;  ///< index: lane

Queues queues_of_warp(const trace::Launch& launch, const scheduler::WarpAssignment& assignment, std::size_t warp) {
  Queues queues(assignment.warp_size);
  for (std::size_t lane = 0; lane < assignment.warp_size; ++lane) {
    const std::uint32_t thread = assignment.thread_at.at(warp * assignment.warp_size + lane);
    if (thread == scheduler::kNoThread) {
      continue;
    }
    const auto& events = launch.data.events;
    const auto& offset = launch.data.event_offset;
    for (std::size_t row = offset.at(thread); row < offset.at(thread + 1); ++row) {
      if (trace::is_warp_event(events.kind.at(row))) {
        queues[lane].push_back({events.kind.at(row), events.shader.at(row)});
      }
    }
  }
  return queues;
}

/// The calls at the heads of `lanes`, with the waiting lanes of each; lanes without events left are ignored.
std::map<Call, Lanes> heads(const Queues& queues, const Lanes& lanes) {
  std::map<Call, Lanes> result;
  for (const std::size_t lane : lanes) {
    if (!queues[lane].empty()) {
      result[queues[lane].front()].insert(lane);
    }
  }
  return result;
}

Lanes all_lanes(const Queues& queues) {
  Lanes lanes;
  for (std::size_t lane = 0; lane < queues.size(); ++lane) {
    lanes.insert(lane);
  }
  return lanes;
}

WarpEvent pop(Queues& queues, Call call, const Lanes& lanes) {
  WarpEvent event{call.kind, call.shader, 0};
  for (const std::size_t lane : lanes) {
    queues[lane].pop_front();
    event.mask |= std::uint64_t{1} << lane;
  }
  return event;
}

bool in_traversal(Call call) {
  return call.kind == trace::EventKind::Intersection || call.kind == trace::EventKind::AnyHit;
}

Call choose_stage_majority(const std::map<Call, Lanes>& waiting) {
  const auto better = [](const auto& a, const auto& b) {
    if (in_traversal(a.first) != in_traversal(b.first)) {
      return in_traversal(a.first);
    }
    if (a.second.size() != b.second.size()) {
      return a.second.size() > b.second.size();
    }
    if (a.first.shader != b.first.shader) {
      return a.first.shader < b.first.shader;
    }
    return a.first.kind < b.first.kind;
  };
  return std::min_element(waiting.begin(), waiting.end(), better)->first;
}

Call choose_trace_barrier(const std::map<Call, Lanes>& waiting, const std::vector<trace::Shader>& shaders) {
  const auto traces = [&](Call call) {
    return trace::begins_ray(call.kind) && call.shader < shaders.size() &&
           shaders[call.shader].stage == trace::ShaderStage::RayGeneration;
  };
  Call best = waiting.begin()->first;
  for (const auto& [call, lanes] : waiting) {
    const auto key = [&](Call of) { return std::tuple(!in_traversal(of), traces(of), of.shader, of.kind); };
    best = key(call) < key(best) ? call : best;
  }
  return best;
}

/// `last_pop`: the step of each lane's last pop; 0 before its first.
Call choose_oldest_lane(const Queues& queues, const std::vector<std::size_t>& last_pop) {
  std::size_t oldest = queues.size();
  for (std::size_t lane = 0; lane < queues.size(); ++lane) {
    if (!queues[lane].empty() && (oldest == queues.size() || last_pop[lane] < last_pop[oldest])) {
      oldest = lane;
    }
  }
  return queues[oldest].front();
}

std::vector<WarpEvent> replay_regrouping(Queues queues, const std::vector<trace::Shader>& shaders, Policy policy) {
  std::vector<WarpEvent> events;
  std::vector<std::size_t> last_pop(queues.size(), 0);
  for (;;) {
    const std::map<Call, Lanes> waiting = heads(queues, all_lanes(queues));
    if (waiting.empty()) {
      return events;
    }
    Call call = waiting.begin()->first;  // the lowest kind, then the lowest shader: MinShader
    if (policy == Policy::StageMajority) {
      call = choose_stage_majority(waiting);
    } else if (policy == Policy::OldestLane) {
      call = choose_oldest_lane(queues, last_pop);
    } else if (policy == Policy::TraceBarrier) {
      call = choose_trace_barrier(waiting, shaders);
    }
    events.push_back(pop(queues, call, waiting.at(call)));
    for (const std::size_t lane : waiting.at(call)) {
      last_pop[lane] = events.size();
    }
  }
}

struct Group {
  Call call;
  Lanes lanes;
  /// All living lanes are back in ray generation: their trace calls may be made.
  bool released;
};

std::vector<WarpEvent> replay_independent(Queues queues, const std::vector<trace::Shader>& shaders) {
  const auto waits = [&](const Group& group) {
    return !group.released && trace::begins_ray(group.call.kind) && group.call.shader < shaders.size() &&
           shaders[group.call.shader].stage == trace::ShaderStage::RayGeneration;
  };
  std::vector<Group> groups;
  const auto split = [&](const Lanes& lanes, bool released) {
    for (const auto& [call, callers] : heads(queues, lanes)) {
      groups.push_back({call, callers, released});
    }
  };
  std::vector<WarpEvent> events;
  split(all_lanes(queues), false);
  while (!groups.empty()) {
    if (std::all_of(groups.begin(), groups.end(), waits)) {
      groups.clear();
      split(all_lanes(queues), true);
    }
    auto next = groups.end();
    for (auto group = groups.begin(); group != groups.end(); ++group) {
      if (!waits(*group) && (next == groups.end() || *group->lanes.begin() < *next->lanes.begin())) {
        next = group;
      }
    }
    const Group running = *next;
    groups.erase(next);
    events.push_back(pop(queues, running.call, running.lanes));
    split(running.lanes, false);
  }
  return events;
}

}  // namespace

std::vector<WarpEvent> replay_warp_reference(const trace::Launch& launch, const std::vector<trace::Shader>& shaders,
                                             const scheduler::WarpAssignment& assignment, std::size_t warp,
                                             Policy policy) {
  Queues queues = queues_of_warp(launch, assignment, warp);
  if (policy == Policy::Independent) {
    return replay_independent(std::move(queues), shaders);
  }
  return replay_regrouping(std::move(queues), shaders, policy);
}

}  // namespace rayreplay::simt
