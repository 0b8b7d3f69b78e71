// Exact caches: sets of lines with a replacement policy, data by sector.
//
// Contract: caches/cache_model.hpp. The rules (slow twins in tests/memory/slow_cache.hpp):
//   load, all sectors valid    hit
//   load, line present         sector miss; fill of the missing sectors
//   load, no line              eviction with writeback of dirty sectors; fill of the touched sectors
//   store, line present        hit or sector miss, as a load; with `allocate`, missing sectors become valid
//   store, no line             with `allocate`: eviction as above, touched sectors become valid; else nothing
//
// Stores fetch nothing: caches keep masks of written bytes. write=through: the store's sectors are written down.
// write=back: sectors that are valid afterwards become dirty, the others are written down. The unit is the sector: a
// partly stored sector counts as valid as a whole (a later load hits, where hardware may fetch the missing bytes) and
// is written down as a whole. Victim: the first empty way; else with `Lru` the line whose last access (any access,
// stores and sector misses too) is oldest, with `Fifo` the line allocated first, with `Random` way ⌊ways · r / 2^32⌋, r
// the high half of split_mix(seed, evictions of this cache so far).
//
// Three organisations give the same results: up to 16 ways a set is an array of tags and a word of 4-bit ranks; up to
// kScannedWays 16 bits of each tag are scanned, and ranks are a linked list; above that a hash table finds lines and a
// log finds victims. O(1) an access for any number of ways. Tags of sets of at most 16 ways have 32 bits until a line
// needs more. Memory a line: 7 to 8 bytes from 4 ways up (fewer ways: 32 a set), beyond 16 ways 18 to 24, beyond
// kScannedWays 40 to 80. Errors: Usage for more than 2^29 lines with more than kScannedWays ways.
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
  [[nodiscard]] bool keeps_stores() const override {
    return policy_.allocate;
  }

 private:
  CachePolicy policy_;
};

/// What every such model's text ends with.
inline constexpr const char* kSetAssociativeText =
    " The set of a line is line mod sets, for any number of sets.\n\n"
    "Tags are kept by line, data by sector: an access hits if the line and all sectors that it touches are present. "
    "Loads fill missing sectors. Stores fetch nothing; a store that the cache keeps makes its sectors valid. O(1) an "
    "access for any number of ways. Assumes that fills take no time.";

/// The parameters `write` and `allocate`, for registration.
[[nodiscard]] std::vector<Parameter> write_parameters();
[[nodiscard]] CachePolicy write_policy(const Parameters& parameters, Replacement replacement = Replacement::Lru);

}  // namespace rayreplay::memory
