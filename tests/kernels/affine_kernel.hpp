// The kernel that these tests run.
#pragma once

#include <cstdint>
#include <vector>

#include "Affine.spv.hpp"
#include "kernels/device/device.hpp"

namespace rayreplay::kernels {

inline const Shader kAffineShader{"affine", kAffine};

struct AffinePush {
  std::uint32_t first_group = 0;
  std::uint32_t count = 0;
  std::uint64_t x = 0;
  std::uint64_t y = 0;
};

inline constexpr std::uint32_t kAffineGroup = 64;

inline std::vector<std::uint32_t> affine(Device& device, const std::vector<std::uint32_t>& x,
                                         const std::vector<std::uint32_t>& constants = {}) {
  const auto count = static_cast<std::uint32_t>(x.size());
  const Program program = device.program(kAffineShader, constants);
  const Buffer from = device.allocate_array<std::uint32_t>(count, "x");
  const Buffer to = device.allocate_array<std::uint32_t>(count, "y");
  Stream stream(device);
  stream.upload_array(from, x);
  stream.run(program, (count + kAffineGroup - 1) / kAffineGroup, AffinePush{0, count, from.address(), to.address()});
  std::vector<std::uint32_t> y(count);
  stream.download_array(to, y);
  stream.wait();
  return y;
}

inline std::vector<std::uint32_t> numbers(std::uint32_t count) {
  std::vector<std::uint32_t> x(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    x[i] = i * 2654435761U;
  }
  return x;
}

inline std::vector<std::uint32_t> affine_twin(const std::vector<std::uint32_t>& x, std::uint32_t factor = 3) {
  std::vector<std::uint32_t> y(x.size());
  for (std::uint32_t i = 0; i < x.size(); ++i) {
    y[i] = factor * x[i] + i;
  }
  return y;
}

}  // namespace rayreplay::kernels
