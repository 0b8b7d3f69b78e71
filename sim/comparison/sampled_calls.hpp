// An even sample of a launch's pending calls.
//
// Contract: every n-th of the pending calls that `is_wanted` accepts, in the order of threads, fewer than `most` (an
// even number) of them; n is the smallest power of two for which they fit. So the sample depends on the launch alone.
// O(events) and `most` calls.
#pragma once

#include <cstddef>
#include <vector>

#include "scheduler-models/regrouping/hints/fields.hpp"

namespace rayreplay::experiment {

template <class Wanted>
[[nodiscard]] std::vector<scheduler::formula::PendingCall> sampled_calls(const scheduler::formula::FieldReader& fields,
                                                                         std::size_t most, const Wanted& is_wanted) {
  using scheduler::formula::PendingCall;
  const trace::Launch& launch = fields.launch();
  std::vector<PendingCall> calls;
  std::size_t step = 1;
  std::size_t seen = 0;
  scheduler::formula::for_each_pending(launch, fields.segments(), 0, launch.data.threads(),
                                       [&](const PendingCall& call) {
                                         if (!is_wanted(call) || seen++ % step != 0) {
                                           return;
                                         }
                                         calls.push_back(call);
                                         if (calls.size() == most) {  // full: doubles its distance
                                           for (std::size_t i = 0; i < most / 2; ++i) {
                                             calls[i] = calls[2 * i];
                                           }
                                           calls.resize(most / 2);
                                           step *= 2;
                                         }
                                       });
  return calls;
}

}  // namespace rayreplay::experiment
