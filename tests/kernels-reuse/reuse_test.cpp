// Reuse distances on a device against the splay tree: streams of many shapes, one and many stacks, any cut into calls
// and batches; histograms; what happens when the device does not serve.
#include "sim/memory/reuse/reuse_stacks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "kernels/accelerator.hpp"
#include "kernels/twins.hpp"
#include "tests/memory/reuse_checks.hpp"
#include "tests/support/accelerator.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/reuse_captured.hpp"

namespace rayreplay::memory {
namespace {

using test::brute_force;
using test::Distances;
using test::Lines;
using test::StreamRandom;
using Stacks = std::vector<Lines>;
using rayreplay::test::open_accelerator;
using rayreplay::test::random_lines;
using rayreplay::test::shared_accelerator;
using ::testing::HasSubstr;

Distances reference(const Lines& lines) {
  return test::whole(*ReuseEngines::create("splay").model->make(), lines);
}

struct Joined {
  Lines lines;
  std::vector<std::uint64_t> begins{0};
};

Joined join(const Stacks& stacks) {
  Joined all;
  for (const Lines& lines : stacks) {
    all.lines.insert(all.lines.end(), lines.begin(), lines.end());
    all.begins.push_back(all.lines.size());
  }
  return all;
}

Distances reference(const Stacks& stacks) {
  Distances all;
  for (const Lines& lines : stacks) {
    const Distances one = reference(lines);
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

void expect_histograms(const std::vector<ReuseHistogram>& found, const Stacks& stacks) {
  ASSERT_EQ(found.size(), stacks.size());
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    ReuseHistogram expected;
    expected.add(reference(stacks[i]));
    EXPECT_TRUE(found[i] == expected) << "histogram " << i;
  }
}

/// In calls of random sizes, stack by stack.
void expect_in_calls(const Stacks& stacks, std::uint64_t longest, const ReuseStacksOptions& options, Accelerator& on,
                     std::uint64_t seed) {
  StreamRandom random(seed);
  ReuseStacks under_test(&on, stacks.size(), options);
  std::vector<std::size_t> at(stacks.size());
  std::vector<Distances> found(stacks.size());
  for (bool left = true; left;) {
    left = false;
    Stacks piece(stacks.size());
    for (std::size_t s = 0; s < stacks.size(); ++s) {
      const std::size_t n = std::min<std::size_t>(stacks[s].size() - at[s], random.below(longest + 1));
      piece[s].assign(stacks[s].begin() + static_cast<std::ptrdiff_t>(at[s]),
                      stacks[s].begin() + static_cast<std::ptrdiff_t>(at[s] + n));
      at[s] += n;
      left = left || at[s] < stacks[s].size();
    }
    const Joined call = join(piece);
    Distances out(call.lines.size());
    under_test.distances(call.lines, call.begins, out);
    for (std::size_t s = 0; s < stacks.size(); ++s) {
      found[s].insert(found[s].end(), out.begin() + static_cast<std::ptrdiff_t>(call.begins[s]),
                      out.begin() + static_cast<std::ptrdiff_t>(call.begins[s + 1]));
    }
  }
  std::uint64_t live = 0;
  for (std::size_t s = 0; s < stacks.size(); ++s) {
    EXPECT_TRUE(found[s] == reference(stacks[s])) << "stack " << s;
    live += test::count_distinct(stacks[s]);
  }
  EXPECT_EQ(under_test.live_lines(), live);
  expect_histograms(under_test.histograms(), stacks);
}

void expect_whole(const Stacks& stacks) {
  const Joined all = join(stacks);
  EXPECT_TRUE(distances_of_streams(all.lines, all.begins, &shared_accelerator()) == reference(stacks));
  expect_histograms(histograms_of_streams(all.lines, all.begins, &shared_accelerator()), stacks);
}

TEST(ReuseOnDevice, TheDefinitionItself) {
  expect_whole({{0, 1, 1, 2, 0}});
  EXPECT_EQ(distances_of_streams(Lines{0, 1, 1, 2, 0}, std::vector<std::uint64_t>{0, 5}, &shared_accelerator()),
            (Distances{kInfinite, kInfinite, 0, kInfinite, 2}));
  for (const std::size_t size : {1U, 2U, 3U, 31U, 32U, 33U, 300U}) {
    const Lines lines = random_lines(size, 1 + size / 3, size);
    EXPECT_EQ(distances_of_streams(lines, std::vector<std::uint64_t>{0, size}, &shared_accelerator()),
              brute_force(lines))
        << size;
  }
}

TEST(ReuseOnDevice, SizesAroundTilesAndLevels) {
  for (const std::size_t size : {2047U, 2048U, 2049U, 4096U, 4097U, 32767U, 32768U, 32769U, 70001U}) {
    SCOPED_TRACE(size);
    expect_whole({random_lines(size, 7, size)});
    expect_whole({random_lines(size, size / 2, size)});
  }
}

TEST(ReuseOnDevice, ThreeLevels) {
  expect_whole({random_lines(530000, 90000, 5)});
}

TEST(ReuseOnDevice, ExtremesOfLines) {
  constexpr std::size_t kSize = 5000;
  Lines distinct(kSize);
  std::iota(distinct.begin(), distinct.end(), 0U);
  expect_whole({distinct});
  expect_whole({Lines(kSize, 17)});
  Lines back(distinct);  // 0 1 2 … 2 1 0: every distance once
  back.insert(back.end(), distinct.rbegin(), distinct.rend());
  expect_whole({back});
  Lines twice(distinct);  // the greatest distances
  twice.insert(twice.end(), distinct.begin(), distinct.end());
  expect_whole({twice});
  constexpr std::uint64_t kLast = ~std::uint64_t{0};
  expect_whole({random_lines(kSize, 300, 1, kLast - 299)});                 // near the end of 64 bits
  expect_whole({random_lines(kSize, 300, 2, 5, std::uint64_t{1} << 55U)});  // 64-bit keys
  expect_whole({{0, kLast, 0, kLast, kLast - 1, 0}});
  expect_whole({random_lines(kSize, 3000, 3, 0, 0x100000001U)});  // high and low bits
  expect_whole({random_lines(kSize, 2, 4, 0xFFFFFFFFU)});
}

TEST(ReuseOnDevice, ManyStacks) {
  StreamRandom random(9);
  for (const std::size_t count : {2U, 3U, 80U, 700U}) {
    SCOPED_TRACE(count);
    Stacks stacks(count);
    for (std::size_t s = 0; s < count; ++s) {
      const std::uint64_t size = random.below(4) == 0 ? 0 : random.below(40000 / count + 3);
      stacks[s] = random_lines(size, 1 + random.below(200), s);
    }
    stacks.front() = {};
    expect_whole(stacks);
    stacks.back() = {};
    stacks.front() = random_lines(3000, 100, 77);
    expect_whole(stacks);
  }
  expect_whole(Stacks(5));
  expect_whole({{}, {}, {3}, {}});
}

TEST(ReuseOnDevice, MoreStacksThanHistogramsOnTheDevice) {
  Stacks stacks(5000);
  for (std::size_t s = 0; s < stacks.size(); ++s) {
    stacks[s] = random_lines(s % 7, 3, s);
  }
  expect_whole(stacks);
}

TEST(ReuseOnDevice, StreamsOfTraversals) {
  for (const rayreplay::test::ReuseStream& stream :
       {rayreplay::test::coherent_stream(60000, 12, 1), rayreplay::test::incoherent_stream(60000, 12, 2),
        rayreplay::test::zipf_stream(60000, 8192, 0.99, 3)}) {
    SCOPED_TRACE(stream.name);
    expect_whole({stream.line});
    Stacks stacks(80);
    for (std::size_t i = 0; i < stream.line.size(); ++i) {
      stacks[stream.sm[i]].push_back(stream.line[i]);
    }
    expect_whole(stacks);
  }
}

TEST(ReuseOnDevice, CallsCutTheStreamAnywhere) {
  const Stacks stacks{random_lines(3000, 50, 1), {}, random_lines(5000, 2000, 2), random_lines(17, 3, 3)};
  for (const std::uint64_t longest : {60U, 700U, 4000U}) {
    SCOPED_TRACE(longest);
    expect_in_calls(stacks, longest, {}, shared_accelerator(), longest);
  }
}

TEST(ReuseOnDevice, BatchesCutTheStreamAnywhere) {
  const Stacks stacks{random_lines(4000, 90, 1), random_lines(9000, 400, 2), {}, random_lines(2500, 30, 3)};
  const Joined all = join(stacks);
  for (const std::uint64_t batch : {450U, 1000U, 6000U}) {
    SCOPED_TRACE(batch);
    expect_in_calls(stacks, 5000, {.batch = batch}, shared_accelerator(), batch);
    ReuseStacks once(&shared_accelerator(), stacks.size(), {.batch = batch, .once = true});
    Distances out(all.lines.size());
    once.distances(all.lines, all.begins, out);
    EXPECT_TRUE(out == reference(stacks));
  }
}

TEST(ReuseOnDevice, SeveralDevicesShareTheStacks) {
  const auto two = open_accelerator(2, true);
  const Stacks stacks{random_lines(4000, 90, 1), random_lines(5000, 400, 2), random_lines(2500, 30, 3), {}};
  expect_in_calls(stacks, 3000, {}, *two, 4);
  expect_in_calls({random_lines(4000, 90, 1)}, 1000, {}, *two, 5);
}

TEST(ReuseOnDevice, TheProcessorTakesOverWhereItMust) {
  const Stacks stacks{random_lines(3000, 50, 1), random_lines(5000, 2000, 2)};
  // Lost after so many submissions: at the first call, in the middle.
  for (const std::uint64_t submission : {1U, 2U, 5U}) {
    kernels::DeviceOptions options;
    options.lose_at_submission = submission;
    const auto losing = open_accelerator(1, false, options);
    expect_in_calls(stacks, 900, {}, *losing, submission);
    EXPECT_FALSE(losing->has_device());
    EXPECT_EQ(losing->records().back().device, "CPU");
  }
  // Too little memory for the live lines of one stack.
  const auto small = open_accelerator(1, false);
  expect_in_calls(stacks, 900, {.batch = 1500}, *small, 3);
  EXPECT_THAT(small->records().back().reason, HasSubstr("do not fit"));
  EXPECT_TRUE(small->has_device());
  const Joined all = join(stacks);
  const auto required = open_accelerator();
  ReuseStacks refused(required.get(), 2, {.batch = 1500});
  Distances out(all.lines.size());
  EXPECT_THROW(refused.distances(all.lines, all.begins, out), DeviceError);
}

TEST(ReuseOnDevice, LessMemoryMeansSmallerBatches) {
  kernels::DeviceOptions options;
  options.memory_limit = std::uint64_t{14} << 20U;
  const auto small = open_accelerator(1, true, options);
  const Lines lines = random_lines(700000, 2000, 8);
  EXPECT_TRUE(distances_of_streams(lines, std::vector<std::uint64_t>{0, lines.size()}, small.get()) ==
              reference(lines));
  EXPECT_LE(kernels::devices_of(*small)[0]->peak_bytes(), options.memory_limit);
}

TEST(ReuseOnDevice, ShortCallsGoToTheProcessor) {
  const auto here = open_accelerator();
  Lines lines(5000);
  std::iota(lines.begin(), lines.end(), 0U);
  ReuseStacks stacks(here.get(), 1, {.most_overhead = 0, .free_overhead = 12000});
  Distances found(lines.size());
  const std::vector<std::uint64_t> begins{0, lines.size()};
  for (int call = 0; call < 4; ++call) {
    EXPECT_LE(here->records().size(), 1U);
    stacks.distances(lines, begins, found);
  }
  EXPECT_THAT(here->records().back().reason, HasSubstr("short"));
  stacks.distances(lines, begins, found);
  EXPECT_THAT(found, ::testing::Each(4999U));
  EXPECT_EQ(stacks.live_lines(), lines.size());
}

TEST(ReuseOnDevice, WithoutAnAcceleratorTheProcessorDoes) {
  const Stacks stacks{random_lines(3000, 50, 1), {}, random_lines(5000, 2000, 2)};
  const Joined all = join(stacks);
  EXPECT_TRUE(distances_of_streams(all.lines, all.begins, nullptr) == reference(stacks));
  expect_histograms(histograms_of_streams(all.lines, all.begins, nullptr), stacks);
  EXPECT_THROW((void)distances_of_streams(all.lines, std::vector<std::uint64_t>{0, 5}, nullptr), Error);
}

TEST(ReuseOnDevice, CapturedLaunches) {
  const auto bunny = rayreplay::test::captured_lines({"bunny", "wide-8", true, 128});
  expect_whole(bunny.l1);
  const auto weekend = rayreplay::test::captured_lines({"one-weekend", "binary", true, 32});
  expect_in_calls(weekend.l1, 20000, {}, shared_accelerator(), 1);
}

}  // namespace
}  // namespace rayreplay::memory
