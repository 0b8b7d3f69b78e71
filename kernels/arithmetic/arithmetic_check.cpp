#include "kernels/arithmetic/arithmetic_check.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <string>

#include <fmt/format.h>

#include "ArithmeticCheck.spv.hpp"
#include "base/split_mix.hpp"

namespace rayreplay::kernels {
namespace {

constexpr std::size_t kRandomCases = 4096;
constexpr std::size_t kResults = 9;
constexpr std::uint32_t kGroup = 64;
constexpr std::uint64_t kFraction = (std::uint64_t{1} << 52U) - 1;

struct Push {
  std::uint32_t first_group = 0;
  std::uint32_t count = 0;
  std::uint64_t operands = 0;
  std::uint64_t results = 0;
};

std::uint64_t bits(double value) {
  return std::bit_cast<std::uint64_t>(value);
}

std::uint64_t next(std::uint64_t& state) {
  return split_mix_finish(state += kSplitMixGamma);
}

struct Operation {
  const char* name;
  double (*of)(double a, double b);
  bool of_all;  ///< also where an operand or the result is infinite or no number
};

double to_float_bits(double a, double /*b*/) {
  return std::bit_cast<double>(std::uint64_t{std::bit_cast<std::uint32_t>(static_cast<float>(a))});
}

double from_float_bits(double a, double /*b*/) {
  return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits(a))));
}

double comparisons(double a, double b) {
  return std::bit_cast<double>(std::uint64_t{a < b ? 1U : 0U} | (a <= b ? 2U : 0U) | (a == b ? 4U : 0U) |
                               (std::abs(a) > 0 ? 8U : 0U));
}

constexpr std::array<Operation, kResults> kOperations{{
    {"division", [](double a, double b) { return a / b; }, true},
    {"square root", [](double a, double) { return std::sqrt(a); }, true},
    {"conversion to float", to_float_bits, true},
    {"conversion from float", from_float_bits, true},
    {"addition", [](double a, double b) { return a + b; }, false},
    {"subtraction", [](double a, double b) { return a - b; }, false},
    {"multiplication", [](double a, double b) { return a * b; }, false},
    {"multiplication and addition", [](double a, double b) { return a * b + a; }, false},
    {"comparison", comparisons, false},
}};

bool same(std::uint64_t found, std::uint64_t expected, bool is_float) {
  const auto nan = [is_float](std::uint64_t value) {
    return is_float ? std::isnan(std::bit_cast<float>(static_cast<std::uint32_t>(value)))
                    : std::isnan(std::bit_cast<double>(value));
  };
  return found == expected || (nan(found) && nan(expected));
}

}  // namespace

std::vector<std::uint64_t> arithmetic_cases() {
  std::vector<std::uint64_t> cases;
  std::uint64_t state = 7;
  const auto add = [&cases](double a, double b) {
    cases.push_back(bits(a));
    cases.push_back(bits(b));
  };
  const auto mantissa = [&state] {
    return std::bit_cast<double>((next(state) & kFraction) | (std::uint64_t{1023} << 52U));
  };
  for (std::size_t i = 0; i < kRandomCases; ++i) {
    const std::uint64_t a = next(state);
    const std::uint64_t b = next(state);
    cases.push_back(a);
    cases.push_back(b);
    // Of equal magnitude.
    add(mantissa(), -mantissa());
    // A quotient next to a double and, as b has one bit more than a's product can hold, next to a tie.
    const double divisor = mantissa();
    const double quotient = mantissa();
    add(divisor * quotient, divisor);
    add(std::nextafter(divisor * quotient, 4.0), divisor);
    // Few bits: exact results and ties.
    add(static_cast<double>(a >> 40U), static_cast<double>((b >> 50U) + 1));
    // Roots next to a tie: (n + 1/2)² is no double, those beside it are.
    const double root = mantissa();
    const double beside = root + 0x1p-53;
    add(root * root, beside * beside);
    add(std::nextafter(root * root, 0.0), root);
    // Results and operands that are subnormal, or overflow.
    add(std::ldexp(mantissa(), -1000 - static_cast<int>(a % 74)), std::ldexp(mantissa(), static_cast<int>(b % 80)));
    add(std::ldexp(mantissa(), 1000), std::ldexp(mantissa(), -static_cast<int>(b % 40)));
    add(std::ldexp(static_cast<double>(a >> 44U), -1060),
        std::ldexp(1.0, 10 + static_cast<int>(b % 16)));  // ties there
    // Rounding to float: near ties and below the least normal float.
    add(std::ldexp(static_cast<double>((a >> 39U) * 2 + 1), static_cast<int>(b % 250) - 170), quotient);
    add(std::bit_cast<double>(a & 0x807F'FFFFU), mantissa());
  }
  const std::array<double, 14> special{0.0,
                                       -0.0,
                                       1.0,
                                       -1.0,
                                       std::numeric_limits<double>::infinity(),
                                       -std::numeric_limits<double>::infinity(),
                                       std::numeric_limits<double>::quiet_NaN(),
                                       std::numeric_limits<double>::denorm_min(),
                                       std::numeric_limits<double>::min(),
                                       std::numeric_limits<double>::max(),
                                       0x1p-149,
                                       0x1.FFFFFEp127,
                                       0x1.FFFFFFp127,
                                       3.0};
  for (const double a : special) {
    for (const double b : special) {
      add(a, b);
    }
  }
  return cases;
}

std::string differing_arithmetic(Device& device) {
  const std::vector<std::uint64_t> cases = arithmetic_cases();
  const std::size_t count = cases.size() / 2;
  std::vector<std::uint64_t> found(count * kResults);
  Stream stream(device);
  const Buffer operands = device.allocate_array<std::uint64_t>(cases.size(), "cases of arithmetic");
  const Buffer results = device.allocate_array<std::uint64_t>(found.size(), "results of arithmetic");
  stream.upload_array(operands, cases);
  const Program program = device.program({"check of arithmetic", kArithmeticCheck, {.float64 = true}});
  stream.run(program, (count + kGroup - 1) / kGroup,
             Push{0, static_cast<std::uint32_t>(count), operands.address(), results.address()});
  stream.download_array(results, found);
  stream.wait();
  for (std::size_t i = 0; i < count; ++i) {
    const auto a = std::bit_cast<double>(cases[2 * i]);
    const auto b = std::bit_cast<double>(cases[2 * i + 1]);
    for (std::size_t k = 0; k < kResults; ++k) {
      const Operation& operation = kOperations[k];
      const double expected = operation.of(a, b);
      if (!operation.of_all && !(std::isfinite(a) && std::isfinite(b) && std::isfinite(a * b + a))) {
        continue;
      }
      if (!same(found[i * kResults + k], bits(expected), k == 2)) {
        return fmt::format("{} of {:a} and {:a}: {:016x} instead of {:016x}", operation.name, a, b,
                           found[i * kResults + k], bits(expected));
      }
    }
  }
  return {};
}

bool doubles_are_exact(Device& device) {
  static std::mutex mutex;
  static std::map<std::string, bool> known;
  const DeviceInfo& info = device.info();
  if (!info.has.float64) {
    return false;
  }
  const std::scoped_lock lock(mutex);
  const auto [at, is_new] = known.try_emplace(fmt::format("{} {} {}", info.name, info.uuid, info.driver), false);
  if (is_new) {
    try {
      at->second = differing_arithmetic(device).empty();
    } catch (...) {
      known.erase(at);
      throw;
    }
  }
  return at->second;
}

void require_exact_doubles(Device& device) {
  if (!doubles_are_exact(device)) {
    throw DeviceError(
        Fault::Unsupported,
        {"the device does not round double precision as the processor does", device.info().name,
         device.info().has.float64 ? differing_arithmetic(device) : "no double precision",
         "IEEE 754 addition, subtraction, multiplication, subnormals; division to 2^-50", "run with --device cpu"});
  }
}

}  // namespace rayreplay::kernels
