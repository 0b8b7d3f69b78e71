#include "capture/apps/framework/picture.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/input_file.hpp"
#include "base/output_file.hpp"
#include "base/png.hpp"

namespace rayreplay::apps {
namespace {

std::uint8_t encode(float linear) {
  if (!(linear > 0)) {
    return 0;
  }
  return static_cast<std::uint8_t>(std::lround(std::min(std::sqrt(linear), 1.0F) * 255.0F));
}

[[noreturn]] void fail_swizzle(std::string what, const std::string& path, std::string found, std::string expected) {
  throw Error(ErrorKind::Input, {std::move(what), path, std::move(found), std::move(expected),
                                 "write it for this picture's size, for example with rayreplay swizzle"});
}

}  // namespace

void write_picture(const std::string& path, std::uint32_t width, std::uint32_t height, const std::vector<float>& rgba) {
  std::vector<std::uint8_t> rgb;
  rgb.reserve(rgba.size() / 4 * 3);
  for (std::size_t i = 0; i + 4 <= rgba.size(); i += 4) {
    rgb.push_back(encode(rgba[i]));
    rgb.push_back(encode(rgba[i + 1]));
    rgb.push_back(encode(rgba[i + 2]));
  }
  write_file(path, encode_png(width, height, rgb), true);
}

std::vector<std::uint32_t> read_swizzle(const std::string& path, std::uint64_t threads) {
  // A byte more than it may have is enough to see that it is too large.
  const std::string bytes = read_start(path, threads * 4 + 1, "swizzle");
  if (bytes.size() != threads * 4) {
    fail_swizzle("the swizzle has the wrong size", path, std::to_string(bytes.size()) + " bytes",
                 std::to_string(threads * 4) + " bytes, 4 for each thread");
  }
  std::vector<std::uint32_t> swizzle;
  std::vector<bool> seen(threads);
  for (std::size_t i = 0; i < bytes.size(); i += 4) {
    std::uint32_t value = 0;
    for (std::size_t j = 0; j < 4; ++j) {
      value |= std::uint32_t{static_cast<std::uint8_t>(bytes[i + j])} << (8 * j);
    }
    if (value >= threads || seen[value]) {
      fail_swizzle("the swizzle is no permutation of the threads", path + "[" + std::to_string(i / 4) + "]",
                   std::to_string(value), "every thread once, from 0 to " + std::to_string(threads - 1));
    }
    seen[value] = true;
    swizzle.push_back(value);
  }
  return swizzle;
}

}  // namespace rayreplay::apps
