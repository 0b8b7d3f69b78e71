// Places in buffers, from the layout that decorations state: offsets of members, strides of arrays and matrices.
//
// Contract: `place_of` follows a pointer of a descriptor's buffer or shader record back to its variable, and a device
// address to the pointer that no access chain made. The place is constant + Σ index · bytes from there, modulo 2^32 but
// for device addresses; indices are ids of 32-bit or 64-bit integers that are known where the pointer is. Without a
// result, `why` has the reason. Costs: the instructions that make the pointer.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "capture/instrument/access_layout.hpp"
#include "capture/instrument/passes/comparison.hpp"

namespace rayreplay::instrument {

struct BufferPlace {
  AccessSpace space = AccessSpace::Descriptor;
  std::uint32_t set = 0, binding = 0, element = 0;
  Id root = 0;  ///< the variable, or the pointer that a device address counts from
  std::uint64_t constant = 0;
  std::vector<std::pair<Id, std::uint32_t>> terms;  ///< index, bytes
  std::uint32_t bytes = 0;                          ///< of the value there
};

class BufferLayout {
 public:
  explicit BufferLayout(const Rewriter& rewriter);

  /// The origin of a pointer's address; empty: the pointer is of no buffer that is recorded.
  [[nodiscard]] std::optional<AccessSpace> space_of(Id pointer) const;
  /// Whether a pointer of a descriptor's buffer is of a uniform block.
  [[nodiscard]] bool is_uniform(const PointerDefinitions& definitions, Id pointer) const;
  [[nodiscard]] std::optional<BufferPlace> place_of(const PointerDefinitions& definitions, Id pointer,
                                                    std::string& why) const;
  /// Bytes of a value of `type` at a physical pointer.
  [[nodiscard]] std::optional<std::uint32_t> bytes_at(const PointerDefinitions& definitions, Id pointer, Id type,
                                                      std::string& why) const;
  /// Set and binding of a variable; empty: it has none.
  [[nodiscard]] std::optional<std::pair<std::uint32_t, std::uint32_t>> binding_of(Id variable) const;
  /// Follows chains and copies back to what is none; collects their indices.
  [[nodiscard]] static Id root_of(const PointerDefinitions& definitions, Id pointer, std::vector<Id>& indices);

 private:
  /// The layout of a matrix in memory: decorations of the member that holds it, or an array of it.
  struct Matrix {
    std::uint32_t stride = 0;
    bool row_major = false;
  };
  struct Member {
    std::optional<std::uint32_t> offset;
    Matrix matrix;
  };
  /// A part of a buffer, on the way to a place in it.
  struct Part {
    Id type = 0;
    Matrix matrix;
    std::uint32_t component_stride = 0;  ///< of a row-major matrix's column; 0: its components lie side by side
  };

  [[nodiscard]] Id pointee(Id pointer) const;
  [[nodiscard]] const Member* member(Id type, std::uint32_t index) const;
  [[nodiscard]] bool is_array(Id type) const;
  /// Empty, or why the step is not known.
  [[nodiscard]] std::string step(Part& part, Id index, BufferPlace& place) const;
  [[nodiscard]] std::string add(Id index, std::uint32_t bytes, BufferPlace& place) const;
  [[nodiscard]] std::string bind(Id variable, std::vector<Id>& indices, BufferPlace& place) const;
  /// Bytes from the first to behind the last; 0: not known.
  [[nodiscard]] std::uint32_t bytes_of(Id type, const Matrix& matrix) const;
  /// `left`: types that may still be looked at.
  [[nodiscard]] std::uint32_t measure(Id type, const Matrix& matrix, std::uint32_t& left) const;

  const Rewriter& rewriter_;
  std::map<std::pair<Id, std::uint32_t>, Member> members_;                    ///< by struct and number
  std::unordered_map<Id, std::uint32_t> array_stride_;                        ///< by type
  std::unordered_map<Id, std::pair<std::uint32_t, std::uint32_t>> bindings_;  ///< by variable: set, binding
  std::unordered_set<Id> old_storage_;  ///< structs of storage buffers of the Uniform class
};

}  // namespace rayreplay::instrument
