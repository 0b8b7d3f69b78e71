#include "sim/memory/reuse/reuse_stacks.hpp"

#include <algorithm>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include "base/error.hpp"

namespace rayreplay::memory {
namespace {

namespace tbb = oneapi::tbb;

constexpr std::size_t kScratch = std::size_t{1} << 16U;  ///< distances computed at a time for histograms alone
constexpr int kStacksACore = 4;  ///< cores a stack from which on `offline`, parallel within a stack, is faster

}  // namespace

ReuseStacks::ReuseStacks(Accelerator* accelerator, std::size_t stacks, const ReuseStacksOptions& options)
    : engines_(stacks), on_processor_(accelerator == nullptr) {
  state_.options = options;
  state_.accelerator = accelerator;
  state_.live.resize(stacks);
  state_.histograms.resize(stacks);
}

void ReuseStacks::distances(std::span<const std::uint64_t> lines, std::span<const std::uint64_t> begins,
                            std::span<std::uint32_t> out) {
  if (begins.size() != state_.live.size() + 1 || begins.front() != 0 || begins.back() != lines.size() ||
      (!out.empty() && out.size() != lines.size())) {
    throw Error(ErrorKind::Internal, {"the begins of streams do not partition the accesses", "", "", "", ""});
  }
  state_.lines = lines;
  state_.out = out;
  state_.next.assign(begins.begin(), begins.end() - 1);
  state_.end.assign(begins.begin() + 1, begins.end());
  if (lines.empty()) {
    return;
  }
  if (on_processor_ || !reuse_stacks_twin.run(
                           state_.accelerator, [] { return false; }, state_)) {
    process();
  }
}

const std::vector<ReuseHistogram>& ReuseStacks::histograms() const {
  return state_.histograms;
}

std::uint64_t ReuseStacks::live_lines() const {
  std::uint64_t sum = 0;
  for (std::size_t stack = 0; stack < state_.live.size(); ++stack) {
    sum += engines_[stack] != nullptr ? engines_[stack]->live_lines() : state_.live[stack].size();
  }
  return sum;
}

/// The rest of the call; later calls stay on the processor too.
void ReuseStacks::process() {
  on_processor_ = true;
  state_.on_devices.reset();
  if (engine_ == nullptr) {
    const auto cores = static_cast<std::size_t>(tbb::this_task_arena::max_concurrency());
    engine_ = ReuseEngines::create(state_.live.size() * kStacksACore <= cores ? "offline" : "bitmap").model;
  }
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, state_.live.size(), 1),
                    [&](const tbb::blocked_range<std::size_t>& range) {
                      for (std::size_t stack = range.begin(); stack < range.end(); ++stack) {
                        process(stack);
                      }
                    });
}

void ReuseStacks::process(std::size_t stack) {
  if (state_.next[stack] == state_.end[stack]) {
    return;
  }
  std::vector<std::uint32_t> scratch;
  if (engines_[stack] == nullptr) {
    engines_[stack] = engine_->make();
    scratch.resize(state_.live[stack].size());
    engines_[stack]->distances(state_.live[stack], scratch);
    state_.live[stack] = {};
  }
  for (std::uint64_t& at = state_.next[stack]; at < state_.end[stack];) {
    const std::uint64_t size =
        state_.out.empty() ? std::min<std::uint64_t>(kScratch, state_.end[stack] - at) : state_.end[stack] - at;
    if (state_.out.empty()) {
      scratch.resize(size);
    }
    const std::span<std::uint32_t> to = state_.out.empty() ? std::span(scratch) : state_.out.subspan(at, size);
    engines_[stack]->distances(state_.lines.subspan(at, size), to);
    state_.histograms[stack].add(to);
    at += size;
  }
}

std::vector<std::uint32_t> distances_of_streams(std::span<const std::uint64_t> lines,
                                                std::span<const std::uint64_t> begins, Accelerator* accelerator) {
  ReuseStacks stacks(accelerator, begins.size() - 1, {.once = true});
  std::vector<std::uint32_t> result(lines.size());
  stacks.distances(lines, begins, result);
  return result;
}

std::vector<ReuseHistogram> histograms_of_streams(std::span<const std::uint64_t> lines,
                                                  std::span<const std::uint64_t> begins, Accelerator* accelerator) {
  ReuseStacks stacks(accelerator, begins.size() - 1, {.once = true});
  stacks.distances(lines, begins, {});
  return stacks.histograms();
}

}  // namespace rayreplay::memory
