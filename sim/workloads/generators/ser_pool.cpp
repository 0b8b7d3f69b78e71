// Pool size for SER: k shaders in every warp, sorted in pools of P warps.
//
// Contract: lane l of every warp hits shader l mod k; every thread traces one ray. A pool of P warps, sorted by shader
// and cut into warps again, has runs of P · c threads, c being the shader's lanes in a warp. A run that spans several
// warps is an event in each of them. With equal runs (k divides the lanes n) a pool has P + k − gcd(P, k) hit events;
// with the P events of trace calls the efficiency is 2 P / (2 P + k − gcd(P, k)). Unequal runs are counted one by one.
// Pools are consecutive warps; the last may be smaller. Source: rayreplay. O(threads).
#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "sim/workloads/declare.hpp"
#include "sim/workloads/targets.hpp"
#include "sim/workloads/trace_maker.hpp"
#include "sim/workloads/workload.hpp"

namespace rayreplay::workloads {
namespace {

class SerPool final : public Workload {
 public:
  explicit SerPool(const Parameters& parameters)
      : shaders_(get_count(parameters, "shaders")),
        lanes_(get_count(parameters, "warp_size")),
        warps_(get_count(parameters, "warps")) {}

  [[nodiscard]] trace::Trace make_trace() const override {
    TraceMaker maker("ser-pool", lanes_, std::uint64_t{2} * lanes_ * warps_);
    Targets targets(maker);
    targets.add_numbered(shaders_);
    for (std::uint32_t thread = 0; thread < lanes_ * warps_; ++thread) {
      maker.thread();
      targets.hit(thread % lanes_ % shaders_);
    }
    return maker.finish();
  }

  [[nodiscard]] std::vector<KnownAnswer> answers(const machine::Machine& /*machine*/) const override {
    std::vector<KnownAnswer> answers;
    for (std::uint32_t pool = 1; pool <= std::min(warps_, 256U); pool *= 2) {
      const std::uint64_t events =
          warps_ + warps_ / pool * hit_events(pool) + (warps_ % pool == 0 ? 0 : hit_events(warps_ % pool));
      answers.push_back({"model_efficiency",
                         2.0 * warps_ / static_cast<double>(events),
                         0,
                         "2 P / (2 P + k - gcd(P, k)) where k divides the lanes: runs of a shader that lie in several "
                         "warps are an event in each",
                         {{"scheduler.model", fmt::format("ser:scope=pool,pool_warps={}", pool)},
                          {"packing", "identity"},
                          {"policy", "stage-majority"}}});
    }
    return answers;
  }
  [[nodiscard]] std::vector<std::string> examples() const override {
    return {"ser-pool:shaders=8", "ser-pool:shaders=5"};
  }

 private:
  /// In a sorted pool: the number of (warp, shader) pairs.
  [[nodiscard]] std::uint64_t hit_events(std::uint64_t pool) const {
    std::uint64_t events = 0;
    std::uint64_t begin = 0;
    for (std::uint32_t shader = 0; shader < std::min(shaders_, lanes_); ++shader) {
      const std::uint64_t end = begin + pool * ((lanes_ - shader - 1) / shaders_ + 1);
      events += (end - 1) / lanes_ - begin / lanes_ + 1;
      begin = end;
    }
    return events;
  }

  std::uint32_t shaders_;
  std::uint32_t lanes_;
  std::uint32_t warps_;
};

const Workloads::Registrar kRegistrar(
    {.kind = {},
     .name = "ser-pool",
     .summary = "Every warp hits k shaders; sorted in pools of P warps",
     .text =
         "Lane l of every warp hits shader l mod k. Sorted by shader in pools of P warps, efficiency is "
         "2 P / (2 P + k - gcd(P, k)) where k divides the warp: it grows with the pool until every shader fills whole "
         "warps. The scheduler model determines a pool's time: sweep scheduler.model:pool_warps against "
         "shader_costs.closest-hit to see where it pays.",
     .source = "rayreplay",
     .parameters = {declare::whole("shaders", 8, "shaders", "Closest-hit shaders that a warp's lanes hit.", 1, 1024),
                    warp_size_parameter(), warps_parameter(256)}},
    [](const Parameters& parameters) { return std::make_unique<SerPool>(parameters); });

}  // namespace
}  // namespace rayreplay::workloads
