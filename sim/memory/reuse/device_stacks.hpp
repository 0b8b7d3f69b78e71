// Exact reuse distances of several LRU stacks at once (an L1 for each SM): on a device, or on all cores.
//
// Contract: `distances` takes the next accesses of every stack and writes one distance each, as ReuseStack of an exact
// engine does (reuse_engine.hpp): calls may cut the streams anywhere, lines are any 64-bit numbers, and the numbers are
// the same wherever they come from. On a device a call is worked on in batches as large as fit there (kernels/reuse):
// before the new accesses of a stack go its live lines in order of last use, oldest first, which is all that the past
// means to them; their own distances are dropped. That costs as much as so many accesses: where calls are short against
// what lives, the processor takes over for good. It does also where there is no device or it fails
// (kernels/accelerator.hpp), from the same live lines. On the processor: a stack each of the engine `bitmap`, several
// at a time; `offline` where there are too few of them for the cores. Histograms are counted on the device too, so that
// distances that nobody wants need not come back. Several devices share the stacks. Memory: on the processor that of
// the engines; else 8 bytes a live line and a bit an access of a batch; a device's is in kernels/reuse/reuse.hpp.
// Errors: Resource for more than 2^30 live lines of a stack.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sim/memory/reuse/histogram.hpp"

namespace rayreplay::kernels {
class Accelerator;
}

namespace rayreplay::memory {

struct DeviceStacksOptions {
  /// Accesses of a batch at most, live lines included; 0: what fits into half of the device's free memory.
  std::uint64_t batch = 0;
  /// The processor takes over when live lines that were sent again exceed so many times the accesses, and so many more.
  std::uint64_t most_overhead = 3;
  std::uint64_t free_overhead = std::uint64_t{1} << 22U;
  bool once = false;  ///< `distances` is called once: nothing is kept for more
};

class DeviceStacks {
 public:
  /// `accelerator`: null: the processor; else it must outlive this.
  DeviceStacks(kernels::Accelerator* accelerator, std::size_t stacks, const DeviceStacksOptions& options = {});
  ~DeviceStacks();
  DeviceStacks(const DeviceStacks&) = delete;
  DeviceStacks& operator=(const DeviceStacks&) = delete;

  /// Stack s takes lines [begins[s], begins[s + 1]); begins[0] is 0, the last one is the number of lines. `out` has the
  /// size of `lines`; or is empty: only histograms are wanted.
  void distances(std::span<const std::uint64_t> lines, std::span<const std::uint64_t> begins,
                 std::span<std::uint32_t> out);

  /// Of all accesses so far, by stack.
  [[nodiscard]] const std::vector<ReuseHistogram>& histograms() const;
  /// Distinct lines so far, over all stacks.
  [[nodiscard]] std::uint64_t live_lines() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Of whole streams: stream s is lines [begins[s], begins[s + 1]).
[[nodiscard]] std::vector<std::uint32_t> distances_of_streams(std::span<const std::uint64_t> lines,
                                                              std::span<const std::uint64_t> begins,
                                                              kernels::Accelerator* accelerator);
[[nodiscard]] std::vector<ReuseHistogram> histograms_of_streams(std::span<const std::uint64_t> lines,
                                                                std::span<const std::uint64_t> begins,
                                                                kernels::Accelerator* accelerator);

}  // namespace rayreplay::memory
