// Cache models: what a cache makes of a stream of accesses (MODELS.md §11).
//
// Contract: a `Cache` is one cache of a model: it takes accesses in order and says for each with what probability it
// hits, in fixed point (kOne is certain): exact models say 0 or kOne. Fixed point, so that sums are integers: exact,
// and the same under any partition and order of addition; rounding is below 2^−31 an access. The set of a line is line
// mod sets. Sectored caches hold tags by line and data by sector: an access hits if the line is there and all sectors
// that it touches are; a *sector miss* has the line but not all sectors. Loads allocate. Stores follow the model's
// parameters: write=through|back, allocate=true|false (docs/cache-models.md has the rules). `down` gets what the cache
// asks of the level below, in order: dirty sectors of the line that an access evicts, then its fill (missing sectors of
// a load), or its store (sectors that the cache does not keep). Dirty sectors that are left at the end stay where they
// are. Calls may cut a stream anywhere. Deterministic. To add one: a .cpp file in sim/memory/caches/models/.
//
// Errors: Usage for geometries that do not fit (check below names key, value and rule).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/registry.hpp"

namespace rayreplay::memory {

inline constexpr std::uint32_t kOne = 1U << 30U;
/// In place of a probability of 0, from exact models: a miss that found the line. A hit of an exact model is kOne and
/// nothing else.
inline constexpr std::uint32_t kSectorMiss = 1U << 31U;

struct CacheGeometry {
  std::uint64_t bytes = 0;         ///< 0: there is no such cache
  std::uint32_t line_bytes = 128;  ///< power of two, 4 … 65536
  std::uint32_t ways = 0;          ///< 0: fully associative
  std::uint32_t sector_bytes = 0;  ///< power of two that divides line_bytes, at most 8 a line; 0: line_bytes

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

/// Usage unless: sizes are powers of two where said, bytes is a multiple of line_bytes, lines a multiple of ways, less
/// than 2^31 lines. `where` names the cache in the message, such as "machine 'x', L1". Nothing is wrong with a cache
/// that is not there.
void check(const CacheGeometry& geometry, const std::string& where);

/// "32KiB:line=128,ways=64,sector=32", "6MiB:line=32,ways=16", "ways=full,sector=line", "none"; sizes in bytes, KiB or
/// MiB; what is not given stays as in `base`. Usage names what was not understood. The result passes `check`.
[[nodiscard]] CacheGeometry parse_geometry(const std::string& text, const CacheGeometry& base,
                                           const std::string& where);
[[nodiscard]] std::string to_string(const CacheGeometry& geometry);  ///< parses to itself; "none" to `base` of 0 bytes

struct LineAccess {
  std::uint64_t line = 0;    ///< address / line_bytes of this cache
  std::uint8_t sectors = 1;  ///< mask, of this cache's lines; at least one bit
  bool store = false;

  bool operator==(const LineAccess&) const = default;
};

/// What a cache asks of the level below because of access `cause` (index within the call).
struct DownAccess {
  std::uint64_t line = 0;  ///< of this cache
  std::uint32_t cause = 0;
  std::uint8_t sectors = 0;
  bool store = false;

  bool operator==(const DownAccess&) const = default;
};

/// Sums since the beginning. Zero where a model does not know.
struct CacheCounts {
  std::uint64_t accesses = 0;
  std::uint64_t hits = 0;           ///< fixed point: divide by kOne
  std::uint64_t sector_misses = 0;  ///< the line was there, not all sectors
  std::uint64_t evictions = 0;      ///< of lines
  std::uint64_t sectors_filled = 0;
  std::uint64_t sectors_written = 0;  ///< to the level below: through, around, or back
  bool operator==(const CacheCounts&) const = default;
};

class Cache {
 public:
  virtual ~Cache() = default;
  /// `distances`: the accesses' reuse distances in this cache's own stream of lines; empty unless the model wants them.
  /// `hit`: one entry an access: a probability, or kSectorMiss. `down`: appended to, may be null.
  virtual void access(std::span<const LineAccess> accesses, std::span<const std::uint32_t> distances,
                      std::span<std::uint32_t> hit, std::vector<DownAccess>* down) = 0;
  [[nodiscard]] virtual CacheCounts counts() const = 0;
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
  /// Whether `hit` is 0 or kOne, and `down` is filled.
  [[nodiscard]] virtual bool exact() const {
    return true;
  }
};

using CacheModels = Registry<CacheModel>;

}  // namespace rayreplay::memory
