// Push constants of the kernels of reuse distances, shared by GLSL and C++; sizes of a tile.
//
// Contract: `first_group` is the stream's (kernels/device/device.hpp); other 32-bit numbers count elements, 64-bit ones
// are addresses of arrays of 32-bit words unless stated otherwise. kernels/reuse/reuse.hpp describes the arrays.
#ifndef RAYREPLAY_KERNELS_REUSE_ARGUMENTS_H
#define RAYREPLAY_KERNELS_REUSE_ARGUMENTS_H

#define RR_REUSE_THREADS 256u
#define RR_REUSE_ITEMS 8u  // of a thread, one after the other
#define RR_REUSE_TILE 2048u
#define RR_REUSE_TILE_BITS 11u
#define RR_REUSE_DIGIT_BITS 4u
#define RR_REUSE_DIGITS 16u
#define RR_REUSE_NONE 0xFFFFFFFFu

// Histograms as in sim/memory/reuse/histogram.hpp.
#define RR_REUSE_EXACT_BITS 12u
#define RR_REUSE_OCTAVE_BITS 6u
#define RR_REUSE_BINS 5376u        // below 4096 one each, then 64 for each of 20 octaves
#define RR_REUSE_ROW_BINS 5377u    // and cold accesses
#define RR_REUSE_PIECE_WORDS 3u    // of a piece: histogram, first access, end
#define RR_REUSE_PIECE_MOST 65536u // accesses of a piece

#ifdef __cplusplus
#include <cstddef>
#include <cstdint>
namespace rayreplay::kernels::reuse {
using uint = std::uint32_t;
using address = std::uint64_t;
#else
#define address uint64_t
#endif

struct NumberArguments {
  uint first_group;
  uint count;
  address numbers;
};

struct LinkArguments {
  uint first_group;
  uint count;
  uint streams;
  uint unused;
  address keys;    // sorted; 32 or 64 bits each
  address index;   // of the accesses, with them
  address begins;  // of streams
  address next;
  address cold;  // bits
  address last;  // bits
};

struct BitsArguments {
  uint first_group;
  uint words;
  address bits;
  address counts;
};

struct ElementArguments {
  uint first_group;
  uint count;
  uint padded;  // elements: count, up to whole tiles
  uint words;   // of bits; before[words] is their sum
  address next;
  address cold;
  address cold_before;
  address last;
  address last_before;
  address values;
  address sums;
};

struct DigitArguments {
  uint first_group;
  uint tiles;
  uint shift;     // of the digit
  uint per_node;  // tiles of a node
  address values;
  address sums;
  address counts;
  address values_to;
  address sums_to;
};

struct DistanceArguments {
  uint first_group;
  uint count;
  address cold;
  address cold_before;
  address sums;
  address distances;
};

struct HistogramArguments {
  uint first_group;
  uint pieces_count;
  address pieces;
  address distances;
  address histograms;  // rows of RR_REUSE_ROW_BINS
};

#ifdef __cplusplus
static_assert(sizeof(NumberArguments) == 16 && sizeof(LinkArguments) == 64 && sizeof(BitsArguments) == 24);
static_assert(sizeof(ElementArguments) == 72 && sizeof(DigitArguments) == 56 && sizeof(DistanceArguments) == 40);
static_assert(sizeof(HistogramArguments) == 32);
static_assert(offsetof(LinkArguments, keys) == 16 && offsetof(ElementArguments, next) == 16);
static_assert(offsetof(DigitArguments, values) == 16 && offsetof(DistanceArguments, cold) == 8);
}  // namespace rayreplay::kernels::reuse
#else
#undef address
#endif
#endif
