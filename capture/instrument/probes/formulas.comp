// Operations of hint formulas (docs/hints.md), for hints that the capture layer puts into an application's reorder
// calls. Linked like the probes of events.comp.
//
// scheduler-models/regrouping/hints/operations.hpp defines the functions, by the same names. The bits of a value tell a
// NaN, because drivers may assume that there are none. Quotients and square roots are as exact as the device computes
// them.
#version 460
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_ARB_gpu_shader_int64 : require

layout(local_size_x = 1) in;

const uint64_t kExponentBits = 0x7FF0000000000000UL;
const uint64_t kMantissaBits = 0x000FFFFFFFFFFFFFUL;
const uint64_t kSignBit = 0x8000000000000000UL;
const uint64_t kOneBit = 1UL;
const double kTwo53 = 9007199254740992.0LF;

double not_a_number() {
  return uint64BitsToDouble(0x7FF8000000000000UL);
}

uint64_t magnitude_bits(const double a) {
  return doubleBitsToUint64(a) & ~kSignBit;
}
bool is_nan(const double a) {
  return magnitude_bits(a) > kExponentBits;
}
bool is_finite(const double a) {
  return magnitude_bits(a) < kExponentBits;
}
bool either_nan(const double a, const double b) {
  return is_nan(a) || is_nan(b);
}
double truth(const bool value) {
  return value ? 1.0LF : 0.0LF;
}
bool is_whole_operand(const double x) {
  return !is_nan(x) && x > -1.0LF && x < kTwo53;
}
bool are_whole(const double a, const double b) {
  return is_whole_operand(a) && is_whole_operand(b);
}
uint64_t whole(const double x) {
  return x > 0.0LF ? uint64_t(x) : 0UL;
}

double rr_negate(const double a) {
  return uint64BitsToDouble(doubleBitsToUint64(a) ^ kSignBit);
}
double rr_not(const double a) {
  return is_nan(a) ? not_a_number() : truth(a == 0.0LF);
}
double rr_multiply(const double a, const double b) {
  precise double result = a * b;
  return result;
}
// Compilers divide by multiplying with a reciprocal, so that 0 and infinities are told apart here.
double rr_divide(const double a, const double b) {
  uint64_t sign = (doubleBitsToUint64(a) ^ doubleBitsToUint64(b)) & kSignBit;
  uint64_t above = magnitude_bits(a);
  uint64_t below = magnitude_bits(b);
  precise double quotient = a / b;
  double result = quotient;
  if (above > kExponentBits || below > kExponentBits || (above == below && (below == 0UL || below == kExponentBits))) {
    result = not_a_number();
  } else if (below == 0UL || above == kExponentBits) {
    result = uint64BitsToDouble(sign | kExponentBits);
  } else if (above == 0UL || below == kExponentBits) {
    result = uint64BitsToDouble(sign);
  }
  return result;
}
double rr_add(const double a, const double b) {
  precise double result = a + b;
  return result;
}
double rr_subtract(const double a, const double b) {
  precise double result = a - b;
  return result;
}

// Remainder of a division of magnitudes, by shifts and subtractions of their mantissas: exact. Finite values, b not 0.
uint64_t rest_of(const uint64_t a, const uint64_t b) {
  uint64_t result = a;
  if (a >= b) {
    // Subnormal numbers have the exponent of the smallest others, without the leading one.
    int exponent = max(int(a >> 52), 1);
    int last_exponent = max(int(b >> 52), 1);
    uint64_t rest = (a & kMantissaBits) | (a > kMantissaBits ? kOneBit << 52 : 0UL);
    uint64_t divisor = (b & kMantissaBits) | (b > kMantissaBits ? kOneBit << 52 : 0UL);
    // A rest has at most 53 bits, which leaves room for eleven more places at a time.
    while (exponent > last_exponent) {
      rest = rest % divisor;
      int places = min(exponent - last_exponent, 11);
      rest = rest << places;
      exponent -= places;
    }
    rest = rest % divisor;
    // Back to a leading one, or to a subnormal number.
    while (rest != 0UL && rest < (kOneBit << 52) && exponent > 1) {
      rest = rest << 1;
      exponent -= 1;
    }
    result = rest < (kOneBit << 52) ? rest : (rest & kMantissaBits) | (uint64_t(exponent) << 52);
  }
  return result;
}

// The neighbour of a finite value that is not 0, in the direction of 0.
double toward_zero(const double a) {
  return uint64BitsToDouble(doubleBitsToUint64(a) - 1UL);
}

double rr_remainder(const double a, const double b) {
  double result = not_a_number();
  if (is_finite(a) && is_finite(b) && magnitude_bits(b) != 0UL) {
    uint64_t sign = doubleBitsToUint64(a) & kSignBit;
    double rest = uint64BitsToDouble(rest_of(magnitude_bits(a), magnitude_bits(b)) | sign);
    if (magnitude_bits(rest) == 0UL || sign == (doubleBitsToUint64(b) & kSignBit)) {
      result = rest;
    } else {
      result = rr_add(rest, b);
      result = result == b ? toward_zero(b) : result;
    }
  }
  return result;
}

double rr_shift_left(const double a, const double b) {
  double result = not_a_number();
  if (are_whole(a, b) && b < 64.0LF) {
    double shifted = double(whole(a)) * uint64BitsToDouble((1023UL + whole(b)) << 52);
    result = shifted < kTwo53 ? shifted : result;
  }
  return result;
}
double rr_shift_right(const double a, const double b) {
  return are_whole(a, b) && b < 64.0LF ? double(whole(a) >> whole(b)) : not_a_number();
}
double rr_bit_and(const double a, const double b) {
  return are_whole(a, b) ? double(whole(a) & whole(b)) : not_a_number();
}
double rr_bit_xor(const double a, const double b) {
  return are_whole(a, b) ? double(whole(a) ^ whole(b)) : not_a_number();
}
double rr_bit_or(const double a, const double b) {
  return are_whole(a, b) ? double(whole(a) | whole(b)) : not_a_number();
}

double rr_less(const double a, const double b) {
  return either_nan(a, b) ? not_a_number() : truth(a < b);
}
double rr_less_equal(const double a, const double b) {
  return either_nan(a, b) ? not_a_number() : truth(a <= b);
}
double rr_greater(const double a, const double b) {
  return either_nan(a, b) ? not_a_number() : truth(a > b);
}
double rr_greater_equal(const double a, const double b) {
  return either_nan(a, b) ? not_a_number() : truth(a >= b);
}
double rr_equal(const double a, const double b) {
  return either_nan(a, b) ? not_a_number() : truth(a == b);
}
double rr_not_equal(const double a, const double b) {
  return either_nan(a, b) ? not_a_number() : truth(a != b);
}
double rr_and(const double a, const double b) {
  return either_nan(a, b) ? not_a_number() : truth(a != 0.0LF && b != 0.0LF);
}
double rr_or(const double a, const double b) {
  return either_nan(a, b) ? not_a_number() : truth(a != 0.0LF || b != 0.0LF);
}
double rr_if(const double a, const double b, const double c) {
  return is_nan(a) ? a : (a != 0.0LF ? b : c);
}

double rr_minimum(const double a, const double b) {
  return either_nan(a, b) ? not_a_number() : (b < a ? b : a);
}
double rr_maximum(const double a, const double b) {
  return either_nan(a, b) ? not_a_number() : (b > a ? b : a);
}
double rr_clamp(const double a, const double low, const double high) {
  return !either_nan(low, high) && low <= high ? rr_minimum(rr_maximum(a, low), high) : not_a_number();
}
double rr_absolute(const double a) {
  return uint64BitsToDouble(magnitude_bits(a));
}
double rr_floor(const double a) {
  return is_nan(a) ? a : floor(a);
}
double rr_square_root(const double a) {
  return is_nan(a) || a < 0.0LF ? not_a_number() : sqrt(a);
}

uint highest_bit(const uint64_t value) {
  uint high = uint(value >> 32);
  return high != 0u ? 32u + uint(findMSB(high)) : uint(findMSB(uint(value)));
}

double rr_floor_log2(const double a) {
  double result = not_a_number();
  uint64_t bits = doubleBitsToUint64(a);
  if (bits == kExponentBits) {
    result = a;
  } else if (bits != 0UL && bits < kExponentBits) {
    int exponent = int(bits >> 52);
    result = double(exponent != 0 ? exponent - 1023 : int(highest_bit(bits)) - 1074);
  }
  return result;
}

double rr_take_bits(const double a, const double high, const double low) {
  double result = not_a_number();
  if (is_whole_operand(a) && !either_nan(high, low) && low > -1.0LF && high >= low && high < 53.0LF) {
    uint64_t count = whole(high) - whole(low) + 1UL;
    result = double((whole(a) >> whole(low)) & ((kOneBit << count) - 1UL));
  }
  return result;
}

// SplitMix64 (Steele, Lea and Flood 2014), as in base/split_mix.hpp.
const uint64_t kGamma = 0x9E3779B97F4A7C15UL;

uint64_t mixed(const uint64_t state) {
  uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9UL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBUL;
  return z ^ (z >> 31);
}
uint64_t bits_without_negative_zero(const double a) {
  return magnitude_bits(a) == 0UL ? 0UL : doubleBitsToUint64(a);
}
double rr_hash(const double a) {
  return is_nan(a) ? a : double(mixed(bits_without_negative_zero(a) + kGamma) >> 32);
}
double rr_hash_more(const double hashed, const double b) {
  return either_nan(hashed, b)
             ? not_a_number()
             : double(mixed(bits_without_negative_zero(b) + (whole(hashed) + 2UL) * kGamma) >> 32);
}

// The hint of a formula's value. Values that a replay refuses have one here, because a reorder call only sorts by it:
// NaN and negative values count as 0, values that are too large as the largest.
uint rr_hint(const double value, const uint most) {
  uint result = 0u;
  if (!is_nan(value) && value > 0.0LF) {
    result = value < double(most) ? uint(value) : most;
  }
  return result;
}

layout(set = 0, binding = 0) buffer Sink {
  double of;
  uint hint;
} sink;

void main() {
  double a = sink.of;
  double s = rr_negate(a) + rr_not(a) + rr_multiply(a, a) + rr_divide(a, a) + rr_remainder(a, a) + rr_add(a, a) +
             rr_subtract(a, a) + rr_shift_left(a, a) + rr_shift_right(a, a) + rr_bit_and(a, a) + rr_bit_xor(a, a) +
             rr_bit_or(a, a) + rr_less(a, a) + rr_less_equal(a, a) + rr_greater(a, a) + rr_greater_equal(a, a) +
             rr_equal(a, a) + rr_not_equal(a, a) + rr_and(a, a) + rr_or(a, a) + rr_if(a, a, a) + rr_minimum(a, a) +
             rr_maximum(a, a) + rr_absolute(a) + rr_floor(a) + rr_square_root(a) + rr_floor_log2(a) +
             rr_clamp(a, a, a) + rr_take_bits(a, a, a) + rr_hash(a) + rr_hash_more(a, a);
  sink.hint = rr_hint(s, 255u);
}
