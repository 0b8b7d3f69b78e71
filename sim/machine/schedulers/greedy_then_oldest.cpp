// Greedy then oldest: the warp that issued last as long as it is ready, else the one that started first.
//
// Slots map to ages: 0 is the oldest warp of the SM. When a warp ends, younger ones move up. That costs O(resident
// warps) an item and makes the choice O(1).
#include <array>

#include "sim/machine/interleaving/engine.hpp"
#include "sim/machine/interleaving/slot_set.hpp"
#include "sim/machine/warp_scheduler.hpp"

namespace rayreplay::machine {
namespace {

class GreedyThenOldest {
 public:
  void started(std::uint32_t slot) {
    age_of_[slot] = static_cast<std::uint16_t>(warps_);
    slot_of_[warps_] = static_cast<std::uint16_t>(slot);
    ++warps_;
  }
  void ended(std::uint32_t slot) {
    const std::uint32_t age = age_of_[slot];
    ready_.close_gap(age);
    for (std::uint32_t younger = age + 1; younger < warps_; ++younger) {
      const std::uint16_t moved = slot_of_[younger];
      slot_of_[younger - 1] = moved;
      --age_of_[moved];
    }
    --warps_;
    if (last_ == slot) {
      last_ = SlotSet::kNone;
    }
  }
  void ready(std::uint32_t slot) {
    ready_.insert(age_of_[slot]);
  }
  [[nodiscard]] bool any() const {
    return ready_.any();
  }
  std::uint32_t choose() {
    const std::uint32_t age =
        last_ != SlotSet::kNone && ready_.has(age_of_[last_]) ? age_of_[last_] : ready_.at_or_above(0);
    ready_.erase(age);
    last_ = slot_of_[age];
    return last_;
  }

 private:
  SlotSet ready_;  ///< by age
  std::array<std::uint16_t, SlotSet::kMax> age_of_{};
  std::array<std::uint16_t, SlotSet::kMax> slot_of_{};
  std::uint32_t warps_ = 0;
  std::uint32_t last_ = SlotSet::kNone;  ///< slot
};

class Model final : public WarpScheduler {
 public:
  [[nodiscard]] InterleaveResult run(const InterleaveCall& call) const override {
    return interleave_with(call, [](std::uint32_t /*sm*/) { return GreedyThenOldest(); });
  }
};

const WarpSchedulers::Registrar kRegistrar(
    {.kind = {},
     .name = "greedy-then-oldest",
     .summary = "The warp that issued last as long as it is ready, else the one that started first",
     .text = "A warp goes on until it has to wait; then the ready warp that has been on the SM longest issues. Old "
             "warps get ahead of young ones, so that fewer warps share the L1 at a time than with loose round robin. A "
             "load that hits the L1 has a latency too, so a warp is ready again at once only after a store, with "
             "compute_cycles 0.\n\n"
             "Assumes one choice for the whole SM; hardware has partitions with a scheduler each, and their order is "
             "not published.",
     .source = "Rogers, O'Connor, Aamodt, Cache-Conscious Wavefront Scheduling, MICRO 2012",
     .parameters = {}},
    [](const Parameters&) { return std::make_unique<Model>(); });

}  // namespace
}  // namespace rayreplay::machine
