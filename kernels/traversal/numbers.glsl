// Floating point equal to the processor's, where a device may differ.
//
// Contract: `divided` is the quotient rounded to nearest for any device division of at least 20 bits (Vulkan promises
// no more), for operands and quotients in the range of normal doubles; beyond it is the device's. std_min and std_max
// are those of C++, which keep their first operand if the second is a NaN or equal. n_min and n_max return the operand
// that is a number; of −0 and +0 either. round_down and round_up: box_ray.hpp. Vulkan requires sums, products and
// conversions to be correctly rounded; self_check.comp checks the device, denormals included.
#extension GL_EXT_spirv_intrinsics : require

spirv_instruction(set = "GLSL.std.450", id = 79) float n_min(float a, float b);
spirv_instruction(set = "GLSL.std.450", id = 80) float n_max(float a, float b);

const float kFarthest = 3.402823466e38;
#define kInfinity uintBitsToFloat(0x7F800000u)
#define kNan uintBitsToFloat(0x7FC00000u)

float std_min(float a, float b) {
  return b < a ? b : a;
}
float std_max(float a, float b) {
  return a < b ? b : a;
}

uint64_t bits_of(double x) {
  return packUint2x32(unpackDouble2x32(x));
}
double double_of(uint64_t bits) {
  return packDouble2x32(unpackUint2x32(bits));
}

// The product of two doubles between 1/2 and 2, as a sum of two (Dekker 1971).
void two_product(double a, double b, out double product, out double rest) {
  const double kSplit = 134217729.0LF;
  precise double p = a * b;
  precise double ca = kSplit * a;
  precise double cb = kSplit * b;
  precise double a_high = ca - (ca - a);
  precise double b_high = cb - (cb - b);
  precise double a_low = a - a_high;
  precise double b_low = b - b_high;
  precise double e = ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low;
  product = p;
  rest = e;
}

// a − q·b. Exact once q is within an ulp of a / b; nearly so before.
double remainder_of(double a, double b, double q) {
  double p, e;
  two_product(q, b, p, e);
  precise double r = (a - p) - e;
  return r;
}

// On significands: two corrections bring an approximate quotient (error 2^-20, then 2^-40, then rounding) to one of the
// two doubles around the true one; the exact remainder decides which is nearer. No quotient is a tie.
double divided(double a, double b) {
  const uint64_t kSign = 0x8000000000000000ul;
  const uint64_t kFraction = 0x000FFFFFFFFFFFFFul;
  const uint64_t kOne = 0x3FF0000000000000ul;
  const uint64_t a_bits = bits_of(a);
  const uint64_t b_bits = bits_of(b);
  const int a_exponent = int(uint(a_bits >> 52) & 0x7FFu);
  const int b_exponent = int(uint(b_bits >> 52) & 0x7FFu);
  const int exponent = a_exponent - b_exponent;
  if (a_exponent == 0 || a_exponent == 0x7FF || b_exponent == 0 || b_exponent == 0x7FF || abs(exponent) > 1020) {
    return a / b;
  }
  const double x = double_of((a_bits & kFraction) | kOne);
  const double y = double_of((b_bits & kFraction) | kOne);
  const double inverse = 1.0LF / y;
  precise double q = x * inverse;
  q = q + remainder_of(x, y, q) * inverse;
  q = q + remainder_of(x, y, q) * inverse;
  const double rest = remainder_of(x, y, q);
  const bool low = rest < 0.0LF;
  const uint64_t q_bits = bits_of(q);
  // Half a step to the next double on the side of the remainder; steps below a power of two are half as long.
  const bool half_step = q < 1.0LF || (low && q == 1.0LF);
  precise double half_way = y * (half_step ? 5.551115123125783e-17LF : 1.1102230246251565e-16LF);
  const uint64_t nearest = abs(rest) > half_way ? (low ? q_bits - 1ul : q_bits + 1ul) : q_bits;
  return double_of((nearest + (uint64_t(int64_t(exponent)) << 52)) | ((a_bits ^ b_bits) & kSign));
}

// The float as a double, by integers: compilers replace double(float(x)) by x, and devices flush denormals.
double widened(float x) {
  const uint bits = floatBitsToUint(x);
  const uint64_t sign = uint64_t(bits & 0x80000000u) << 32;
  const uint64_t size = uint64_t(bits & 0x7FFFFFFFu);
  const uint exponent = (bits >> 23) & 0xFFu;
  if (exponent == 0u) {
    precise double denormal = double(uint(size)) * 1.401298464324817e-45LF;  // 2^-149
    return double_of(bits_of(denormal) | sign);
  }
  return double_of(exponent == 0xFFu ? sign | 0x7FF0000000000000ul : sign | ((size << 29) + 0x3800000000000000ul));
}

float round_down(double x) {
  const float near = float(x);
  if (!(widened(near) > x)) {
    return near;
  }
  const uint bits = floatBitsToUint(near);
  return uintBitsToFloat(near > 0.0 ? bits - 1u : near == 0.0 ? 0x80000001u : bits + 1u);
}
float round_up(double x) {
  return -round_down(-x);
}
