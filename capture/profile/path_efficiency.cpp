#include "capture/profile/path_efficiency.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <tbb/blocked_range.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>

#include "capture/profile/group_executions.hpp"

namespace rayreplay::profile {
namespace {

/// Paths by group: those of group g are ids[first[g]] to ids[first[g + 1]].
struct Grouped {
  std::vector<std::uint64_t> first;
  std::vector<std::uint32_t> ids;
};

/// A row for each index of `group_of` whose group is below `groups` and for which `counts(row)`.
template <class Counts>
Grouped group_paths(const trace::Column<std::uint32_t>& group_of, const trace::Column<std::uint32_t>& paths,
                    std::size_t groups, Counts&& counts) {
  Grouped result;
  result.first.assign(groups + 1, 0);
  const auto each = [&](auto&& take) {
    for (std::size_t row = 0; row < paths.size(); ++row) {
      if (group_of[row] < groups && counts(row)) {
        take(group_of[row], paths[row]);
      }
    }
  };
  each([&](std::uint32_t group, std::uint32_t) { ++result.first[group + std::size_t{1}]; });
  for (std::size_t g = 0; g < groups; ++g) {
    result.first[g + 1] += result.first[g];
  }
  result.ids.resize(result.first.back());
  std::vector<std::uint64_t> next(result.first.begin(), result.first.end() - 1);
  each([&](std::uint32_t group, std::uint32_t path) { result.ids[next[group]++] = path; });
  return result;
}

class Tally {
 public:
  Tally(const trace::Trace& trace, const PathProfile& profile) : trace_(trace), profile_(profile) {
    for (const ShaderPaths& shader : profile.shaders) {
      of_shader_.resize(shader.shader + std::size_t{1}, nullptr);
      of_shader_[shader.shader] = &shader;
    }
  }

  void add(Grouped grouped, PathTallies& tallies) const {
    tbb::enumerable_thread_specific<PathTallies> parts;
    constexpr std::size_t kGrain = 4096;
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, grouped.first.size() - 1, kGrain), [&](const auto& range) {
      PathTallies& mine = parts.local();
      for (std::size_t g = range.begin(); g < range.end(); ++g) {
        add(grouped.ids.data() + grouped.first[g], grouped.ids.data() + grouped.first[g + 1], mine);
      }
    });
    for (const PathTallies& part : parts) {
      for (std::size_t s = 0; s < trace::kRayTracingStages; ++s) {
        tallies.by_stage.at(s) += part.by_stage.at(s);
      }
    }
  }

 private:
  /// The paths of one group, in any order.
  void add(std::uint32_t* first, std::uint32_t* last, PathTallies& tallies) const {
    std::sort(first, last);
    if (first == last || *first == 0) {
      return;
    }
    const ShaderPaths& shader = *of_shader_[trace_.paths.shader[*first - 1]];
    if (*(last - 1) - 1 >= shader.end) {
      return;  // a group of several shaders: none of the device's
    }
    PathTally& tally = tallies.by_stage.at(static_cast<std::size_t>(trace_.shaders[shader.shader].stage));
    ++tally.groups;
    for (const std::uint32_t* path = first; path < last; ++path) {
      tally.lane_instructions += profile_.instructions[*path - 1];
    }
    if (*first == *(last - 1)) {
      tally.group_instructions += profile_.instructions[*first - 1];
      return;
    }
    const std::uint32_t* end = std::unique(first, last);
    tally.group_instructions += group_executions<std::uint64_t, std::uint32_t>(
        shader.instructions, {first, end}, [this](std::uint32_t path, std::size_t block) -> std::uint64_t {
          return trace_.paths.counts[profile_.first_count[path - 1] + block];
        });
  }

  const trace::Trace& trace_;
  const PathProfile& profile_;
  std::vector<const ShaderPaths*> of_shader_;
};

}  // namespace

PathTallies tally_paths(const trace::Trace& trace, const PathProfile& profile, const trace::Launch& launch) {
  PathTallies tallies;
  const Tally tally(trace, profile);
  const trace::Events& events = launch.data.events;
  if (!events.path.empty() && !events.group.empty()) {
    tally.add(group_paths(events.group, events.path, launch.groups.size(),
                          [&](std::size_t row) { return trace::enters_shader(events.kind[row]); }),
              tallies);
  }
  if (!launch.thread_path.empty() && !launch.thread_warp.empty()) {
    const std::size_t warps = *std::max_element(launch.thread_warp.begin(), launch.thread_warp.end()) + std::size_t{1};
    tally.add(group_paths(launch.thread_warp, launch.thread_path, warps, [](std::size_t) { return true; }), tallies);
  }
  return tallies;
}

}  // namespace rayreplay::profile
