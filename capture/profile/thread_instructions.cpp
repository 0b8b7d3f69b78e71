#include "capture/profile/thread_instructions.hpp"

#include <limits>

#include <fmt/format.h>

#include "base/error.hpp"

namespace rayreplay::profile {

namespace {

/// `of_path`: what a call of each path adds; `what`: its name in messages.
std::vector<std::optional<std::uint64_t>> thread_sums(const trace::Trace& trace,
                                                      const std::vector<std::uint64_t>& of_path,
                                                      const trace::Launch& launch, std::optional<std::uint16_t> shader,
                                                      const std::string& file, const char* what) {
  const trace::ThreadData& data = launch.data;
  if (data.events.path.empty() && launch.thread_path.empty()) {
    return {};
  }
  std::vector<std::optional<std::uint64_t>> sums(data.threads());
  const auto add = [&](std::size_t thread, std::uint32_t path) {
    if (path == 0 || (shader && trace.paths.shader[path - 1] != *shader)) {
      return;
    }
    const std::uint64_t before = sums[thread].value_or(0), more = of_path[path - 1];
    if (before > std::numeric_limits<std::uint64_t>::max() - more) {
      throw Error(ErrorKind::Input,
                  {fmt::format("a thread executed too many {}", what), file + ", /profile/paths",
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

}  // namespace

std::vector<std::optional<std::uint64_t>> thread_instructions(const trace::Trace& trace, const PathProfile& profile,
                                                              const trace::Launch& launch,
                                                              std::optional<std::uint16_t> shader,
                                                              const std::string& file) {
  return thread_sums(trace, profile.instructions, launch, shader, file, "instructions");
}

std::vector<std::optional<std::uint64_t>> thread_blocks(const trace::Trace& trace, const PathProfile& profile,
                                                        const trace::Launch& launch,
                                                        std::optional<std::uint16_t> shader, const std::string& file) {
  std::vector<std::uint64_t> blocks(trace.paths.size(), 0);
  for (const ShaderPaths& of : profile.shaders) {
    for (std::size_t path = of.first; path < of.end; ++path) {
      for (std::size_t block = 0; block < of.instructions.size(); ++block) {
        blocks[path] += trace.paths.counts[profile.first_count[path] + block];
      }
    }
  }
  return thread_sums(trace, blocks, launch, shader, file, "basic blocks");
}

}  // namespace rayreplay::profile
