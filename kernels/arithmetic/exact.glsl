// Division, square root and conversions of doubles as IEEE 754 rounds them: to nearest, ties to even.
//
// Contract: equal bit for bit to a processor's, for every operand; a NaN is some NaN. Vulkan leaves the error of
// division and square root, and the direction of conversions, open: the device's result is only a guess, corrected in
// integers. The guess must be good to about 2^-50, and +, −, × and comparisons exact; arithmetic_check.hpp checks each
// device once. About 40 integer operations each. Needs float64 and common.glsl.

const uint64_t kExactSign = 1ul << 63;
const uint64_t kExactHidden = 1ul << 52;
const uint64_t kExactInfinity = 0x7FFul << 52;
const uint64_t kExactNan = 0xFFFul << 51;

int exact_top_bit(uint64_t value) {
  const uint high = uint(value >> 32);
  return high != 0u ? 32 + findMSB(high) : findMSB(uint(value));
}

// A magnitude that is neither 0 nor infinite: its value is mantissa · 2^(exponent − 1075), 2^52 ≤ mantissa < 2^53.
uint64_t exact_mantissa(uint64_t magnitude, out int exponent) {
  exponent = int(magnitude >> 52);
  uint64_t mantissa = magnitude & (kExactHidden - 1ul);
  if (exponent == 0) {
    const int shift = 52 - exact_top_bit(mantissa);
    exponent = 1 - shift;
    return mantissa << shift;
  }
  return mantissa | kExactHidden;
}

// `guess` in [0.5, 2], times 2^54.
uint64_t exact_guess(double guess) {
  const uint64_t bits = doubleBitsToUint64(guess);
  return ((bits & (kExactHidden - 1ul)) | kExactHidden) << (int(bits >> 52) - 1021);
}

// The double nearest to (quotient + something below 1, not 0 if `rest`) · 2^(exponent − 1075 − shift), for a quotient of
// 53 + shift bits; a result below the normal ones is rounded once, too.
uint64_t exact_round(uint64_t quotient, bool rest, int exponent, int shift) {
  if (exponent < 1) {
    shift = min(shift + 1 - exponent, 60);
    exponent = 1;
  }
  uint64_t mantissa = quotient >> shift;
  const bool half_bit = ((quotient >> (shift - 1)) & 1ul) != 0ul;
  const bool below = rest || (quotient & ((1ul << (shift - 1)) - 1ul)) != 0ul;
  mantissa += half_bit && (below || (mantissa & 1ul) != 0ul) ? 1ul : 0ul;
  // The hidden bit adds one to the exponent, and so does a carry out of the mantissa.
  return exponent >= 0x7FF ? kExactInfinity : min((uint64_t(exponent - 1) << 52) + mantissa, kExactInfinity);
}

double exact_divide(double a, double b) {
  const uint64_t a_bits = doubleBitsToUint64(a) & ~kExactSign;
  const uint64_t b_bits = doubleBitsToUint64(b) & ~kExactSign;
  const uint64_t sign = (doubleBitsToUint64(a) ^ doubleBitsToUint64(b)) & kExactSign;
  if (a_bits >= kExactInfinity || b_bits >= kExactInfinity || a_bits == 0ul || b_bits == 0ul) {
    uint64_t special = 0ul;
    if (a_bits > kExactInfinity || b_bits > kExactInfinity || a_bits == b_bits) {
      special = kExactNan;
    } else if (a_bits == kExactInfinity || b_bits == 0ul) {
      special = kExactInfinity;
    }
    return uint64BitsToDouble(sign | special);
  }
  int a_exponent;
  int b_exponent;
  const uint64_t dividend = exact_mantissa(a_bits, a_exponent);
  const uint64_t divisor = exact_mantissa(b_bits, b_exponent);
  const uint64_t one = 1023ul << 52;
  const uint64_t low = kExactHidden - 1ul;
  const double guess = uint64BitsToDouble(one | (dividend & low)) / uint64BitsToDouble(one | (divisor & low));
  uint64_t quotient = exact_guess(guess);
  // Both products modulo 2^64: their difference is far smaller, and thus exact.
  int64_t rest = int64_t((dividend << 54) - quotient * divisor);
  for (int i = 0; i < 64 && rest < 0l; ++i) {
    --quotient;
    rest += int64_t(divisor);
  }
  for (int i = 0; i < 64 && rest >= int64_t(divisor); ++i) {
    ++quotient;
    rest -= int64_t(divisor);
  }
  const int wide = quotient >= (1ul << 54) ? 1 : 0;
  return uint64BitsToDouble(sign | exact_round(quotient, rest != 0l, a_exponent - b_exponent + 1022 + wide, 1 + wide));
}

double exact_sqrt(double a) {
  const uint64_t bits = doubleBitsToUint64(a);
  if (bits == 0ul || bits == kExactSign || bits == kExactInfinity) {
    return a;
  }
  if (bits > kExactInfinity) {
    return uint64BitsToDouble(kExactNan);
  }
  int exponent;
  const uint64_t mantissa = exact_mantissa(bits, exponent);
  // a = mantissa · 2^shift · 2^(exponent − 1075 − shift), the latter exponent even; the root has 54 bits.
  const int odd = (exponent & 1) != 0 ? 0 : 1;
  const int shift = 54 + odd;
  const uint64_t scaled = (uint64_t(1023 + odd) << 52) | (mantissa & (kExactHidden - 1ul));
  uint64_t root = exact_guess(sqrt(uint64BitsToDouble(scaled))) >> 1;
  int64_t rest = int64_t((mantissa << shift) - root * root);
  for (int i = 0; i < 64 && rest < 0l; ++i) {
    --root;
    rest += int64_t(2ul * root + 1ul);
  }
  for (int i = 0; i < 64 && rest > int64_t(2ul * root); ++i) {
    rest -= int64_t(2ul * root + 1ul);
    ++root;
  }
  return uint64BitsToDouble(exact_round(root, rest != 0l, (exponent - 1075 - shift) / 2 + 1076, 1));
}

// The bits of a float as a double, subnormal ones included.
double exact_from_float(uint bits) {
  const uint64_t sign = uint64_t(bits & 0x80000000u) << 32;
  const uint magnitude = bits & 0x7FFFFFFFu;
  if (magnitude >= 0x7F800000u) {
    return uint64BitsToDouble(sign | kExactInfinity | (uint64_t(magnitude & 0x7FFFFFu) << 29));
  }
  if (magnitude >= 0x00800000u) {
    return uint64BitsToDouble(sign | ((uint64_t(magnitude) << 29) + (896ul << 52)));
  }
  if (magnitude == 0u) {
    return uint64BitsToDouble(sign);
  }
  const int top = findMSB(magnitude);
  const uint64_t fraction = (uint64_t(magnitude) << (52 - top)) & (kExactHidden - 1ul);
  return uint64BitsToDouble(sign | (uint64_t(top + 874) << 52) | fraction);
}

// The bits of the float nearest to a double.
uint exact_to_float(double value) {
  const uint64_t bits = doubleBitsToUint64(value);
  const uint sign = uint(bits >> 32) & 0x80000000u;
  const uint64_t magnitude = bits & ~kExactSign;
  if (magnitude > kExactInfinity) {
    return 0x7FC00000u;
  }
  const int exponent = int(magnitude >> 52) - 896;
  if (exponent >= 255) {
    return sign | 0x7F800000u;
  }
  uint64_t mantissa = (magnitude & (kExactHidden - 1ul)) | kExactHidden;
  const int shift = min(29 + max(1 - exponent, 0), 60);
  const uint64_t half_bit = 1ul << (shift - 1);
  const uint64_t below = mantissa & ((half_bit << 1) - 1ul);
  mantissa >>= shift;
  mantissa += below > half_bit || (below == half_bit && (mantissa & 1ul) != 0ul) ? 1ul : 0ul;
  return sign | ((uint(max(exponent, 1) - 1) << 23) + uint(mantissa));
}
