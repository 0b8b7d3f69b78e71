// Exact reuse distances of several LRU stacks at once (an L1 for each SM): on a device, or on all cores.
//
// Contract: `distances` takes the next accesses of every stack and writes one distance each, as ReuseStack of an exact
// engine does (reuse_engine.hpp): calls may cut the streams anywhere, lines are any 64-bit numbers, and the numbers are
// the same wherever they come from. On the processor: a stack each of the engine `bitmap`, several at a time; `offline`
// where there are too few of them for the cores. On devices (kernels/reuse/twins.cpp) the stacks are shared among them,
// and the processor takes over for good, from the same live lines, where a device fails or is slow. Histograms are
// counted there, too, so that distances that nobody wants need not come back. Memory: that of the engines; with a
// device 8 bytes a live line. Errors: Resource for more than 2^30 live lines of a stack.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/twin.hpp"
#include "sim/memory/reuse/histogram.hpp"
#include "sim/memory/reuse/reuse_engine.hpp"

namespace rayreplay::memory {

struct ReuseStacksOptions {
  /// Accesses of a batch at most, live lines included; 0: what fits into half of the device's free memory.
  std::uint64_t batch = 0;
  /// The processor takes over when repeated live lines exceed this factor times the accesses, plus this many.
  std::uint64_t most_overhead = 3;
  std::uint64_t free_overhead = std::uint64_t{1} << 22U;
  bool once = false;  ///< `distances` is called only once, so no state is kept
};

/// What the two ways to the distances share.
struct StackState {
  ReuseStacksOptions options;
  Accelerator* accelerator = nullptr;
  std::vector<std::vector<std::uint64_t>> live;  ///< by stack, in order of last use; of those without an engine
  std::vector<ReuseHistogram> histograms;
  DeviceSlot on_devices;

  // Of the call:
  std::span<const std::uint64_t> lines;
  std::span<std::uint32_t> out;
  std::vector<std::uint64_t> next, end;  ///< what is left of `lines`, by stack

  [[nodiscard]] bool any_left() const {
    return next != end;
  }
};

/// Returns whether the devices go on: false where the processor has to take over what is left, and all to come.
inline constinit Twin<bool(StackState&)> reuse_stacks_twin{"reuse distances"};

class ReuseStacks {
 public:
  /// `accelerator`: null: the processor; else it must outlive this.
  ReuseStacks(Accelerator* accelerator, std::size_t stacks, const ReuseStacksOptions& options = {});
  ReuseStacks(const ReuseStacks&) = delete;
  ReuseStacks& operator=(const ReuseStacks&) = delete;

  /// Stack s takes lines [begins[s], begins[s + 1]); begins[0] is 0, the last one is the number of lines. `out` has the
  /// size of `lines`, or is empty if only histograms are wanted.
  void distances(std::span<const std::uint64_t> lines, std::span<const std::uint64_t> begins,
                 std::span<std::uint32_t> out);

  /// Over all accesses so far, by stack.
  [[nodiscard]] const std::vector<ReuseHistogram>& histograms() const;
  /// Distinct lines so far, over all stacks.
  [[nodiscard]] std::uint64_t live_lines() const;

 private:
  void process();
  void process(std::size_t stack);

  StackState state_;
  std::vector<std::unique_ptr<ReuseStack>> engines_;
  std::unique_ptr<ReuseEngine> engine_;
  bool on_processor_;
};

/// Histograms of whole streams: stream s is lines [begins[s], begins[s + 1]).
[[nodiscard]] std::vector<std::uint32_t> distances_of_streams(std::span<const std::uint64_t> lines,
                                                              std::span<const std::uint64_t> begins,
                                                              Accelerator* accelerator);
[[nodiscard]] std::vector<ReuseHistogram> histograms_of_streams(std::span<const std::uint64_t> lines,
                                                                std::span<const std::uint64_t> begins,
                                                                Accelerator* accelerator);

}  // namespace rayreplay::memory
