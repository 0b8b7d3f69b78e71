// Sums of counts of branches, or of loads, over several runs.
//
// Contract: parts are added under the numbers of the sum; an empty part says that a run has the pipeline's shader and
// none of its instructions. An instruction that not all parts of its shader have is left out. Executions, groups and
// uniform groups add up. Agreement that one part did not compare is not compared in the sum; where another part did,
// the sum leaves it out (add_left_out). The sum does not depend on the order of the parts. Errors: Input with the row
// at which a sum exceeds 64 bits, or whose instruction lies in another block than in an earlier part. O(rows log rows).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "capture/profile/merge_state.hpp"
#include "capture/profile/row_parts.hpp"
#include "capture/trace/trace.hpp"

namespace rayreplay::profile {

class InstructionSums {
 public:
  explicit InstructionSums(bool loads) : loads_(loads) {}

  void add(std::uint32_t pipeline, std::uint16_t shader, const trace::InstructionCounts& counts, RowRange rows,
           const std::string& file);
  /// Rows by pipeline, shader, function and instruction.
  [[nodiscard]] trace::InstructionCounts sums() const;
  void add_left_out(std::set<LeftOut>& left_out) const;

 private:
  struct Agreed {
    std::uint64_t groups = 0;
    bool some = false, all = true;  ///< parts that compared
  };
  struct Sum {
    std::uint32_t block = 0;
    std::size_t parts = 0;
    std::uint64_t lanes = 0, groups = 0;
    std::array<Agreed, 2> agreed;  ///< on the condition or value, and on the address
  };
  struct ShaderSum {
    std::size_t parts = 0;
    std::map<std::pair<std::uint32_t, std::uint32_t>, Sum> instructions;
  };

  bool loads_;
  std::map<std::pair<std::uint32_t, std::uint16_t>, ShaderSum> shaders_;
};

}  // namespace rayreplay::profile
