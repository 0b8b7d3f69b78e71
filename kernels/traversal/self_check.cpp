#include "kernels/traversal/self_check.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "TraversalSelfCheck.spv.hpp"
#include "base/split_mix.hpp"
#include "bvh/geometry/box_ray.hpp"

namespace rayreplay::kernels::traversal {
namespace {

struct Pair {
  double a = 0, b = 0;
};

constexpr std::size_t kWords = 8;  // as self_check.comp has it
using Answer = std::array<std::uint32_t, kWords>;

struct Push {
  std::uint32_t first_group = 0;
  std::uint32_t count = 0;
  std::uint64_t pair_at = 0, word_at = 0;
};

/// A significand between 1 and 2.
double significand(std::uint64_t bits) {
  return std::bit_cast<double>((bits >> 12U) | std::uint64_t{1023} << 52U);
}

/// Quotients of all kinds, and those as near to the middle of two doubles as quotients can be.
std::vector<Pair> cases() {
  std::vector<Pair> pairs;
  constexpr std::uint64_t kRandom = 2048;
  for (std::uint64_t i = 0; i < kRandom; ++i) {
    const std::uint64_t bits = split_mix(1, i);
    const int scale = static_cast<int>(split_mix(2, i) % 160) - 80;
    const double sign = (bits & 1U) != 0 ? -1 : 1;
    pairs.push_back({sign * std::ldexp(significand(bits), scale),
                     std::ldexp(significand(split_mix(3, i)), static_cast<int>(split_mix(4, i) % 160) - 80)});
    // (2q + ulp)·b / 2, rounded: the quotient by b is next to the middle above q.
    const double q = significand(split_mix(5, i));
    const double b = significand(split_mix(6, i));
    const double middle_low = std::ldexp(1.0, -53);
    pairs.push_back({q * b + middle_low * b, b});
    pairs.push_back({1.0, std::ldexp(significand(split_mix(7, i)), scale)});
    pairs.push_back({b * q, q});
    // Floats, as directions are.
    pairs.push_back({1.0, static_cast<double>(static_cast<float>(significand(split_mix(8, i))) * 0x1p-3F)});
  }
  for (const double a : {0.0, -0.0, 1.0, -1.0, 3.0, 1 + 0x1p-52, 2 - 0x1p-52, 0x1p-24, 1 + 0x1p-24, 1 + 3 * 0x1p-24}) {
    for (const double b : {1.0, -1.0, 3.0, 7.0, 1 + 0x1p-52, 2 - 0x1p-52, 0x1p100, -0x1p-100}) {
      pairs.push_back({a, b});
    }
  }
  return pairs;
}

bool is_denormal(float x) {
  return x != 0 && std::abs(x) < std::numeric_limits<float>::min();
}

std::uint32_t word(float x) {
  return std::bit_cast<std::uint32_t>(x);
}

/// The difference in words; empty: none.
std::string difference(const Pair& pair, const Answer& answer) {
  const auto joined = [&](std::size_t i) { return answer[i] | std::uint64_t{answer[i + 1]} << 32U; };
  const auto x = static_cast<float>(pair.a);
  const auto y = static_cast<float>(pair.b);
  if (joined(0) != std::bit_cast<std::uint64_t>(pair.a / pair.b)) {
    return "quotients of doubles are not rounded to nearest";
  }
  if (joined(2) != std::bit_cast<std::uint64_t>(pair.a * pair.b + pair.a)) {
    return "sums and products of doubles are not rounded to nearest";
  }
  const float below = bvh::detail::round_down(pair.a);
  if (!is_denormal(x) && !is_denormal(below) && (answer[4] != word(x) || answer[5] != word(below))) {
    return "doubles are not rounded to the nearest float";
  }
  const float product = x * y;
  const float rest = product - x;
  if (!is_denormal(x) && !is_denormal(y) && !is_denormal(product) && !is_denormal(rest) && answer[6] != word(rest)) {
    return "sums and products of floats are not rounded to nearest";
  }
  const float larger = x < y ? y : x;
  if (!is_denormal(x) && !is_denormal(y) && larger != 0 && answer[7] != word(larger)) {
    return "minima and maxima do not leave NaNs out";
  }
  return {};
}

}  // namespace

void require_exact_numbers(Device& device) {
  const std::vector<Pair> pairs = cases();
  std::vector<Answer> answers(pairs.size());
  const Program program = device.program({"traversal: self check", kTraversalSelfCheck, {.float64 = true}});
  const Buffer pair_buffer = device.allocate_array<Pair>(pairs.size(), "operands of the self check");
  const Buffer answer_buffer = device.allocate_array<Answer>(pairs.size(), "answers of the self check");
  {
    constexpr std::uint64_t kThreads = 64;
    Stream stream(device);
    stream.upload_array(pair_buffer, pairs);
    stream.run(program, (pairs.size() + kThreads - 1) / kThreads,
               Push{0, static_cast<std::uint32_t>(pairs.size()), pair_buffer.address(), answer_buffer.address()});
    stream.download_array(answer_buffer, answers);
    stream.wait();
  }
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const std::string different = difference(pairs[i], answers[i]);
    if (!different.empty()) {
      throw DeviceError(Fault::Unsupported, {"the device's arithmetic differs from the processor's: " + different,
                                             device.info().name, fmt::format("{:a} and {:a}", pairs[i].a, pairs[i].b),
                                             "what the processor gives", "trace on the processor: --device cpu"});
    }
  }
}

}  // namespace rayreplay::kernels::traversal
