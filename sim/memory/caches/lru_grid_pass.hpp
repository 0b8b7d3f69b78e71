// One pass of lru_grid.hpp: accesses of one number of sets, in batches; counts of all its ways at the end.
//
// Contract: `run` takes the next accesses and writes to `left`, where there is one, those that change something:
// without the rest every multiple of the number of sets counts the same. `lines`: every line number so far is below.
// A pass counts by rank: a cache of rank A has what is found at depths below A. Ranks are ways, or, of `deep` passes,
// places in the ascending list of ways. Depths are at most 255, which is "not there".
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

namespace rayreplay::memory {

/// An access as passes want it; lru_grid_lines.hpp makes it. Sectors that were touched together the last time, or never,
/// have one depth whatever the sets; one that was touched before another is nowhere less deep. So the oldest of them
/// decides, and where all were touched together it stands for all.
struct alignas(16) GridAccess {
  std::uint32_t line = 0;    ///< less the least line of the stream
  std::uint32_t number = 0;  ///< of the line, from 1 in the order of their first accesses
  std::uint8_t touched = 0;  ///< sectors; of lines of 4 those of `stored` behind them, from bit 4 on
  std::uint8_t stored = 0;   ///< sectors of a store that is written back; 0 of others
  /// Eight times the sector, of those touched, that was touched before the others; it decides.
  std::uint8_t oldest_bits = 0;
  std::uint8_t oldest_store_bits = 0;  ///< the same of `stored`
  std::uint8_t filled = 0;             ///< sectors of a load, if all are as old; else 0
  std::uint8_t written = 0;            ///< sectors `stored`, if all are as old; else 0
  /// Sectors of a load that are not all as old, or of `stored`, since they were stored to: each counts by itself.
  std::uint8_t each = 0;
};

struct GridRules {
  bool wide = false;   ///< more than 4 sectors a line
  bool dirty = false;  ///< there are stores that are written back
};

/// By depth; what was not passed on to a pass is of depth 0 and in none of them.
struct GridDepths {
  static constexpr std::uint8_t kGone = 255;
  using ByDepth = std::array<std::uint64_t, 256>;

  ByDepth found{};    ///< accesses, by the line's depth
  ByDepth whole{};    ///< accesses, by that of the worst of their sectors
  ByDepth filled{};   ///< sectors of loads, by theirs
  ByDepth written{};  ///< dirty sectors, by the greatest depth until they were stored to again, or the end
};

/// Which instructions: tests run both, and what they count is the same.
enum class GridForm : std::uint8_t { Portable, Avx512 };

/// Of this processor.
[[nodiscard]] GridForm best_grid_form();

class GridPass {
 public:
  virtual ~GridPass() = default;
  /// How many of them are in `left`, which has room for all.
  virtual std::size_t run(std::span<const GridAccess> accesses, std::uint32_t lines, GridAccess* left) = 0;
  /// Nothing comes any more. `lines`: by their numbers, as in the accesses.
  [[nodiscard]] virtual GridDepths finish(std::span<const std::uint32_t> lines) = 0;
  /// Lines that a cache of `ways` ways holds at the end; after `finish`.
  [[nodiscard]] virtual std::uint64_t resident(std::uint64_t ways) const = 0;
};

/// `ways` at most kStackedWays; `span`: every line is below.
[[nodiscard]] std::unique_ptr<GridPass> make_stacked_pass(std::uint64_t sets, std::uint64_t ways, std::uint64_t span,
                                                          const GridRules& rules, GridForm form);
/// One set of any ways: at most kStackedWays of them, ascending. Leaves nothing over.
[[nodiscard]] std::unique_ptr<GridPass> make_deep_pass(std::span<const std::uint64_t> ways, const GridRules& rules);

}  // namespace rayreplay::memory
