#include "kernels/reuse/reuse.hpp"

#include <algorithm>
#include <bit>

#include "ReuseBits.spv.hpp"
#include "ReuseDigitCount.spv.hpp"
#include "ReuseDigitSplit.spv.hpp"
#include "ReuseDistances.spv.hpp"
#include "ReuseElements.spv.hpp"
#include "ReuseHistogram.spv.hpp"
#include "ReuseLeaf.spv.hpp"
#include "ReuseLink.spv.hpp"
#include "ReuseLinkLong.spv.hpp"
#include "ReuseNumber.spv.hpp"

#include "kernels/reuse/arguments.h"

namespace rayreplay::kernels {
namespace {

using namespace reuse;

constexpr Shader kNumber{.name = "reuse: numbers", .code = kReuseNumber};
constexpr Shader kLink{.name = "reuse: next uses", .code = kReuseLink};
constexpr Shader kLinkLong{.name = "reuse: next uses, 64-bit lines", .code = kReuseLinkLong};
constexpr Shader kBits{.name = "reuse: bits of words", .code = kReuseBits};
constexpr Shader kElements{.name = "reuse: permutation", .code = kReuseElements};
constexpr Shader kDigitCount{.name = "reuse: digit counts", .code = kReuseDigitCount};
constexpr Shader kDigitSplit{.name = "reuse: digit split", .code = kReuseDigitSplit};
constexpr Shader kLeaf{.name = "reuse: leaves", .code = kReuseLeaf};
constexpr Shader kDistances{.name = "reuse: distances", .code = kReuseDistances};
constexpr Shader kHistogram{.name = "reuse: histograms", .code = kReuseHistogram};

static_assert(kReuseBins == RR_REUSE_BINS && kNoReuse == RR_REUSE_NONE);
static_assert(sizeof(HistogramPiece) == RR_REUSE_PIECE_WORDS * sizeof(std::uint32_t));

constexpr std::uint64_t divided(std::uint64_t count, std::uint64_t by) {
  return (count + by - 1) / by;
}
constexpr std::uint64_t tiles_of(std::uint64_t accesses) {
  return divided(accesses, RR_REUSE_TILE);
}
constexpr std::uint64_t padded(std::uint64_t accesses) {
  return tiles_of(accesses) * RR_REUSE_TILE;
}
constexpr std::uint64_t words_of(std::uint64_t accesses) {
  return divided(accesses, 32);
}
constexpr std::uint64_t threads(std::uint64_t count) {
  return divided(count, RR_REUSE_THREADS);
}

/// One digit of the permutation's values.
struct Level {
  std::uint32_t shift = 0;
  std::uint64_t per_node = 0;  ///< tiles
  std::uint64_t nodes = 0;
};

/// From the highest digit to those that a leaf counts.
std::vector<Level> levels_of(std::uint64_t accesses) {
  std::vector<Level> levels;
  const std::uint64_t tiles = tiles_of(accesses);
  for (std::uint32_t shift = RR_REUSE_TILE_BITS; (padded(accesses) - 1) >> shift != 0; shift += RR_REUSE_DIGIT_BITS) {
    const std::uint64_t per_node =
        std::min(tiles, std::uint64_t{1} << (shift + RR_REUSE_DIGIT_BITS - RR_REUSE_TILE_BITS));
    levels.push_back({shift, per_node, divided(tiles, per_node)});
  }
  std::reverse(levels.begin(), levels.end());
  return levels;
}

std::uint64_t digit_counts_of(std::uint64_t accesses) {
  std::uint64_t most = 1;
  for (const Level& level : levels_of(accesses)) {
    most = std::max(most, level.nodes * level.per_node * RR_REUSE_DIGITS);
  }
  return most;
}

}  // namespace

UseLinks make_use_links(Device& device, std::uint64_t accesses) {
  return {.next = device.allocate_array<std::uint32_t>(accesses, "next uses"),
          .cold = device.allocate_array<std::uint32_t>(words_of(accesses), "bits of first uses"),
          .last = device.allocate_array<std::uint32_t>(words_of(accesses), "bits of last uses")};
}

ReuseSpace make_reuse_space(Device& device, std::uint64_t accesses, unsigned key_bytes) {
  const std::uint64_t room = padded(accesses);
  ReuseSpace space;
  space.keys = device.allocate(room * key_bytes, "lines");
  space.other_keys = device.allocate(room * key_bytes, "lines, sorted");
  space.index = device.allocate_array<std::uint32_t>(room, "accesses");
  space.other_index = device.allocate_array<std::uint32_t>(room, "accesses, sorted");
  space.word_counts = device.allocate_array<std::uint32_t>(words_of(accesses), "bits of words");
  space.cold_before = device.allocate_array<std::uint32_t>(words_of(accesses) + 1, "counts of first uses");
  space.last_before = device.allocate_array<std::uint32_t>(words_of(accesses) + 1, "counts of last uses");
  space.digit_counts = device.allocate_array<std::uint32_t>(digit_counts_of(accesses), "counts of digits");
  space.digit_begins = device.allocate_array<std::uint32_t>(digit_counts_of(accesses) + 1, "beginnings of digits");
  space.sorter = std::make_unique<Sorter>(device);
  space.summer = std::make_unique<Summer>(device);
  space.accesses = accesses;
  space.key_bytes = key_bytes;
  return space;
}

std::uint64_t reuse_bytes(std::uint64_t accesses, unsigned key_bytes) {
  const std::uint64_t arrays = padded(accesses) * (std::uint64_t{2} * key_bytes + 3 * sizeof(std::uint32_t));
  const std::uint64_t words = 5 * words_of(accesses) + 2 * digit_counts_of(accesses) + 3;
  constexpr std::uint64_t kScratch = std::uint64_t{5} << 20U;  // for the sort and for sums
  return arrays + words * sizeof(std::uint32_t) + kScratch;
}

void link_uses(Device& device, Stream& stream, std::uint64_t accesses, unsigned end_bit, const Buffer& begins,
               std::uint32_t streams, ReuseSpace& space, const UseLinks& links) {
  if (accesses == 0) {
    return;
  }
  const auto count = static_cast<std::uint32_t>(accesses);
  stream.run(device.program(kNumber), threads(accesses),
             NumberArguments{.first_group = 0, .count = count, .numbers = space.index.address()});
  SortArrays arrays{&space.keys, &space.index, &space.other_keys, &space.other_index};
  if (end_bit != 0) {
    space.sorter->sort(stream, accesses, space.key_bytes, 0, end_bit, arrays);
  }
  stream.fill(links.cold, 0, 0, words_of(accesses) * sizeof(std::uint32_t));
  stream.fill(links.last, 0, 0, words_of(accesses) * sizeof(std::uint32_t));
  stream.run(device.program(space.key_bytes == 8 ? kLinkLong : kLink), threads(accesses),
             LinkArguments{.first_group = 0,
                           .count = count,
                           .streams = streams,
                           .unused = 0,
                           .keys = arrays.keys->address(),
                           .index = arrays.values->address(),
                           .begins = begins.address(),
                           .next = links.next.address(),
                           .cold = links.cold.address(),
                           .last = links.last.address()});
}

const Buffer& reuse_distances(Device& device, Stream& stream, std::uint64_t accesses, const UseLinks& links,
                              ReuseSpace& space) {
  if (accesses == 0) {
    return space.keys;
  }
  const auto count = static_cast<std::uint32_t>(accesses);
  const std::uint64_t words = words_of(accesses);
  const auto count_before = [&](const Buffer& bits, const Buffer& before) {
    stream.run(device.program(kBits), threads(words),
               BitsArguments{.first_group = 0,
                             .words = static_cast<std::uint32_t>(words),
                             .bits = bits.address(),
                             .counts = space.word_counts.address()});
    space.summer->exclusive_sum(stream, space.word_counts, before, words, SumBits::Of32);
  };
  count_before(links.cold, space.cold_before);
  count_before(links.last, space.last_before);

  const Buffer* values = &space.keys;
  const Buffer* sums = &space.index;
  const Buffer* other_values = &space.other_keys;
  const Buffer* other_sums = &space.other_index;
  stream.run(device.program(kElements), threads(padded(accesses)),
             ElementArguments{.first_group = 0,
                              .count = count,
                              .padded = static_cast<std::uint32_t>(padded(accesses)),
                              .words = static_cast<std::uint32_t>(words),
                              .next = links.next.address(),
                              .cold = links.cold.address(),
                              .cold_before = space.cold_before.address(),
                              .last = links.last.address(),
                              .last_before = space.last_before.address(),
                              .values = values->address(),
                              .sums = sums->address()});
  const std::uint64_t tiles = tiles_of(accesses);
  // Rows are summed by whole subgroups.
  constexpr std::uint32_t kUsual = 32;
  const std::uint32_t subgroup = std::clamp(kUsual, device.info().least_subgroup, device.info().greatest_subgroup);
  DigitArguments arguments{};
  arguments.tiles = static_cast<std::uint32_t>(tiles);
  const auto point = [&] {
    arguments.values = values->address();
    arguments.sums = sums->address();
    arguments.values_to = other_values->address();
    arguments.sums_to = other_sums->address();
  };
  for (const Level& level : levels_of(accesses)) {
    point();
    arguments.shift = level.shift;
    arguments.per_node = static_cast<std::uint32_t>(level.per_node);
    arguments.counts = space.digit_counts.address();
    stream.run(device.program(kDigitCount), level.nodes * level.per_node, arguments);
    space.summer->exclusive_sum(stream, space.digit_counts, space.digit_begins,
                                level.nodes * level.per_node * RR_REUSE_DIGITS, SumBits::Of32);
    arguments.counts = space.digit_begins.address();
    stream.run(device.program(kDigitSplit, {}, subgroup), tiles, arguments);
    std::swap(values, other_values);
    std::swap(sums, other_sums);
  }
  point();
  stream.run(device.program(kLeaf, {}, subgroup), tiles, arguments);
  stream.run(device.program(kDistances), threads(accesses),
             DistanceArguments{.first_group = 0,
                               .count = count,
                               .cold = links.cold.address(),
                               .cold_before = space.cold_before.address(),
                               .sums = other_sums->address(),
                               .distances = values->address()});
  return *values;
}

void add_pieces(std::uint32_t row, std::uint64_t begin, std::uint64_t end, std::vector<HistogramPiece>& pieces) {
  for (std::uint64_t from = begin; from < end; from += RR_REUSE_PIECE_MOST) {
    pieces.push_back({row, static_cast<std::uint32_t>(from),
                      static_cast<std::uint32_t>(std::min<std::uint64_t>(end, from + RR_REUSE_PIECE_MOST))});
  }
}

void count_histograms(Device& device, Stream& stream, const Buffer& distances, const Buffer& pieces,
                      std::uint64_t piece_count, const Buffer& histograms) {
  if (piece_count == 0) {
    return;
  }
  stream.run(device.program(kHistogram), piece_count,
             HistogramArguments{.first_group = 0,
                                .pieces_count = static_cast<std::uint32_t>(piece_count),
                                .pieces = pieces.address(),
                                .distances = distances.address(),
                                .histograms = histograms.address()});
}

}  // namespace rayreplay::kernels
