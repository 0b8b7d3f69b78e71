// Random warps that execute the programs of made-up captures.
#pragma once

#include <cstdint>
#include <vector>

#include "capture/trace/trace.hpp"
#include "tests/ingest/shader_program.hpp"

namespace rayreplay::test {

/// Lets random lanes of random warps execute equal records together until all programs have ended. Appends the chunks
/// that the device would leave to `words`; sets groups, warps and lanes of `expected` and the group of each event.
void execute(std::vector<Thread>& threads, const CaptureOptions& options, Random& random,
             std::vector<std::uint32_t>& words, trace::Launch& expected);

}  // namespace rayreplay::test
