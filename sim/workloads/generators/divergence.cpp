// Divergence of degree k: the lanes of a warp hit k different closest-hit shaders.
//
// Contract: every thread traces `bounces` rays, each of which hits the triangle of the thread's own shader.
// Interleaved: lane l has shader l mod k; blocked: all lanes of warp w have shader w mod k. A trace call is one warp
// event of the lanes that make it together, a hit one of the lanes of its shader. With g = min(k, lanes) groups in a
// warp:
//   policies that reconverge at trace calls (trace-barrier, independent, oldest-lane):
//   1 + g events for each bounce, so η = 2 / (1 + g);
//   policies that do not (stage-majority, min-shader): lanes diverge at the first hit and never reconverge:
//   1 + g (2 b − 1) events, so η = 2 b / (1 + g (2 b − 1)).
//
// Source: rayreplay; the policies are MODELS.md §4. O(threads · bounces).
#include <algorithm>
#include <memory>

#include "sim/workloads/declare.hpp"
#include "sim/workloads/targets.hpp"
#include "sim/workloads/trace_maker.hpp"
#include "sim/workloads/workload.hpp"

namespace rayreplay::workloads {
namespace {

class Divergence final : public Workload {
 public:
  explicit Divergence(const Parameters& parameters)
      : degree_(get_count(parameters, "degree")),
        bounces_(get_count(parameters, "bounces")),
        blocked_(parameters.get_string("placement") == "blocked"),
        lanes_(get_count(parameters, "warp_size")),
        warps_(get_count(parameters, "warps")) {}

  [[nodiscard]] trace::Trace make_trace() const override {
    TraceMaker maker("divergence", lanes_, std::uint64_t{2} * bounces_ * lanes_ * warps_);
    Targets targets(maker);
    targets.add_numbered(degree_);
    for (std::uint32_t warp = 0; warp < warps_; ++warp) {
      for (std::uint32_t lane = 0; lane < lanes_; ++lane) {
        maker.thread();
        for (std::uint32_t bounce = 0; bounce < bounces_; ++bounce) {
          targets.hit((blocked_ ? warp : lane) % degree_);
        }
      }
    }
    return maker.finish();
  }

  [[nodiscard]] std::vector<KnownAnswer> answers(const machine::Machine& /*machine*/) const override {
    const double groups = blocked_ ? 1 : std::min(degree_, lanes_);
    const double bounces = bounces_;
    const double apart = 2 * bounces / (1 + groups * (2 * bounces - 1));
    const double together = 2 / (1 + groups);
    std::vector<KnownAnswer> answers;
    for (const char* policy : {"stage-majority", "min-shader"}) {
      answers.push_back(known(apart, "2 b / (1 + g (2 b - 1)): the lanes part at the first hit", policy, "identity"));
    }
    for (const char* policy : {"trace-barrier", "independent", "oldest-lane"}) {
      answers.push_back(known(together, "2 / (1 + g): all lanes meet at every trace call", policy, "identity"));
    }
    if (sorts_into_whole_warps()) {
      answers.push_back(known(1, "1: threads sorted by shader fill whole warps", "stage-majority", "first-hit-shader"));
    }
    return answers;
  }
  [[nodiscard]] std::vector<std::string> examples() const override {
    return {"divergence:degree=1", "divergence:degree=4", "divergence:degree=32", "divergence:degree=7,bounces=4",
            "divergence:degree=4,placement=blocked"};
  }

 private:
  static KnownAnswer known(double efficiency, const char* because, const char* policy, const char* packing) {
    return {"simt_efficiency", efficiency, 0, because, {{"policy", policy}, {"packing", packing}}};
  }
  [[nodiscard]] bool sorts_into_whole_warps() const {
    if (blocked_) {
      return true;
    }
    for (std::uint32_t shader = 0; shader < std::min(degree_, lanes_); ++shader) {
      const std::uint32_t of_warp = (lanes_ - shader - 1) / degree_ + 1;
      if (std::uint64_t{of_warp} * warps_ % lanes_ != 0) {
        return false;
      }
    }
    return true;
  }

  std::uint32_t degree_;
  std::uint32_t bounces_;
  bool blocked_;
  std::uint32_t lanes_;
  std::uint32_t warps_;
};

const Workloads::Registrar kRegistrar(
    {.kind = {},
     .name = "divergence",
     .summary = "Lanes of a warp hit k different closest-hit shaders",
     .text =
         "Every thread traces rays at the triangle of its own shader. Interleaved, lane l has shader l mod k, so that "
         "every warp has g = min(k, lanes) groups; blocked, a warp has one shader. A warp that meets again at every "
         "trace call (policies trace-barrier, independent, oldest-lane) has an efficiency of 2 / (1 + g); one that "
         "does not (stage-majority, min-shader) has 2 b / (1 + g (2 b - 1)) after b bounces.",
     .source = "rayreplay",
     .parameters = {declare::whole("degree", 4, "shaders", "Closest-hit shaders that a warp's lanes hit.", 1, 1024),
                    declare::whole("bounces", 1, "rays", "Rays of a thread.", 1, 4096),
                    declare::choice(
                        "placement", "interleaved", {"interleaved", "blocked"},
                        "interleaved: neighbouring lanes have different shaders; blocked: neighbouring warps have."),
                    warp_size_parameter(), warps_parameter(64)}},
    [](const Parameters& parameters) { return std::make_unique<Divergence>(parameters); });

}  // namespace
}  // namespace rayreplay::workloads
