// The calls of a launch as small numbers, in the order in which a policy prefers them.
//
// Contract: a call is (kind, shader) of a warp event; its code is its place in `calls`. The order makes a policy's
// tests comparisons of codes: `favoured` is the number of calls at the front that the policy treats apart.
//   stage-majority  traversal-stage calls, then the rest; by shader, then kind, in each
//   min-shader      by kind, then shader; none favoured
//   oldest-lane     by shader, then kind; none favoured
//   independent     trace calls of ray-generation shaders, then the rest; by shader, then kind, in each
//   trace-barrier   traversal-stage calls, then the rest, then trace calls of ray-generation shaders; none favoured
// While every kind of every shader together fit into a narrow code (kernel/kernel.hpp), `calls` holds them all and the
// events are not looked at; else it holds those that occur, which costs one parallel pass over the kind and shader
// columns; `order_calls` is told which occur. Errors: Resource for more distinct calls than 16 bits can number.
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

  /// Whether narrow codes suffice.
  [[nodiscard]] bool narrow() const;
};

[[nodiscard]] CallDictionary make_call_dictionary(const trace::Launch& launch,
                                                  const std::vector<trace::Shader>& shaders, Policy policy);

/// `occurs`: by shader << kernel::kKindBits | kind; empty: take all calls that the shaders could make.
[[nodiscard]] CallDictionary order_calls(const std::vector<trace::Shader>& shaders, Policy policy,
                                         const std::vector<std::uint8_t>& occurs);
/// Calls that so many shaders could make.
[[nodiscard]] std::size_t possible_calls(std::size_t shaders);

}  // namespace rayreplay::simt
