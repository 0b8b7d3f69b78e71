// Loose round robin: the next slot in turn that has a ready warp.
#include "sim/machine/interleaving/engine.hpp"
#include "sim/machine/interleaving/slot_set.hpp"
#include "sim/machine/warp_scheduler.hpp"

namespace rayreplay::machine {
namespace {

class LooseRoundRobin {
 public:
  void started(std::uint32_t /*slot*/) {}
  void ended(std::uint32_t /*slot*/) {}
  void ready(std::uint32_t slot) {
    ready_.insert(slot);
  }
  [[nodiscard]] bool any() const {
    return ready_.any();
  }
  std::uint32_t choose() {
    std::uint32_t slot = ready_.at_or_above(next_);
    if (slot == SlotSet::kNone) {
      slot = ready_.at_or_above(0);
    }
    ready_.erase(slot);
    next_ = slot + 1;
    return slot;
  }

 private:
  SlotSet ready_;
  std::uint32_t next_ = 0;
};

class Model final : public WarpScheduler {
 public:
  [[nodiscard]] InterleaveResult run(const InterleaveCall& call) const override {
    return interleave_with(call, [](std::uint32_t /*sm*/) { return LooseRoundRobin(); });
  }
};

const WarpSchedulers::Registrar kRegistrar(
    {.kind = {},
     .name = "loose-round-robin",
     .summary = "The next warp in turn that is ready",
     .text = "After a warp has issued an instruction, the slots behind its own are looked at in turn, from the lowest "
             "again after the highest; the first with a ready warp issues. Warps that wait are passed over: hence "
             "\"loose\". All warps advance at much the same pace, so that neighbours that were started "
             "together touch the same lines together.\n\nAssumes one choice for the whole SM; hardware has "
             "partitions with a scheduler each, and their order is not published.",
     .source = "Rogers, O'Connor, Aamodt, Cache-Conscious Wavefront Scheduling, MICRO 2012",
     .parameters = {}},
    [](const Parameters&) { return std::make_unique<Model>(); });

}  // namespace
}  // namespace rayreplay::machine
