// Counters of an instrumented module: the counted places, and the cells with their numbers.
//
// Contract: data only. A function's sites have their cells one after another, each site those that its mask of `Cell`
// names, in that order.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "capture/block_counts/counter_plan.hpp"

namespace rayreplay::instrument {

enum class SiteKind : std::uint8_t { Block = 0, Branch, Load, Value };

/// The numbers that a site may have, a cell of u64 each, in this order. A group of a Branch or Load adds to one of the
/// cells from kGroups on, so its groups are their sum, and those whose lanes all had one value kUniform + kUniformBoth.
enum Cell : std::uint8_t {
  kLanes = 1,
  kGroups = 2,
  kUniform = 4,         ///< groups whose lanes all had one condition, selector or value
  kUniformAddress = 8,  ///< groups whose lanes all had one address
  kUniformBoth = 16,    ///< groups of both kinds; there if both are compared
};

/// A site of kind Value has a table of values behind its numbers: filters, whose content means nothing to readers, then
/// slots. A slot has these cells: its key, whose upper half is the tables' mark if the slot is taken, with the value
/// below it; the lanes that had the value; the groups whose lanes all had it. A value that finds no free slot counts
/// among the site's lanes and groups alone.
inline constexpr std::uint32_t kSlotCells = 3;
/// Slots for each filter, a cell.
inline constexpr std::uint32_t kSlotsOfAFilter = 4;
/// The mark as instrument() writes it: fit for memory of zeros.
inline constexpr std::uint32_t kTableMark = 1;
/// Slots of a table at most.
inline constexpr std::uint32_t kMostValueSlots = 1024;

/// A place whose executions are counted.
///
/// A Branch, Load or Value without lanes and groups has those of the last site before it in its block that has them; if
/// there is none, those of the block. A block without groups has those of its only predecessor (group_sources.hpp).
struct CounterSite {
  SiteKind kind = SiteKind::Block;
  /// Block: the executions of block `to`; with `from` those of the edge between them. Others: `to` has the instruction.
  block_counts::CounterSite place;
  std::uint32_t instruction = 0;  ///< Branch, Load, Value: its place in the application's function
  std::uint32_t cell = 0;         ///< its first, among the cells of its function
  std::uint8_t cells = 0;         ///< a set of Cell
  std::uint8_t always = 0;        ///< a set of kUniform and kUniformAddress: proven, so not compared
  std::uint8_t component = 0;     ///< Value: its place in the loaded vector
  std::uint16_t slots = 0;        ///< Value: of its table
  bool operator==(const CounterSite&) const = default;
};

/// The first cell of a site's table, counted from the site's first cell.
[[nodiscard]] constexpr std::uint32_t table_of(const CounterSite& site) {
  return static_cast<std::uint32_t>(std::popcount(site.cells));
}

/// The first cell of the table's slots, counted likewise.
[[nodiscard]] constexpr std::uint32_t slots_of(const CounterSite& site) {
  return table_of(site) + (site.slots + kSlotsOfAFilter - 1) / kSlotsOfAFilter;
}

/// The number of a site's cells.
[[nodiscard]] constexpr std::uint32_t size_of(const CounterSite& site) {
  return slots_of(site) + site.slots * kSlotCells;
}

/// A function with counters. The cells of a site begin, for a shader, at first + site.cell + (shader − shaders[0]) ·
/// cells.
struct CountedFunction {
  std::uint32_t function = 0;          ///< its place among the module's functions
  std::uint32_t first = 0;             ///< cell
  std::uint32_t cells = 0;             ///< for each shader
  std::vector<std::uint16_t> shaders;  ///< that reach it, ascending
  std::vector<CounterSite> sites;
};

/// The counters of a module: `copies` arrays of u64 cells, one behind the other, 8-byte aligned, whose device address
/// the code that loads the module writes into its words. A count is the sum over the copies; tables of values are in
/// the first copy alone, so the sum is the table.
struct CounterLayout {
  std::uint32_t cells = 0;  ///< of a copy
  std::uint32_t copies = 1;
  /// In Result::spirv: the mark of the tables of values; 0: there are none. Where the memory may hold keys with this
  /// mark, another mark must be set. Other content does not matter, as counts are differences.
  std::size_t mark_word = 0;
  std::size_t address_word = 0;  ///< in Result::spirv: the address's low word, then the high one
  std::vector<CountedFunction> functions;

  [[nodiscard]] std::uint64_t bytes() const {
    return std::uint64_t{cells} * copies * sizeof(std::uint64_t);
  }
};

}  // namespace rayreplay::instrument
