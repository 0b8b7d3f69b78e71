// One pass of lru_grid.hpp: accesses of one number of sets, in batches; counts of all its ways at the end.
//
// Contract: `run` takes the next accesses and appends to `left`, where there is one, those that change something:
// without the rest every multiple of the number of sets counts the same. A pass counts by rank: a cache of rank A has
// what is found at depths below A. Ranks are ways, or, of `deep` passes, places in the ascending list of ways. Depths
// are at most 255, which is "not there".
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace rayreplay::memory {

/// An access as passes want it.
struct GridAccess {
  std::uint32_t line = 0;  ///< less the least line of the stream; below 2^32 − 1
  std::uint8_t sectors = 0;
  bool store = false;
};

/// Whether sectors and dirty sectors are to be remembered.
struct GridRules {
  bool sectors = false;  ///< accesses differ in their sectors
  bool wide = false;     ///< more than 4 sectors a line
  bool dirty = false;    ///< there are stores that are written back
};

/// By depth; what was not passed on to a pass is of depth 0 and in none of them.
struct GridDepths {
  static constexpr std::size_t kGone = 255;

  std::array<std::uint64_t, 256> found{};    ///< accesses, by the line's depth
  std::array<std::uint64_t, 256> whole{};    ///< accesses, by that of the worst of their sectors
  std::array<std::uint64_t, 256> filled{};   ///< sectors of loads, by theirs
  std::array<std::uint64_t, 257> written{};  ///< dirty sectors evicted, by rank: differences, modulo 2^64
  std::array<std::uint64_t, 256> used{};     ///< sets by lines on their stack at the end (stacked passes)

  /// In ranks (from, to].
  void add_written(std::size_t from, std::size_t to) {
    ++written[from + 1];
    --written[to + 1];
  }
};

class GridPass {
 public:
  virtual ~GridPass() = default;
  virtual void run(std::span<const GridAccess> accesses, std::vector<GridAccess>* left) = 0;
  virtual void finish() = 0;
  [[nodiscard]] const GridDepths& depths() const {
    return depths_;
  }
  /// Lines that a cache of `ways` ways, of rank `rank`, holds at the end.
  [[nodiscard]] virtual std::uint64_t resident(std::uint64_t ways) const = 0;

 protected:
  GridDepths depths_;
};

/// `ways` at most kStackedWays; `span`: every line is below.
[[nodiscard]] std::unique_ptr<GridPass> make_stacked_pass(std::uint64_t sets, std::uint64_t ways, std::uint64_t span,
                                                          const GridRules& rules);
/// One set of any ways: at most kStackedWays of them, ascending. Leaves nothing over.
[[nodiscard]] std::unique_ptr<GridPass> make_deep_pass(std::span<const std::uint64_t> ways, const GridRules& rules);

}  // namespace rayreplay::memory
