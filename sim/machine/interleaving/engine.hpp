// The interleaving's engine: rules of interleave.hpp, with a warp scheduler's policy (warp_scheduler.hpp) inlined.
//
// Method: time advances in windows (engine_state.hpp). In each, the SMs are simulated in parallel, from event to event.
// An SM stops in a cycle in which it must ask the dispatcher: a warp has ended, or items have been released. When all
// SMs have stopped or reached the window's end, the dispatcher answers them one by one, in the order of SMs, and they
// go on. While there are shared items (dispatcher.hpp), an SM with a slot for one waits until all others have reached
// its cycle. The SMs that wait in the earliest cycle then get items and go on one at a time. The order of the
// dispatcher's calls does not depend on the number of threads, so neither do the results.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include <oneapi/tbb/parallel_for.h>

#include "sim/machine/interleave.hpp"
#include "sim/machine/interleaving/engine_state.hpp"
#include "sim/machine/warp_scheduler.hpp"

namespace rayreplay::machine {

/// `make_policy(sm)`: the policy of an SM; `kWork`: InterleaveOptions::work. Arguments were checked (interleave.cpp).
template <class MakePolicy, bool kWork>
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
    while (state_.open_window() != SmUnit::kNever) {
      running_.clear();
      for (const SmUnit& unit : state_.units) {
        if (unit.time < state_.window_end()) {
          running_.push_back(unit.sm);
        }
      }
      while (!running_.empty()) {
        advance_all();
        std::erase_if(running_, [this](std::uint32_t sm) { return !ask(state_.units[sm]); });
      }
      while (!stopped_.empty()) {
        go_on();
      }
      state_.close_window();
    }
    return state_.finish();
  }

 private:
  /// SMs that one task simulates, one after the other: prefetches of the next SM hide its cache misses.
  static constexpr std::size_t kSmsAtOnce = 4;

  [[nodiscard]] auto start() {
    return [this](std::uint32_t sm, std::uint32_t slot, bool is_ready) {
      policies_[sm].started(slot);
      if (!kWork || is_ready) {
        policies_[sm].ready(slot);
      }
    };
  }

  /// Simulates the running SMs until each must ask the dispatcher, or the window ends.
  void advance_all() {
    failed_.assign(running_.size(), nullptr);
    using Sms = oneapi::tbb::blocked_range<std::size_t>;
    oneapi::tbb::parallel_for(Sms(0, running_.size(), kSmsAtOnce), [this](const Sms& range) {
      for (std::size_t i = range.begin(); i < range.end(); ++i) {
        if (i + 1 < range.end()) {
          state_.prefetch(state_.units[running_[i + 1]]);
        }
        try {
          advance(state_.units[running_[i]]);
        } catch (...) {
          failed_[i] = std::current_exception();
        }
      }
    });
    // The first SM's error: which one a thread meets first is chance.
    const auto first = std::find_if(failed_.begin(), failed_.end(), [](const auto& error) { return error != nullptr; });
    if (first != failed_.end()) {
      std::rethrow_exception(*first);
    }
  }

  /// Simulates the rest of the window, or until the SM must ask the dispatcher.
  void advance(SmUnit& unit) {
    Policy& policy = policies_[unit.sm];
    const std::uint64_t end = state_.window_end();
    std::uint64_t cycle = unit.time;
    for (; cycle < end; cycle = after(unit, policy, cycle)) {
      while (unit.wakes.first() <= cycle) {
        awake(unit, policy, unit.wakes.take(), cycle);
      }
      if (unit.waits && unit.until <= cycle) {
        unit.waits = false;
      }
      if (unit.vacant || unit.release <= cycle) {
        break;
      }
      if constexpr (kWork) {
        admit(unit, policy, cycle);
      }
      if (can_issue(unit, policy)) {
        issue(unit, policy, cycle);
      }
    }
    unit.time = cycle;
  }

  /// The dispatcher's answer to an SM that stopped before the window's end. True if the SM goes on; false if it waits
  /// for a shared item, or has reached the window's end.
  bool ask(SmUnit& unit) {
    if (unit.time >= state_.window_end()) {
      return false;
    }
    state_.report_ends(unit);
    state_.fill_own(unit, unit.time, start());
    if (unit.free_slots.any() && state_.has_shared(unit, unit.time)) {
      stopped_.emplace(unit.time, unit.sm);
      return false;
    }
    state_.filled(unit, unit.time);
    return true;
  }

  /// The SMs that stopped in the earliest cycle get items.
  void go_on() {
    const std::uint64_t cycle = stopped_.top().first;
    going_on_.clear();
    for (; !stopped_.empty() && stopped_.top().first == cycle; stopped_.pop()) {
      going_on_.push_back(stopped_.top().second);
    }
    state_.fill_shared(going_on_, cycle, start());
    for (const std::uint32_t sm : going_on_) {
      SmUnit& unit = state_.units[sm];
      state_.filled(unit, cycle);
      do {
        advance(unit);
      } while (ask(unit));
    }
  }

  [[nodiscard]] static bool can_issue(const SmUnit& unit, const Policy& policy) {
    return !unit.waits && (unit.holds || policy.any());
  }

  /// The next cycle with an event.
  [[nodiscard]] static std::uint64_t after(const SmUnit& unit, const Policy& policy, std::uint64_t cycle) {
    return can_issue(unit, policy)
               ? cycle + 1
               : std::min({unit.wakes.first(), unit.waits ? unit.until : SmUnit::kNever, unit.release});
  }

  void awake(SmUnit& unit, Policy& policy, std::uint32_t slot, std::uint64_t cycle) {
    using Next = WorkRules::Next;
    const Next next = kWork ? state_.go_on(unit, slot, cycle) : state_.has_ended(unit, slot) ? Next::Ends : Next::Ready;
    if (next == Next::Ends) {
      policy.ended(slot);
      state_.end_warp(unit, slot, cycle);
    } else if (!kWork || next == Next::Ready) {
      policy.ready(slot);
    }
  }

  /// Warps whose rays fit into the ray-tracing unit leave its queue.
  void admit(SmUnit& unit, Policy& policy, std::uint64_t cycle) {
    for (std::uint32_t slot = state_.admit(unit, cycle); slot != SmUnit::kNone; slot = state_.admit(unit, cycle)) {
      if (state_.go_on(unit, slot, cycle) == WorkRules::Next::Ready) {
        policy.ready(slot);
      }
    }
  }

  void issue(SmUnit& unit, Policy& policy, std::uint64_t cycle) {
    if (!unit.holds) {
      const std::uint32_t slot = policy.choose();
      state_.hold(unit, slot);
      if (!kWork) {
        state_.begin_clause(unit, slot);
      }
    }
    if (state_.issue(unit, cycle) && kWork) {
      policy.ready(unit.slot);  // for the next cycle: this one's choice is made
    }
  }

  using Stop = std::pair<std::uint64_t, std::uint32_t>;  // cycle, SM

  EngineState state_;
  std::vector<Policy> policies_;
  std::vector<std::uint32_t> running_;      ///< SMs that have not reached the window's end, nor wait for a shared item
  std::vector<std::exception_ptr> failed_;  ///< by place in running_
  std::priority_queue<Stop, std::vector<Stop>, std::greater<>> stopped_;
  std::vector<std::uint32_t> going_on_;
};

template <class MakePolicy>
InterleaveResult interleave_with(const InterleaveCall& call, MakePolicy make_policy) {
  return call.options.work ? InterleaveEngine<MakePolicy, true>(call, make_policy).run()
                           : InterleaveEngine<MakePolicy, false>(call, make_policy).run();
}

}  // namespace rayreplay::machine
