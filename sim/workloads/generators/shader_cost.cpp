// Two shaders of different cost: the effect of the expensive one on a warp.
//
// Contract: of a warp's n lanes m = round(share · n) hit shader `dear`, the others shader `cheap` with cost `cost`;
// `dear` costs round(ratio · cost). Every thread traces one ray. With c and d the costs of the non-empty groups:
//   weighted efficiency (ray generation costs nothing): ((n − m) c + m d) / (n (c + d));
//   efficiency: 2 / (1 + number of groups).
//
// Sorted into whole warps nothing diverges: efficiency 1. The speed-up of any schedule that only moves threads is at
// most (c + d) n / ((n − m) c + m d), the ratio of issued instructions, because all other work is equal. Source:
// rayreplay. O(threads).
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "sim/workloads/declare.hpp"
#include "sim/workloads/targets.hpp"
#include "sim/workloads/trace_maker.hpp"
#include "sim/workloads/workload.hpp"

namespace rayreplay::workloads {
namespace {

class ShaderCost final : public Workload {
 public:
  explicit ShaderCost(const Parameters& parameters)
      : lanes_(get_count(parameters, "warp_size")),
        warps_(get_count(parameters, "warps")),
        dear_lanes_(static_cast<std::uint32_t>(std::llround(parameters.get_double("share") * lanes_))),
        cheap_(static_cast<double>(parameters.get_int("cost"))),
        dear_(static_cast<double>(std::llround(parameters.get_double("ratio") * cheap_))) {}

  [[nodiscard]] trace::Trace make_trace() const override {
    TraceMaker maker("shader-cost", lanes_, std::uint64_t{2} * lanes_ * warps_);
    Targets targets(maker);
    targets.add("cheap", "cheap");
    targets.add("dear", "dear");
    for (std::uint32_t thread = 0; thread < lanes_ * warps_; ++thread) {
      maker.thread();
      targets.hit(thread % lanes_ < dear_lanes_ ? 1 : 0);
    }
    return maker.finish();
  }

  [[nodiscard]] std::vector<KnownAnswer> answers(const machine::Machine& /*machine*/) const override {
    const double n = lanes_;
    const double m = dear_lanes_;
    const bool has_cheap = dear_lanes_ < lanes_;
    const bool has_dear = dear_lanes_ > 0;
    const double paid = n * ((has_cheap ? cheap_ : 0) + (has_dear ? dear_ : 0));
    const double used = (n - m) * cheap_ + m * dear_;
    const std::vector<std::pair<std::string, std::string>> calls = {{"policy", "stage-majority"},
                                                                    {"packing", "identity"},
                                                                    {"costs.ray-generation", "0"},
                                                                    {"costs.cheap", fmt::format("{:.0f}", cheap_)},
                                                                    {"costs.dear", fmt::format("{:.0f}", dear_)}};
    std::vector<KnownAnswer> answers = {
        {"simt_weighted_efficiency", used / paid, 0, "((n - m) c + m d) / (n (c + d)) of the groups that there are",
         calls},
        {"simt_efficiency", has_cheap && has_dear ? 2.0 / 3 : 1, 0, "2 / (1 + groups)", calls}};
    if (std::uint64_t{dear_lanes_} * warps_ % lanes_ == 0) {
      const std::vector<std::pair<std::string, std::string>> sorted = {
          {"scheduler.model", "ser:scope=launch"},
          {"machine.sms", "4"},
          {"machine.withheld_sms", "0"},
          {"shader_costs.cheap", fmt::format("{:.0f}", cheap_)},
          {"shader_costs.dear", fmt::format("{:.0f}", dear_)}};
      answers.push_back({"model_efficiency", 1, 0, "1: threads sorted by shader fill whole warps", sorted});
      answers.push_back({"model_speed_up", paid / used, 0.01 * paid / used,
                         "at most (c + d) n / ((n - m) c + m d): the ratio of instructions issued; 1 % for how the "
                         "last warps fall on the SMs",
                         sorted, Relation::AtMost});
    }
    return answers;
  }
  [[nodiscard]] std::vector<std::string> examples() const override {
    return {"shader-cost:ratio=1", "shader-cost:ratio=10", "shader-cost:ratio=10,share=0.125",
            "shader-cost:ratio=10,cost=2000", "shader-cost:ratio=100,share=1"};
  }

 private:
  std::uint32_t lanes_;
  std::uint32_t warps_;
  std::uint32_t dear_lanes_;
  double cheap_;
  double dear_;
};

const Workloads::Registrar kRegistrar(
    {.kind = {},
     .name = "shader-cost",
     .summary = "Two closest-hit shaders, one dearer than the other, in every warp",
     .text = "Of a warp's n lanes m = round(share n) hit the shader 'dear', the others 'cheap'. With costs c and d the "
             "weighted efficiency is ((n - m) c + m d) / (n (c + d)); sorting by shader brings it to 1, which bounds "
             "the gain in time. The costs are keys of the experiment: costs.cheap and costs.dear of the replayer, "
             "shader_costs.cheap and shader_costs.dear of the time model; the parameters give the values that the "
             "known answers assume.",
     .source = "rayreplay",
     .parameters = {declare::real("ratio", 10, "", "Cost of the dear shader, as a multiple of the cheap one's.", 1,
                                  1e4),
                    declare::real("share", 0.5, "", "Share of a warp's lanes that hit the dear shader.", 0, 1),
                    declare::whole("cost", 100, "cycles", "Cost of the cheap shader.", 1, 100000),
                    warp_size_parameter(), warps_parameter(256)}},
    [](const Parameters& parameters) { return std::make_unique<ShaderCost>(parameters); });

}  // namespace
}  // namespace rayreplay::workloads
