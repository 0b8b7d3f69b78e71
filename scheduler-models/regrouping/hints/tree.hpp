// One value of a formula by direct evaluation: the reference implementation, which also finds the failing operation.
//
// Contract: as programs (program.hpp), for one call, whose fields `value_of` gives. `culprit` is the first node,
// operands first, that the result depends on and that made a NaN or infinity from finite operands (or a field that is
// not finite); kNoNode for a finite result. O(nodes) time and stack.
#pragma once

#include <cstdint>
#include <functional>

#include "scheduler-models/regrouping/hints/expression.hpp"

namespace rayreplay::scheduler::formula {

inline constexpr std::uint32_t kNoNode = 0xFFFF'FFFFU;

struct TreeValue {
  double value = 0;
  std::uint32_t culprit = kNoNode;
  std::array<double, 3> operands{};  ///< of the culprit
};

[[nodiscard]] TreeValue evaluate_tree(const Expression& expression, const std::function<double(Field)>& value_of);

}  // namespace rayreplay::scheduler::formula
