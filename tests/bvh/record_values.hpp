// Bytes of an encoded node or leaf, as numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "bvh/layout.hpp"

namespace rayreplay::bvh {

using Floats = std::vector<float>;
using Words = std::vector<std::uint32_t>;
using Halves = std::vector<std::uint16_t>;
using Longs = std::vector<std::uint64_t>;
using Bytes = std::vector<std::uint8_t>;

/// `count` values of a record from byte `at` on.
template <class T>
std::vector<T> values_at(const Level& level, std::uint32_t record, std::size_t at, std::size_t count) {
  std::vector<T> result(count);
  std::memcpy(result.data(), level.record(record) + at, count * sizeof(T));
  return result;
}

}  // namespace rayreplay::bvh
