// Values by pixel: counts and clocks of its threads' events, and the SIMT efficiency of their warps.
#include <array>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "base/text.hpp"
#include "sim/engine/stages/assignment.hpp"
#include "sim/engine/stages/simt.hpp"
#include "sim/simt/pixel_map.hpp"
#include "viewer/content/answers.hpp"
#include "viewer/content/slice.hpp"

namespace rayreplay::viewer {
namespace {

using experiment::PixelMap;

constexpr std::array<Choice, 8> kMaps{{
    {"efficiency", "SIMT efficiency, %", "Active lanes over lanes, in the warp events of the pixel's threads.", true,
     false},
    {"rays", "rays", "Trace calls of the pixel's threads.", false, false},
    {"events", "shader calls", "Warp events that the pixel's threads take part in: trace calls and calls of shaders.",
     false, false},
    {"intersections", "intersection calls", "Calls of intersection shaders.", false, false},
    {"any-hits", "any-hit calls", "Calls of any-hit shaders.", false, false},
    {"order", "place in the launch order, warps", "Number of warps that start before the pixel's.", true, false},
    {"sm", "SM", "The SM on which the pixel's thread began, as captured.", false, true},
    {"clocks", "time between first and last event, clocks",
     "Clock of the SM at the pixel's last recorded event, less that at its first: waiting included.", false, false},
}};

PixelMap empty_map(trace::LaunchSize size) {
  return {size.width, size.height,
          std::vector<float>(std::size_t{size.width} * size.height, std::numeric_limits<float>::quiet_NaN())};
}

/// A value for each thread of slice 0, from its events.
template <class Value>
PixelMap by_thread(const trace::Launch& launch, const Value& value) {
  PixelMap map = empty_map(launch.size);
  const trace::ThreadData& data = launch.data;
  for (std::size_t thread = 0; thread < map.values.size(); ++thread) {
    map.values[thread] = value(data.event_offset[thread], data.event_offset[thread + 1]);
  }
  return map;
}

PixelMap shader_calls(const trace::Launch& launch) {
  PixelMap map = empty_map(launch.size);
  std::fill(map.values.begin(), map.values.end(), 0.0F);
  const trace::ThreadData& data = launch.data;
  for (std::size_t thread = 0; thread < data.threads(); ++thread) {
    float& count = map.values[thread % map.values.size()];
    for (std::uint64_t row = data.event_offset[thread]; row < data.event_offset[thread + 1]; ++row) {
      count += trace::is_warp_event(data.events.kind[row]) ? 1.0F : 0.0F;
    }
  }
  return map;
}

bool has_groups(const trace::Launch& launch) {
  return !launch.data.events.group.empty() && launch.groups.size() != 0;
}

PixelMap sm_map(const trace::Launch& launch) {
  return by_thread(launch, [&](std::uint64_t first, std::uint64_t end) {
    return first == end ? std::numeric_limits<float>::quiet_NaN()
                        : static_cast<float>(launch.groups.sm[launch.data.events.group[first]]);
  });
}

PixelMap clock_map(const trace::Launch& launch) {
  return by_thread(launch, [&](std::uint64_t first, std::uint64_t end) {
    if (first == end) {
      return std::numeric_limits<float>::quiet_NaN();
    }
    std::uint64_t least = ~std::uint64_t{0};
    std::uint64_t most = 0;
    for (std::uint64_t row = first; row < end; ++row) {
      const std::uint64_t clock = launch.groups.clock[launch.data.events.group[row]];
      least = std::min(least, clock);
      most = std::max(most, clock);
    }
    return static_cast<float>(most - least);
  });
}

PixelMap map_of(const std::string& name, experiment::Workbench& bench, const experiment::Experiment& experiment,
                const experiment::Resolved& resolved, const trace::Launch& launch) {
  if (name == "efficiency") {
    simt::ReplayOptions options;
    options.per_thread = true;
    const simt::ReplayResult result = experiment::replay(bench, experiment, options);
    return experiment::efficiency_map(launch.size, result.by_thread, resolved.warp_size, bench.accelerator());
  }
  if (name == "order") {
    return experiment::order_map(launch.size, *experiment::assignment(bench, experiment));
  }
  if (name == "events") {
    return shader_calls(launch);
  }
  if (name == "sm") {
    return sm_map(launch);
  }
  if (name == "clocks") {
    return clock_map(launch);
  }
  experiment::PixelCounts counts = experiment::count_pixels(launch);
  return name == "rays" ? counts.rays : name == "intersections" ? counts.intersections : counts.any_hits;
}

/// Threads without a ray or an event were not recorded, or did nothing: their pixels have no value.
void leave_out_unrecorded(const trace::Launch& launch, PixelMap& map) {
  const trace::ThreadData& data = launch.data;
  const std::size_t pixels = map.values.size();
  std::vector<bool> known(pixels);
  for (std::size_t thread = 0; thread < data.threads(); ++thread) {
    if (data.event_offset[thread] != data.event_offset[thread + 1] ||
        data.ray_offset[thread] != data.ray_offset[thread + 1]) {
      known[thread % pixels] = true;
    }
  }
  for (std::size_t pixel = 0; pixel < pixels; ++pixel) {
    if (!known[pixel]) {
      map.values[pixel] = std::numeric_limits<float>::quiet_NaN();
    }
  }
}

}  // namespace

std::span<const Choice> pixel_maps() {
  return kMaps;
}

std::vector<Choice> known_maps(const trace::Launch& launch) {
  std::vector<Choice> known;
  for (const Choice& choice : kMaps) {
    const bool needs_groups = choice.is_nominal || std::string_view(choice.name) == "clocks";
    if (!needs_groups || has_groups(launch)) {
      known.push_back(choice);
    }
  }
  return known;
}

std::string pixel_slice(const std::string& map, experiment::Workbench& bench, const experiment::Experiment& experiment,
                        const experiment::Resolved& resolved, const trace::Trace& trace) {
  const trace::Launch& launch = trace.launches[resolved.launch];
  std::vector<std::string> names;
  for (const Choice& choice : known_maps(launch)) {
    names.emplace_back(choice.name);
    if (map != choice.name) {
      continue;
    }
    PixelMap found = map_of(map, bench, experiment, resolved, launch);
    if (!choice.of_settings) {
      leave_out_unrecorded(launch, found);
    }
    Slice slice;
    float least = std::numeric_limits<float>::infinity();
    float most = -least;
    for (const float value : found.values) {
      if (std::isfinite(value)) {
        least = std::min(least, value);
        most = std::max(most, value);
      }
    }
    slice.facts = {{"width", found.width}, {"height", found.height}, {"title", choice.title}};
    slice.facts["least"] = least <= most ? nlohmann::ordered_json(least) : nlohmann::ordered_json();
    slice.facts["most"] = least <= most ? nlohmann::ordered_json(most) : nlohmann::ordered_json();
    slice.add("values", found.values);
    return slice.bytes();
  }
  const std::string near = nearest(map, names);
  throw Error(ErrorKind::Usage, {"unknown map", "map", "'" + map + "'", "a map of the launch",
                                 near.empty() ? "" : "did you mean '" + near + "'?"});
}

}  // namespace rayreplay::viewer
