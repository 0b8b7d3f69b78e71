// The cause of each miss of a cache: what an infinite cache, and a fully associative one, would have done.
//
// Contract: two other caches get the same accesses and follow the same rules of stores and sectors as the real one: an
// infinite cache, and the *ideal* one, which has as many lines as the real cache, in one set, with LRU replacement. The
// class of a miss is the first that applies:
//   Cold        the line was never accessed
//   StoredOnly  the infinite cache lacks the line: only stores that take no line touched it
//   NewSectors  the infinite cache lacks a touched sector
//   Capacity    the infinite cache hits, the ideal one misses
//   Conflict    the ideal cache hits
// A hit is Conflict if the ideal cache hits too, else Capacity; tallies count the latter as `beyond` (sums.hpp). So
// misses − conflict + beyond are the ideal cache's misses.
//
// The infinite cache is a mask of sectors for each line. Where stores take lines, the ideal cache holds a line exactly
// if fewer lines than its own were accessed since (reuse distance), so that it is a second mask, cleared at distances
// of at least that number. Where they do not, a store to a line that it lacks changes nothing there, although it counts
// in reuse distances; so the ideal cache is simulated. Models with probabilities know neither sectors nor stores: the
// class follows from the distance alone.
//
// Sampling engines: the class follows from estimated distances, by masks whatever stores do, and accesses that are not
// sampled are Unknown. A store that takes no line then still counts in distances, so that some conflicts can appear as
// capacity misses.
//
// O(1) an access. Memory: 4 bytes a line (line_table.hpp); a simulated ideal cache as in set_associative.hpp. After
// Hill and Smith, IEEE TC 1989.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sim/memory/caches/cache_model.hpp"
#include "sim/memory/reuse/engines/line_table.hpp"

namespace rayreplay::memory {

enum class MissClass : std::uint8_t { Unknown, Cold, StoredOnly, NewSectors, Capacity, Conflict };
inline constexpr std::size_t kMissClasses = 6;

class MissClasses {
 public:
  /// `sampled`: the distances are those of a sampling engine.
  MissClasses(const CacheModel& model, const CacheGeometry& geometry, bool sampled);

  /// The next accesses, their reuse distances and the real cache's `hit`s. `classes` has the same size.
  void classify(std::span<const LineAccess> accesses, std::span<const std::uint32_t> distances,
                std::span<const std::uint32_t> hit, std::span<MissClass> classes);

 private:
  void by_distance(std::span<const std::uint32_t> distances, std::span<MissClass> classes) const;
  void by_masks(std::span<const LineAccess> accesses, std::span<const std::uint32_t> distances,
                std::span<MissClass> classes);
  void by_ideal_cache(std::span<const LineAccess> accesses, std::span<const std::uint32_t> distances,
                      std::span<const std::uint32_t> hit, std::span<MissClass> classes);

  std::uint64_t lines_;
  bool keeps_stores_;
  bool whole_;  ///< a line that was accessed has all that an access can ask for
  LineTable states_;
  std::unique_ptr<Cache> ideal_;  ///< null: its sectors are in the states
  std::vector<std::uint32_t> ideal_hit_;
};

}  // namespace rayreplay::memory
