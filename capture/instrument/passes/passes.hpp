// The rewriting passes. Each looks at one kind of instruction of a function that ray-tracing shaders reach, or at the
// entry points; `instrument.cpp` runs them in one walk.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/instrument/rewriter.hpp"

namespace rayreplay::instrument {

/// Where a function's new instructions go, and who runs it.
struct Place {
  Rewriter& rewriter;
  std::span<const std::uint32_t> shaders;
  std::vector<Instruction>& out;
};

// --- trace_calls.cpp: records of trace calls, and their static sites

/// Where a trace call's operands stand.
struct TraceLayout {
  std::size_t acceleration_structure = 0;  ///< word index; ray flags to t_max follow it. 0: no trace call
  bool hit_object = false;                 ///< word 1 is a hit object, which the call makes
};
[[nodiscard]] TraceLayout trace_layout(Word op);

/// Numbers for the trace calls, such that no shader has one twice. In the order of `next`, one for each call.
class TraceSites {
 public:
  explicit TraceSites(Rewriter& rewriter);
  /// The site of the next trace call of a function; also adds it to the result.
  [[nodiscard]] std::uint8_t add(const Instruction& call, std::size_t function);

 private:
  Rewriter& rewriter_;
  std::vector<std::uint32_t> next_;            ///< by shader
  std::unordered_map<Id, Instruction> loads_;  ///< acceleration structures' definitions
  std::unordered_map<Id, std::pair<std::uint32_t, std::uint32_t>> bindings_;
};

void record_trace_call(const Place& place, const Instruction& call, std::uint8_t site);

// --- reports.cpp: records of what intersection and any-hit shaders decide

void record_before(const Place& place, const Instruction& instruction);
void record_after(const Place& place, const Instruction& instruction);

// --- entry_probes.cpp: functions that stand before the entry points

/// Empty, or why it cannot be done.
[[nodiscard]] std::string wrap_entry_points(Rewriter& rewriter);

}  // namespace rayreplay::instrument
