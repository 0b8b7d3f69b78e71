#include "tests/classification/traces.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "capture/trace/reader.hpp"
#include "tests/reference/support.hpp"
#include "tests/support/launch_builder.hpp"
#include "tests/support/random_trace.hpp"
#include "tests/support/ray_scenes.hpp"

namespace rayreplay::test {
trace::Trace mixed_trace(std::uint64_t seed, const std::string& integrator) {
  reference::TracerOptions options = small_options();
  options.integrator = integrator;
  options.next_event = integrator == "path";
  options.seed = seed;
  return traced(mixed_scene(seed), options);
}

trace::Trace sphere_trace(std::uint64_t seed) {
  reference::TracerOptions options = small_options();
  options.seed = seed;
  return traced(sphere_cloud(60, seed), options);
}

trace::Trace leaving_trace(std::uint64_t seed) {
  constexpr std::uint32_t kBoxes = 200;
  constexpr std::uint32_t kInstances = 6;
  constexpr std::uint32_t kRays = 3000;
  Random random(seed);
  trace::Trace trace;
  trace::Geometry& geometry = trace.scene.geometries.emplace_back(random_boxes(random, kBoxes));
  trace.scene.blases = {{0, 1}};
  trace.scene.instances.resize(kInstances);
  for (std::uint32_t i = 1; i < kInstances; ++i) {  // the first is the identity
    trace.scene.instances[i].transform = random_transform(random);
  }
  LaunchBuilder builder({kRays, 1, 1});
  std::vector<float> t_min;
  for (std::uint32_t row = 0; row < kRays; ++row) {
    const std::uint32_t instance = random.below(kInstances);
    const std::uint32_t primitive = random.below(kBoxes);
    std::array<float, 3> start{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const float low = geometry.boxes[primitive * std::size_t{6} + axis];
      const float high = geometry.boxes[primitive * std::size_t{6} + axis + 3];
      start[axis] = random.one_in(2) ? low + (high - low) * 0.5F * (1 + random.unit()) : random.one_in(2) ? low : high;
    }
    const auto& m = trace.scene.instances[instance].transform;
    const auto world = [&](std::size_t axis) {
      return m[axis * 4] * start[0] + m[axis * 4 + 1] * start[1] + m[axis * 4 + 2] * start[2] + m[axis * 4 + 3];
    };
    const bool along_axis = random.one_in(4);
    std::array<float, 3> direction{random.unit(), random.unit(), random.unit()};
    direction = along_axis ? std::array<float, 3>{0, 0, random.one_in(2) ? 1.0F : -1.0F} : direction;
    t_min.push_back(random.one_in(6) ? 0 : std::ldexp(1 + random.unit(), -static_cast<int>(random.below(14))));
    builder.thread().begin(0, world(0), world(1), world(2), direction[0], direction[1], direction[2]);
    builder.intersection(1, instance, primitive);
    builder.intersection(1, random.below(kInstances), random.below(kBoxes));
    if (random.one_in(2)) {
      const std::uint32_t hit = random.below(kBoxes);
      const float t = t_min.back() + 0.5F * (1 + random.unit());
      builder.intersection(1, instance, hit).report(1, instance, hit, t).closest_hit(2, instance, hit, t);
    } else {
      builder.intersection(1, instance, random.below(kBoxes)).miss(3);
    }
  }
  trace.launches = {builder.build()};
  std::copy(t_min.begin(), t_min.end(), trace.launches[0].data.rays.t_min.begin());
  return trace;
}

const std::vector<std::string>& captures() {
  static const std::vector<std::string> names{"bunny", "one-weekend", "one-weekend-ser", "teapot-alpha"};
  return names;
}

trace::Trace load_capture(const std::string& name) {
  return trace::load(std::string(RAYREPLAY_SOURCE_DIR) + "/tests/data/h200/" + name + ".rrt");
}

}  // namespace rayreplay::test
