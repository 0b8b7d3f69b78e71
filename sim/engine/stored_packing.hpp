// A launch's warps as bytes: the form of packings in the store.
//
// Contract: little-endian, versioned; `read_packing` returns nothing for truncated bytes, or if a thread is missing or
// doubled.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "scheduler-models/warp_assignment.hpp"

namespace rayreplay::experiment {

[[nodiscard]] std::string write_packing(const scheduler::WarpAssignment& assignment);
[[nodiscard]] std::optional<scheduler::WarpAssignment> read_packing(std::string_view bytes, std::uint64_t threads);

}  // namespace rayreplay::experiment
