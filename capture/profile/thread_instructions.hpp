// Instructions, and basic blocks, that each thread of a launch executed, from the paths of its calls.
//
// Contract: by thread, the sum over its calls with a path (of `shader` alone, where given) of the path's instructions
// (path_profile.hpp); nothing for a thread without such a call. Empty if the launch has no paths. Input if a sum
// exceeds 64 bits; `file` stands for the trace in messages. O(events + threads), thread_blocks also
// O(counts of the paths).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "capture/profile/path_profile.hpp"

namespace rayreplay::profile {

/// `profile`: of the trace's paths.
[[nodiscard]] std::vector<std::optional<std::uint64_t>> thread_instructions(const trace::Trace& trace,
                                                                            const PathProfile& profile,
                                                                            const trace::Launch& launch,
                                                                            std::optional<std::uint16_t> shader,
                                                                            const std::string& file);

/// The same sum of executions of basic blocks in place of instructions.
[[nodiscard]] std::vector<std::optional<std::uint64_t>> thread_blocks(const trace::Trace& trace,
                                                                      const PathProfile& profile,
                                                                      const trace::Launch& launch,
                                                                      std::optional<std::uint16_t> shader,
                                                                      const std::string& file);

}  // namespace rayreplay::profile
