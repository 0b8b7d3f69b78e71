// Accesses of lanes as instructions: by hand, and against a twin that looks at all that is left again and again.
#include "sim/memory/streams/access_alignment.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/support/random_trace.hpp"

namespace rayreplay::memory {
namespace {

using Lanes = std::vector<std::vector<std::uint32_t>>;

/// "0a 1a|0b": instructions of lane and site.
std::string told(const AlignedAccesses& aligned, const Lanes& lanes) {
  std::string text;
  for (std::size_t i = 0; i + 1 < aligned.first.size(); ++i) {
    text += i == 0 ? "" : "|";
    for (std::size_t row = aligned.first[i]; row < aligned.first[i + 1]; ++row) {
      const auto [lane, place] = aligned.accesses[row];
      text += row == aligned.first[i] ? "" : " ";
      text += std::to_string(lane) + static_cast<char>('a' + lanes[lane][place]);
    }
  }
  return text;
}
std::string told(const Lanes& lanes) {
  return told(align_accesses(lanes), lanes);
}

TEST(AccessAlignment, ByHand) {
  constexpr std::uint32_t a = 0, b = 1, c = 2;
  EXPECT_EQ(told({}), "");
  EXPECT_EQ(told({{}, {}}), "");
  EXPECT_EQ(told({{b, a}}), "0b|0a") << "the order of execution, not of sites";
  EXPECT_EQ(told({{a, a}, {a, a}}), "0a 1a|0a 1a");
  EXPECT_EQ(told({{a, a, b}, {a, b}}), "0a 1a|0a|0b 1b") << "a loop that one lane leaves earlier";
  EXPECT_EQ(told({{a, c}, {b, c}}), "0a|1b|0c 1c") << "two sides of a branch, then the same code";
  EXPECT_EQ(told({{c}, {a, c}, {}}), "1a|0c 1c");
  // Lane 1 reaches b in the loop's second iteration only: b after a's second in lane 1, before it in lane 0.
  EXPECT_EQ(told({{a, b, a, b}, {a, a, b}}), "0a 1a|0b 1b|0a 1a|0b");
}

/// An instruction of each step: the first that nothing left precedes in any of its lanes, else the lowest lane's next.
AlignedAccesses slow(const Lanes& lanes) {
  using Key = std::pair<std::uint32_t, std::ptrdiff_t>;  // site, and how often the lane ran it before
  std::vector<std::vector<Key>> left;
  for (const auto& lane : lanes) {
    auto& keys = left.emplace_back();
    for (std::size_t i = 0; i < lane.size(); ++i) {
      keys.emplace_back(lane[i], std::count(lane.begin(), lane.begin() + static_cast<std::ptrdiff_t>(i), lane[i]));
    }
  }
  const auto all = left;
  AlignedAccesses result;
  result.first.push_back(0);
  for (;;) {
    std::vector<Key> candidates;
    for (const auto& lane : left) {
      candidates.insert(candidates.end(), lane.begin(), lane.end());
    }
    if (candidates.empty()) {
      return result;
    }
    const auto ready = std::ranges::find_if(candidates, [&](const Key& key) {
      return std::ranges::all_of(left, [&](const std::vector<Key>& lane) {
        return std::ranges::find(lane, key) == lane.end() || lane.front() == key;
      });
    });
    const Key next = ready == candidates.end() ? candidates.front() : *ready;
    for (std::uint32_t lane = 0; lane < left.size(); ++lane) {
      if (std::erase(left[lane], next) > 0) {
        const auto place = std::ranges::find(all[lane], next) - all[lane].begin();
        result.accesses.push_back({lane, static_cast<std::uint32_t>(place)});
      }
    }
    result.first.push_back(result.accesses.size());
  }
}

TEST(AccessAlignment, AsItsTwin) {
  std::size_t contradicting = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    test::Random random(seed);
    Lanes lanes(random.below(7));
    const std::uint32_t sites = 1 + random.below(5);
    for (auto& lane : lanes) {
      for (std::uint32_t n = random.below(9); n > 0; --n) {
        lane.push_back(random.below(sites));
      }
      if (random.one_in(2)) {
        lane = lanes.front();
      }
    }
    const AlignedAccesses fast = align_accesses(lanes);
    const AlignedAccesses twin = slow(lanes);
    ASSERT_EQ(told(fast, lanes), told(twin, lanes)) << seed;
    ASSERT_EQ(fast.accesses, twin.accesses) << seed;
    // Places of a lane that do not ascend: lanes that contradict each other are there too.
    std::vector<std::uint32_t> last(lanes.size(), 0);
    for (const AlignedAccess& access : fast.accesses) {
      contradicting += access.place < last[access.lane] ? 1U : 0U;
      last[access.lane] = access.place;
    }
  }
  EXPECT_GT(contradicting, 100U);
}

}  // namespace
}  // namespace rayreplay::memory
