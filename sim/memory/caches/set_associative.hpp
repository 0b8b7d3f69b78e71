// Exact caches: sets of lines with a replacement policy, data by sector.
//
// Contract: caches/cache_model.hpp. The rules (twins in tests/memory/slow_cache.hpp):
//   load, all sectors there    hit
//   load, line there           sector miss; the missing sectors are filled
//   load, no line              the victim goes, its dirty sectors are written; the sectors touched are filled
//   store, line there          hit or sector miss, as a load; missing sectors become valid with `allocate`
//   store, no line             with `allocate` the victim goes as above and the sectors touched become valid, else
//   nothing (write-around)
// Stores fetch nothing: caches keep masks of the bytes written. write=through: a store's sectors are written down.
// write=back: sectors that are valid after it become dirty, the others are written down. The unit is the sector: one
// that a store touched in part is valid as a whole (a later load of it hits, where hardware may fetch the bytes that
// are missing) and is written down as a whole. Victim: the first empty way;
// `Lru` the line whose last access is longest ago (any access, stores and sector misses too); `Fifo` the one that came
// first; `Random` way ⌊ways · r / 2^32⌋, r the high half of split_mix(seed, evictions of this cache so far).
//
// Three organisations, the same results: up to 16 ways a set is an array of tags and a word of 4-bit ranks; up to
// kScannedWays 16 bits of each tag are scanned, ranks are a linked list; beyond that a hash table finds lines and a log
// victims: O(1) an access whatever the ways. Tags of sets of at most 16 ways are 32 bits until a line needs more.
// Memory a line: 7 to 8 bytes from 4 ways up (fewer ways: 32 a set), beyond 16 ways 18 to 24, beyond kScannedWays 40 to
// 80. Errors: Usage for more than 2^29 lines with more than kScannedWays ways.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/parameters.hpp"
#include "sim/memory/caches/cache_model.hpp"

namespace rayreplay::memory {

enum class Replacement : std::uint8_t { Lru, Fifo, Random };

inline constexpr std::uint64_t kScannedWays = 256;

struct CachePolicy {
  Replacement replacement = Replacement::Lru;
  bool write_back = true;
  bool allocate = true;  ///< on stores
  std::uint64_t seed = 0;
};

[[nodiscard]] std::unique_ptr<Cache> make_set_associative(const CacheGeometry& geometry, const CachePolicy& policy);

/// A registered model of one policy.
class SetAssociativeModel final : public CacheModel {
 public:
  explicit SetAssociativeModel(const CachePolicy& policy) : policy_(policy) {}
  [[nodiscard]] std::unique_ptr<Cache> make(const CacheGeometry& geometry) const override {
    return make_set_associative(geometry, policy_);
  }

 private:
  CachePolicy policy_;
};

/// What every such model's text ends with.
inline constexpr const char* kSetAssociativeText =
    " The set of a line is line mod sets, for any number of sets.\n\n"
    "Tags are kept by line, data by sector: an access hits if the line and all sectors that it touches are there. "
    "Loads fill what is missing. Stores fetch nothing; a store that the cache keeps makes its sectors valid. O(1) an "
    "access for any number of ways. Assumes that fills are there at once.";

/// The parameters `write` and `allocate`, for registration.
[[nodiscard]] std::vector<Parameter> write_parameters();
[[nodiscard]] CachePolicy write_policy(const Parameters& parameters);

}  // namespace rayreplay::memory
