#include "scheduler-models/regrouping/hints/formula_hints.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <functional>

#include <fmt/format.h>
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_reduce.h>

#include "base/count_text.hpp"
#include "scheduler-models/regrouping/hints/tree.hpp"

namespace rayreplay::scheduler::formula {
namespace {

constexpr std::size_t kThreadsAPiece = 2048;

using Range = oneapi::tbb::blocked_range<std::size_t>;

struct Extent {
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();
};

void lower(std::atomic<std::uint32_t>& lowest, std::uint32_t segment) {
  std::uint32_t seen = lowest.load();
  while (segment < seen && !lowest.compare_exchange_weak(seen, segment)) {
  }
}

/// The values of one piece of the launch's threads.
class Piece {
 public:
  Piece(const FieldReader& fields, const Program& program, double limit, std::atomic<std::uint32_t>& first_bad,
        trace::Column<std::uint32_t>& value)
      : fields_(fields), program_(program), limit_(limit), first_bad_(first_bad), value_(value), bench_(program) {
    calls_.reserve(kBatch);
  }

  Extent run(const Range& threads) {
    const Segments& segments = fields_.segments();
    if (segments.first[threads.begin()] > first_bad_.load()) {
      return {};  // only values before the lowest bad one matter now
    }
    std::fill(value_.begin() + segments.first[threads.begin()], value_.begin() + segments.first[threads.end()], 0U);
    for_each_pending(fields_.launch(), segments, threads.begin(), threads.end(), [&](const PendingCall& call) {
      calls_.push_back(call);
      if (calls_.size() == kBatch) {
        flush();
      }
    });
    flush();
    return extent_;
  }

 private:
  void flush() {
    const std::span<const double> values = program_.run(fields_, calls_, bench_);
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      const double value = values[i];
      if (!(value > -1.0 && value < limit_)) {
        lower(first_bad_, calls_[i].segment);
        continue;
      }
      value_[calls_[i].segment] = static_cast<std::uint32_t>(whole(value));
      extent_.least = std::min(extent_.least, value);
      extent_.most = std::max(extent_.most, value);
    }
    calls_.clear();
  }

  const FieldReader& fields_;
  const Program& program_;
  double limit_;
  std::atomic<std::uint32_t>& first_bad_;
  trace::Column<std::uint32_t>& value_;
  Program::Bench bench_;
  std::vector<PendingCall> calls_;
  Extent extent_;
};

double limit_of(std::uint32_t bits) {
  return static_cast<double>(std::uint64_t{1} << bits);
}

PendingCall pending_call_of(const FieldReader& fields, std::uint32_t segment) {
  const auto& first = fields.segments().first;
  const auto thread =
      static_cast<std::size_t>(std::upper_bound(first.begin(), first.end(), segment) - first.begin() - 1);
  PendingCall found;
  for_each_pending(fields.launch(), fields.segments(), thread, thread + 1, [&](const PendingCall& call) {
    if (call.segment == segment) {
      found = call;
    }
  });
  return found;
}

/// The failing operation with its operands: "log2(0)", "-1 << 3".
std::string show(const Node& node, const std::array<double, 3>& operands) {
  const std::string name = name_of(node);
  if (node.operation == Operation::Field || node.operation == Operation::Number) {
    return name;
  }
  if (node.operation == Operation::Negate || node.operation == Operation::Not) {
    return fmt::format("{}{}", name, operands[0]);
  }
  if (std::isalpha(static_cast<unsigned char>(name.front())) == 0) {
    return fmt::format("{} {} {}", operands[0], name, operands[1]);
  }
  std::string arguments;
  for (std::size_t k = 0; k < node.operand_count; ++k) {
    arguments += fmt::format("{}{}", k == 0 ? "" : ", ", operands[k]);
  }
  return fmt::format("{}({})", name, arguments);
}

const char* rule_of(Operation operation) {
  switch (operation) {
    case Operation::Field:
      return "a finite number in the trace";
    case Operation::Divide:
    case Operation::Remainder:
      return "a divisor that is not 0";
    case Operation::SquareRoot:
      return "a number of at least 0";
    case Operation::Log2:
      return "a number above 0";
    case Operation::Clamp:
      return "a lower bound that is not above the upper one";
    case Operation::Bits:
      return "a value from 0 to 2^53 - 1, and 52 >= high >= low >= 0";
    case Operation::ShiftLeft:
    case Operation::ShiftRight:
      return "a value from 0 to 2^53 - 1, shifted by 0 to 63 places, and a result below 2^53";
    case Operation::BitAnd:
    case Operation::BitOr:
    case Operation::BitXor:
      return "values from 0 to 2^53 - 1";
    default:
      return "a finite result";
  }
}

}  // namespace

FormulaHints hints_of(const FieldReader& fields, const Expression& expression, std::uint32_t bits) {
  const Program program(expression);
  FormulaHints result;
  result.value.resize(fields.segments().size());
  std::atomic<std::uint32_t> first_bad{kNoSegment};
  const Extent extent = oneapi::tbb::parallel_reduce(
      Range(0, fields.launch().data.threads(), kThreadsAPiece), Extent{},
      [&](const Range& range, Extent sum) {
        const Extent more = Piece(fields, program, limit_of(bits), first_bad, result.value).run(range);
        return Extent{std::min(sum.least, more.least), std::max(sum.most, more.most)};
      },
      [](const Extent& a, const Extent& b) {
        return Extent{std::min(a.least, b.least), std::max(a.most, b.most)};
      });
  result.first_bad = first_bad.load();
  if (extent.least <= extent.most && result.first_bad == kNoSegment) {
    result.least = static_cast<std::uint32_t>(whole(extent.least));
    result.most = static_cast<std::uint32_t>(whole(extent.most));
  }
  return result;
}

void refuse(const FieldReader& fields, const Expression& expression, std::uint32_t bits, std::uint32_t segment,
            const std::string& owner) {
  const PendingCall call = pending_call_of(fields, segment);
  const TreeValue result = evaluate_tree(expression, [&](Field field) {
    double value = 0;
    fields.read(field, {&call, 1}, &value);
    return value;
  });
  const std::string whose =
      fmt::format("thread {}, ray {}", call.thread, call.ray - fields.launch().data.ray_offset[call.thread]);
  if (result.culprit != kNoNode) {
    const Node& node = expression.nodes[result.culprit];
    throw Error(
        ErrorKind::Input,
        {fmt::format("the formula gives no number for {}", whose), point_at(expression.text, node.column, owner),
         fmt::format("{} is {}", show(node, result.operands), std::isnan(result.value) ? "not a number" : "infinite"),
         rule_of(node.operation), "keep such values out, as in if(miss, 0, …) or max(…, 1)"});
  }
  const double largest = limit_of(bits) - 1;
  std::string fix = fmt::format("wrap it, ({}) % {}, or clamp it, clamp({}, 0, {})", expression.text, limit_of(bits),
                                expression.text, largest);
  const FormulaHints wide = hints_of(fields, expression, kMaxHintBits);
  if (wide.first_bad == kNoSegment) {
    fix = fmt::format("take {} bits, or {}", std::bit_width(wide.most), fix);
  }
  throw Error(ErrorKind::Input, {"the hint does not fit " + counted(bits, "bit"), fmt::format("{}, {}", owner, whose),
                                 fmt::format("{}", result.value), fmt::format("0 to {}", largest), fix});
}

}  // namespace rayreplay::scheduler::formula
