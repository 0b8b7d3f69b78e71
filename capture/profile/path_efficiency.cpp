#include "capture/profile/path_efficiency.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>

#include "base/error.hpp"

namespace rayreplay::profile {
namespace {

std::uint64_t scaled(double instructions) {
  return static_cast<std::uint64_t>(std::round(kInstructionScale * instructions));
}

/// Ways by group: those of group g are ids[first[g]] to ids[first[g + 1]].
struct Grouped {
  std::vector<std::uint64_t> first;
  std::vector<std::uint32_t> ways;
  std::vector<std::size_t> call;  ///< of the group's first event
};

Grouped group_ways(const EventPaths& paths, const trace::Launch& launch) {
  const trace::Events& events = launch.data.events;
  const std::size_t groups = launch.groups.size();
  Grouped result;
  result.first.assign(groups + 1, 0);
  result.call.resize(groups);
  const auto each = [&](const auto& take) {
    for (std::size_t row = 0; row < events.group.size(); ++row) {
      if (events.group[row] < groups && trace::is_warp_event(events.kind[row])) {
        take(row, events.group[row]);
      }
    }
  };
  each([&](std::size_t, std::uint32_t group) { ++result.first[group + std::size_t{1}]; });
  for (std::size_t g = 0; g < groups; ++g) {
    result.first[g + 1] += result.first[g];
  }
  result.ways.resize(result.first.back());
  std::vector<std::uint64_t> next(result.first.begin(), result.first.end() - 1);
  each([&](std::size_t row, std::uint32_t group) {
    if (next[group] == result.first[group]) {
      result.call[group] =
          std::size_t{events.shader[row]} * trace::kEventKinds + static_cast<std::size_t>(events.kind[row]);
    }
    result.ways[next[group]++] = paths.way(row);
  });
  return result;
}

}  // namespace

PathTally PathTallies::all() const {
  PathTally sum;
  for (const PathTally& call : by_call) {
    sum += call;
  }
  return sum;
}

PathTally PathTallies::of_kind(trace::EventKind kind) const {
  PathTally sum;
  for (std::size_t call = static_cast<std::size_t>(kind); call < by_call.size(); call += trace::kEventKinds) {
    sum += by_call[call];
  }
  return sum;
}

PathTally PathTallies::of_shader(std::size_t shader) const {
  PathTally sum;
  const std::size_t first = shader * trace::kEventKinds;
  for (std::size_t call = first; call < std::min(first + trace::kEventKinds, by_call.size()); ++call) {
    sum += by_call[call];
  }
  return sum;
}

void PathTallies::operator+=(const PathTallies& other) {
  by_call.resize(std::max(by_call.size(), other.by_call.size()));
  for (std::size_t call = 0; call < other.by_call.size(); ++call) {
    by_call[call] += other.by_call[call];
  }
}

PathTallier::PathTallier(const EventPaths& paths, const std::vector<trace::Shader>& shaders,
                         const trace::Launch& launch)
    : paths_(&paths) {
  for (const trace::Shader& shader : shaders) {
    for (std::size_t i = 0; i < trace::kEventKinds; ++i) {
      const auto kind = static_cast<trace::EventKind>(i);
      has_groups_.push_back(trace::is_warp_event(kind) &&
                            (!trace::begins_ray(kind) || shader.stage == trace::ShaderStage::RayGeneration));
    }
  }
  std::vector<std::uint64_t> events(paths.ways());
  for (std::size_t row = 0; row < launch.data.events.size(); ++row) {
    if (const std::uint32_t way = paths.way(row); way != 0) {
      ++events[way - 1];
    }
  }
  // Groups execute at most what their lanes execute, so this bounds every sum.
  double all = 0;
  for (std::uint32_t way = 1; way <= paths.ways(); ++way) {
    const double one = events[way - 1] == 0 ? 0 : paths.instructions({&way, 1});
    all += static_cast<double>(events[way - 1]) * one;
    if (all > kMostInstructions) {
      throw Error(ErrorKind::Resource,
                  {"the launch's calls executed too many instructions to be added", "the trace:/profile/paths/counts",
                   fmt::format("{:.3g} instructions or more", all), fmt::format("at most {:.3g}", kMostInstructions),
                   "capture the trace again"});
    }
    instructions_.push_back(scaled(one));
  }
}

void PathTallier::add(std::vector<std::uint32_t>& ways, PathTally& tally) const {
  std::sort(ways.begin(), ways.end());
  tally.lanes += ways.size();
  if (ways.empty() || ways.front() == 0) {
    return;
  }
  const std::size_t lanes = ways.size();
  std::uint64_t of_lanes = 0;
  for (const std::uint32_t way : ways) {
    of_lanes += instructions_[way - 1];
  }
  ways.erase(std::unique(ways.begin(), ways.end()), ways.end());
  const std::uint16_t shader = paths_->shader(ways.front());
  if (std::ranges::any_of(ways, [&](std::uint32_t way) { return paths_->shader(way) != shader; })) {
    return;  // such a group is none of the device's
  }
  tally.known_lanes += lanes;
  ++tally.groups;
  tally.lane_instructions += of_lanes;
  tally.group_instructions += ways.size() == 1 ? instructions_[ways.front() - 1] : scaled(paths_->instructions(ways));
}

PathTallies tally_groups(const EventPaths& paths, const std::vector<trace::Shader>& shaders,
                         const trace::Launch& launch) {
  PathTallies sums;
  if (launch.data.events.group.empty() || launch.groups.size() == 0) {
    return sums;
  }
  const Grouped grouped = group_ways(paths, launch);
  const PathTallier tallier(paths, shaders, launch);
  sums.by_call.resize(shaders.size() * trace::kEventKinds);
  struct Part {
    PathTallies sums;
    std::vector<std::uint32_t> ways;
  };
  oneapi::tbb::enumerable_thread_specific<Part> parts([&] { return Part{sums, {}}; });
  constexpr std::size_t kGrain = 4096;
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, grouped.call.size(), kGrain), [&](const auto& range) {
    Part& mine = parts.local();
    for (std::size_t g = range.begin(); g < range.end(); ++g) {
      if (!tallier.has_groups(grouped.call[g])) {
        continue;
      }
      mine.ways.assign(grouped.ways.begin() + static_cast<std::ptrdiff_t>(grouped.first[g]),
                       grouped.ways.begin() + static_cast<std::ptrdiff_t>(grouped.first[g + 1]));
      tallier.add(mine.ways, mine.sums.by_call[grouped.call[g]]);
    }
  });
  for (const Part& part : parts) {
    sums += part.sums;
  }
  return sums;
}

}  // namespace rayreplay::profile
