// Results in memory: made once, shared, evicted by age and size.
#include "sim/engine/kept_results.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/error.hpp"

namespace rayreplay::test {
namespace {

using experiment::KeptResults;
using experiment::Key;

Key key_of(std::uint64_t number) {
  return experiment::KeyMaker().add(std::to_string(number)).key();
}

std::pair<std::shared_ptr<const int>, std::uint64_t> made(int value, std::uint64_t bytes) {
  return {std::make_shared<const int>(value), bytes};
}

TEST(KeptResults, ManyThreadsMakeOneResultOnce) {
  KeptResults kept(1 << 20);
  std::atomic<int> makes = 0;
  std::atomic<int> sum = 0;
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      sum += *kept.get<int>(key_of(1), [&] {
        ++makes;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        return made(5, 4);
      });
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(makes, 1);
  EXPECT_EQ(sum, 40);
  EXPECT_TRUE(kept.has(key_of(1)));
}

TEST(KeptResults, AFailureReachesAllWhoWaitAndIsNotKept) {
  KeptResults kept(1 << 20);
  const KeptResults::Claim mine = kept.claim(key_of(1));
  ASSERT_EQ(mine.claimed, KeptResults::Claimed::Mine);
  const KeptResults::Claim other = kept.claim(key_of(1));
  ASSERT_EQ(other.claimed, KeptResults::Claimed::Others);
  std::atomic<bool> failed = false;
  std::thread waiting([&] {
    try {
      static_cast<void>(kept.wait(other));
    } catch (const Error& error) {
      failed = error.kind() == ErrorKind::Missing;
    }
  });
  kept.abandon(key_of(1), mine, std::make_exception_ptr(Error(ErrorKind::Missing, {"no", "", "", "", ""})));
  waiting.join();
  EXPECT_TRUE(failed);
  EXPECT_FALSE(kept.has(key_of(1)));
  EXPECT_EQ(*kept.get<int>(key_of(1), [] { return made(3, 4); }), 3) << "it can be made again";
}

TEST(KeptResults, WhatWasUsedLongestAgoGoesFirst) {
  constexpr std::uint64_t kBig = 1000;
  KeptResults kept(3 * kBig + 3 * 250);
  for (std::uint64_t i = 0; i < 3; ++i) {
    static_cast<void>(kept.get<int>(key_of(i), [] { return made(1, kBig); }));
  }
  // 0 is used again, so that 1 is the oldest.
  static_cast<void>(kept.get<int>(key_of(0), []() -> std::pair<std::shared_ptr<const int>, std::uint64_t> {
    throw Error(ErrorKind::Internal, {"made again", "", "", "", ""});
  }));
  auto held = kept.get<int>(key_of(3), [] { return made(4, kBig); });
  EXPECT_TRUE(kept.has(key_of(0)));
  EXPECT_FALSE(kept.has(key_of(1)));
  EXPECT_TRUE(kept.has(key_of(2)));
  EXPECT_TRUE(kept.has(key_of(3)));
  EXPECT_LE(kept.bytes(), 3 * kBig + 3 * 250);
  auto larger = kept.get<int>(key_of(4), [] { return made(9, 100 * kBig); });
  EXPECT_EQ(*larger, 9) << "too large to be kept, and there while it is in use";
  EXPECT_FALSE(kept.has(key_of(2)));
  EXPECT_TRUE(kept.has(key_of(3))) << "in use";
  larger.reset();
  held.reset();
  static_cast<void>(kept.get<int>(key_of(5), [] { return made(1, kBig); }));
  EXPECT_FALSE(kept.has(key_of(4)));
  EXPECT_TRUE(kept.has(key_of(5)));
}

TEST(KeptResults, ManySmallResultsDoNotFillTheLimit) {
  constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;
  KeptResults kept(1024 * kMiB);
  const auto keep = [&](std::uint64_t number, std::uint64_t bytes) {
    (void)kept.get<int>(key_of(number), [&] { return made(static_cast<int>(number), bytes); });
  };
  for (std::uint64_t number = 0; number < 200; ++number) {
    keep(number, kMiB);
  }
  EXPECT_LE(kept.bytes(), 64 * kMiB);
  EXPECT_GT(kept.bytes(), 62 * kMiB);
  EXPECT_FALSE(kept.has(key_of(0)));

  keep(1000, 32 * kMiB);  // eight of them may stay
  for (std::uint64_t number = 200; number < 400; ++number) {
    keep(number, kMiB);
  }
  EXPECT_TRUE(kept.has(key_of(1000)));
  EXPECT_GT(kept.bytes(), 230 * kMiB);
  EXPECT_LE(kept.bytes(), 8 * 33 * kMiB);
}

TEST(KeptResults, WhatIsInUseIsNeverThereTwice) {
  static constexpr std::uint64_t kLarge = std::uint64_t{2} << 20U;
  KeptResults kept(2 * kLarge + 1000);
  const auto make = [](int value) { return [value] { return std::pair(std::make_shared<const int>(value), kLarge); }; };
  std::shared_ptr<const int> held = kept.get<int>(key_of(1), make(1));
  EXPECT_EQ(*kept.get<int>(key_of(2), make(2)), 2);
  EXPECT_EQ(*kept.get<int>(key_of(3), make(3)), 3);
  EXPECT_FALSE(kept.has(key_of(2))) << "in place of the first, which is in use";
  EXPECT_TRUE(kept.has(key_of(3)));
  kept.limit_to(0);
  EXPECT_FALSE(kept.has(key_of(3)));
  EXPECT_GT(kept.bytes(), kLarge) << "in use";
  EXPECT_EQ(kept.get<int>(key_of(1), make(4)), held);
  held.reset();
  kept.limit_to(0);
  EXPECT_EQ(kept.bytes(), 0U);
  EXPECT_EQ(*kept.get<int>(key_of(1), make(5)), 5) << "made anew";
}

/// A structure uses its input.
TEST(KeptResults, WhatAResultUsesIsEvictedAfterIt) {
  KeptResults kept(1 << 20);
  static_cast<void>(kept.get<std::shared_ptr<const int>>(key_of(2), [&] {
    return std::pair(
        std::make_shared<const std::shared_ptr<const int>>(kept.get<int>(key_of(1), [] { return made(5, 1000); })),
        std::uint64_t{1000});
  }));
  kept.limit_to(1500);
  EXPECT_TRUE(kept.has(key_of(1))) << "older, and in use";
  EXPECT_FALSE(kept.has(key_of(2)));
  kept.limit_to(0);
  EXPECT_EQ(kept.bytes(), 0U);
}

TEST(KeptResults, ALimitHoldsForWhatIsWorkedWithToo) {
  static constexpr std::uint64_t kLarge = std::uint64_t{2} << 20U;
  KeptResults kept(0);
  kept.limit_to(3 * kLarge + 1000);
  const auto make = [](int value) { return [value] { return std::pair(std::make_shared<const int>(value), kLarge); }; };
  const std::shared_ptr<const int> held = kept.get<int>(key_of(1), make(1));
  static_cast<void>(kept.get<int>(key_of(2), make(2)));
  KeptResults::Working working(kept, kLarge);
  EXPECT_TRUE(kept.has(key_of(2)));
  working.set(2 * kLarge);
  EXPECT_FALSE(kept.has(key_of(2))) << "nobody holds it";
  try {
    working.set(3 * kLarge);
    FAIL() << "more than there is";
  } catch (const experiment::MemoryShort& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Resource);
    EXPECT_GE(error.needed_bytes(), 4 * kLarge);
    EXPECT_LT(error.needed_bytes(), 5 * kLarge);
  }
  EXPECT_EQ(working.bytes(), 2 * kLarge) << "as it was";
  EXPECT_FALSE(working.try_set(3 * kLarge));
  working.set(kLarge);
  const KeptResults::Working other(kept, kLarge);
  EXPECT_FALSE(working.try_set(2 * kLarge)) << "all who work share it";
  EXPECT_EQ(*held, 1);
}

TEST(KeptResults, WhatAMakerWorkedWithBecomesItsResult) {
  static constexpr std::uint64_t kLarge = std::uint64_t{2} << 20U;
  KeptResults kept(0);
  kept.limit_to(2 * kLarge + 1000);
  const auto made_with = [](std::uint64_t working_bytes) {
    return [working_bytes](KeptResults::Working& working) {
      working.set(working_bytes);
      return std::pair(std::make_shared<const int>(7), kLarge);
    };
  };
  EXPECT_EQ(*kept.get<int>(key_of(1), made_with(2 * kLarge)), 7);
  EXPECT_TRUE(kept.has(key_of(1))) << "it counts once";
  EXPECT_THROW(static_cast<void>(kept.get<int>(key_of(2), made_with(3 * kLarge))), experiment::MemoryShort);
  EXPECT_FALSE(kept.has(key_of(2)));
  EXPECT_EQ(*kept.get<int>(key_of(2), made_with(kLarge)), 7) << "and what failed holds nothing";
  const KeptResults::Working all(kept, 2 * kLarge);
  EXPECT_EQ(kept.bytes(), 0U);
}

TEST(KeptResults, WithoutALimitOnlyResultsCount) {
  KeptResults kept(1000);
  static_cast<void>(kept.get<int>(key_of(1), [] { return made(1, 4); }));
  const KeptResults::Working working(kept, std::uint64_t{1} << 40U);
  EXPECT_TRUE(kept.has(key_of(1)));
  EXPECT_FALSE(kept.limited());
}

/// Asks for its result again while it is destroyed: for ever, if that happens under the lock.
struct AsksAtTheEnd {
  KeptResults* kept = nullptr;
  bool* asked = nullptr;

  AsksAtTheEnd(KeptResults& kept_results, bool& flag) : kept(&kept_results), asked(&flag) {}
  AsksAtTheEnd(const AsksAtTheEnd&) = delete;
  AsksAtTheEnd& operator=(const AsksAtTheEnd&) = delete;
  ~AsksAtTheEnd() {
    *asked = !kept->has(key_of(1));
  }
};

TEST(KeptResults, WhatIsEvictedIsDestroyedOutsideOfTheLock) {
  bool asked = false;
  KeptResults kept(std::uint64_t{4} << 20U);
  static_cast<void>(kept.get<AsksAtTheEnd>(key_of(1), [&] {
    return std::pair(std::make_shared<const AsksAtTheEnd>(kept, asked), std::uint64_t{2} << 20U);
  }));
  EXPECT_FALSE(asked);
  kept.limit_to(0);
  EXPECT_TRUE(asked);
}

}  // namespace
}  // namespace rayreplay::test
