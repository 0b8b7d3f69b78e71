// Histograms of reuse distances: counts against a map, miss-ratio curves against lists of every size, the adjustment of
// sampled ones.
#include <algorithm>
#include <cstdint>
#include <list>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "sim/memory/reuse/histogram.hpp"
#include "tests/memory/reuse_checks.hpp"

namespace rayreplay::memory {
namespace {

using test::brute_force;
using test::Distances;
using test::Lines;
using test::StreamRandom;

/// Distances of every magnitude, and the special ones.
Distances some_distances(std::size_t count, std::uint64_t seed) {
  StreamRandom random(seed);
  Distances result;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t kind = random.below(10);
    const auto any = static_cast<std::uint32_t>(random.bits() >> (32 + random.below(32)));
    result.push_back(kind == 0 ? kInfinite : kind == 1 ? kNotSampled : std::min(any, kNotSampled - 1));
  }
  return result;
}

ReuseHistogram histogram_of(const Distances& distances) {
  ReuseHistogram result;
  result.add(distances);
  return result;
}

/// Misses of a fully associative LRU cache, as a list.
std::uint64_t lru_misses(const Lines& lines, std::size_t size) {
  std::list<std::uint64_t> cache;
  std::uint64_t misses = 0;
  for (const std::uint64_t line : lines) {
    const auto it = std::find(cache.begin(), cache.end(), line);
    if (it != cache.end()) {
      cache.splice(cache.begin(), cache, it);
      continue;
    }
    ++misses;
    cache.push_front(line);
    if (cache.size() > size) {
      cache.pop_back();
    }
  }
  return misses;
}

TEST(ReuseHistogram, CountsEveryDistanceInItsBin) {
  const Distances distances = some_distances(20000, 1);
  const ReuseHistogram histogram = histogram_of(distances);
  EXPECT_EQ(histogram.cold(), std::count(distances.begin(), distances.end(), kInfinite));
  EXPECT_EQ(histogram.not_sampled(), std::count(distances.begin(), distances.end(), kNotSampled));
  EXPECT_EQ(histogram.accesses() + histogram.not_sampled(), distances.size());
  std::uint64_t last = 0;
  for (const ReuseHistogram::Bin& bin : histogram.bins()) {
    EXPECT_TRUE(last == 0 || bin.first > last);
    last = bin.last;
    const auto inside = std::count_if(distances.begin(), distances.end(), [&](std::uint32_t d) {
      return d >= bin.first && d <= bin.last && d < kNotSampled;
    });
    EXPECT_EQ(bin.count, static_cast<std::uint64_t>(inside)) << bin.first;
    if (bin.last < ReuseHistogram::kExact) {
      EXPECT_EQ(bin.first, bin.last);
    } else {
      EXPECT_LE(bin.last - bin.first + 1, bin.first / ReuseHistogram::kPerOctave);
    }
    EXPECT_EQ(histogram.misses(bin.first) - histogram.misses(std::uint64_t{bin.last} + 1), bin.count);
  }
}

/// One at a time, in pieces, merged in any order: the same, and equal.
TEST(ReuseHistogram, PartitionsAddUp) {
  const Distances distances = some_distances(5000, 2);
  const ReuseHistogram whole = histogram_of(distances);
  ReuseHistogram one_by_one;
  std::vector<ReuseHistogram> pieces(3);
  for (std::size_t i = 0; i < distances.size(); ++i) {
    one_by_one.add(distances[i], 1);
    pieces[i % 3].add(std::span(&distances[i], 1));
  }
  EXPECT_EQ(one_by_one, whole);
  ReuseHistogram merged = pieces[2];
  merged.merge(pieces[0]);
  merged.merge(pieces[1]);
  merged.merge(ReuseHistogram{});
  EXPECT_EQ(merged, whole);
  ReuseHistogram cold_alone;
  cold_alone.add(Distances{kInfinite, kNotSampled});
  ReuseHistogram the_same;
  the_same.add(kInfinite, 1);
  the_same.add(kNotSampled, 1);
  the_same.add(5, 0);
  EXPECT_EQ(cold_alone, the_same);
}

/// Mattson's theorem, by trying: every size up to all lines.
TEST(ReuseHistogram, MissesAreThoseOfLruCachesOfEverySize) {
  for (const Lines& lines : {rayreplay::test::zipf_stream(3000, 200, 0.8, 1).line,
                             rayreplay::test::coherent_stream(3000, 7, 2).line, Lines(50, 3), Lines{1, 2, 3}}) {
    const ReuseHistogram histogram = histogram_of(brute_force(lines));
    const std::uint64_t all = test::count_distinct(lines);
    EXPECT_EQ(histogram.cold(), all);
    std::map<std::uint64_t, double> expected;
    for (std::uint64_t size = 1; size <= all + 1; ++size) {
      const std::uint64_t misses = lru_misses(lines, size);
      EXPECT_EQ(histogram.misses(size), misses) << size;
      expected[size] = static_cast<double>(misses) / static_cast<double>(lines.size());
    }
    for (const std::size_t points : {1U, 2U, 10U, 1000U}) {
      const std::vector<CurvePoint> curve = miss_ratio_curve(histogram, points);
      ASSERT_FALSE(curve.empty());
      EXPECT_LE(curve.size(), points);
      for (std::size_t i = 0; i < curve.size(); ++i) {
        EXPECT_EQ(curve[i].miss_ratio, expected.at(curve[i].lines)) << curve[i].lines;
        EXPECT_TRUE(i == 0 || curve[i].lines > curve[i - 1].lines);
      }
    }
    // All points: nothing changes between them, and the last has the cold misses alone.
    const std::vector<CurvePoint> full = miss_ratio_curve(histogram, 1000);
    auto at = full.begin();
    for (const auto& entry : expected) {
      at = std::find_if(full.begin(), full.end(), [&](const CurvePoint& point) { return point.lines > entry.first; });
      ASSERT_NE(at, full.begin());
      EXPECT_EQ((at - 1)->miss_ratio, entry.second) << entry.first;
    }
  }
  EXPECT_TRUE(miss_ratio_curve({}, 10).empty());
}

TEST(ReuseHistogram, AdjustedHasTheMembersThatTheSampleShouldHave) {
  // 100 accesses at rate 1/5: 20 members. Here 12: the missing 8 hit at every size.
  ReuseHistogram few;
  few.add(3, 7);
  few.add(kInfinite, 5);
  few.add(kNotSampled, 88);
  ReuseHistogram expected = few;
  expected.add(0, 8);
  EXPECT_EQ(adjusted(few, 5), expected);
  // Here 30, 4 of them of distance 0: these go, and 6 of the next longer.
  ReuseHistogram many;
  many.add(0, 4);
  many.add(2, 11);
  many.add(9, 12);
  many.add(kInfinite, 3);
  many.add(kNotSampled, 70);
  ReuseHistogram fewer;
  fewer.add(2, 5);
  fewer.add(9, 12);
  fewer.add(kInfinite, 3);
  fewer.add(kNotSampled, 70);
  EXPECT_EQ(adjusted(many, 5), fewer);
  // Misses over 20, cut off at 1: the curve of a first bin of 4 − 10.
  for (std::uint64_t size = 1; size < 12; ++size) {
    EXPECT_EQ(adjusted(many, 5).misses(size), std::min<std::uint64_t>(many.misses(size), 20)) << size;
  }
  EXPECT_EQ(adjusted(many, 1000).accesses(), many.cold());  // cold ones stay
  EXPECT_EQ(adjusted(many, 1), [&] {
    ReuseHistogram result = many;
    result.add(0, 70);
    return result;
  }());
  EXPECT_EQ(adjusted({}, 5), ReuseHistogram{});
}

}  // namespace
}  // namespace rayreplay::memory
