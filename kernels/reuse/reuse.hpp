// Exact reuse distances of whole streams on a device.
//
// Contract: accesses are numbered through all streams, stream after stream, below kMaxReuseAccesses; the distance of
// an access is that within its own stream (sim/memory/reuse/reuse_engine.hpp), kNoReuse for the first. Integers: the
// same on every device, for any division of launches. Errors: DeviceError. Two steps, called in this order:
//
//   link_uses         from the accesses' keys (lines): the next access in the stream, and bits of first and last
//                     accesses. A stable radix sort by key makes them neighbours; streams stay in order in the sorted
//                     list and need no bits of the key.
//   reuse_distances   d(i) = i − p(i) − 1 − #{q > p(i) : n(q) < i}, with p and n the previous and the next use (the
//                     published #{j < i : p(j) > p(i)}, seen from p). With c(i) cold accesses before i that is
//                     c(i) − p(i) − 1 + #{q < p(i) : n(q) < i}: the smaller values before an element of a permutation.
//                     They are counted digit by digit, highest first: elements go to the nodes of their digit (a
//                     wavelet tree of 16 children, in order), and each counts those of smaller digits before it in its
//                     node. As values are a permutation, nodes are full and begin at multiples of powers of two; below
//                     2048 values a workgroup counts the rest in shared memory.
//
// Work O(n · (bits of lines / 8 + log n / 4)). Device memory: `reuse_bytes`; 21 bytes an access with keys of 32 bits
// (51 million accesses a GiB), 29 with 64 (37 million). Moved: 20 bytes an access and level; about 200 bytes an access
// in all for 100 million accesses of 24-bit lines. Sources: the formula: Olken, LBL-12370 1981; wavelet trees: Grossi,
// Gupta, Vitter, SODA 2003; tiles of a permutation without borders: rayreplay.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/device/device.hpp"
#include "kernels/sort/exclusive_sum.hpp"
#include "kernels/sort/radix_sort.hpp"

namespace rayreplay::kernels {

inline constexpr std::uint32_t kNoReuse = 0xFFFF'FFFFU;
inline constexpr std::uint64_t kMaxReuseAccesses = std::uint64_t{1} << 30U;
/// Bins of a histogram on the device: those of sim/memory/reuse/histogram.hpp, then cold accesses.
inline constexpr std::uint32_t kReuseBins = 5376;

/// Bit i of word i / 32: access i is the first, or last, one of its stream to its line.
struct UseLinks {
  Buffer next;  ///< 32-bit words: number of the next access; kNoReuse: none
  Buffer cold;
  Buffer last;
};

/// Working memory. The steps reuse `keys`, `other_keys`, `index` and `other_index` for different contents.
struct ReuseSpace {
  Buffer keys, other_keys;            ///< of `key_bytes`
  Buffer index, other_index;          ///< 32-bit words
  Buffer word_counts;                 ///< set bits of each word
  Buffer cold_before, last_before;    ///< prefix sums of the bits, with the total
  Buffer digit_counts, digit_begins;  ///< counts of digits, and their prefix sums
  std::unique_ptr<Sorter> sorter;
  std::unique_ptr<Summer> summer;
  std::uint64_t accesses = 0;  ///< capacity
  unsigned key_bytes = 0;
};

[[nodiscard]] UseLinks make_use_links(Device& device, std::uint64_t accesses);
/// `key_bytes`: 4 or 8.
[[nodiscard]] ReuseSpace make_reuse_space(Device& device, std::uint64_t accesses, unsigned key_bytes);
/// Device memory of UseLinks, ReuseSpace and the sort.
[[nodiscard]] std::uint64_t reuse_bytes(std::uint64_t accesses, unsigned key_bytes);

/// `space.keys` holds the keys, which are overwritten; bits from `end_bit` on are equal in all. `begins`: the first
/// access of each of `streams` streams, 32-bit words.
void link_uses(Device& device, Stream& stream, std::uint64_t accesses, unsigned end_bit, const Buffer& begins,
               std::uint32_t streams, ReuseSpace& space, const UseLinks& links);

/// The distances, 32-bit words, in an array of `space`: valid until its next use.
[[nodiscard]] const Buffer& reuse_distances(Device& device, Stream& stream, std::uint64_t accesses,
                                            const UseLinks& links, ReuseSpace& space);

/// Accesses [begin, end), counted in histogram `row`.
struct HistogramPiece {
  std::uint32_t row = 0;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};
/// Appends [begin, end), divided into pieces of similar work for workgroups.
void add_pieces(std::uint32_t row, std::uint64_t begin, std::uint64_t end, std::vector<HistogramPiece>& pieces);
/// Adds to rows of kReuseBins + 1 words each. `pieces`: HistogramPiece, on the device.
void count_histograms(Device& device, Stream& stream, const Buffer& distances, const Buffer& pieces,
                      std::uint64_t piece_count, const Buffer& histograms);

}  // namespace rayreplay::kernels
