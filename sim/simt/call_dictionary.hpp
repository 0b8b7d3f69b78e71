// Numbers the calls of a launch in the order in which a policy prefers them.
//
// Contract: a call is (kind, shader) of a warp event; its code is its index in `calls`. With this order a policy
// compares codes only. `favoured` is the number of calls at the front that the policy treats separately.
//   stage-majority  traversal-stage calls, then the rest; by shader, then kind, in each
//   min-shader      by kind, then shader; none favoured
//   oldest-lane     by shader, then kind; none favoured
//   independent     trace calls of ray-generation shaders, then the rest; by shader, then kind, in each
//   trace-barrier   traversal-stage calls, then the rest, then trace calls of ray-generation shaders; none favoured
//
// If all kinds of all shaders fit into a narrow code (kernel/kernel.hpp), `calls` has them all and the events are not
// read. Else it has those that occur, which takes one parallel pass over the kind and shader columns; `order_calls`
// gets the occurrences. Errors: Resource for more distinct calls than 16 bits can number.
#pragma once

#include <cstdint>
#include <vector>

#include "capture/trace/trace.hpp"
#include "sim/simt/replayer.hpp"

namespace rayreplay::simt {

struct Call {
  trace::EventKind kind;
  std::uint16_t shader;
};

struct CallDictionary {
  std::vector<Call> calls;  ///< index: code
  std::size_t favoured = 0;

  /// True if narrow codes suffice.
  [[nodiscard]] bool narrow() const;
};

[[nodiscard]] CallDictionary make_call_dictionary(const trace::Launch& launch,
                                                  const std::vector<trace::Shader>& shaders, Policy policy);

/// `occurs`: by shader << kernel::kKindBits | kind; empty: all possible calls.
[[nodiscard]] CallDictionary order_calls(const std::vector<trace::Shader>& shaders, Policy policy,
                                         const std::vector<std::uint8_t>& occurs);
/// Number of possible calls of that many shaders.
[[nodiscard]] std::size_t possible_calls(std::size_t shaders);

}  // namespace rayreplay::simt
