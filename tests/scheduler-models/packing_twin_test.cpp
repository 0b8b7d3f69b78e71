// Packings against slow twins: the definitions of MODELS.md §6 with comparisons of whole sequences.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/scheduler-models/support.hpp"

namespace rayreplay::scheduler::test {
namespace {

using Less = std::function<bool(std::uint32_t, std::uint32_t)>;

/// Unpacks, sorts by `less`, ties by start rank, and gives the i-th place the i-th thread.
Swizzle slow_swizzle(const WarpAssignment& assignment, bool tiled, const Less& less) {
  std::map<std::uint32_t, std::vector<std::uint32_t>> unpacked;  // by tile
  std::map<std::uint32_t, std::uint32_t> rank;
  for (std::size_t place = 0; place < assignment.thread_at.size(); ++place) {
    const std::size_t warp = place / assignment.warp_size;
    if (const std::uint32_t thread = assignment.thread_at[place]; thread != kNoThread) {
      unpacked[tiled ? assignment.tile[warp] : 0].push_back(thread);
      rank[thread] = assignment.start_rank[warp];
    }
  }
  Swizzle swizzle(rank.size());
  for (const auto& [tile, places] : unpacked) {
    std::vector<std::uint32_t> sorted = places;
    std::stable_sort(sorted.begin(), sorted.end(), [&](std::uint32_t a, std::uint32_t b) {
      if (less(a, b) || less(b, a)) {
        return less(a, b);
      }
      return rank[a] < rank[b];
    });
    for (std::size_t i = 0; i < places.size(); ++i) {
      swizzle[places[i]] = sorted[i];
    }
  }
  return swizzle;
}

using Object = std::pair<std::uint32_t, std::uint32_t>;

std::vector<Object> objects_of(const trace::Launch& launch, std::uint32_t thread) {
  std::vector<Object> result;
  const auto& events = launch.data.events;
  for (std::size_t row = launch.data.event_offset[thread]; row < launch.data.event_offset[thread + 1]; ++row) {
    const trace::EventKind kind = events.kind[row];
    if (kind == trace::EventKind::Intersection || kind == trace::EventKind::AnyHit ||
        kind == trace::EventKind::ClosestHit) {
      result.emplace_back(events.instance[row], events.primitive[row]);
    }
  }
  return result;
}

bool objects_less(const std::vector<Object>& a, const std::vector<Object>& b) {
  const auto [in_a, in_b] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (in_a != a.end() && in_b != b.end()) {
    return *in_a < *in_b;
  }
  return a.size() > b.size();
}

using Call = std::pair<trace::EventKind, std::uint16_t>;

std::vector<Call> calls_of(const trace::Launch& launch, std::uint32_t thread) {
  std::vector<Call> result;
  const auto& events = launch.data.events;
  for (std::size_t row = launch.data.event_offset[thread]; row < launch.data.event_offset[thread + 1]; ++row) {
    if (trace::is_warp_event(events.kind[row])) {
      result.emplace_back(events.kind[row], events.shader[row]);
    }
  }
  return result;
}

template <class Key>
std::vector<Key> for_each_thread(const trace::Launch& launch, Key (*key)(const trace::Launch&, std::uint32_t)) {
  std::vector<Key> result;
  for (std::uint32_t thread = 0; thread < launch.size.threads(); ++thread) {
    result.push_back(key(launch, thread));
  }
  return result;
}

class PackingTwin : public testing::TestWithParam<std::vector<std::uint32_t>> {
 protected:
  /// Assignments of several kinds; ranks of the last are shuffled as a device would.
  static std::vector<WarpAssignment> assignments(const trace::Launch& launch, RandomLaunch& random) {
    std::vector<WarpAssignment> result{assign("linear", launch, 8), assign("z-order:warp=8x4,tile=16x16", launch, 32),
                                       assign("z-order:warp=8x8,tile=8x8", launch, 64),
                                       assign("morton-groups", launch, 4)};
    WarpAssignment shuffled = result[1];
    for (std::size_t i = shuffled.start_rank.size(); i > 1; --i) {
      std::swap(shuffled.start_rank[i - 1], shuffled.start_rank[random.draw(static_cast<std::uint32_t>(i))]);
    }
    result.push_back(shuffled);
    return result;
  }

  static void compare(const std::string& packing, const trace::Launch& launch, const WarpAssignment& assignment,
                      bool tiled, const Less& less) {
    EXPECT_EQ(pack(packing, launch, assignment), slow_swizzle(assignment, tiled, less)) << packing;
  }
};

TEST_P(PackingTwin, AgreesOnRandomLaunches) {
  RandomLaunch random(11, GetParam());
  for (const trace::LaunchSize size : {trace::LaunchSize{37, 23, 1}, trace::LaunchSize{64, 1, 1},
                                       trace::LaunchSize{9, 8, 3}, trace::LaunchSize{1, 1, 1}}) {
    const trace::Launch launch = random(size);
    const auto objects = for_each_thread(launch, objects_of);
    const auto calls = for_each_thread(launch, calls_of);
    const auto& rays = launch.data.ray_offset;
    const Less by_rays = [&](std::uint32_t a, std::uint32_t b) {
      return rays[a + 1] - rays[a] < rays[b + 1] - rays[b];
    };
    const Less by_objects = [&](std::uint32_t a, std::uint32_t b) { return objects_less(objects[a], objects[b]); };
    const Less by_calls = [&](std::uint32_t a, std::uint32_t b) { return calls[a] < calls[b]; };
    for (const WarpAssignment& assignment : assignments(launch, random)) {
      compare("numrays", launch, assignment, false, by_rays);
      compare("tiled-numrays", launch, assignment, true, by_rays);
      compare("objects", launch, assignment, false, by_objects);
      compare("tiled-objects", launch, assignment, true, by_objects);
      compare("shader-sequence", launch, assignment, false, by_calls);
      compare("shader-sequence:tiled=true", launch, assignment, true, by_calls);
    }
  }
}

// How many ids share a 64-bit word decides which code runs: from many in one word to an id in two words.
INSTANTIATE_TEST_SUITE_P(ObjectIds, PackingTwin,
                         testing::Values(std::vector<std::uint32_t>{0}, std::vector<std::uint32_t>{0, 1},
                                         std::vector<std::uint32_t>{3, 0, 484},
                                         std::vector<std::uint32_t>{70000, 0, 131071},
                                         std::vector<std::uint32_t>{0x3FFF'FFFF, 0, 0x7FFF'FFFF},
                                         std::vector<std::uint32_t>{0xFFFF'FFFF, 0, 5, 0xFFFF'FFFE}));

TEST(PackingTwinTiled, ThreadsStayInsideTheirTile) {
  RandomLaunch random(5, {0, 1});
  const trace::Launch launch = random({50, 40, 1});
  const WarpAssignment assignment = assign("z-order:tile=16x16", launch, 32);
  std::vector<std::uint32_t> tile(launch.size.threads());
  for (std::size_t place = 0; place < assignment.thread_at.size(); ++place) {
    if (assignment.thread_at[place] != kNoThread) {
      tile[assignment.thread_at[place]] = assignment.tile[place / assignment.warp_size];
    }
  }
  for (const char* packing :
       {"tiled-numrays", "tiled-objects", "random:tiled=true", "origin-morton:tiled=true", "origin-hilbert:tiled=true",
        "direction-morton:tiled=true", "direction-hilbert:tiled=true", "origin-direction-morton:tiled=true",
        "first-hit-shader:tiled=true", "shader-sequence:tiled=true"}) {
    const Swizzle swizzle = pack(packing, launch, assignment);
    check_bijection(swizzle, launch.size.threads(), packing);
    for (std::uint32_t thread = 0; thread < swizzle.size(); ++thread) {
      ASSERT_EQ(tile[swizzle[thread]], tile[thread]) << packing << ", thread " << thread;
    }
  }
}

}  // namespace
}  // namespace rayreplay::scheduler::test
