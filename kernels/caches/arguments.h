// What the kernels of set-associative caches take as push constants, as GLSL and as C++ compile it.
//
// Contract: `first_group` is the stream's (kernels/device/device.hpp); other 32-bit numbers count elements, 64-bit ones
// are addresses of arrays of 32-bit words unless stated otherwise. kernels/caches/lru.hpp describes the arrays.
#ifndef RAYREPLAY_KERNELS_CACHES_ARGUMENTS_H
#define RAYREPLAY_KERNELS_CACHES_ARGUMENTS_H

#define RR_LRU_THREADS 256u
#define RR_LRU_MOST_WAYS 64u  // different numbers of ways per count
#define RR_LRU_ROW 65u        // one per number of ways, then misses of all
#define RR_LRU_NONE 0xFFFFFFFFu

#define RR_EXACT_COUNTS 5u  // of a sequence: hits, sector misses, evictions, sectors filled and written
#define RR_EXACT_STORE 256u // flag of an access, above its mask of sectors
#define RR_EXACT_ALLOCATE 1u
#define RR_EXACT_WRITE_BACK 2u

#ifdef __cplusplus
#include <cstddef>
#include <cstdint>
namespace rayreplay::kernels::lru {
using uint = std::uint32_t;
using address = std::uint64_t;
#else
#define address uint64_t
#endif

struct SetArguments {
  uint first_group;
  uint count;
  uint sets;
  uint low;       // subtracted from the lines, modulo sets
  address lines;  // 32 or 64 bits each
  address keys;
  address index;
};

struct PlaceArguments {
  uint first_group;
  uint count;
  address order;
  address place;
};

struct RelinkArguments {
  uint first_group;
  uint count;
  address place;
  address next;
  address cold;
  address next_to;
  address cold_to;
  address last_to;
};

struct WaysArguments {
  uint first_group;
  uint ways_count;
  uint in_place;  // 1: accesses were not moved, `place` is not read
  uint unused;
  address place;
  address distances;
  address pieces;  // as kernels/reuse/reuse.hpp has them
  address ways;    // ascending
  address counts;  // rows of RR_LRU_ROW
};

// A sequence: the accesses of one stream to one set, number set · streams + stream.
struct SequenceArguments {
  uint first_group;
  uint count;  // accesses
  uint sequences;
  uint streams;
  address keys;     // sets, sorted
  address order;    // of the accesses, with them
  address begins;   // of streams
  address to;       // where each sequence begins, in that order; and the end of all
  address longest;  // of all
};

struct ExactArguments {
  uint first_group;
  uint sequences;
  uint ways;
  uint policy;
  uint skipped;  // accesses of each sequence finished so far
  uint most;     // accesses in this launch
  address sequence_begins;
  address order;
  address lines;   // 32 or 64 bits each
  address flags;   // 16 bits each
  address tags;    // as lines, ways a sequence
  address states;  // with each: time of its last use (0: empty); valid sectors and, 8 bits up, dirty ones
  address counts;  // 64 bits each
};

#ifdef __cplusplus
static_assert(sizeof(SequenceArguments) == 56 && sizeof(ExactArguments) == 80 && offsetof(ExactArguments, order) == 32);
static_assert(sizeof(SetArguments) == 40 && sizeof(PlaceArguments) == 24 && sizeof(RelinkArguments) == 56);
static_assert(sizeof(WaysArguments) == 56 && offsetof(WaysArguments, place) == 16);
}  // namespace rayreplay::kernels::lru
#else
#undef address
#endif
#endif
