// Exact reuse distances of several LRU stacks at once (an L1 for each SM): on devices, or on all cores.
//
// Contract: `distances` takes the next accesses of every stack and writes one distance each, as the ReuseStack of an
// exact engine does (reuse_engine.hpp). Calls may cut the streams anywhere; lines are any 64-bit numbers; distances do
// not depend on where they are computed. On the processor every stack has an engine `bitmap`, several running in
// parallel, or `offline` if there are too few stacks for the cores. Devices (kernels/reuse/twins.cpp) share the stacks;
// if a device fails or is slow, the processor takes over from the same live lines and does not hand back. Histograms
// are counted on the device too, so that unwanted distances need not be downloaded. Memory: that of the engines; with a
// device 8 bytes a live line. Errors: Resource for more than 2^30 live lines of a stack; Internal for `begins` that do
// not partition `lines`.
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

/// State shared by the processor's and the devices' computation.
struct StackState {
  ReuseStacksOptions options;
  Accelerator* accelerator = nullptr;
  std::vector<std::vector<std::uint64_t>> live;  ///< by stack, in order of last use; empty once the stack has an engine
  std::vector<ReuseHistogram> histograms;
  DeviceSlot on_devices;

  // The current call of `distances`:
  std::span<const std::uint64_t> lines;
  std::span<std::uint32_t> out;
  std::vector<std::uint64_t> next, end;  ///< by stack: the rest of `lines` is [next, end)

  [[nodiscard]] bool any_left() const {
    return next != end;
  }
};

/// False: the processor computes the rest of this call and all later calls.
inline constinit Twin<bool(StackState&)> reuse_stacks_twin{"reuse distances"};

class ReuseStacks {
 public:
  /// `accelerator`: null for the processor; must outlive this object.
  ReuseStacks(Accelerator* accelerator, std::size_t stacks, const ReuseStacksOptions& options = {});
  ReuseStacks(const ReuseStacks&) = delete;
  ReuseStacks& operator=(const ReuseStacks&) = delete;

  /// Stack s takes lines [begins[s], begins[s + 1]); begins[0] is 0, the last one is the number of lines. `out` has the
  /// size of `lines`, or is empty if only histograms are wanted.
  void distances(std::span<const std::uint64_t> lines, std::span<const std::uint64_t> begins,
                 std::span<std::uint32_t> out);

  /// By stack, over all accesses so far.
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

/// Distances, or histograms, of whole streams: stream s is lines [begins[s], begins[s + 1]).
[[nodiscard]] std::vector<std::uint32_t> distances_of_streams(std::span<const std::uint64_t> lines,
                                                              std::span<const std::uint64_t> begins,
                                                              Accelerator* accelerator);
[[nodiscard]] std::vector<ReuseHistogram> histograms_of_streams(std::span<const std::uint64_t> lines,
                                                                std::span<const std::uint64_t> begins,
                                                                Accelerator* accelerator);

}  // namespace rayreplay::memory
