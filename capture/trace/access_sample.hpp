// The threads of which a capture recorded the accesses of shaders to buffers: one in how many?
//
// Contract: N, if the trace's configuration says that only threads whose id is a multiple of N were recorded (option
// profile_memory_sample of a capture); else 1. Any configuration is fine: text that says nothing gives 1.
#pragma once

#include <cstdint>

#include "capture/trace/trace.hpp"

namespace rayreplay::trace {

[[nodiscard]] std::uint64_t access_sample(const Header& header);

}  // namespace rayreplay::trace
