// The allocation table: maps an address to an element of an allocation.
//
// Contract: allocations do not overlap. The element of an address is (address − start) / element_bytes (von Buelow et
// al. 2023, eq. 1; MODELS.md §11). Elements of the whole table are numbered consecutively, allocation by allocation in
// the order added: element number = first_element + offset. A last element that the allocation's end cuts off counts as
// one. An address outside every allocation has no element (kNoElement); its access has kind Unallocated and is counted,
// never dropped. Errors: Usage (place: `source`) for an element size of 0, no bytes, an end above 2^64 − 1, or an
// overlap (names both); Resource for 2^32 − 1 elements or more in all. `find` is O(log allocations), and O(1) in the
// allocation of the previous address (Cursor).
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
  /// The owner in the trace: the BLAS of nodes; the row of Scene::geometries of indices, vertices and boxes;
  /// kNoAllocation: none.
  std::uint32_t subject = kNoAllocation;

  [[nodiscard]] std::uint32_t elements() const {
    return static_cast<std::uint32_t>((bytes + element_bytes - 1) / element_bytes);
  }
};

class Allocations {
 public:
  /// Remembers the allocation of the last address.
  struct Cursor {
    std::uint32_t index = kNoAllocation;
  };

  /// `source`: origin of the allocation, for messages. Returns its index.
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
  /// First address after all allocations; 0: none.
  [[nodiscard]] std::uint64_t end() const;

 private:
  std::vector<Allocation> rows_;
  std::vector<std::uint32_t> by_start_;  ///< rows, ascending by start
  std::uint32_t elements_ = 0;
};

}  // namespace rayreplay::memory
