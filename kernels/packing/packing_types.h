// Push constants of the packings' kernels, compiled as C++ and as GLSL.
#ifdef __cplusplus
#pragma once
#include <cstddef>
#include <cstdint>
namespace rayreplay::kernels::packing_types {
using uint = std::uint32_t;
using uint64_t = std::uint64_t;
#endif

// by_start
struct PlacePush {
  uint first_group;
  uint warp_size;
  uint64_t count;       // places
  uint64_t thread_at;   // u32 [count]
  uint64_t start_rank;  // u32 [warps]
  uint64_t tile;        // u32 [warps]; 0: not asked for
  uint64_t by_start;    // u32 [count]: the places, warps in the order of their start
  uint64_t tile_of;     // u32 [threads]
};

// present, compact, place
struct ListPush {
  uint first_group;
  uint unused;
  uint64_t count;
  uint64_t from;
  uint64_t with;
  uint64_t to;
};

// thread_keys, curve_bounds, curve_keys
struct KeyPush {
  uint first_group;
  uint bits;         // curve_keys: per axis
  uint64_t count;    // threads
  uint64_t threads;  // u32 [count]: the list whose keys are asked for
  uint64_t keys;     // u64 [count]; of tiles u32
  uint64_t number;   // the ray's number in its thread; random: the seed
  uint64_t offset;   // u64 [threads + 1]: of the rays or of the events
  uint64_t x;        // f32; first hit: kinds, u8; tiles: tile_of, u32
  uint64_t y;        // f32; first hit: shaders, u16
  uint64_t z;        // f32
  uint64_t bounds;   // u32 [6]: least x, y, z, greatest x, y, z, as ordered numbers
};

// column_max, call_counts
struct EventPush {
  uint first_group;
  uint groups;
  uint shaders;
  uint bins;
  uint64_t first;  // event; a multiple of 4
  uint64_t count;  // events from there on
  uint64_t kinds;  // column_max: the column
  uint64_t shader_of;
  uint64_t to;
};

// sequence_words
struct WordPush {
  uint first_group;
  uint symbol_bits;
  uint symbols;  // of a word
  uint primitive_bits;
  uint shaders;
  uint is_first;      // no thread has been read yet
  uint64_t count;     // threads that are tied
  uint64_t threads;   // u32 [count]
  uint64_t group_of;  // u32 [count]; 0: all are of one group
  uint64_t cursor;    // u64 [threads of the launch]: 2 · row of the next event, + 1 if its primitive comes next
  uint64_t offset;    // u64 [threads of the launch + 1]
  uint64_t kinds;     // u8
  uint64_t first;     // shaders, u16, or instances, u32
  uint64_t second;    // numbers of calls, u32, or primitives, u32
  uint64_t keys;      // u64 [count]
};

// sequence_split, sequence_keep
struct TiePush {
  uint first_group;
  uint symbol_bits;
  uint64_t count;
  uint64_t end_symbol;  // the last symbol of a sequence's last word
  uint64_t keys;        // u64 [count], sorted
  uint64_t threads;     // u32 [count], in their order
  uint64_t slots;       // u32 [count]: places in the list; 0: 0, 1, …
  uint64_t list;        // u32 [threads of the launch]: the result
  uint64_t keep;        // u32 [count]: 1 if the thread is still tied; then the sums before it
  uint64_t heads;       // u32 [count]: 1 for the first of a group that is still tied; then the sums before it
  uint64_t keep_sums;
  uint64_t head_sums;
  uint64_t to_threads;
  uint64_t to_slots;
  uint64_t to_group_of;
};

#ifdef __cplusplus
static_assert(sizeof(PlacePush) == 56 && offsetof(PlacePush, count) == 8);
static_assert(sizeof(ListPush) == 40 && offsetof(ListPush, count) == 8);
static_assert(sizeof(KeyPush) == 80 && offsetof(KeyPush, count) == 8);
static_assert(sizeof(EventPush) == 56 && offsetof(EventPush, first) == 16);
static_assert(sizeof(WordPush) == 96 && offsetof(WordPush, count) == 24);
static_assert(sizeof(TiePush) == 112 && offsetof(TiePush, count) == 8);
}  // namespace rayreplay::kernels::packing_types
#endif
