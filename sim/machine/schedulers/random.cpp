// Random: any of the ready warps, drawn from a seed.
#include "base/declare_parameters.hpp"
#include "base/split_mix.hpp"
#include "sim/machine/interleaving/engine.hpp"
#include "sim/machine/interleaving/slot_set.hpp"
#include "sim/machine/warp_scheduler.hpp"

namespace rayreplay::machine {
namespace {

class Random {
 public:
  explicit Random(std::uint64_t seed) : seed_(seed) {}
  void started(std::uint32_t /*slot*/) {}
  void ended(std::uint32_t /*slot*/) {}
  void ready(std::uint32_t slot) {
    ready_.insert(slot);
  }
  [[nodiscard]] bool any() const {
    return ready_.any();
  }
  std::uint32_t choose() {
    const std::uint64_t drawn = split_mix(seed_, draws_++) >> 32U;
    const std::uint32_t slot = ready_.nth(static_cast<std::uint32_t>(drawn * ready_.count() >> 32U));
    ready_.erase(slot);
    return slot;
  }

 private:
  SlotSet ready_;
  std::uint64_t seed_;
  std::uint64_t draws_ = 0;
};

class Model final : public WarpScheduler {
 public:
  explicit Model(std::uint64_t seed) : seed_(seed) {}
  [[nodiscard]] InterleaveResult run(const InterleaveCall& call) const override {
    return interleave_with(call, [seed = seed_](std::uint32_t sm) { return Random(split_mix(seed, sm)); });
  }

 private:
  std::uint64_t seed_;
};

const WarpSchedulers::Registrar kRegistrar(
    {.kind = {},
     .name = "random",
     .summary = "Any of the ready warps, drawn from a seed",
     .text = "Draw n of SM s is the upper half of split_mix(split_mix(seed, s), n), times the number of ready warps, "
             "divided by 2^32: the rank of the slot among the ready ones. One draw an instruction. A control: cache "
             "results under an arbitrary order.",
     .source = "rayreplay",
     .parameters = {declare::whole("seed", 1, "", "Seed of the random numbers.", 0, 9e15)}},
    [](const Parameters& parameters) {
      return std::make_unique<Model>(static_cast<std::uint64_t>(parameters.get_int("seed")));
    });

}  // namespace
}  // namespace rayreplay::machine
