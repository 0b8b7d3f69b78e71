// Warps whose rays need room in the ray-tracing unit.
//
// Contract: one SM runs R · rounds warps, R at a time. Each puts r rays into the unit, loads a line of its own from
// DRAM, and takes its rays out. At most ⌊rt_rays / r⌋ warps are inside, one always, and R without a limit or a unit.
// The time is that of so many loads in flight (LoadLoop). Source: Little 1961; rayreplay. O(warps).
#include <algorithm>
#include <memory>

#include "sim/workloads/warps_workload.hpp"

namespace rayreplay::workloads {
namespace {

class RaysInFlight final : public WarpsWorkload {
 public:
  explicit RaysInFlight(const Parameters& parameters)
      : rays_(get_count(parameters, "rays")),
        resident_(get_count(parameters, "resident_warps")),
        rounds_(get_count(parameters, "rounds")) {}

  [[nodiscard]] std::vector<std::string> examples() const override {
    return {"rays-in-flight:rays=32", "rays-in-flight:rays=1"};
  }

 private:
  [[nodiscard]] std::uint64_t warps() const {
    return std::uint64_t{resident_} * rounds_;
  }

  [[nodiscard]] WarpWorkload make(const TimedMachine& machine) const override {
    WarpMaker maker("rays-in-flight", machine, warps(), warps());
    for (std::uint64_t warp = 0; warp < warps(); ++warp) {
      maker.warp(0);
      maker.row().rays_begin = static_cast<std::uint16_t>(rays_);
      maker.load(warp * machine.apart);
      maker.row().rays_end = static_cast<std::uint16_t>(rays_);
    }
    return maker.finish();
  }

  [[nodiscard]] std::uint32_t resident_on(const TimedMachine& /*machine*/) const override {
    return resident_;
  }

  [[nodiscard]] std::string unknown_on(const TimedMachine& machine) const override {
    return too_many_warps(machine, resident_);
  }

  [[nodiscard]] std::vector<KnownAnswer> answers_on(const TimedMachine& machine) const override {
    const std::uint32_t inside =
        machine.rays == 0 ? resident_ : std::min(resident_, std::max(1U, machine.rays / rays_));
    const LoadLoop loop = loads_from_dram(machine, inside, 1);
    return {{"time_cycles", loop.ends(warps() - 1), loop.rounding(warps() - 1),
             "loads of min(R, rt_rays / r) warps in flight", memory_time()}};
  }

  std::uint32_t rays_;
  std::uint32_t resident_;
  std::uint32_t rounds_;
};

const Workloads::Registrar kRegistrar(
    {.kind = {},
     .name = "rays-in-flight",
     .summary = "Warps whose rays need room in the ray-tracing unit",
     .text = "One SM holds R warps of r rays, which stay in the unit while a line is loaded. Sweep machine.rt_rays: a "
             "low limit leaves few loads in flight.",
     .source = "Little, A proof for the queuing formula L = lambda W, Operations Research 9, 1961; rayreplay",
     .parameters = {declare::whole("rays", 32, "rays", "Rays of a warp.", 1, 1024), resident_parameter(),
                    rounds_parameter(16)}},
    [](const Parameters& parameters) { return std::make_unique<RaysInFlight>(parameters); });

}  // namespace
}  // namespace rayreplay::workloads
