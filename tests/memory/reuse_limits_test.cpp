// Reuse distances where engines change what they do: limits of words, rows and plates of slots, renumbering, tables
// that turn into a hash, slices and pieces of the offline engine. Streams are long but their distances are known, or
// those of the reference.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include "base/split_mix.hpp"
#include "tests/memory/reuse_checks.hpp"

namespace rayreplay::memory {
namespace {

using test::Distances;
using test::exact_engines;
using test::in_pieces;
using test::Lines;
using test::StreamRandom;
using test::whole;

Distances reference(const Lines& lines) {
  return whole(*ReuseEngines::create("splay").model->make(), lines);
}

void expect_exact(const Lines& lines, const Distances& expected, const std::string& what) {
  for (const std::string& name : exact_engines()) {
    const auto engine = ReuseEngines::create(name).model;
    EXPECT_TRUE(whole(*engine->make(), lines) == expected) << what << ", " << name;
    EXPECT_TRUE(in_pieces(*engine->make(), lines, 1, 5000) == expected) << what << ", " << name << ", cut";
  }
}

/// Sizes around the slots of a word (64), a row (2^12), a plate (2^17), and of what is live when slots are renumbered
/// (2^14 of 2^16).
std::vector<std::uint64_t> sizes_around_limits() {
  std::vector<std::uint64_t> result;
  for (const std::uint64_t limit : {1U << 6U, 1U << 12U, 1U << 14U, 1U << 16U, 1U << 17U}) {
    result.insert(result.end(), {limit - 1, limit, limit + 1});
  }
  return result;
}

TEST(ReuseLimits, RoundAndRoundIsAlwaysTheWholeRound) {
  for (const std::uint64_t size : sizes_around_limits()) {
    Lines lines;
    Distances expected;
    const std::uint64_t accesses = std::max<std::uint64_t>(3 * size, 600);
    for (std::uint64_t i = 0; i < accesses; ++i) {
      lines.push_back(i % size);
      expected.push_back(i < size ? kInfinite : static_cast<std::uint32_t>(size - 1));
    }
    expect_exact(lines, expected, "round of " + std::to_string(size));
  }
}

/// Sawtooth: every distance from 0 to the whole, each once a turn.
TEST(ReuseLimits, ThereAndBackCountsUp) {
  for (const std::uint64_t size : sizes_around_limits()) {
    Lines lines;
    Distances expected;
    for (std::uint64_t turn = 0; turn < 3; ++turn) {
      for (std::uint64_t i = 0; i < size; ++i) {
        lines.push_back(turn % 2 == 0 ? i : size - 1 - i);
        expected.push_back(turn == 0 ? kInfinite : static_cast<std::uint32_t>(i));
      }
    }
    expect_exact(lines, expected, "there and back over " + std::to_string(size));
  }
}

TEST(ReuseLimits, OneLineForeverAndASecondLate) {
  Lines lines(300000, 42);
  Distances expected(lines.size(), 0);
  expected[0] = kInfinite;
  lines[299990] = 43;
  expected[299990] = kInfinite;
  expected[299991] = 1;
  expect_exact(lines, expected, "one line");
}

/// Two sets of very different size in turn, each in an order of its own: the large one leaves its slots all over, and
/// the small one's distances are 0 or nearly everything.
TEST(ReuseLimits, LargeAndSmallSetsInTurn) {
  StreamRandom random(12);
  Lines lines;
  for (int turn = 0; turn < 3; ++turn) {
    for (std::uint64_t i = 0; i < 50000; ++i) {
      lines.push_back((i * 30011 + static_cast<std::uint64_t>(turn)) % 50000);
    }
    for (std::uint64_t i = 0; i < 20000; ++i) {
      lines.push_back((std::uint64_t{1} << 40U) + random.below(3));
    }
    for (std::uint64_t i = 50000; i-- > 0;) {
      lines.push_back(100000 + i);
    }
  }
  expect_exact(lines, reference(lines), "sets in turn");
}

/// Blocks of new lines between accesses to a few old ones: distances far beyond what has been renumbered.
TEST(ReuseLimits, OldLinesAcrossManyRenumberings) {
  Lines lines;
  std::uint64_t fresh = 1000;
  for (int turn = 0; turn < 40; ++turn) {
    for (std::uint64_t old = 0; old < 5; ++old) {
      lines.push_back(old * old);
    }
    for (int i = 0; i < 5000; ++i) {
      lines.push_back(fresh++);
    }
    if (turn % 10 == 9) {
      for (std::uint64_t i = 0; i < 300; ++i) {
        lines.push_back(1000 + i * 157);
      }
    }
  }
  expect_exact(lines, reference(lines), "old lines");
}

/// Each of the offline engine's 64 tables has more pages than it keeps, so that all turn into hashes; lines of all 64
/// bits, the last ones below 2^64 among them.
TEST(ReuseLimits, SoManySparseLinesThatEveryTableHashes) {
  StreamRandom random(13);
  Lines lines;
  for (int i = 0; i < 160000; ++i) {
    const std::uint64_t line = random.below(100000);
    lines.push_back(line < 5000 ? ~line * 2048 : split_mix_finish(line));
  }
  lines.insert(lines.begin() + 70000, {~std::uint64_t{0}, 0, ~std::uint64_t{0}, 0});
  expect_exact(lines, reference(lines), "sparse lines");
}

/// Far pages in both directions, so that windows of pages grow, end and start anew.
TEST(ReuseLimits, LinesOnPagesFarApart) {
  StreamRandom random(14);
  Lines lines;
  for (int i = 0; i < 40000; ++i) {
    const std::uint64_t away = (std::uint64_t{1} << random.below(62)) + random.below(3);
    lines.push_back(random.bits() % 2 == 0 ? away : ~away);
  }
  expect_exact(lines, reference(lines), "far pages");
}

class OfflineThreads : public testing::TestWithParam<int> {};

/// A call of more than a piece (2^22), and calls of several slices: the same for any number of threads.
TEST_P(OfflineThreads, GiveTheSame) {
  const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism,
                                          static_cast<std::size_t>(GetParam()));
  oneapi::tbb::task_arena arena(GetParam());
  constexpr std::uint64_t kSize = 70001;
  Lines round((std::size_t{1} << 22U) + 300000);
  Distances of_round(round.size());
  for (std::uint64_t i = 0; i < round.size(); ++i) {
    round[i] = i % kSize;
    of_round[i] = i < kSize ? kInfinite : static_cast<std::uint32_t>(kSize - 1);
  }
  const Lines lines = rayreplay::test::incoherent_stream(450000, 13, 6).line;
  const Distances expected = whole(*ReuseEngines::create("bitmap").model->make(), lines);
  arena.execute([&] {
    const auto offline = ReuseEngines::create("offline").model;
    EXPECT_TRUE(whole(*offline->make(), round) == of_round);
    EXPECT_TRUE(whole(*offline->make(), lines) == expected);
    EXPECT_TRUE(in_pieces(*offline->make(), lines, 5, 300000) == expected);
  });
}

INSTANTIATE_TEST_SUITE_P(Threads, OfflineThreads, testing::Values(1, 2, 3, 8));

}  // namespace
}  // namespace rayreplay::memory
