#include "scheduler-models/regrouping/hints/tree.hpp"

#include <cmath>

namespace rayreplay::scheduler::formula {
namespace {

TreeValue evaluate_node(const Expression& expression, std::uint32_t index,
                        const std::function<double(Field)>& value_of) {
  const Node& node = expression.nodes[index];
  TreeValue result;
  if (node.operation == Operation::Number || node.operation == Operation::Field) {
    result.value = node.operation == Operation::Number ? node.number : value_of(node.field);
  } else {
    std::array<TreeValue, 3> operands{};
    for (std::size_t k = 0; k < node.operand_count; ++k) {
      if (node.operation == Operation::If && k > 0) {
        const double condition = operands[0].value;
        if (condition != condition || (condition != 0) != (k == 1)) {
          continue;  // not chosen
        }
      }
      operands[k] = evaluate_node(expression, node.operands[k], value_of);
      result.operands[k] = operands[k].value;
    }
    result.value = with_operation(node.operation, [&](auto operation) {
      return apply<operation.value>(operands[0].value, operands[1].value, operands[2].value);
    });
    if (!std::isfinite(result.value)) {
      for (const TreeValue& operand : operands) {
        if (operand.culprit != kNoNode) {
          const double value = result.value;
          result = operand;
          result.value = value;
          return result;
        }
      }
    }
  }
  if (!std::isfinite(result.value)) {
    result.culprit = index;
  }
  return result;
}

}  // namespace

TreeValue evaluate_tree(const Expression& expression, const std::function<double(Field)>& value_of) {
  return evaluate_node(expression, static_cast<std::uint32_t>(expression.nodes.size() - 1), value_of);
}

}  // namespace rayreplay::scheduler::formula
