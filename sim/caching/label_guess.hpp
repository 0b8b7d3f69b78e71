// Suggested kinds of data for allocations without a label, from their traffic.
//
// Contract: rules about how ray tracing uses its arrays, written for while-while kernels that traverse in software; a
// suggestion has a reason and a confidence. The confidence is the share of the allocation's accesses (or steps) that
// fit the rule, halved where fewer than kFewAccesses were seen: it ranks suggestions and is no probability. Allocations
// with a label keep it, and rules for others use it. The first rule that fits decides (visits and steps:
// allocation_traffic.hpp):
//   single 4-byte words, loaded and stored; other warps
//   load them than stored them, often as their first
//   accesses                                                 queue
//   4-byte words, stored alone; lanes go on to a queue       queue
//   stores alone, each byte once                            frame buffer
//   4-byte words, loaded and stored; other warps load them
//   than stored them, often as their first accesses or
//   after a queue                                            state
//   4-byte words, loaded and stored; three loads in a row
//   or more                                                  payload
//   4-byte words, loaded and stored, at the own lane's
//   places, or loaded by the warp that stored them           stack
//   loads alone, three a visit; visits come from one other
//   allocation                                               vertex, and that one index
//   loads alone, of 24 bytes                                 box
//   loads alone; lanes go on to payloads, states, the frame
//   buffer or other shader records                           shader record
//   loads alone; several records a visit, or lanes go on to
//   indices or boxes                                         node
//   loads alone; half of the lanes or more go on to nodes    instance
//   loads alone; lanes come from instances, or go on to
//   instances or to the stack                                node
// Other allocations stay `other`: textures and materials have no rule. A payload of one or two words looks like a
// stack, a state of one word like a queue. O(allocations · neighbours).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/caching/allocation_traffic.hpp"
#include "sim/memory/allocations.hpp"

namespace rayreplay::experiment {

inline constexpr std::uint64_t kFewAccesses = 64;

struct LabelGuess {
  std::uint32_t allocation = 0;
  memory::DataKind kind = memory::DataKind::Other;
  std::uint32_t element_bytes = 1;
  double confidence = 0;  ///< 0 … 1
  std::string reason;     ///< "12-byte loads; 98 % of the lanes go on to allocation 3"
};

/// For each allocation of kind Other, in order. `uses`: by allocation.
[[nodiscard]] std::vector<LabelGuess> guess_labels(const memory::Allocations& allocations,
                                                   std::span<const AllocationUse> uses, std::uint32_t warp_size);

}  // namespace rayreplay::experiment
