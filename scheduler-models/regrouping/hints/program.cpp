#include "scheduler-models/regrouping/hints/program.hpp"

#include <algorithm>
#include <bit>
#include <map>

namespace rayreplay::scheduler::formula {
namespace {

template <Operation kOperation>
void run_all(double* to, const double* a, const double* b, const double* c, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    to[i] = apply<kOperation>(a[i], b[i], c[i]);
  }
}

}  // namespace

Program::Program(const Expression& expression) {
  std::map<Field, std::uint32_t> field_register;
  std::map<std::uint64_t, std::uint32_t> number_register;
  for (const Node& node : expression.nodes) {
    if (node.operation == Operation::Field && field_register.emplace(node.field, registers_).second) {
      loads_.push_back({registers_++, node.field});
    } else if (node.operation == Operation::Number &&
               number_register.emplace(std::bit_cast<std::uint64_t>(node.number), registers_).second) {
      constants_.push_back({registers_++, node.number});
    }
  }
  const std::uint32_t first_free = registers_;
  std::vector<std::uint32_t> free;  // registers whose values are no longer needed
  std::vector<std::uint32_t> place(expression.nodes.size());
  for (std::size_t i = 0; i < expression.nodes.size(); ++i) {
    const Node& node = expression.nodes[i];
    if (node.operation == Operation::Field) {
      place[i] = field_register.at(node.field);
      continue;
    }
    if (node.operation == Operation::Number) {
      place[i] = number_register.at(std::bit_cast<std::uint64_t>(node.number));
      continue;
    }
    Instruction instruction{.operation = node.operation, .to = 0, .from = {}};
    for (std::size_t k = 0; k < node.operand_count; ++k) {
      instruction.from[k] = place[node.operands[k]];
      // Each value is read once: its register may be the target of the same instruction, element by element.
      if (instruction.from[k] >= first_free) {
        free.push_back(instruction.from[k]);
      }
    }
    if (free.empty()) {
      free.push_back(registers_++);
    }
    instruction.to = place[i] = free.back();
    free.pop_back();
    instructions_.push_back(instruction);
  }
  result_ = place.back();
}

Program::Bench::Bench(const Program& program) : values_(std::size_t{program.registers_} * kBatch) {
  for (const Constant& constant : program.constants_) {
    std::fill_n(values_.begin() + static_cast<std::ptrdiff_t>(std::size_t{constant.to} * kBatch), kBatch,
                constant.number);
  }
}

std::span<const double> Program::run(const FieldReader& fields, std::span<const PendingCall> calls,
                                     Bench& bench) const {
  const auto place = [&](std::uint32_t index) { return bench.values_.data() + std::size_t{index} * kBatch; };
  for (const Load& load : loads_) {
    fields.read(load.field, calls, place(load.to));
  }
  for (const Instruction& instruction : instructions_) {
    with_operation(instruction.operation, [&](auto operation) {
      run_all<operation.value>(place(instruction.to), place(instruction.from[0]), place(instruction.from[1]),
                               place(instruction.from[2]), calls.size());
    });
  }
  return {place(result_), calls.size()};
}

}  // namespace rayreplay::scheduler::formula
