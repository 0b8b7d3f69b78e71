// Suggested kinds of data for allocations without a label, from their traffic.
//
// Contract: rules about how ray tracing uses its arrays, written for while-while kernels that traverse in software; a
// suggestion has a reason and a confidence. The confidence is the share of the allocation's accesses (or steps) that do
// as the rule says, halved where fewer than kFewAccesses were seen: an order of trust, no probability. Allocations with
// a label keep it, and help to tell their neighbours. Rules, first match first:
//   stores alone, each byte once                            frame buffer
//   4-byte words that other warps load than stored them,
//   as the first thing that they do                          state
//   4-byte words, loaded and stored: three loads in a row
//   or more                                                  payload; else stack
//   loads alone; a lane reads three, then goes on, and
//   enters from one other array                             vertex, and that array index
//   loads alone of 24 bytes                                  box
//   loads alone; lanes go from here to payloads, the frame
//   buffer, states or shader records                         shader record
//   … to indices or boxes, or stay here                      node
//   … half of them to nodes                                  instance
//   … come from instances, go to some, or to the stack       node
// What no rule fits stays `other`. Neither textures nor materials have a rule. A payload of one or two words looks like
// a stack. O(allocations · neighbours).
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
