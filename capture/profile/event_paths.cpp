#include "capture/profile/event_paths.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "capture/profile/group_executions.hpp"

namespace rayreplay::profile {

EventPaths::EventPaths(const trace::Trace& trace, const trace::Launch& launch)
    : paths_(&trace.paths),
      profile_(path_profile(trace.shaders, trace.paths, "the trace")),
      place_of_shader_(trace.shaders.size()),
      way_(launch.data.events.size()) {
  for (std::size_t place = 0; place < profile_.shaders.size(); ++place) {
    place_of_shader_[profile_.shaders[place].shader] = place;
  }
  for (std::uint32_t path = 0; path < trace.paths.size(); ++path) {
    ways_.push_back({path, 1});
  }
  find_ways(launch);
  share_generation(trace.shaders, launch);
}

bool EventPaths::any() const {
  return std::ranges::any_of(way_, [](std::uint32_t way) { return way != 0; });
}

const ShaderPaths& EventPaths::paths_of(std::uint32_t way) const {
  return profile_.shaders[place_of_shader_[shader(way)]];
}

double EventPaths::weigh(std::span<const std::uint32_t> weights, std::span<const std::uint32_t> ways) const {
  return group_executions<double, std::uint32_t>(weights, ways, [this](std::uint32_t way, std::size_t block) {
    const Way& one = ways_[way - 1];
    return static_cast<double>(paths_->counts[profile_.first_count[one.path] + block]) / one.events;
  });
}

double EventPaths::instructions(std::span<const std::uint32_t> ways) const {
  return weigh(paths_of(ways.front()).instructions, ways);
}

double EventPaths::issue_slots(std::span<const std::uint32_t> ways) const {
  return weigh(paths_of(ways.front()).issue_slots, ways);
}

void EventPaths::find_ways(const trace::Launch& launch) {
  const trace::Events& events = launch.data.events;
  std::fill(way_.begin(), way_.end(), 0U);
  for (std::size_t row = 0; row < events.path.size(); ++row) {
    const std::uint32_t path = events.path[row];
    if (path != 0 && trace::enters_shader(events.kind[row]) && paths_->shader[path - 1] == events.shader[row]) {
      way_[row] = path;
    }
  }
}

void EventPaths::share_generation(const std::vector<trace::Shader>& shaders, const trace::Launch& launch) {
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

std::shared_ptr<const EventPaths> event_paths(const trace::Trace& trace, const trace::Launch& launch) {
  if (trace.paths.size() == 0 || (launch.data.events.path.empty() && launch.thread_path.empty())) {
    return nullptr;
  }
  auto paths = std::make_shared<const EventPaths>(trace, launch);
  return paths->any() ? paths : nullptr;
}

}  // namespace rayreplay::profile
