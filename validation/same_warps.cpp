// Did a device run a swizzled launch in the warps that the what-if assumed?
//
//   same_warps PLAIN.rrt SWIZZLE SWIZZLED.rrt
//
// Both traces hold one captured launch of the same application; the second ran with SWIZZLE (rayreplay swizzle).
// Hardware thread t did the work of thread swizzle[t], and traces name threads by their work; so swizzle[t] must have
// the lane in the swizzled capture that t has in the plain one, and warps must correspond one to one (their numbers
// depend on the order of writing and differ between runs). Prints the comparison, and the number of threads with other
// calls than in the plain run. Exit codes: 0 if all threads are in place; 1 if not, with the first that is not; 2 if
// the files cannot be compared.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "capture/trace/reader.hpp"
#include "scheduler-models/swizzle_file.hpp"

namespace {

using namespace rayreplay;

trace::Launch load_launch(const char* path) {
  trace::Trace trace = trace::load(path);
  const auto fail = [&](const char* what, const std::string& found) {
    throw Error(ErrorKind::Input, {what, path, found, "", "capture one launch with all of its threads"});
  };
  if (trace.launches.size() != 1) {
    fail("the trace has not one launch", fmt::format("{}", trace.launches.size()));
  }
  trace::Launch& launch = trace.launches.front();
  if (launch.thread_warp.size() != launch.size.threads() || launch.thread_lane.size() != launch.size.threads()) {
    fail("the trace has no captured warps", "");
  }
  return std::move(launch);
}

/// For each warp of one run the warp of the other that its first thread is in; kNone: not met yet.
class Correspondence {
 public:
  explicit Correspondence(std::size_t warps) : other_(warps, trace::kNone) {}
  [[nodiscard]] bool agree(std::uint32_t warp, std::uint32_t other) {
    std::uint32_t& known = other_.at(warp);
    known = known == trace::kNone ? other : known;
    return known == other;
  }
  [[nodiscard]] std::size_t warps() const {
    return static_cast<std::size_t>(
        std::count_if(other_.begin(), other_.end(), [](std::uint32_t w) { return w != trace::kNone; }));
  }

 private:
  std::vector<std::uint32_t> other_;
};

std::size_t warp_numbers(const trace::Launch& launch) {
  const auto last = std::max_element(launch.thread_warp.begin(), launch.thread_warp.end());
  if (last == launch.thread_warp.end() || *last == trace::kNone) {
    throw Error(ErrorKind::Input, {"a thread has no warp", "thread_warp", "", "a warp for each thread", ""});
  }
  return std::size_t{*last} + 1;
}

/// The first thread that stands elsewhere, or kNone.
std::uint32_t first_elsewhere(const trace::Launch& plain, const scheduler::Swizzle& swizzle,
                              const trace::Launch& swizzled, std::size_t& warps) {
  Correspondence forth(warp_numbers(plain));
  Correspondence back(warp_numbers(swizzled));
  for (std::uint32_t thread = 0; thread < swizzle.size(); ++thread) {
    const std::uint32_t work = swizzle[thread];
    if (plain.thread_lane[thread] != swizzled.thread_lane[work] ||
        !forth.agree(plain.thread_warp[thread], swizzled.thread_warp[work]) ||
        !back.agree(swizzled.thread_warp[work], plain.thread_warp[thread])) {
      return thread;
    }
  }
  warps = forth.warps();
  return trace::kNone;
}

bool same_calls(const trace::ThreadData& a, const trace::ThreadData& b, std::size_t thread) {
  const auto calls = [thread](const trace::ThreadData& data, const auto& column) {
    return std::pair(column.begin() + static_cast<std::ptrdiff_t>(data.event_offset[thread]),
                     column.begin() + static_cast<std::ptrdiff_t>(data.event_offset[thread + 1]));
  };
  const auto equal = [&](const auto& of_a, const auto& of_b) {
    const auto [first, last] = calls(a, of_a);
    const auto [other, other_last] = calls(b, of_b);
    return std::equal(first, last, other, other_last);
  };
  return equal(a.events.kind, b.events.kind) && equal(a.events.shader, b.events.shader) &&
         equal(a.events.instance, b.events.instance) && equal(a.events.primitive, b.events.primitive);
}

int run(const char* plain_path, const char* swizzle_path, const char* swizzled_path) {
  const trace::Launch plain = load_launch(plain_path);
  const trace::Launch swizzled = load_launch(swizzled_path);
  if (plain.size != swizzled.size) {
    throw Error(ErrorKind::Input, {"the launches differ in size", swizzled_path, "", plain_path, ""});
  }
  const scheduler::Swizzle swizzle = scheduler::read_swizzle(swizzle_path, plain.size);
  std::size_t warps = 0;
  if (const std::uint32_t thread = first_elsewhere(plain, swizzle, swizzled, warps); thread != trace::kNone) {
    const std::uint32_t work = swizzle[thread];
    fmt::print(
        "thread {} does the work of thread {}, but not where the what-if has it: plain warp {} lane {}, swizzled "
        "warp {} lane {}\n",
        thread, work, plain.thread_warp[thread], plain.thread_lane[thread], swizzled.thread_warp[work],
        swizzled.thread_lane[work]);
    return 1;
  }
  std::size_t others = 0;
  for (std::size_t thread = 0; thread < swizzle.size(); ++thread) {
    others += same_calls(plain.data, swizzled.data, thread) ? 0U : 1U;
  }
  fmt::print("threads={} warps={} threads_with_other_calls={}\n", swizzle.size(), warps, others);
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) {
    std::fputs("usage: same_warps PLAIN.rrt SWIZZLE SWIZZLED.rrt\n", stderr);
    return 2;
  }
  try {
    return run(arguments[1], arguments[2], arguments[3]);
  } catch (const Error& error) {
    fmt::print(stderr, "same_warps: {}\n", format_error(error.info()));
  } catch (const std::exception& error) {
    fmt::print(stderr, "same_warps: {}\n", error.what());
  }
  return 2;
}
