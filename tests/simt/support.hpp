// What the replayer's tests share: assignments, listings one can read, random launches.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "scheduler-models/warp_assignment.hpp"
#include "sim/simt/kernel/kernel.hpp"
#include "sim/simt/replayer.hpp"
#include "tests/support/launch_builder.hpp"

namespace rayreplay::test {

inline constexpr simt::Policy kPolicies[] = {simt::Policy::StageMajority, simt::Policy::MinShader,
                                             simt::Policy::OldestLane, simt::Policy::Independent,
                                             simt::Policy::TraceBarrier};

/// Threads in order of id, the last warp filled up with kNoThread.
inline scheduler::WarpAssignment linear_assignment(std::uint64_t threads, std::uint32_t warp_size) {
  scheduler::WarpAssignment assignment;
  assignment.warp_size = warp_size;
  const std::uint64_t warps = (threads + warp_size - 1) / warp_size;
  for (std::uint64_t place = 0; place < warps * warp_size; ++place) {
    assignment.thread_at.push_back(place < threads ? static_cast<std::uint32_t>(place) : scheduler::kNoThread);
  }
  for (std::uint64_t warp = 0; warp < warps; ++warp) {
    assignment.start_rank.push_back(static_cast<std::uint32_t>(warp));
    assignment.tile.push_back(0);
  }
  return assignment;
}

/// As linear_assignment, but every place is as likely for a thread as any other, places without a thread included.
inline scheduler::WarpAssignment shuffled_assignment(std::uint64_t threads, std::uint32_t warp_size,
                                                     std::mt19937_64& random) {
  scheduler::WarpAssignment assignment = linear_assignment(threads, warp_size);
  for (std::size_t i = assignment.thread_at.size(); i > 1; --i) {
    std::swap(assignment.thread_at[i - 1], assignment.thread_at[random() % i]);
  }
  return assignment;
}

/// The warp events of one warp, in order.
inline std::vector<simt::WarpEvent> replay_warp(const trace::Launch& launch, const std::vector<trace::Shader>& shaders,
                                                const scheduler::WarpAssignment& assignment, std::size_t warp,
                                                simt::Policy policy) {
  return simt::kernel::replay_warp_on(*simt::kernel::kernels().front(), launch, shaders, assignment, warp, policy);
}

/// One line an event: "Intersection 1 1100", lane 0 first.
inline std::string listing(const std::vector<simt::WarpEvent>& events, std::uint32_t warp_size) {
  std::string text;
  for (const auto& event : events) {
    text += std::string(trace::to_string(event.kind)) + ' ' + std::to_string(event.shader) + ' ';
    for (std::uint32_t lane = 0; lane < warp_size; ++lane) {
      text += (event.mask >> lane & 1) != 0 ? '1' : '0';
    }
    text += '\n';
  }
  return text;
}

inline std::vector<trace::Shader> shaders_of(const std::vector<trace::ShaderStage>& stages) {
  std::vector<trace::Shader> shaders;
  for (const trace::ShaderStage stage : stages) {
    shaders.push_back({stage, "main", "", {}});
  }
  return shaders;
}

/// `count` shaders: one ray-generation shader, then the other stages in turn.
inline std::vector<trace::Shader> shaders_of_all_stages(std::size_t count) {
  std::vector<trace::ShaderStage> stages;
  for (std::size_t i = 0; i < count; ++i) {
    stages.push_back(i == 0 ? trace::ShaderStage::RayGeneration : static_cast<trace::ShaderStage>(1 + (i - 1) % 5));
  }
  return shaders_of(stages);
}

/// Rays by the grammar of MODELS.md §2, recursive and with callables, over shaders_of_all_stages(count); some threads
/// have no events.
class RandomLaunch {
 public:
  RandomLaunch(std::size_t shaders, std::uint64_t seed) : shaders_(shaders), random_(seed) {}

  trace::Launch make(std::uint32_t threads, std::uint32_t most_rays) {
    LaunchBuilder builder({threads, 1, 1});
    for (std::uint32_t thread = 0; thread < threads; ++thread) {
      builder.thread();
      for (std::uint64_t ray = random_() % (most_rays + 1); ray > 0; --ray) {
        add_ray(builder, 0, 0);
      }
    }
    return builder.build();
  }

 private:
  std::uint16_t pick(trace::ShaderStage stage) {
    const std::size_t first = static_cast<std::size_t>(stage);
    const std::size_t choices = (shaders_ - first + 4) / 5;
    return static_cast<std::uint16_t>(first + 5 * (random_() % choices));
  }
  bool chance(std::uint64_t percent) {
    return random_() % 100 < percent;
  }
  void add_ray(LaunchBuilder& builder, std::uint16_t caller, int depth) {
    const bool occlusion = chance(30);
    if (occlusion) {
      builder.occlusion_begin(caller);
    } else {
      builder.begin(caller);
    }
    for (std::uint64_t tests = random_() % 4; tests > 0; --tests) {
      const std::uint16_t intersection = pick(trace::ShaderStage::Intersection);
      builder.intersection(intersection);
      if (chance(60)) {
        builder.report(intersection);
      }
      if (chance(40)) {
        const std::uint16_t any_hit = pick(trace::ShaderStage::AnyHit);
        builder.any_hit(any_hit);
        if (chance(50)) {
          builder.ignore(any_hit);
        }
      }
    }
    if (occlusion || chance(40)) {
      if (chance(70)) {
        builder.miss(pick(trace::ShaderStage::Miss));
      }
      return;
    }
    const std::uint16_t hit = pick(trace::ShaderStage::ClosestHit);
    builder.closest_hit(hit);
    if (chance(20)) {
      builder.callable(pick(trace::ShaderStage::Callable));
    }
    if (depth < 2 && chance(40)) {
      add_ray(builder, hit, depth + 1);
    }
  }

  std::size_t shaders_;
  std::mt19937_64 random_;
};

}  // namespace rayreplay::test
