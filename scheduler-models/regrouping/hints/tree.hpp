// One value of a formula, computed as it is written: slow, obvious, and able to say what went wrong.
//
// Contract: as programs (program.hpp), for one call, whose fields `value_of` gives. `culprit` is the first node,
// operands first, that made a NaN or an infinity of finite operands (a field that is not finite itself included), among
// those that the result depends on; kNoNode when the result is finite. O(nodes) time and stack.
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
