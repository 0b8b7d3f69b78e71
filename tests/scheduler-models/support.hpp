// What the tests of scheduler models share: assignments by spec, random launches.
#pragma once

#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

#include "scheduler-models/launch_order.hpp"
#include "scheduler-models/packing.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/launch_builder.hpp"

namespace rayreplay::scheduler::test {

using rayreplay::test::error_of;

inline trace::Launch empty_launch(trace::LaunchSize size) {
  return rayreplay::test::LaunchBuilder(size).build();
}

inline WarpAssignment assign(std::string_view spec, const trace::Launch& launch, std::uint32_t warp_size) {
  return LaunchOrders::create(spec).model->assign(launch, warp_size);
}

inline Swizzle pack(std::string_view spec, const trace::Launch& launch, const WarpAssignment& assignment) {
  return Packings::create(spec).model->compute(launch, assignment);
}

/// Paths from few shaders and objects, so that ties and prefixes abound; every eighth thread is empty and every fourth
/// repeats the beginning of the one before. `objects` are the ids to draw from.
class RandomLaunch {
 public:
  RandomLaunch(std::uint32_t seed, std::vector<std::uint32_t> objects) : random_(seed), objects_(std::move(objects)) {}

  trace::Launch operator()(trace::LaunchSize size) {
    rayreplay::test::LaunchBuilder builder(size);
    std::vector<Step> path;
    for (std::uint64_t i = 0; i < size.threads(); ++i) {
      const std::uint32_t kind = draw(8);
      if (kind == 0) {
        path.clear();
      } else if (kind <= 2 && !path.empty()) {
        path.resize(draw(static_cast<std::uint32_t>(path.size()) + 1));
      } else {
        path = draw_path();
      }
      write(builder.thread(), path);
    }
    return builder.build();
  }

  std::uint32_t draw(std::uint32_t below) {
    return static_cast<std::uint32_t>(random_()) % below;
  }

 private:
  struct Step {
    trace::EventKind kind;
    std::uint16_t shader;
    std::uint32_t instance;
    std::uint32_t primitive;
    float x;
  };

  std::vector<Step> draw_path() {
    std::vector<Step> path;
    const std::uint32_t rays = draw(5);
    for (std::uint32_t ray = 0; ray < rays; ++ray) {
      path.push_back(step(trace::EventKind::Begin, 0));
      for (std::uint32_t tests = draw(6); tests > 0; --tests) {
        path.push_back(step(trace::EventKind::Intersection, static_cast<std::uint16_t>(1 + draw(2))));
        if (draw(3) == 0) {
          path.push_back(step(trace::EventKind::ReportIntersection, path.back().shader));
          path.push_back(step(trace::EventKind::AnyHit, 3));
        }
      }
      path.push_back(draw(2) == 0 ? step(trace::EventKind::Miss, 4)
                                  : step(trace::EventKind::ClosestHit, static_cast<std::uint16_t>(5 + draw(2))));
    }
    return path;
  }

  Step step(trace::EventKind kind, std::uint16_t shader) {
    // Mostly the first object, so that lists stay equal for long.
    const auto object = [this] {
      return draw(4) != 0 ? objects_[0] : objects_[draw(static_cast<std::uint32_t>(objects_.size()))];
    };
    return {kind, shader, object(), object(), static_cast<float>(draw(7)) - 3};
  }

  static void write(rayreplay::test::LaunchBuilder& builder, const std::vector<Step>& path) {
    for (const Step& s : path) {
      switch (s.kind) {
        case trace::EventKind::Begin:
          builder.begin(s.shader, s.x, s.x * 2, 1, -s.x, 1, s.x + 1);
          break;
        case trace::EventKind::Intersection:
          builder.intersection(s.shader, s.instance, s.primitive);
          break;
        case trace::EventKind::ReportIntersection:
          builder.report(s.shader, s.instance, s.primitive);
          break;
        case trace::EventKind::AnyHit:
          builder.any_hit(s.shader, s.instance, s.primitive);
          break;
        case trace::EventKind::Miss:
          builder.miss(s.shader);
          break;
        default:
          builder.closest_hit(s.shader, s.instance, s.primitive);
          break;
      }
    }
  }

  std::mt19937 random_;
  std::vector<std::uint32_t> objects_;
};

}  // namespace rayreplay::scheduler::test
