// Exact quotients and conversions on a device against the processor's.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "ExactArithmetic.spv.hpp"
#include "tests/support/vulkan_device.hpp"

namespace rayreplay::kernels {
namespace {

struct Push {
  std::uint32_t first_group = 0;
  std::uint32_t count = 0;
  std::uint64_t dividends = 0, divisors = 0, quotients = 0, floats = 0, widened = 0;
};

/// Numbers whose quotients are normal: some with few bits, so that quotients are exact or end in ties.
std::vector<double> numbers(std::mt19937_64& random, std::size_t count) {
  std::vector<double> result(count);
  for (double& x : result) {
    std::uint64_t fraction = random() & 0xF'FFFF'FFFF'FFFFU;
    fraction &= ~std::uint64_t{0} << random() % 53;
    const std::uint64_t exponent = 1023 - 300 + random() % 600;
    x = std::bit_cast<double>((random() & 1) << 63 | exponent << 52 | fraction);
  }
  return result;
}

TEST(ExactArithmetic, IsThatOfTheProcessor) {
  constexpr std::size_t kCount = 200'000;
  std::mt19937_64 random(9);
  std::vector<double> dividends = numbers(random, kCount);
  std::vector<double> divisors = numbers(random, kCount);
  // Neighbours of multiples: quotients next to short numbers and next to ties.
  for (std::size_t i = 0; i < kCount / 2; ++i) {
    dividends[i] =
        std::nextafter(divisors[i] * static_cast<double>(1 + random() % 4096), random() % 2 == 0 ? 0 : 1e300);
  }
  dividends[0] = 0;
  dividends[1] = -0.0;
  std::vector<float> floats(kCount);
  for (float& x : floats) {
    do {
      x = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    } while (!std::isfinite(x));
  }
  floats[0] = 0;
  floats[1] = -0.0F;
  floats[2] = std::numeric_limits<float>::denorm_min();
  floats[3] = std::numeric_limits<float>::max();
  floats[4] = -1e-40F;

  const auto device = test::open_test_device();
  Stream stream(*device);
  const Buffer dividend = device->allocate_array<double>(kCount, "dividends");
  const Buffer divisor = device->allocate_array<double>(kCount, "divisors");
  const Buffer quotient = device->allocate_array<double>(kCount, "quotients");
  const Buffer narrow = device->allocate_array<float>(kCount, "floats");
  const Buffer wide = device->allocate_array<double>(kCount, "doubles");
  stream.upload_array(dividend, dividends);
  stream.upload_array(divisor, divisors);
  stream.upload_array(narrow, floats);
  const Shader shader{"exact", kExactArithmetic, {.float64 = true}};
  stream.run(
      device->program(shader), (kCount + 63) / 64,
      Push{0, kCount, dividend.address(), divisor.address(), quotient.address(), narrow.address(), wide.address()});
  std::vector<std::uint64_t> quotients(kCount);
  std::vector<std::uint64_t> widened(kCount);
  stream.download_array(quotient, quotients);
  stream.download_array(wide, widened);
  stream.wait();
  for (std::size_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(quotients[i], std::bit_cast<std::uint64_t>(dividends[i] / divisors[i]))
        << dividends[i] << " / " << divisors[i];
    ASSERT_EQ(widened[i], std::bit_cast<std::uint64_t>(static_cast<double>(floats[i]))) << floats[i];
  }
}

}  // namespace
}  // namespace rayreplay::kernels
