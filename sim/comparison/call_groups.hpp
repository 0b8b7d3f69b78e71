// The numbers of a launch's calls: instructions and latencies, for each kind of calls and each way to know them.
//
// Contract: a *group* is the calls of one kind (call_kind: a stage's own, or trace calls of other shaders) whose number
// has one origin. They vary together: by one factor, or, where all are equal, as one value. Latencies that are known by
// themselves (CallCost::own_latency) have groups of their own, after those of the instructions; any other latency
// follows the instructions. `at` gives all costs for any values; at the present ones they are the present costs, bit by
// bit. A latency is never below its instructions. O(calls) each.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "capture/trace/trace.hpp"
#include "sim/comparison/quantity.hpp"
#include "sim/machine/costs.hpp"
#include "sim/simt/replayer.hpp"

namespace rayreplay::experiment {

/// Key and name of a kind of calls: "shader_costs.miss", "a miss call"; "trace-call" for trace calls of other shaders
/// than ray generation.
[[nodiscard]] std::pair<std::string, std::string> call_kind(trace::ShaderStage stage, trace::EventKind kind);

/// Index in Costs::calls.
[[nodiscard]] std::size_t call_index(const simt::CallTally& call);

struct CallGroup {
  Quantity quantity{};  ///< without a range
  std::vector<std::size_t> calls{};
  bool uniform = true;         ///< all calls have one value
  double least = 0, most = 0;  ///< values of one call
  double issue_share = 0;      ///< of a latency: the largest share of a call's latency that its instructions take
};

class CallGroups {
 public:
  CallGroups() = default;
  /// `called`: the calls that the launch makes; `costs`: as Costs::calls.
  CallGroups(const std::vector<trace::Shader>& shaders, std::span<const simt::CallTally> called,
             std::vector<machine::CallCost> costs);

  [[nodiscard]] const std::vector<CallGroup>& list() const {
    return groups_;
  }
  /// The present costs.
  [[nodiscard]] const std::vector<machine::CallCost>& now() const {
    return now_;
  }
  /// Whether some call's latency is instructions times cycles per instruction.
  [[nodiscard]] bool reads_cycles_per_instruction() const {
    return reads_cycles_per_instruction_;
  }
  /// `values`: by group. `other_latency`: the cycles per instruction are not the present ones.
  [[nodiscard]] std::vector<machine::CallCost> at(std::span<const double> values, double cycles_per_instruction,
                                                  bool other_latency) const;

 private:
  void add(const trace::Shader& shader, const simt::CallTally& call, QuantityKind kind);
  void finish();

  std::vector<machine::CallCost> now_;
  std::vector<CallGroup> groups_;
  std::vector<std::pair<double, double>> sums_;  ///< by group, while they are made: values, lanes
  bool reads_cycles_per_instruction_ = false;
};

}  // namespace rayreplay::experiment
