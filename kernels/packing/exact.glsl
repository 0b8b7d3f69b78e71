// Float64 arithmetic with the same results on every device.
//
// Contract: Vulkan rounds sums, differences and products correctly, but not quotients, and may flush subnormal numbers:
// `widen` is exact for every finite float, `divide` is the correctly rounded quotient for normal operands and results,
// or a dividend of 0. O(54 steps).

/// The float with these bits.
double widen(uint bits) {
  const uint exponent = bits >> 23 & 0xFFu;
  const uint fraction = bits & 0x7FFFFFu;
  precise double size = 0.0lf;
  if (exponent != 0) {
    size = packDouble2x32(uvec2(fraction << 29, (exponent + 1023 - 127) << 20 | fraction >> 3));
  } else if (fraction != 0) {
    // fraction · 2^-149
    size = double(fraction) * packDouble2x32(uvec2(0, (1023 - 149) << 20));
  }
  return (bits >> 31) != 0 ? -size : size;
}

double from_bits(uint64_t bits) {
  return packDouble2x32(unpack32(bits));
}
uint64_t to_bits(double number) {
  return pack64(unpackDouble2x32(number));
}

double divide(double dividend, double divisor) {
  const uint64_t kFraction = (1ul << 52) - 1;
  const uint64_t kSign = 1ul << 63;
  const uint64_t a = to_bits(dividend);
  const uint64_t b = to_bits(divisor);
  const uint64_t sign = (a ^ b) & kSign;
  if ((a & ~kSign) == 0) {
    return from_bits(sign);
  }
  uint64_t rest = (a & kFraction) | 1ul << 52;
  const uint64_t by = (b & kFraction) | 1ul << 52;
  uint64_t exponent = ((a & ~kSign) >> 52) - ((b & ~kSign) >> 52) + 1023;
  if (rest < by) {
    rest <<= 1;
    exponent -= 1;
  }
  // The 53 bits of the quotient, the first of which is 1, and the next bit.
  uint64_t quotient = 0;
  for (uint i = 0; i < 54; ++i) {
    quotient <<= 1;
    if (rest >= by) {
      rest -= by;
      quotient |= 1;
    }
    rest <<= 1;
  }
  // Never a tie: that quotient would have 54 bits, and times the divisor more than the dividend's 53.
  const uint64_t rounded = (quotient >> 1) + (quotient & 1);
  // The leading 1 adds itself to the exponent, as does the carry of rounding.
  return from_bits(sign | (((exponent - 1) << 52) + rounded));
}
