// Transactions of a launch's shaders in given warps: what the hint advisor adds to issue slots where the launch has
// recorded accesses.
//
// Contract: warps are replayed under the policy (warp_recorder.hpp). Lanes that make a call together run the n-th
// executions of one access site in it as one instruction. So do all lanes of the warp at the ends of their segments;
// accesses of their entries (call_addresses.hpp) are together with those of the warp's first trace event, if there is
// one. An instruction asks the L1 once for each line that its lanes touch: a *transaction*. Loads,
// stores, atomics and samples count alike, as in docs/access-streams.md; what a cache holds does not matter. Whole
// numbers, the same for any number of workers. All arguments but `policy` must outlive this object. O(events + touched
// sectors), parallel over warps.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "capture/trace/trace.hpp"
#include "scheduler-models/regrouping/segments.hpp"
#include "sim/comparison/call_addresses.hpp"
#include "sim/simt/replayer.hpp"

namespace rayreplay::experiment {

struct AddressCounts {
  std::uint64_t instructions = 0;  ///< memory instructions of warps
  std::uint64_t transactions = 0;  ///< lines, each once for an instruction
  std::uint64_t sectors = 0;       ///< the same of sectors

  AddressCounts& operator+=(const AddressCounts& other);
  bool operator==(const AddressCounts&) const = default;
};

class AddressScore {
 public:
  AddressScore(const trace::Trace& trace, const trace::Launch& launch, const scheduler::Segments& segments,
               const CallAddresses& addresses, simt::Policy policy)
      : trace_(trace), launch_(launch), segments_(segments), addresses_(addresses), policy_(policy) {}

  /// `segment_at`: whole warps; kNoSegment: empty.
  [[nodiscard]] AddressCounts count(std::span<const std::uint32_t> segment_at, std::uint32_t warp_size) const;

 private:
  const trace::Trace& trace_;
  const trace::Launch& launch_;
  const scheduler::Segments& segments_;
  const CallAddresses& addresses_;
  simt::Policy policy_;
};

}  // namespace rayreplay::experiment
