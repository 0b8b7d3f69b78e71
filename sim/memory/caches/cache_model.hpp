// Cache models: hit or miss for each access of a stream (MODELS.md §11).
//
// Contract: a `Cache` is one cache of a model. It takes accesses in order and returns a hit probability for each, in
// fixed point (kOne is certain); exact models return 0 or kOne. With fixed point, sums are integers: exact, and
// independent of partition and order. The rounding error is below 2^−31 an access. The set of a line is line mod sets.
// Sectored caches hold tags by line and data by sector: an access hits if its line and all its sectors are present. A
// *sector miss* finds the line but not all sectors. Loads allocate. Stores follow the model's parameters:
// write=through|back, allocate=true|false (docs/cache-models.md has the rules). `down` gets the requests to the next
// level, in order: writebacks of the line that an access evicts, then the access's fill (missing sectors of a load) or
// store (sectors that the cache does not keep). Dirty sectors left at the end are not written back. Calls may split a
// stream anywhere. Deterministic. To add one: a .cpp file in sim/memory/caches/models/.
//
// Errors: Usage for invalid geometries (check below names key, value and rule).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/registry.hpp"

namespace rayreplay::memory {

inline constexpr std::uint32_t kOne = 1U << 30U;
/// Returned by exact models instead of probability 0: a miss that found the line. A hit of an exact model is always
/// kOne.
inline constexpr std::uint32_t kSectorMiss = 1U << 31U;

struct CacheGeometry {
  std::uint64_t bytes = 0;         ///< 0: no cache
  std::uint32_t line_bytes = 128;  ///< power of two, 4 … 65536
  std::uint32_t ways = 0;          ///< 0: fully associative
  std::uint32_t sector_bytes =
      0;  ///< power of two that divides line_bytes, at least 4, at most 8 a line; 0: line_bytes

  [[nodiscard]] std::uint64_t lines() const {
    return bytes / line_bytes;
  }
  [[nodiscard]] std::uint64_t associativity() const {
    return ways == 0 ? lines() : ways;
  }
  [[nodiscard]] std::uint64_t sets() const {
    return lines() / associativity();
  }
  [[nodiscard]] std::uint32_t sector() const {
    return sector_bytes == 0 ? line_bytes : sector_bytes;
  }
  bool operator==(const CacheGeometry&) const = default;
};

/// Usage unless all sizes obey the rules above, bytes is a multiple of line_bytes, lines a multiple of ways, and there
/// are less than 2^31 lines; for ways that do not divide the lines it names the nearest that do. `where` names the
/// cache in the message, such as "machine 'x', L1". A geometry without bytes always passes.
void check(const CacheGeometry& geometry, const std::string& where);

/// "32KiB:line=128,ways=64,sector=32", "6MiB:line=32,ways=16", "ways=full,sector=line", "none"; sizes in bytes, KiB or
/// MiB. Missing values come from `base`. Usage names the part that does not parse. The result passes `check`.
[[nodiscard]] CacheGeometry parse_geometry(const std::string& text, const CacheGeometry& base,
                                           const std::string& where);
[[nodiscard]] std::string to_string(
    const CacheGeometry& geometry);  ///< the parser's inverse; "none" for `base` with 0 bytes

struct LineAccess {
  std::uint64_t line = 0;    ///< address / line_bytes of this cache
  std::uint8_t sectors = 1;  ///< mask, of this cache's lines; at least one bit
  bool store = false;

  bool operator==(const LineAccess&) const = default;
};

/// A request to the next level, caused by access `cause` (index within the call).
struct DownAccess {
  std::uint64_t line = 0;  ///< of this cache
  std::uint32_t cause = 0;
  std::uint8_t sectors = 0;
  bool store = false;

  bool operator==(const DownAccess&) const = default;
};

/// A line that access `cause` (index within the call) evicted.
struct Eviction {
  std::uint64_t line = 0;
  std::uint32_t cause = 0;

  bool operator==(const Eviction&) const = default;
};

/// Sums since the beginning; zero if the model does not know a value.
struct CacheCounts {
  std::uint64_t accesses = 0;
  std::uint64_t hits = 0;           ///< fixed point: divide by kOne
  std::uint64_t sector_misses = 0;  ///< the line was present, not all sectors
  std::uint64_t evictions = 0;      ///< of lines
  std::uint64_t sectors_filled = 0;
  std::uint64_t sectors_written = 0;  ///< to the level below: through, around, or back

  CacheCounts& operator+=(const CacheCounts& other) {
    accesses += other.accesses;
    hits += other.hits;
    sector_misses += other.sector_misses;
    evictions += other.evictions;
    sectors_filled += other.sectors_filled;
    sectors_written += other.sectors_written;
    return *this;
  }
  bool operator==(const CacheCounts&) const = default;
};

class Cache {
 public:
  virtual ~Cache() = default;
  /// `distances`: the accesses' reuse distances in this cache's own stream of lines; empty unless the model needs them.
  /// `hit`: a probability or kSectorMiss for each access. `down`: appended to; may be null.
  virtual void access(std::span<const LineAccess> accesses, std::span<const std::uint32_t> distances,
                      std::span<std::uint32_t> hit, std::vector<DownAccess>* down) = 0;
  [[nodiscard]] virtual CacheCounts counts() const = 0;
  /// Exact models: from now on every call of `access` appends its evictions to `to`, in order. `to` must outlive the
  /// cache; null: none are recorded.
  virtual void record_evictions(std::vector<Eviction>* /*to*/) {}
};

class CacheModel {
 public:
  static constexpr const char* kModelKind = "cache model";
  virtual ~CacheModel() = default;
  /// The geometry has bytes > 0 and passed `check`. Called from several threads at a time.
  [[nodiscard]] virtual std::unique_ptr<Cache> make(const CacheGeometry& geometry) const = 0;
  [[nodiscard]] virtual bool wants_distances() const {
    return false;
  }
  /// True if `hit` is always 0 or kOne, `down` is filled, and evictions can be recorded.
  [[nodiscard]] virtual bool exact() const {
    return true;
  }
  /// True if a store that finds no line takes one, and a store makes its sectors valid. False: sectors come by loads
  /// alone, and a store changes no line that is not there.
  [[nodiscard]] virtual bool keeps_stores() const {
    return true;
  }
};

using CacheModels = Registry<CacheModel>;

}  // namespace rayreplay::memory
