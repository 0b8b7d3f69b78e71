#include "sim/machine/path_costs.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "capture/profile/group_executions.hpp"
#include "sim/machine/costs.hpp"

namespace rayreplay::machine {

PathCosts::PathCosts(const trace::Trace& trace, const trace::Launch& launch)
    : paths_(&trace.paths),
      profile_(profile::path_profile(trace.shaders, trace.paths, "the trace")),
      place_of_shader_(trace.shaders.size()),
      way_(launch.data.events.size()),
      means_(trace.shaders.size(), -1.0),
      least_(trace.shaders.size(), std::numeric_limits<double>::max()),
      place_(trace.shaders.size() * trace::kEventKinds, kNone) {
  for (std::size_t place = 0; place < profile_.shaders.size(); ++place) {
    place_of_shader_[profile_.shaders[place].shader] = place;
  }
  for (std::uint32_t path = 0; path < trace.paths.size(); ++path) {
    ways_.push_back({path, 1});
  }
  find_ways(launch);
  share_generation(trace.shaders, launch);
  for (std::uint32_t way = 1; way <= ways_.size(); ++way) {
    cost_.push_back(slots({&way, 1}));
  }
  take_means(launch);
}

const profile::ShaderPaths& PathCosts::shader_of(std::uint32_t path) const {
  return profile_.shaders[place_of_shader_[paths_->shader[path]]];
}

double PathCosts::slots(std::span<const std::uint32_t> ways) const {
  const profile::ShaderPaths& shader = shader_of(ways_[ways.front() - 1].path);
  const double sum = profile::group_executions<double, std::uint32_t>(
      shader.issue_slots, ways, [this](std::uint32_t way, std::size_t block) {
        const Way& one = ways_[way - 1];
        return static_cast<double>(paths_->counts[profile_.first_count[one.path] + block]) / one.events;
      });
  return std::min(sum, kMaxIssue);
}

void PathCosts::find_ways(const trace::Launch& launch) {
  const trace::Events& events = launch.data.events;
  std::fill(way_.begin(), way_.end(), 0U);
  for (std::size_t row = 0; row < events.path.size(); ++row) {
    const std::uint32_t path = events.path[row];
    if (path != 0 && trace::enters_shader(events.kind[row]) && paths_->shader[path - 1] == events.shader[row]) {
      way_[row] = path;
    }
  }
}

void PathCosts::share_generation(const std::vector<trace::Shader>& shaders, const trace::Launch& launch) {
  const trace::ThreadData& data = launch.data;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> shared;
  for (std::size_t thread = 0; thread < launch.thread_path.size(); ++thread) {
    if (launch.thread_path[thread] == 0) {
      continue;
    }
    const std::uint32_t path = launch.thread_path[thread] - 1;
    if (shaders[paths_->shader[path]].stage != trace::ShaderStage::RayGeneration) {
      continue;
    }
    const auto each = [&](const auto& take) {
      for (std::uint64_t row = data.event_offset[thread]; row < data.event_offset[thread + 1]; ++row) {
        if (trace::begins_ray(data.events.kind[row]) && data.events.shader[row] == paths_->shader[path]) {
          take(row);
        }
      }
    };
    std::uint32_t calls = 0;
    each([&](std::uint64_t) { ++calls; });
    std::uint32_t way = path + 1;
    if (calls > 1) {
      const auto [place, is_new] = shared.try_emplace({path, calls}, static_cast<std::uint32_t>(ways_.size() + 1));
      if (is_new) {
        ways_.push_back({path, calls});
      }
      way = place->second;
    }
    each([&](std::uint64_t row) { way_[row] = way; });
  }
}

void PathCosts::take_means(const trace::Launch& launch) {
  std::vector<std::uint64_t> events(ways_.size());
  for (std::size_t row = 0; row < launch.data.events.size(); ++row) {
    if (way_[row] != 0) {
      ++events[way_[row] - 1];
    }
  }
  struct Sum {
    double slots = 0, events = 0;
  };
  std::vector<Sum> sums(means_.size());
  for (std::size_t way = 0; way < ways_.size(); ++way) {
    if (events[way] != 0) {
      const std::uint16_t shader = paths_->shader[ways_[way].path];
      sums[shader].slots += static_cast<double>(events[way]) * cost_[way];
      sums[shader].events += static_cast<double>(events[way]);
      least_[shader] = std::min(least_[shader], cost_[way]);
    }
  }
  for (std::size_t shader = 0; shader < sums.size(); ++shader) {
    if (sums[shader].events > 0) {
      means_[shader] = sums[shader].slots / sums[shader].events;
    }
  }
}

void PathCosts::choose(std::span<const std::size_t> calls) {
  calls_.clear();
  std::fill(place_.begin(), place_.end(), kNone);
  for (const std::size_t call : calls) {
    const std::size_t shader = call / trace::kEventKinds;
    if (means_[shader] > 0) {
      place_[call] = static_cast<std::uint32_t>(calls_.size());
      calls_.push_back({call, means_[shader], least_[shader]});
    }
  }
}

double PathCosts::group(std::uint32_t place, std::vector<std::uint32_t>& ways) const {
  std::sort(ways.begin(), ways.end());
  const double unknown = ways.front() == 0 ? calls_[place].mean : 0;
  if (ways.back() == 0) {
    return unknown;
  }
  const auto end = std::unique(ways.begin(), ways.end());
  const auto first = ways.begin() + (ways.front() == 0 ? 1 : 0);
  const std::span<const std::uint32_t> known(first, end);
  return std::max(unknown, known.size() == 1 ? cost_[known.front() - 1] : slots(known));
}

std::shared_ptr<PathCosts> measure_paths(const trace::Trace& trace, const trace::Launch& launch) {
  if (trace.paths.size() == 0 || (launch.data.events.path.empty() && launch.thread_path.empty())) {
    return nullptr;
  }
  auto costs = std::make_shared<PathCosts>(trace, launch);
  const bool is_known = std::ranges::any_of(costs->means(), [](double mean) { return mean >= 0; });
  return is_known ? costs : nullptr;
}

}  // namespace rayreplay::machine
