// Checks of what a launch source is asked for. Internal to this folder.
//
// Contract: each throws if sizes, threads or segments are out of range. Errors: Usage for options and threads; Internal
// for segments and costs of calls, which other code makes.
#pragma once

#include <cstdint>
#include <span>

#include "capture/trace/trace.hpp"
#include "sim/memory/streams/launch_source.hpp"

namespace rayreplay::memory {

void check(const StreamOptions& options, const trace::Trace& trace);
/// `threads`: of the launch.
void check_threads(std::span<const std::uint32_t> thread_at, std::uint64_t threads, std::uint32_t warp_size);
void check_work(const LaunchWork& work, std::uint32_t warp_size);

}  // namespace rayreplay::memory
