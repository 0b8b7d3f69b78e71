// The interleaving's engine: rules of interleave.hpp, with a policy of a warp scheduler (warp_scheduler.hpp) built in.
//
// How: a ring of lists says which warps become ready, or end, in which cycle; two sets of SMs say who can issue now and
// who has a free slot. A cycle in which something happens is looked at, SM by SM; others are skipped.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/machine/interleave.hpp"
#include "sim/machine/interleaving/engine_state.hpp"
#include "sim/machine/warp_scheduler.hpp"

namespace rayreplay::machine {

/// `make_policy(sm)`: the policy of an SM. The call is checked (interleave.cpp).
template <class MakePolicy>
class InterleaveEngine {
  using Policy = decltype(std::declval<MakePolicy>()(std::uint32_t{}));

 public:
  InterleaveEngine(const InterleaveCall& call, MakePolicy make_policy) : state_(call) {
    policies_.reserve(call.machine.sms);
    for (std::uint32_t sm = 0; sm < call.machine.sms; ++sm) {
      policies_.push_back(make_policy(sm));
    }
  }

  InterleaveResult run() {
    const auto start = [this](std::uint32_t sm, std::uint32_t slot) {
      policies_[sm].started(slot);
      make_ready(sm, slot);
    };
    state_.fill(start);
    for (std::uint64_t cycle = 0; cycle != WakeRing::kNever;) {
      state_.wake.take(cycle, [&](std::uint32_t id) { awake(id); });
      if (state_.vacant()) {
        state_.fill(start);
      }
      // Four times over the SMs instead of once, so that what one of them has to read is on its way while others are
      // looked at. Which instruction an SM begins does not depend on what others issue in this cycle.
      state_.active.each([&](std::uint32_t sm) { begin(sm); });
      state_.active.each([&](std::uint32_t sm) { state_.prefetch_places(sm); });
      state_.active.each([&](std::uint32_t sm) { state_.prefetch_lines(sm); });
      state_.active.each([&](std::uint32_t sm) { issue(sm, cycle); });
      cycle = state_.active.any() ? cycle + 1 : state_.wake.after(cycle);
    }
    return state_.finish();
  }

 private:
  void make_ready(std::uint32_t sm, std::uint32_t slot) {
    policies_[sm].ready(slot);
    if (!state_.sms[sm].waits) {
      state_.active.insert(sm);
    }
  }

  void awake(std::uint32_t id) {
    if (id >= state_.warps.size()) {  // an SM that waited for a miss
      const auto sm = static_cast<std::uint32_t>(id - state_.warps.size());
      state_.sms[sm].waits = false;
      state_.active.insert(sm);
      return;
    }
    const std::uint32_t sm = state_.sm_of(id);
    const std::uint32_t slot = state_.slot_of(id);
    if (state_.warps[id].next == state_.warps[id].instructions) {
      policies_[sm].ended(slot);
      state_.end_warp(sm, slot);
      return;
    }
    state_.prefetch_instruction(id);
    make_ready(sm, slot);
  }

  void begin(std::uint32_t sm) {
    const SmState& unit = state_.sms[sm];
    if (unit.next == unit.end) {
      state_.begin_instruction(sm, policies_[sm].choose());
    }
  }

  void issue(std::uint32_t sm, std::uint64_t cycle) {
    const SmState& unit = state_.sms[sm];
    if (!state_.issue_transaction(sm, cycle)) {
      state_.active.erase(sm);
      return;
    }
    if (unit.next == unit.end) {
      state_.end_instruction(sm);
      if (!policies_[sm].any()) {
        state_.active.erase(sm);
      }
    }
  }

  EngineState state_;
  std::vector<Policy> policies_;
};

template <class MakePolicy>
InterleaveResult interleave_with(const InterleaveCall& call, MakePolicy make_policy) {
  return InterleaveEngine<MakePolicy>(call, make_policy).run();
}

}  // namespace rayreplay::machine
