#include "bench/simt/synthetic_launch.hpp"

#include <bit>
#include <random>
#include <utility>

namespace rayreplay::bench {
namespace {

using trace::EventKind;
using trace::ShaderStage;

constexpr std::uint32_t kWidth = 256;
constexpr std::uint16_t kRayGeneration = 0;
constexpr std::uint16_t kMiss = 1;

class Maker {
 public:
  Maker(Workload workload, std::uint64_t seed) : workload_(workload), random_(seed) {
    add_shaders(ShaderStage::RayGeneration, 1);
    add_shaders(ShaderStage::Miss, 1);
    const bool divergent = workload == Workload::Divergent;
    intersection_ = add_shaders(ShaderStage::Intersection, divergent ? 2 : 1);
    any_hit_ = add_shaders(ShaderStage::AnyHit, 1);
    closest_hit_ = add_shaders(ShaderStage::ClosestHit, divergent ? 3 : 1);
  }

  SyntheticLaunch make(std::uint64_t events) {
    auto& data = made_.launch.data;
    data.events.kind.reserve(events + kSlack);
    data.events.shader.reserve(events + kSlack);
    data.event_offset.push_back(0);
    while (data.events.size() < events || data.threads() % kBlock != 0) {
      add_thread(static_cast<std::uint32_t>(data.threads()));
      data.event_offset.push_back(data.events.size());
    }
    made_.launch.size = {kWidth, static_cast<std::uint32_t>(data.threads() / kWidth), 1};
    return std::move(made_);
  }

 private:
  static constexpr std::uint64_t kBlock = std::uint64_t{kWidth} * 8;  ///< whole warps at any warp size
  static constexpr std::uint64_t kSlack = kBlock * 1024;

  std::uint16_t add_shaders(ShaderStage stage, std::size_t count) {
    const auto first = static_cast<std::uint16_t>(made_.shaders.size());
    for (std::size_t i = 0; i < count; ++i) {
      made_.shaders.push_back({stage, "main", "", {}});
    }
    return first;
  }
  void add(EventKind kind, std::uint16_t shader) {
    made_.launch.data.events.kind.push_back(kind);
    made_.launch.data.events.shader.push_back(shader);
  }
  std::uint64_t below(std::uint64_t limit) {
    return random_() % limit;
  }
  std::uint16_t one_of(std::uint16_t first, std::uint64_t count) {
    return static_cast<std::uint16_t>(first + below(count));
  }

  void add_thread(std::uint32_t thread) {
    switch (workload_) {
      case Workload::Coherent:
        for (int ray = 0; ray < 4; ++ray) {
          add(EventKind::Begin, kRayGeneration);
          for (int test = 0; test < 3; ++test) {
            add(EventKind::Intersection, intersection_);
            add(EventKind::ReportIntersection, intersection_);
          }
          add(EventKind::AnyHit, any_hit_);
          add(EventKind::IgnoreIntersection, any_hit_);
          add(EventKind::ClosestHit, closest_hit_);
        }
        return;
      case Workload::Divergent: {
        const std::uint64_t end = made_.launch.data.events.size() + 20 + below(41);
        while (made_.launch.data.events.size() < end) {
          add_divergent_ray();
        }
        return;
      }
      case Workload::Weekend:
        for (int sample = 0; sample < 6; ++sample) {
          add_path(thread);
        }
        return;
    }
  }

  void add_divergent_ray() {
    const bool occlusion = below(4) == 0;
    add(occlusion ? EventKind::OcclusionBegin : EventKind::Begin, kRayGeneration);
    for (std::uint64_t tests = below(6); tests > 0; --tests) {
      const std::uint16_t shader = one_of(intersection_, 2);
      add(EventKind::Intersection, shader);
      if (below(2) == 0) {
        add(EventKind::ReportIntersection, shader);
        if (below(2) == 0) {
          add(EventKind::AnyHit, any_hit_);
        }
      }
    }
    if (occlusion || below(3) == 0) {
      add(EventKind::Miss, kMiss);
    } else {
      add(EventKind::ClosestHit, one_of(closest_hit_, 3));
    }
  }

  // A third of the pixels (blocks of 16×16, say) sees the sky: one miss a sample. The others bounce with even chances,
  // each bounce testing 1 to 6 boxes, of which every second is hit.
  void add_path(std::uint32_t thread) {
    const std::uint32_t block = thread / kWidth / 16 * (kWidth / 16) + thread % kWidth / 16;
    const bool sky = block * 2654435761U >> 16 < 0x5555;
    for (int bounce = 0; bounce < 16; ++bounce) {
      add(EventKind::Begin, kRayGeneration);
      const std::uint64_t tests = sky ? below(2) : 1 + below(6);
      for (std::uint64_t test = 0; test < tests; ++test) {
        add(EventKind::Intersection, intersection_);
        if (!sky && below(2) == 0) {
          add(EventKind::ReportIntersection, intersection_);
        }
      }
      if (sky || below(3) == 0) {
        add(EventKind::Miss, kMiss);
        return;
      }
      add(EventKind::ClosestHit, closest_hit_);
    }
  }

  Workload workload_;
  std::mt19937_64 random_;
  SyntheticLaunch made_;
  std::uint16_t intersection_ = 0;
  std::uint16_t any_hit_ = 0;
  std::uint16_t closest_hit_ = 0;
};

}  // namespace

const char* to_string(Workload workload) {
  switch (workload) {
    case Workload::Coherent:
      return "coherent";
    case Workload::Divergent:
      return "divergent";
    case Workload::Weekend:
      return "weekend";
  }
  return "";
}

SyntheticLaunch make_launch(Workload workload, std::uint64_t events, std::uint64_t seed) {
  return Maker(workload, seed).make(events);
}

scheduler::WarpAssignment make_assignment(trace::LaunchSize size, std::uint32_t warp_size, bool shuffled,
                                          std::uint64_t seed) {
  const std::uint32_t warp_height = 1U << (std::bit_width(warp_size) - 1) / 2;
  const std::uint32_t warp_width = warp_size / warp_height;
  scheduler::WarpAssignment assignment;
  assignment.warp_size = warp_size;
  for (std::uint32_t y = 0; y < size.height; y += warp_height) {
    for (std::uint32_t x = 0; x < size.width; x += warp_width) {
      for (std::uint32_t lane = 0; lane < warp_size; ++lane) {
        assignment.thread_at.push_back((y + lane / warp_width) * size.width + x + lane % warp_width);
      }
      assignment.start_rank.push_back(static_cast<std::uint32_t>(assignment.start_rank.size()));
      assignment.tile.push_back(0);
    }
  }
  std::mt19937_64 random(seed);
  for (std::size_t i = shuffled ? assignment.thread_at.size() : 0; i > 1; --i) {
    std::swap(assignment.thread_at[i - 1], assignment.thread_at[random() % i]);
  }
  return assignment;
}

}  // namespace rayreplay::bench
