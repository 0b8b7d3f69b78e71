// Reuse distances of parts of a stream, and who evicted what was missed: against the slow twin, and parts against
// wholes.
#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <string>
#include <vector>

#include "sim/memory/results/element_distances.hpp"
#include "sim/memory/results/evictions.hpp"
#include "tests/memory/analysis_cases.hpp"
#include "tests/memory/slow_analysis.hpp"
#include "tests/support/error_of.hpp"

namespace rayreplay::memory {
namespace {

using rayreplay::test::message_of;
using namespace test;

struct Made {
  AnalysisResult result;
  std::vector<ElementDistances> elements;
};

Made make(AnalysisOptions options, const std::vector<TransactionBlock>& blocks) {
  Made made;
  options.take_element_distances = [&](const std::vector<ElementDistances>& rows) { made.elements = rows; };
  Analysis analysis(options);
  for (const TransactionBlock& block : blocks) {
    analysis.take(block);
  }
  made.result = analysis.finish();
  return made;
}

AnalysisOptions all_parts(const Shape& shape) {
  AnalysisOptions options = options_of(shape);
  options.histograms = {.kinds = true, .windows = true, .elements = true};
  options.evictions = true;
  options.window_limits = {1000, 1001, 5000, 1'000'000};
  return options;
}

std::uint64_t sum(const EvictionMatrix& matrix) {
  std::uint64_t all = 0;
  for (const auto& row : matrix) {
    all = std::accumulate(row.begin(), row.end(), all);
  }
  return all;
}

void expect_parts_of_whole(const Made& made) {
  for (std::size_t level = 0; level < kLevels; ++level) {
    const LevelResult& found = made.result.levels[level];
    SCOPED_TRACE("L" + std::to_string(level + 1));
    ReuseHistogram kinds, windows;
    for (const ReuseHistogram& part : found.by_kind) {
      kinds.merge(part);
    }
    for (const ReuseHistogram& part : found.by_window) {
      windows.merge(part);
    }
    EXPECT_EQ(kinds, found.histogram);
    EXPECT_EQ(windows, found.histogram);
    ASSERT_EQ(found.by_window.size(), made.result.windows.size());
    for (std::size_t i = 0; i < found.by_window.size(); ++i) {
      std::uint64_t accesses = 0;
      for (const LevelSums& sums : made.result.windows[i].levels[level]) {
        accesses += sums.accesses;
      }
      EXPECT_EQ(found.by_window[i].accesses() + found.by_window[i].not_sampled(), accesses) << i;
    }
    OctaveCounts elements{};
    for (const ElementDistances& row : made.elements) {
      elements[row.slot] += row.level == level ? row.requests : 0;
    }
    EXPECT_EQ(elements, found.request_distances);
  }
}

/// Misses that are no first accesses, by kind.
void expect_evictions_are_misses(const AnalysisResult& result) {
  for (std::size_t level = 0; level < kLevels; ++level) {
    const EvictionMatrix& matrix = result.levels[level].evictions;
    for (std::size_t kind = 0; kind < kDataKinds; ++kind) {
      const LevelSums& sums = result.total.levels[level][kind];
      EXPECT_EQ(std::accumulate(matrix[kind].begin(), matrix[kind].end(), std::uint64_t{0}) * kOne,
                sums.stored_only + sums.new_sectors + sums.capacity + sums.conflict)
          << level << " " << kDataKindNames[kind];
      EXPECT_EQ(matrix[kind][kSectorsMissing], sums.sector_misses);
      EXPECT_EQ(matrix[kind][kNeverKept] * kOne, sums.stored_only);
    }
  }
}

TEST(DistanceParts, AreThoseOfTheSlowTwin) {
  const Shape shape;
  const std::vector<TransactionBlock> blocks = {random_block(300, shape, 1), {}, random_block(600, shape, 2)};
  const CacheGeometry none{.bytes = 0};
  const CacheGeometry full{.bytes = std::uint64_t{16} * 128, .line_bytes = 128, .ways = 0, .sector_bytes = 0};
  const CacheGeometry fine{.bytes = std::uint64_t{192} * 32, .line_bytes = 32, .ways = 16, .sector_bytes = 0};
  const AnalysisOptions base = all_parts(shape);
  for (const CacheGeometry& l1 : {base.l1, full, none}) {
    for (const CacheGeometry& l2 : {base.l2, fine, none}) {
      for (const char* l1_model : {"lru:write=through,allocate=false", "lru", "fifo", "sdcm"}) {
        for (const L2Feed feed : {L2Feed::All, L2Feed::Misses}) {
          AnalysisOptions options = base;
          options.l1 = l1;
          options.l2 = l2;
          options.l1_model = l1_model;
          options.l2_feed = feed;
          options.evictions = std::string(l1_model) != "sdcm";
          SCOPED_TRACE(to_string(l1) + " " + to_string(l2) + " " + l1_model);
          const Made fast = make(options, blocks);
          std::vector<std::vector<ElementRow>> rows;
          std::vector<ElementDistances> elements;
          const AnalysisResult slow = slow_analysis(options, blocks, rows, &elements);
          EXPECT_EQ(fast.elements, elements);
          for (std::size_t level = 0; level < kLevels; ++level) {
            const LevelResult& found = fast.result.levels[level];
            if (found.geometry.bytes == 0) {
              continue;
            }
            EXPECT_EQ(found.by_kind, slow.levels[level].by_kind);
            EXPECT_EQ(found.by_window, slow.levels[level].by_window);
            EXPECT_EQ(found.request_distances, slow.levels[level].request_distances);
            EXPECT_EQ(found.evictions, slow.levels[level].evictions);
          }
          expect_parts_of_whole(fast);
          if (options.evictions) {
            expect_evictions_are_misses(fast.result);
          }
          if (HasFailure()) {
            return;
          }
        }
      }
    }
  }
}

// Ways of every organisation of the exact caches, over several chunks.
TEST(DistanceParts, SumToTheWholeInLongStreams) {
  const Shape shape{.sms = 3, .lines = 3000};
  const std::vector<TransactionBlock> blocks = {random_block(150'000, shape, 3), random_block(50'000, shape, 4)};
  for (const std::uint32_t ways : {4U, 16U, 64U, 512U, 0U}) {
    SCOPED_TRACE(ways);
    AnalysisOptions options = all_parts(shape);
    options.l1 = {.bytes = std::uint64_t{1024} * 128, .line_bytes = 128, .ways = ways, .sector_bytes = 32};
    options.l2 = {.bytes = std::uint64_t{2048} * 128, .line_bytes = 128, .ways = ways, .sector_bytes = 32};
    const Made made = make(options, blocks);
    expect_parts_of_whole(made);
    expect_evictions_are_misses(made.result);
    EXPECT_GT(sum(made.result.levels[kL1].evictions), 1000U);
  }
}

TEST(DistanceParts, OfASampleSumToTheSample) {
  const Shape shape{.sms = 2, .lines = 3000};
  AnalysisOptions options = all_parts(shape);
  options.reuse_engine = "sampled:rate=0.25,parts=0";
  const Made made = make(options, {random_block(40'000, shape, 5)});
  expect_parts_of_whole(made);
  EXPECT_GT(made.result.levels[kL1].request_distances[kNotSampledSlot], 0U);
}

// One lane a transaction: requests are accesses, so that the elements' sum is the level's histogram by octave.
TEST(DistanceParts, OfElementsAreThoseOfAccessesWhereLanesAreAlone) {
  Shape shape;
  shape.most_lanes = 1;
  AnalysisOptions options = all_parts(shape);
  options.coalescing.coalesce = false;
  const Made made = make(options, {random_block(5000, shape, 6)});
  for (const LevelResult& level : made.result.levels) {
    EXPECT_EQ(level.request_distances, octaves_of(level.histogram));
  }
}

// A set of two lines, by hand: nodes 0 and 2, then a vertex 4 that evicts node 0, which is missed and evicts node 2.
TEST(Evictions, ByHand) {
  AnalysisOptions options;
  options.l1 = {.bytes = std::uint64_t{4} * 128, .line_bytes = 128, .ways = 2, .sector_bytes = 32};
  options.l1_model = "lru:write=through,allocate=false";
  options.evictions = true;
  TransactionBlock block;
  const auto access = [&](std::uint64_t line, DataKind kind, std::uint8_t sectors, std::uint8_t flags) {
    block.transactions.push_back({line, 0, sectors, 1, kind, flags, 4});
  };
  access(0, DataKind::Node, 1, 0);
  access(2, DataKind::Node, 1, 0);
  access(4, DataKind::Vertex, 1, 0);        // first; evicts line 0
  access(0, DataKind::Node, 1, 0);          // evicted by a vertex; evicts line 2
  access(2, DataKind::Index, 1, 0);         // evicted by a node; evicts line 4
  access(2, DataKind::Index, 2, 0);         // there without the sector
  access(1, DataKind::Payload, 1, kStore);  // first, and not kept
  access(1, DataKind::Payload, 1, 0);       // never kept
  access(1, DataKind::Payload, 1, 0);       // hit
  access(4, DataKind::Payload, 1, kStore);  // evicted by an index; a store takes no line
  access(4, DataKind::Payload, 1, kStore);  // as before
  const Made made = make(options, {block});
  EvictionMatrix expected{};
  const auto count = [&](DataKind kind, std::size_t reason, std::uint64_t times) {
    expected[static_cast<std::size_t>(kind)][reason] = times;
  };
  count(DataKind::Node, static_cast<std::size_t>(DataKind::Vertex), 1);
  count(DataKind::Index, static_cast<std::size_t>(DataKind::Node), 1);
  count(DataKind::Index, kSectorsMissing, 1);
  count(DataKind::Payload, kNeverKept, 1);
  count(DataKind::Payload, static_cast<std::size_t>(DataKind::Index), 2);
  EXPECT_EQ(made.result.levels[kL1].evictions, expected);
}

TEST(DistanceParts, RefusesWhatCannotBe) {
  AnalysisOptions options = options_of({});
  options.histograms.kinds = true;
  options.distances = false;
  EXPECT_NE(message_of(ErrorKind::Usage, [&] { return make(options, {}); }).find("require reuse distances"),
            std::string::npos);
  options = options_of({});
  options.histograms.elements = true;
  options.elements = false;
  EXPECT_NE(message_of(ErrorKind::Usage, [&] { return make(options, {}); }).find("require sums by element"),
            std::string::npos);
  options = options_of({});
  options.evictions = true;
  options.l2_model = "sdcm";
  EXPECT_NE(message_of(ErrorKind::Usage, [&] { return make(options, {}); }).find("evicts no lines"), std::string::npos);
  options = options_of({});
  options.histograms.windows = true;
  options.window_limits.resize(kMaxHistogramWindows);
  std::iota(options.window_limits.begin(), options.window_limits.end(), 1);
  EXPECT_NE(
      message_of(ErrorKind::Resource, [&] { return make(options, {}); }).find("too many time windows for histograms"),
      std::string::npos);
}

TEST(Octaves, NestTheBinsOfHistograms) {
  for (const std::uint32_t distance : {0U, 1U, 2U, 3U, 4U, 4095U, 4096U, 5000U, 65'535U, 65'536U, 0xFFFF'FFFDU}) {
    ReuseHistogram histogram;
    histogram.add(distance, 3);
    const OctaveCounts counts = octaves_of(histogram);
    EXPECT_EQ(counts[octave_slot(distance)], 3U) << distance;
    EXPECT_LE(octave_first(octave_slot(distance)), distance);
  }
}

}  // namespace
}  // namespace rayreplay::memory
