// Warps whose SMs and order are known: each waits for the earlier segments of its threads.
#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "sim/machine/dispatcher.hpp"

namespace rayreplay::machine {
namespace {

using scheduler::kNoSegment;
using scheduler::Segments;
using scheduler::SegmentSchedule;

[[noreturn]] void broken_order(std::string where, std::string found, std::string expected) {
  throw Error(ErrorKind::Internal, {"warps cannot be played in this order", std::move(where), std::move(found),
                                    std::move(expected), "report this: the scheduler model is at fault"});
}

class PlayedDispatcher final : public Dispatcher {
 public:
  PlayedDispatcher(const SegmentSchedule& schedule, const Segments& segments, std::span<const std::uint32_t> sm_of_warp,
                   const Machine& machine)
      : schedule_(&schedule),
        sm_of_(sm_of_warp),
        signal_cycles_(machine.l2_latency_cycles),
        follower_(segments.size(), kNone),
        waits_(schedule.warps()),
        ready_(schedule.warps(), 0),
        queues_(machine.sms),
        next_(machine.sms, 0) {
    if (sm_of_.size() != schedule.warps()) {
      broken_order("", fmt::format("SMs of {} warps", sm_of_.size()), fmt::format("{}", schedule.warps()));
    }
    find_followers(segments);
    for (std::uint32_t warp = 0; warp < schedule.warps(); ++warp) {
      if (sm_of_[warp] >= machine.sms) {
        broken_order(fmt::format("warp {}", warp), fmt::format("SM {}", sm_of_[warp]),
                     fmt::format("less than {}", machine.sms));
      }
      queues_[sm_of_[warp]].push_back(warp);
    }
  }

  [[nodiscard]] std::uint32_t items() const override {
    return static_cast<std::uint32_t>(schedule_->warps());
  }
  [[nodiscard]] bool signals() const override {
    return true;
  }
  [[nodiscard]] std::uint32_t take_own(std::uint32_t sm, std::uint64_t cycle) override {
    if (!is_open(sm) || ready_[head(sm)] > cycle) {
      return kNone;
    }
    return queues_[sm][next_[sm]++];
  }
  [[nodiscard]] bool has_shared(std::uint32_t /*sm*/, std::uint64_t /*cycle*/) const override {
    return false;
  }
  [[nodiscard]] std::uint32_t take_shared(std::uint32_t /*sm*/, std::uint64_t /*cycle*/,
                                          std::vector<Release>& /*releases*/) override {
    return kNone;
  }
  void ended(std::uint32_t item, std::uint32_t sm, std::uint64_t cycle, std::vector<Release>& releases) override {
    for (const std::uint32_t segment : lanes_of(item)) {
      const std::uint32_t follower = segment == kNoSegment ? kNone : follower_[segment];
      if (follower == kNone) {
        continue;
      }
      const std::uint32_t its_sm = sm_of_[follower];
      ready_[follower] = std::max(ready_[follower], its_sm == sm ? cycle : cycle + signal_cycles_);
      --waits_[follower];
      if (its_sm != sm && is_open(its_sm) && head(its_sm) == follower) {
        releases.push_back({its_sm, ready_[follower]});
      }
    }
  }
  [[nodiscard]] std::uint64_t next_release(std::uint32_t sm, std::uint64_t cycle) const override {
    return is_open(sm) && ready_[head(sm)] > cycle ? ready_[head(sm)] : kNever;
  }
  void append_next(std::size_t most, std::vector<std::uint32_t>& items) const override {
    const std::size_t each = std::max<std::size_t>(most / queues_.size(), 1);
    for (std::size_t sm = 0; sm < queues_.size(); ++sm) {
      const std::size_t end = std::min(next_[sm] + each, queues_[sm].size());
      items.insert(items.end(), queues_[sm].begin() + static_cast<std::ptrdiff_t>(next_[sm]),
                   queues_[sm].begin() + static_cast<std::ptrdiff_t>(end));
    }
  }

 private:
  [[nodiscard]] std::span<const std::uint32_t> lanes_of(std::uint32_t warp) const {
    return std::span(schedule_->segment_at).subspan(std::size_t{warp} * schedule_->warp_size, schedule_->warp_size);
  }
  [[nodiscard]] std::uint32_t head(std::uint32_t sm) const {
    return queues_[sm][next_[sm]];
  }
  /// The SM's next warp has nothing to wait for but a signal.
  [[nodiscard]] bool is_open(std::uint32_t sm) const {
    return next_[sm] < queues_[sm].size() && waits_[head(sm)] == 0;
  }

  /// The warp of each thread's next segment, and the number of segments that each warp waits for.
  void find_followers(const Segments& segments) {
    std::vector<std::uint32_t> warp_of(segments.size(), kNone);
    for (std::uint32_t warp = 0; warp < schedule_->warps(); ++warp) {
      for (const std::uint32_t segment : lanes_of(warp)) {
        if (segment != kNoSegment) {
          warp_of[segment] = warp;
        }
      }
    }
    for (std::size_t thread = 0; thread + 1 < segments.first.size(); ++thread) {
      for (std::uint32_t segment = segments.first[thread]; segment + 1 < segments.first[thread + 1]; ++segment) {
        const std::uint32_t follower = warp_of[segment + 1];
        // Each warp follows those that it waits for, so the first one that has not started can always start.
        if (follower == kNone || warp_of[segment] == kNone || warp_of[segment] >= follower) {
          broken_order(fmt::format("segment {}", segment + 1), fmt::format("in warp {}", follower),
                       fmt::format("after warp {}, of the thread's previous segment", warp_of[segment]));
        }
        follower_[segment] = follower;
        ++waits_[follower];
      }
    }
  }

  const SegmentSchedule* schedule_;
  std::span<const std::uint32_t> sm_of_;
  std::uint64_t signal_cycles_;
  std::vector<std::uint32_t> follower_;             ///< by segment: warp of the thread's next segment; kNone
  std::vector<std::uint8_t> waits_;                 ///< by warp: earlier segments of its threads that have not ended
  std::vector<std::uint64_t> ready_;                ///< by warp: when the signals of those that have ended arrive
  std::vector<std::vector<std::uint32_t>> queues_;  ///< by SM
  std::vector<std::size_t> next_;                   ///< by SM
};

}  // namespace

std::unique_ptr<Dispatcher> dispatch_played(const SegmentSchedule& schedule, const Segments& segments,
                                            std::span<const std::uint32_t> sm_of_warp, const Machine& machine) {
  return std::make_unique<PlayedDispatcher>(schedule, segments, sm_of_warp, machine);
}

}  // namespace rayreplay::machine
