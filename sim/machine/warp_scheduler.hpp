// Warp schedulers: which of an SM's ready warps issues its next instruction (MODELS.md §12; Rogers et al., MICRO 2012).
//
// Contract: a model runs the whole interleaving with its policy inlined, because the choice is made for every
// instruction. A policy is the state of one SM; slots are 0 … resident warps − 1. The engine calls, in order of time,
//   started(slot)   a warp has taken the slot
//   ended(slot)     its warp has left it
//   ready(slot)     the warp's next instruction may issue
//   choose()        takes one of the ready slots, which is then no longer ready
//   any()           true if a slot is ready
//
// A slot becomes ready only between started and ended, and never twice in a row. Deterministic. To add one: a .cpp file
// in sim/machine/schedulers/ with a policy, whose model calls interleave_with (interleaving/engine.hpp).
#pragma once

#include "base/registry.hpp"
#include "sim/machine/interleave.hpp"

namespace rayreplay::machine {

/// The checked arguments of `interleave`.
struct InterleaveCall {
  memory::WarpSource& source;
  Dispatcher& dispatcher;
  const Machine& machine;
  const InterleaveOptions& options;
  memory::TransactionSink& sink;
};

class WarpScheduler {
 public:
  static constexpr const char* kModelKind = "warp scheduler";
  virtual ~WarpScheduler() = default;
  [[nodiscard]] virtual InterleaveResult run(const InterleaveCall& call) const = 0;
};

using WarpSchedulers = Registry<WarpScheduler>;

}  // namespace rayreplay::machine
