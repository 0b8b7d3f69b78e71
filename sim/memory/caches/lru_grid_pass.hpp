// One pass of lru_grid.hpp: accesses in batches, for one number of sets; counts for all its ways.
//
// Contract: `run` takes the next accesses and writes to `left`, if given, those that change state: every multiple of
// the number of sets gives the same counts without the others. `lines`: upper bound of line numbers so far. Counts are
// by rank: a cache of rank A holds what is found at depths below A. A rank is a number of ways, or in `deep` passes a
// position in the ascending list of ways. Depth 255 means "not present".
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

namespace rayreplay::memory {

/// An access in the form of the passes, made by lru_grid_lines.hpp. Sectors with the same last touch, or never touched,
/// have equal depths for any number of sets. A sector touched earlier than another is at least as deep. So the oldest
/// touched sector decides the hit, and if all have the same age it stands for all of them.
struct alignas(16) GridAccess {
  std::uint32_t line = 0;    ///< minus the smallest line of the stream
  std::uint32_t number = 0;  ///< number of the line, from 1 in the order of first access
  std::uint8_t touched = 0;  ///< mask of sectors; with 4 sectors a line, `stored` follows from bit 4 on
  std::uint8_t stored = 0;   ///< mask of sectors of a write-back store; else 0
  /// Eight times the oldest of the touched sectors.
  std::uint8_t oldest_bits = 0;
  std::uint8_t oldest_store_bits = 0;  ///< the same for `stored`
  std::uint8_t filled = 0;             ///< sectors of a load, if all have one age; else 0
  std::uint8_t written = 0;            ///< sectors `stored`, if all have one age; else 0
  /// Sectors of a load with different ages, or of `stored` since their last store: counted one by one.
  std::uint8_t each = 0;
};

struct GridRules {
  bool wide = false;   ///< more than 4 sectors a line
  bool dirty = false;  ///< there are write-back stores
};

/// By depth; accesses that were not passed on have depth 0 and are not included.
struct GridDepths {
  static constexpr std::uint8_t kGone = 255;
  using ByDepth = std::array<std::uint64_t, 256>;

  ByDepth found{};    ///< accesses, by depth of the line
  ByDepth whole{};    ///< accesses, by depth of their deepest sector
  ByDepth filled{};   ///< sectors of loads, by their depth
  ByDepth written{};  ///< dirty sectors, by greatest depth until their next store or the end
};

/// Instruction set of the inner loop: tests run all, with equal counts.
enum class GridForm : std::uint8_t { Portable, Avx512 };

/// The best for this processor.
[[nodiscard]] GridForm best_grid_form();

class GridPass {
 public:
  virtual ~GridPass() = default;
  /// Returns the number of accesses in `left`, which has room for all.
  virtual std::size_t run(std::span<const GridAccess> accesses, std::uint32_t lines, GridAccess* left) = 0;
  /// Ends the stream. `lines`: by line number.
  [[nodiscard]] virtual GridDepths finish(std::span<const std::uint32_t> lines) = 0;
  /// Lines in a cache of `ways` ways at the end; after `finish`.
  [[nodiscard]] virtual std::uint64_t resident(std::uint64_t ways) const = 0;
};

/// `ways` at most kStackedWays; `span`: upper bound of lines.
[[nodiscard]] std::unique_ptr<GridPass> make_stacked_pass(std::uint64_t sets, std::uint64_t ways, std::uint64_t span,
                                                          const GridRules& rules, GridForm form);
/// One set with any ways: at most kStackedWays different ones, ascending. Passes nothing on.
[[nodiscard]] std::unique_ptr<GridPass> make_deep_pass(std::span<const std::uint64_t> ways, const GridRules& rules);

}  // namespace rayreplay::memory
