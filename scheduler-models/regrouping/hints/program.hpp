// Programs: formulas compiled for batches of pending calls.
//
// Contract: a program is a list of instructions over registers that hold one value per call of a batch. Results equal
// `evaluate_tree` (tree.hpp) bit by bit; both branches of `if` are computed. Constants have registers of their own,
// filled once. O(nodes) to compile, O(nodes · calls) to run; a register takes kBatch · 8 bytes, and there is one for
// each field, constant, and value alive at once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scheduler-models/regrouping/hints/expression.hpp"

namespace rayreplay::scheduler::formula {

inline constexpr std::size_t kBatch = 256;

struct Instruction {
  Operation operation = Operation::Number;
  std::uint32_t to = 0;
  std::array<std::uint32_t, 3> from{};  ///< operands that it does not take: 0
};

class Program {
 public:
  explicit Program(const Expression& expression);

  [[nodiscard]] std::uint32_t registers() const {
    return registers_;
  }

  /// The registers of one worker.
  class Bench {
   public:
    explicit Bench(const Program& program);

   private:
    friend class Program;
    std::vector<double> values_;
  };

  /// Values of at most kBatch calls; valid until the next call with this bench.
  [[nodiscard]] std::span<const double> run(const FieldReader& fields, std::span<const PendingCall> calls,
                                            Bench& bench) const;

 private:
  struct Constant {
    std::uint32_t to;
    double number;
  };
  struct Load {
    std::uint32_t to;
    Field field;
  };

  std::vector<Load> loads_;
  std::vector<Constant> constants_;
  std::vector<Instruction> instructions_;
  std::uint32_t registers_ = 0;
  std::uint32_t result_ = 0;
};

}  // namespace rayreplay::scheduler::formula
