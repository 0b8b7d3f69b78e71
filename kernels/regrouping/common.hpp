// Shared host code of the regrouping kernels.
//
// Contract: `groups_of` gives the workgroups for a number of items.
#pragma once

#include <cstdint>

#include "kernels/device/device.hpp"
#include "kernels/regrouping/shared.h"

namespace rayreplay::kernels::regrouping {

[[nodiscard]] constexpr std::uint64_t groups_of(std::uint64_t items, std::uint64_t items_a_group = kGroup) {
  return (items + items_a_group - 1) / items_a_group;
}

/// Reads a word of the buffer after all earlier commands. Waits.
[[nodiscard]] inline std::uint32_t read_word(Stream& stream, const Buffer& buffer, std::uint64_t which) {
  std::uint32_t word = 0;
  stream.download(buffer, std::as_writable_bytes(std::span(&word, 1)), which * sizeof(word));
  stream.wait();
  return word;
}

}  // namespace rayreplay::kernels::regrouping
