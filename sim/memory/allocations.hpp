// The allocation table: which address is which element of what.
//
// Contract: allocations do not overlap. The element of an address is (address − start) / element_bytes (von Buelow et
// al. 2023, eq. 1; MODELS.md §11); elements of the whole table are numbered consecutively, allocation by allocation in
// the order added: element number = first_element + offset. A last element that is cut off by the allocation's end
// counts as one. An address outside every allocation has no element (kNoElement), and its access is of kind
// Unallocated: counted and reported, never dropped. Errors: Usage (place: `source`) for an element size of 0, no bytes,
// an end above 2^64 − 1, an overlap (names both); Resource for 2^32 − 1 elements or more in all. `find` is O(log
// allocations), O(1) when the address lies where the one before did (Cursor).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/memory/data_kind.hpp"

namespace rayreplay::memory {

inline constexpr std::uint32_t kNoElement = 0xFFFF'FFFFU;
inline constexpr std::uint32_t kNoAllocation = 0xFFFF'FFFFU;

struct Allocation {
  std::string name;  ///< "blas 0 nodes", "geometry 3 indices"
  DataKind kind = DataKind::Other;
  std::uint64_t start = 0;
  std::uint64_t bytes = 0;
  std::uint32_t element_bytes = 1;
  std::uint32_t first_element = 0;  ///< set by `add`
  /// What it belongs to in the trace: the blas of nodes, the row of Scene::geometries of indices, vertices and boxes;
  /// kNoAllocation: nothing in particular.
  std::uint32_t subject = kNoAllocation;

  [[nodiscard]] std::uint32_t elements() const {
    return static_cast<std::uint32_t>((bytes + element_bytes - 1) / element_bytes);
  }
};

class Allocations {
 public:
  /// Remembers where the last address was found.
  struct Cursor {
    std::uint32_t index = kNoAllocation;
  };

  /// `source` names where it comes from, for messages. Returns its index.
  std::uint32_t add(Allocation allocation, const std::string& source);

  [[nodiscard]] std::span<const Allocation> rows() const {
    return rows_;
  }
  [[nodiscard]] std::uint32_t elements() const {
    return elements_;
  }
  /// Index of the allocation with this address, or kNoAllocation.
  [[nodiscard]] std::uint32_t find(std::uint64_t address, Cursor& cursor) const;
  /// Element number of an address of the allocation.
  [[nodiscard]] std::uint32_t element(std::uint32_t index, std::uint64_t address) const {
    const Allocation& row = rows_[index];
    return row.first_element + static_cast<std::uint32_t>((address - row.start) / row.element_bytes);
  }
  /// Index of the allocation with this element number. O(log allocations).
  [[nodiscard]] std::uint32_t allocation_of(std::uint32_t element) const;
  /// First address behind all allocations; 0: none.
  [[nodiscard]] std::uint64_t end() const;

 private:
  std::vector<Allocation> rows_;
  std::vector<std::uint32_t> by_start_;  ///< rows, ascending by start
  std::uint32_t elements_ = 0;
};

}  // namespace rayreplay::memory
