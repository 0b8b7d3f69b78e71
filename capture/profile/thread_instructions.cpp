#include "capture/profile/thread_instructions.hpp"

#include <limits>

#include <fmt/format.h>

#include "base/error.hpp"

namespace rayreplay::profile {

std::vector<std::optional<std::uint64_t>> thread_instructions(const trace::Trace& trace, const PathProfile& profile,
                                                              const trace::Launch& launch,
                                                              std::optional<std::uint16_t> shader,
                                                              const std::string& file) {
  const trace::ThreadData& data = launch.data;
  if (data.events.path.empty() && launch.thread_path.empty()) {
    return {};
  }
  std::vector<std::optional<std::uint64_t>> sums(data.threads());
  const auto add = [&](std::size_t thread, std::uint32_t path) {
    if (path == 0 || (shader && trace.paths.shader[path - 1] != *shader)) {
      return;
    }
    const std::uint64_t before = sums[thread].value_or(0), more = profile.instructions[path - 1];
    if (before > std::numeric_limits<std::uint64_t>::max() - more) {
      throw Error(ErrorKind::Input,
                  {"a thread executed too many instructions", file + ", /profile/paths",
                   fmt::format("thread {}", thread), "a sum of 64 bits", "capture the application again"});
    }
    sums[thread] = before + more;
  };
  for (std::size_t thread = 0; thread < sums.size(); ++thread) {
    if (!launch.thread_path.empty()) {
      add(thread, launch.thread_path[thread]);
    }
    if (data.events.path.empty()) {
      continue;
    }
    for (std::uint64_t row = data.event_offset[thread]; row < data.event_offset[thread + 1]; ++row) {
      add(thread, data.events.path[row]);
    }
  }
  return sums;
}

}  // namespace rayreplay::profile
