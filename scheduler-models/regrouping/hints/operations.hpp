// The operators and functions of formulas, one value at a time.
//
// Contract: values are IEEE doubles and do not depend on the machine: sums, differences, products, quotients and square
// roots are correctly rounded, the rest is exact (no mathematics library, whose last digits differ). Truth is 1 or 0;
// any value but 0 is true. A NaN operand makes the result NaN, also in comparisons; only the branch that `if` does not
// choose is ignored. Bit operations truncate their operands toward zero and give NaN where an operand or the result is
// negative or 2^53 or more. docs/hints.md lists all for users.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/split_mix.hpp"

namespace rayreplay::scheduler::formula {

enum class Operation : std::uint8_t {
  Number,
  Field,
  Negate,
  Not,
  Multiply,
  Divide,
  Remainder,
  Add,
  Subtract,
  ShiftLeft,
  ShiftRight,
  BitAnd,
  BitXor,
  BitOr,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  Equal,
  NotEqual,
  And,
  Or,
  If,
  Minimum,
  Maximum,
  Absolute,
  Floor,
  SquareRoot,
  Log2,
  Clamp,
  Bits,
  Hash,
  HashMore,  ///< hash of a hash and one more value: hash(a, b) is HashMore(Hash(a), b)
};

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kTwo53 = 9007199254740992.0;

/// A valid operand of bit operations: after truncation from 0 to 2^53 − 1.
[[nodiscard]] inline bool is_whole_operand(double x) {
  return x > -1.0 && x < kTwo53;
}
[[nodiscard]] inline std::uint64_t whole(double x) {
  return static_cast<std::uint64_t>(x > 0 ? x : 0.0);
}

[[nodiscard]] inline double truth(bool value) {
  return value ? 1.0 : 0.0;
}
[[nodiscard]] inline bool either_nan(double a, double b) {
  return a != a || b != b;
}

/// In [0, b) for b > 0 and (b, 0] for b < 0.
[[nodiscard]] inline double remainder(double a, double b) {
  if (a >= 0 && b > 0 && a < kTwo53 && b < kTwo53) {
    const auto dividend = static_cast<std::uint64_t>(a);
    const auto divisor = static_cast<std::uint64_t>(b);
    if (static_cast<double>(dividend) == a && static_cast<double>(divisor) == b) {
      return static_cast<double>(dividend % divisor);
    }
  }
  if (!std::isfinite(a) || !std::isfinite(b) || b == 0) {
    return kNaN;
  }
  const double rest = std::fmod(a, b);  // exact
  if (rest == 0 || (rest < 0) == (b < 0)) {
    return rest;
  }
  const double sum = rest + b;
  return sum == b ? std::nextafter(b, 0.0) : sum;  // rounding could leave the range
}

[[nodiscard]] inline double shift_left(double a, double b) {
  if (!is_whole_operand(a) || !is_whole_operand(b) || b >= 64) {
    return kNaN;
  }
  const auto power = std::bit_cast<double>((1023 + whole(b)) << 52U);  // 2^b
  const double result = static_cast<double>(whole(a)) * power;
  return result < kTwo53 ? result : kNaN;
}
[[nodiscard]] inline double shift_right(double a, double b) {
  return is_whole_operand(a) && is_whole_operand(b) && b < 64 ? static_cast<double>(whole(a) >> whole(b)) : kNaN;
}

template <class Combine>
[[nodiscard]] double combine_bits(double a, double b, Combine combine) {
  return is_whole_operand(a) && is_whole_operand(b) ? static_cast<double>(combine(whole(a), whole(b))) : kNaN;
}

[[nodiscard]] inline double minimum(double a, double b) {
  return either_nan(a, b) ? kNaN : (b < a ? b : a);
}
[[nodiscard]] inline double maximum(double a, double b) {
  return either_nan(a, b) ? kNaN : (b > a ? b : a);
}
[[nodiscard]] inline double clamp(double a, double low, double high) {
  return low <= high ? minimum(maximum(a, low), high) : kNaN;
}

/// The exponent: the largest whole n with 2^n ≤ a.
[[nodiscard]] inline double floor_log2(double a) {
  if (!(a > 0)) {
    return kNaN;
  }
  return std::isinf(a) ? a : static_cast<double>(std::ilogb(a));
}

/// Bits high … low of a, both included.
[[nodiscard]] inline double take_bits(double a, double high, double low) {
  if (!is_whole_operand(a) || !(low > -1 && high >= low && high < 53)) {
    return kNaN;
  }
  const std::uint64_t count = whole(high) - whole(low) + 1;
  return static_cast<double>((whole(a) >> whole(low)) & ((std::uint64_t{1} << count) - 1));
}

/// A hash of 32 bits.
[[nodiscard]] inline double hash(double a) {
  return a != a ? kNaN
                : static_cast<double>(split_mix_finish(std::bit_cast<std::uint64_t>(a + 0.0) + kSplitMixGamma) >> 32U);
}
[[nodiscard]] inline double hash_more(double hashed, double b) {
  return either_nan(hashed, b)
             ? kNaN
             : static_cast<double>(split_mix_finish(std::bit_cast<std::uint64_t>(b + 0.0) +
                                                    (static_cast<std::uint64_t>(hashed) + 2) * kSplitMixGamma) >>
                                   32U);
}

/// All operations but Number and Field, whose values the caller has. Surplus operands are ignored.
template <Operation kOperation>
[[nodiscard]] inline double apply(double a, [[maybe_unused]] double b, [[maybe_unused]] double c) {
  using enum Operation;
  if constexpr (kOperation == Negate) {
    return -a;
  } else if constexpr (kOperation == Not) {
    return a != a ? kNaN : truth(a == 0);
  } else if constexpr (kOperation == Multiply) {
    return a * b;
  } else if constexpr (kOperation == Divide) {
    return a / b;
  } else if constexpr (kOperation == Remainder) {
    return remainder(a, b);
  } else if constexpr (kOperation == Add) {
    return a + b;
  } else if constexpr (kOperation == Subtract) {
    return a - b;
  } else if constexpr (kOperation == ShiftLeft) {
    return shift_left(a, b);
  } else if constexpr (kOperation == ShiftRight) {
    return shift_right(a, b);
  } else if constexpr (kOperation == BitAnd) {
    return combine_bits(a, b, [](std::uint64_t x, std::uint64_t y) { return x & y; });
  } else if constexpr (kOperation == BitXor) {
    return combine_bits(a, b, [](std::uint64_t x, std::uint64_t y) { return x ^ y; });
  } else if constexpr (kOperation == BitOr) {
    return combine_bits(a, b, [](std::uint64_t x, std::uint64_t y) { return x | y; });
  } else if constexpr (kOperation == Less) {
    return either_nan(a, b) ? kNaN : truth(a < b);
  } else if constexpr (kOperation == LessEqual) {
    return either_nan(a, b) ? kNaN : truth(a <= b);
  } else if constexpr (kOperation == Greater) {
    return either_nan(a, b) ? kNaN : truth(a > b);
  } else if constexpr (kOperation == GreaterEqual) {
    return either_nan(a, b) ? kNaN : truth(a >= b);
  } else if constexpr (kOperation == Equal) {
    return either_nan(a, b) ? kNaN : truth(a == b);
  } else if constexpr (kOperation == NotEqual) {
    return either_nan(a, b) ? kNaN : truth(a != b);
  } else if constexpr (kOperation == And) {
    return either_nan(a, b) ? kNaN : truth(a != 0 && b != 0);
  } else if constexpr (kOperation == Or) {
    return either_nan(a, b) ? kNaN : truth(a != 0 || b != 0);
  } else if constexpr (kOperation == If) {
    return a != a ? kNaN : (a != 0 ? b : c);
  } else if constexpr (kOperation == Minimum) {
    return minimum(a, b);
  } else if constexpr (kOperation == Maximum) {
    return maximum(a, b);
  } else if constexpr (kOperation == Absolute) {
    return std::fabs(a);
  } else if constexpr (kOperation == Floor) {
    return std::floor(a);
  } else if constexpr (kOperation == SquareRoot) {
    return std::sqrt(a);
  } else if constexpr (kOperation == Log2) {
    return floor_log2(a);
  } else if constexpr (kOperation == Clamp) {
    return clamp(a, b, c);
  } else if constexpr (kOperation == Bits) {
    return take_bits(a, b, c);
  } else if constexpr (kOperation == Hash) {
    return hash(a);
  } else {
    static_assert(kOperation == HashMore);
    return hash_more(a, b);
  }
}

/// Calls `visit` with the operation as a constant. Number and Field are not visited.
template <class Visit>
decltype(auto) with_operation(Operation operation, const Visit& visit) {
  using enum Operation;
  switch (operation) {
#define RAYREPLAY_CASE(name) \
  case name:                 \
    return visit(std::integral_constant<Operation, name>{})
    RAYREPLAY_CASE(Negate);
    RAYREPLAY_CASE(Not);
    RAYREPLAY_CASE(Multiply);
    RAYREPLAY_CASE(Divide);
    RAYREPLAY_CASE(Remainder);
    RAYREPLAY_CASE(Add);
    RAYREPLAY_CASE(Subtract);
    RAYREPLAY_CASE(ShiftLeft);
    RAYREPLAY_CASE(ShiftRight);
    RAYREPLAY_CASE(BitAnd);
    RAYREPLAY_CASE(BitXor);
    RAYREPLAY_CASE(BitOr);
    RAYREPLAY_CASE(Less);
    RAYREPLAY_CASE(LessEqual);
    RAYREPLAY_CASE(Greater);
    RAYREPLAY_CASE(GreaterEqual);
    RAYREPLAY_CASE(Equal);
    RAYREPLAY_CASE(NotEqual);
    RAYREPLAY_CASE(And);
    RAYREPLAY_CASE(Or);
    RAYREPLAY_CASE(If);
    RAYREPLAY_CASE(Minimum);
    RAYREPLAY_CASE(Maximum);
    RAYREPLAY_CASE(Absolute);
    RAYREPLAY_CASE(Floor);
    RAYREPLAY_CASE(SquareRoot);
    RAYREPLAY_CASE(Log2);
    RAYREPLAY_CASE(Clamp);
    RAYREPLAY_CASE(Bits);
    RAYREPLAY_CASE(Hash);
    default:
      RAYREPLAY_CASE(HashMore);
#undef RAYREPLAY_CASE
  }
}

}  // namespace rayreplay::scheduler::formula
