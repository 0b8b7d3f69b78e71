// Does the queue of wakes give what an ordered set gives?
#include "sim/machine/interleaving/wake_queue.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/interleave/random_source.hpp"

namespace rayreplay::machine {
namespace {

TEST(WakeQueue, IsAnOrderedSet) {
  for (const std::uint32_t slots : {1U, 2U, 5U, 32U, 63U, 64U, 1024U}) {
    SCOPED_TRACE(slots);
    test::Draws draw(slots);
    WakeQueue queue(slots);
    std::set<std::pair<std::uint64_t, std::uint32_t>> slow;  // cycle, slot
    std::vector<std::uint32_t> idle(slots);
    for (std::uint32_t slot = 0; slot < slots; ++slot) {
      idle[slot] = slot;
    }
    std::uint64_t now = 0;
    EXPECT_EQ(queue.first(), WakeQueue::kNever);
    for (int step = 0; step < 20'000; ++step) {
      if (!idle.empty() && (slow.empty() || draw.upto(2) > 0)) {
        std::swap(idle[draw.upto(static_cast<std::uint32_t>(idle.size()) - 1)], idle.back());
        // After a hit, an answer of the L2 or of DRAM, or any time.
        const std::uint64_t latencies[] = {4, 200, 500, draw.upto(1000)};
        const std::uint64_t cycle = now + latencies[draw.upto(3)];
        slow.emplace(cycle, idle.back());
        queue.add(cycle, idle.back());
        idle.pop_back();
      } else {
        now = slow.begin()->first;
        ASSERT_EQ(queue.take(), slow.begin()->second);
        idle.push_back(slow.begin()->second);
        slow.erase(slow.begin());
      }
      ASSERT_EQ(queue.first(), slow.empty() ? WakeQueue::kNever : slow.begin()->first);
    }
    const std::uint64_t until = now + 250;
    std::vector<std::uint32_t> early;
    queue.each_before(until, [&](std::uint32_t slot) { early.push_back(slot); });
    std::vector<std::uint32_t> expected;
    for (const auto& [cycle, slot] : slow) {
      if (cycle < until) {
        expected.push_back(slot);
      }
    }
    std::sort(early.begin(), early.end());
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(early, expected);
  }
}

}  // namespace
}  // namespace rayreplay::machine
