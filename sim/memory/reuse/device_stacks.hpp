// Exact reuse distances of several LRU stacks at once (an L1 for each SM): on a device, or on all cores.
//
// Contract: `distances` takes the next accesses of every stack and writes one distance each, equal to ReuseStack of an
// exact engine (reuse_engine.hpp). Calls may split the streams anywhere; lines are any 64-bit numbers. Device and
// processor give the same numbers. A device processes a call in batches as large as fit (kernels/reuse). Before a
// stack's new accesses the batch repeats the stack's live lines in order of last use, oldest first: they are the
// complete state of the past, and their own distances are dropped. They cost as much as other accesses, so the
// processor takes over permanently if calls are short compared with the live lines. It also takes over if there is no
// device or the device fails (kernels/accelerator.hpp), from the same live lines. The processor uses the engine
// `bitmap` for each stack, several stacks at a time, or `offline` if there are too few stacks for the cores. The device
// counts histograms too, so unwanted distances are not downloaded. Several devices share the stacks. Memory: on the
// processor that of the engines; else 8 bytes a live line and a bit an access of a batch; device memory is in
// kernels/reuse/reuse.hpp. Errors: Resource for more than 2^30 live lines of a stack.
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
  /// Limit of a batch in accesses, live lines included; 0: what fits into half of the free device memory.
  std::uint64_t batch = 0;
  /// The processor takes over when repeated live lines exceed this factor times the accesses, plus this many.
  std::uint64_t most_overhead = 3;
  std::uint64_t free_overhead = std::uint64_t{1} << 22U;
  bool once = false;  ///< `distances` is called only once, so no state is kept
};

class DeviceStacks {
 public:
  /// `accelerator` null: the processor; else it must outlive this object.
  DeviceStacks(kernels::Accelerator* accelerator, std::size_t stacks, const DeviceStacksOptions& options = {});
  ~DeviceStacks();
  DeviceStacks(const DeviceStacks&) = delete;
  DeviceStacks& operator=(const DeviceStacks&) = delete;

  /// Stack s takes lines [begins[s], begins[s + 1]); begins[0] is 0, the last one is the number of lines. `out` has the
  /// size of `lines`, or is empty if only histograms are wanted.
  void distances(std::span<const std::uint64_t> lines, std::span<const std::uint64_t> begins,
                 std::span<std::uint32_t> out);

  /// Over all accesses so far, by stack.
  [[nodiscard]] const std::vector<ReuseHistogram>& histograms() const;
  /// Distinct lines so far, over all stacks.
  [[nodiscard]] std::uint64_t live_lines() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Histograms of whole streams: stream s is lines [begins[s], begins[s + 1]).
[[nodiscard]] std::vector<std::uint32_t> distances_of_streams(std::span<const std::uint64_t> lines,
                                                              std::span<const std::uint64_t> begins,
                                                              kernels::Accelerator* accelerator);
[[nodiscard]] std::vector<ReuseHistogram> histograms_of_streams(std::span<const std::uint64_t> lines,
                                                                std::span<const std::uint64_t> begins,
                                                                kernels::Accelerator* accelerator);

}  // namespace rayreplay::memory
