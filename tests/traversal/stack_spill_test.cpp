// Stack entries beyond what a lane keeps on chip: against a recount by a traversal that writes down every push and pop,
// and what logging them must not change.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "bvh/bvh.hpp"
#include "tests/support/adversarial.hpp"
#include "tests/support/adversarial_rays.hpp"
#include "traversal/kernels/observer.hpp"
#include "traversal/kernels/stack_traversal.hpp"
#include "traversal/warp_traversal.hpp"

namespace rayreplay::test {
namespace {

using traversal::Access;
using traversal::AccessKind;
using traversal::Ray;
using traversal::WarpTraceResult;
using traversal::WarpTraversals;

/// A push or a pop, with the number of entries below.
struct Move {
  std::size_t below = 0;
  bool push = false;

  bool operator==(const Move&) const = default;
};

/// A near-first traversal of one ray that writes down what it does with its stack.
class Recount {
 public:
  explicit Recount(const bvh::Bvh& bvh)
      : bvh_(&bvh), kernel_(*bvh.layout), observer_(bvh), search_(bvh, nullptr, observer_) {}

  std::vector<Move> run(std::size_t row, const Ray& ray) {
    moves_.clear();
    stack_.clear();
    if (!traversal::is_traversable(ray) || bvh_->top.empty()) {
      return {};
    }
    search_.begin(row, ray);
    // The lane puts the root on its stack before it looks whether there is anything to search.
    level(bvh_->top, search_.world().box, true);
    return moves_;
  }

 private:
  void push(const traversal::StackEntry& entry) {
    moves_.push_back({stack_.size(), true});
    stack_.push_back(entry);
  }

  void level(const bvh::Level& now, const bvh::BoxRay& ray, bool top) {
    const std::size_t base = stack_.size();
    push({ray.t_min, {0, 0, bvh::kNoBlock}});
    while (stack_.size() > base && !search_.done()) {
      const traversal::StackEntry next = stack_.back();
      stack_.pop_back();
      moves_.push_back({stack_.size(), false});
      if (next.entry > search_.limit()) {
        continue;
      }
      for (std::uint32_t i = 0; i < next.place.count && !search_.done(); ++i) {
        const std::uint32_t reference = now.references[next.place.index + i];
        if (!top) {
          search_.test(visit_, reference);
        } else if (search_.enter(reference, visit_)) {
          level(bvh_->bottoms[visit_.blas], visit_.space.box, false);
        }
      }
      if (next.place.count == 0) {
        traversal::NodeMeeting meeting;
        static_cast<void>(kernel_.meet(now, next.place.index, ray, search_.limit(), meeting));
        std::array<std::uint8_t, bvh::kMaxWidth> slots{};
        const std::size_t count = traversal::order_slots(meeting, true, slots);
        for (std::size_t i = count; i-- > 0;) {
          push({meeting.entry[slots[i]], kernel_.child(now, next.place.index, slots[i])});
        }
      }
    }
  }

  using Observer = traversal::Observer<true, false, false>;
  const bvh::Bvh* bvh_;
  traversal::DecodeKernel kernel_;
  Observer observer_;
  traversal::Search<Observer> search_;
  traversal::InstanceVisit visit_;
  std::vector<traversal::StackEntry> stack_;
  std::vector<Move> moves_;
};

std::vector<std::vector<Access>> by_ray(const WarpTraceResult& result, std::size_t rays) {
  std::vector<std::vector<Access>> rows(rays);
  for (std::size_t i = 0; i < result.ray.size(); ++i) {
    for (std::uint64_t row = result.access_offset[i]; row < result.access_offset[i + 1]; ++row) {
      rows[result.ray[i]].push_back(result.accesses[row]);
    }
  }
  return rows;
}

WarpTraceResult run(const std::string& spec, const bvh::Bvh& bvh, const std::vector<Ray>& rays,
                    std::uint32_t stack_entries) {
  std::vector<std::uint64_t> warps;
  for (std::uint64_t first = 0; first < rays.size(); first += 30) {
    warps.push_back(first);
  }
  warps.push_back(rays.size());
  return WarpTraversals::create(spec).model->trace(bvh, rays, warps,
                                                   {.accesses = true, .stack_entries = stack_entries});
}

class StackSpills : public testing::TestWithParam<const char*> {};

TEST_P(StackSpills, EqualARecount) {
  std::uint64_t spills = 0;
  for (const AdversarialScene& scene : adversarial_scenes(71)) {
    SCOPED_TRACE(scene.name);
    const bvh::Bvh bvh = bvh::build_bvh(scene.scene, 0, scene.name, {.layout = GetParam()});
    std::vector<Ray> rays = adversarial_rays(scene.scene, 300, 5);
    for (std::size_t i = 0; i < rays.size(); i += 3) {
      rays[i].flags = trace::kRayFlagTerminateOnFirstHit;
    }
    rays[7].direction = {0, 0, 0};
    Recount recount(bvh);
    for (const char* spec : {"while-while", "if-if", "persistent-while-while:warps=3,threshold=20"}) {
      for (const std::uint32_t entries : {1U, 2U, 5U}) {
        const WarpTraceResult result = run(spec, bvh, rays, entries);
        const auto made = by_ray(result, rays.size());
        for (std::size_t ray = 0; ray < rays.size(); ++ray) {
          std::vector<Access> expected;
          for (const Move& move : recount.run(ray, rays[ray])) {
            if (move.below >= entries) {
              expected.push_back({(move.below - entries) * 8, 8, AccessKind::Stack, move.push});
            }
          }
          std::vector<Access> found;
          for (const Access& access : made[ray]) {
            if (access.kind == AccessKind::Stack) {
              found.push_back(access);
            }
          }
          ASSERT_EQ(found, expected) << spec << ", " << entries << " entries, ray " << ray;
          spills += found.size();
        }
      }
    }
  }
  EXPECT_GT(spills, 10000U);
}

/// Stack accesses come beside the others, which stay what they were; every load takes what was stored there last.
TEST_P(StackSpills, ChangeNothingElse) {
  for (const AdversarialScene& scene : adversarial_scenes(5)) {
    SCOPED_TRACE(scene.name);
    const bvh::Bvh bvh = bvh::build_bvh(scene.scene, 0, scene.name, {.layout = GetParam()});
    const std::vector<Ray> rays = adversarial_rays(scene.scene, 200, 6);
    for (const std::string& spec : WarpTraversals::names()) {
      SCOPED_TRACE(spec);
      const WarpTraceResult plain = run(spec, bvh, rays, 0);
      const WarpTraceResult spilled = run(spec, bvh, rays, 2);
      ASSERT_EQ(plain.hits, spilled.hits);
      ASSERT_EQ(plain.counters, spilled.counters);
      ASSERT_EQ(plain.steps, spilled.steps);
      ASSERT_EQ(plain.ray, spilled.ray);
      const auto before = by_ray(plain, rays.size());
      auto after = by_ray(spilled, rays.size());
      for (std::size_t ray = 0; ray < rays.size(); ++ray) {
        std::vector<std::uint64_t> memory;  // entries that lie there
        for (const Access& access : after[ray]) {
          if (access.kind != AccessKind::Stack) {
            ASSERT_FALSE(access.store);
            continue;
          }
          if (access.store) {
            ASSERT_EQ(access.address, memory.size() * 8);
            memory.push_back(access.address);
          } else {
            ASSERT_FALSE(memory.empty());
            ASSERT_EQ(access.address, memory.back());
            memory.pop_back();
          }
        }
        std::erase_if(after[ray], [](const Access& access) { return access.kind == AccessKind::Stack; });
        ASSERT_EQ(before[ray], after[ray]);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, StackSpills, testing::Values("wide-8", "binary", "quantised-6"),
                         [](const auto& layout) {
                           std::string name = layout.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace rayreplay::test
