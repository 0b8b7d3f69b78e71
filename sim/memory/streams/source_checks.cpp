#include "sim/memory/streams/source_checks.hpp"

#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "scheduler-models/regrouping/scheduler_model.hpp"
#include "scheduler-models/warp_assignment.hpp"
#include "sim/memory/streams/launch_memory.hpp"

namespace rayreplay::memory {
namespace {

constexpr std::uint32_t kMaxBytes = 65536;

}  // namespace

void check(const StreamOptions& options, const trace::Trace& trace) {
  const auto fail = [](const char* what, std::uint64_t found, const std::string& expected) {
    throw Error(ErrorKind::Usage, {what, "access streams", std::to_string(found), expected, ""});
  };
  scheduler::check_warp_size(options.warp_size);
  if (options.payload_bytes % kLocalWord != 0 || options.payload_bytes > kMaxBytes) {
    fail("the payload's size is out of range", options.payload_bytes,
         fmt::format("a multiple of {} bytes, at most {}", kLocalWord, kMaxBytes));
  }
  if (options.record_bytes > kMaxBytes) {
    fail("the size of a shader record is out of range", options.record_bytes, fmt::format("at most {}", kMaxBytes));
  }
  if (options.pixel_bytes > kMaxBytes) {
    fail("the size of a pixel is out of range", options.pixel_bytes, fmt::format("at most {}", kMaxBytes));
  }
  if (options.load_bytes != 0 && (options.load_bytes % kLocalWord != 0 || options.load_bytes > kMaxBytes)) {
    fail("the bytes that a lane loads at once are out of range", options.load_bytes,
         fmt::format("0, or a multiple of {}, at most {}", kLocalWord, kMaxBytes));
  }
  check(options.coalescing, "access streams");
  if (options.work && options.call_work.size() != trace.shaders.size() * trace::kEventKinds) {
    throw Error(
        ErrorKind::Internal,
        {"the costs are not those of the trace's calls", "access streams", std::to_string(options.call_work.size()),
         std::to_string(trace.shaders.size() * trace::kEventKinds), "report this: the caller is at fault"});
  }
}

void check_threads(std::span<const std::uint32_t> thread_at, std::uint64_t threads, std::uint32_t warp_size) {
  const auto fail = [](const std::string& what, const std::string& found, const std::string& expected) {
    throw Error(ErrorKind::Usage, {what, "access streams", found, expected, ""});
  };
  if (thread_at.size() % warp_size != 0 || thread_at.size() / warp_size >= kNoElement) {
    fail("the places do not fill whole warps", std::to_string(thread_at.size()), fmt::format("warps of {}", warp_size));
  }
  std::vector<bool> seen(threads);
  for (const std::uint32_t thread : thread_at) {
    if (thread == scheduler::kNoThread) {
      continue;
    }
    if (thread >= threads) {
      fail("a thread of an item is out of range", std::to_string(thread), fmt::format("less than {}", threads));
    }
    if (seen[thread]) {
      fail("a thread is at two places", std::to_string(thread), "each thread at most once");
    }
    seen[thread] = true;
  }
}

void check_work(const LaunchWork& work, std::uint32_t warp_size) {
  const auto fail = [](const std::string& what, const std::string& found, const std::string& expected) {
    throw Error(ErrorKind::Internal, {what, "access streams", found, expected, "report this: the caller is at fault"});
  };
  if (work.segment_at.size() % warp_size != 0 || work.segment_at.size() / warp_size >= kNoElement) {
    fail("the segments do not fill whole warps", std::to_string(work.segment_at.size()),
         fmt::format("warps of {}", warp_size));
  }
  if (!work.loads_state.empty() && work.loads_state.size() != work.segments->size()) {
    fail("not every segment says how it gets its state", std::to_string(work.loads_state.size()),
         std::to_string(work.segments->size()));
  }
  if (work.formed != nullptr && !work.segment_at.empty()) {
    fail("the segments of items are given twice", "segments, and items that form on the way", "one of the two");
  }
  if (work.state_bytes % kLocalWord != 0 || work.state_bytes > scheduler::kMaxStateBytes) {
    fail("the size of a state is out of range", std::to_string(work.state_bytes),
         fmt::format("a multiple of {} bytes, at most {}", kLocalWord, scheduler::kMaxStateBytes));
  }
  if (work.queues != nullptr && work.queues->segments() != work.segments->size()) {
    fail("not every segment has a place in a queue", std::to_string(work.queues->segments()),
         std::to_string(work.segments->size()));
  }
  std::vector<bool> seen(work.segments->size());
  for (const std::uint32_t segment : work.segment_at) {
    if (segment == scheduler::kNoSegment) {
      continue;
    }
    if (segment >= seen.size() || seen[segment]) {
      fail(segment >= seen.size() ? "a segment of an item is out of range" : "a segment is at two places",
           std::to_string(segment), fmt::format("each of {} segments once", seen.size()));
    }
    seen[segment] = true;
  }
}

}  // namespace rayreplay::memory
