// Ray coherence: from packets of parallel neighbours to random directions within a warp.
//
// Contract: a wall of `cells` × `cells` triangles at depth 10, one a cell, each cell with one of k closest-hit shaders.
// A warp faces one randomly drawn cell. Each lane's ray goes there with probability `coherence`, parallel to its
// neighbours, else from the same origin to another randomly drawn cell. Every ray hits. The shader of a stray ray is
// uniform over the k shaders. With q = (1 − coherence) / k, a warp of n lanes lacks a shader other than the packet's
// with probability (1 − q)^n, and the packet's with ((1 − coherence) (1 − 1/k))^n. With D the expected number of
// shaders in a warp, η = 2 / (1 + D). The tolerance is five standard deviations over the warps (occupied shaders are
// negatively correlated, so the sum of their variances is an upper bound). With coherence 1 all lanes take the same
// path through any structure whose boxes do not split cells: the traversal's warp efficiency is 1. Draws:
// base/split_mix.hpp. Source: rayreplay. O(threads + cells²).
#include <array>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "base/draws.hpp"
#include "base/split_mix.hpp"
#include "sim/workloads/declare.hpp"
#include "sim/workloads/trace_maker.hpp"
#include "sim/workloads/workload.hpp"

namespace rayreplay::workloads {
namespace {

constexpr float kDepth = 10;
constexpr float kInCell = 0.25F;              ///< position of a hit in its cell: well inside the triangle
constexpr float kBetweenLanes = 1.0F / 1024;  ///< distance of a packet's rays
constexpr double kDeviations = 5;

class Draws {
 public:
  explicit Draws(std::uint64_t seed) : seed_(seed) {}
  std::uint32_t below(std::uint32_t limit) {
    return bounded(split_mix(seed_, next_++), limit);
  }
  double share() {
    return unit_number(split_mix(seed_, next_++));
  }

 private:
  std::uint64_t seed_;
  std::uint64_t next_ = 0;
};

class Coherence final : public Workload {
 public:
  explicit Coherence(const Parameters& parameters)
      : coherence_(parameters.get_double("coherence")),
        shaders_(get_count(parameters, "shaders")),
        cells_(get_count(parameters, "cells")),
        lanes_(get_count(parameters, "warp_size")),
        warps_(get_count(parameters, "warps")),
        seed_(static_cast<std::uint64_t>(parameters.get_int("seed"))) {
    if (shaders_ > cells_ * cells_) {
      throw Error(ErrorKind::Usage, {"there are more shaders than cells", "workload 'coherence', shaders",
                                     std::to_string(shaders_), fmt::format("at most {}", cells_ * cells_), ""});
    }
  }

  [[nodiscard]] trace::Trace make_trace() const override {
    TraceMaker maker("coherence", lanes_, std::uint64_t{2} * lanes_ * warps_);
    const std::uint16_t caller = maker.shader(trace::ShaderStage::RayGeneration, "ray-generation");
    for (std::uint32_t shader = 0; shader < shaders_; ++shader) {
      maker.shader(trace::ShaderStage::ClosestHit, fmt::format("hit-{}", shader));
      std::vector<std::array<float, 9>> triangles;
      for (std::uint32_t i = 0; i < cells_of(shader); ++i) {
        const auto [x, y] = corner({shader, i});
        triangles.push_back({x, y, 0, x + 1, y, 0, x, y + 1, 0});
      }
      maker.add_triangles(fmt::format("cells {}", shader), triangles, shader, {0, 0, kDepth});
    }
    Draws draws(seed_);
    for (std::uint32_t warp = 0; warp < warps_; ++warp) {
      const Cell packet = any_cell(draws);
      for (std::uint32_t lane = 0; lane < lanes_; ++lane) {
        const bool follows = draws.share() < coherence_;
        const Cell target = follows ? packet : any_cell(draws);
        const float beside = kInCell + kBetweenLanes * static_cast<float>(lane);
        const auto [from_x, from_y] = corner(packet);
        const auto [to_x, to_y] = corner(target);
        maker.thread();
        maker.begin(caller, {{from_x + beside, from_y + kInCell, 0}, {to_x - from_x, to_y - from_y, kDepth}});
        maker.closest_hit(static_cast<std::uint16_t>(caller + 1 + target.shader),
                          {target.shader, target.row, 1, false});
      }
    }
    return maker.finish();
  }

  [[nodiscard]] std::vector<KnownAnswer> answers(const machine::Machine& /*machine*/) const override {
    const double n = lanes_;
    const double k = shaders_;
    const double other = 1 - std::pow(1 - (1 - coherence_) / k, n);
    const double own = 1 - std::pow((1 - coherence_) * (1 - 1 / k), n);
    const double groups = (k - 1) * other + own;
    const double variance = ((k - 1) * other * (1 - other) + own * (1 - own)) / warps_;
    const double threads = n * warps_;
    const double slope = 2 / ((1 + groups) * (1 + groups));
    const std::vector<std::pair<std::string, std::string>> identity = {{"packing", "identity"}};
    std::vector<KnownAnswer> answers = {{"simt_efficiency",
                                         2 / (1 + groups),
                                         kDeviations * slope * std::sqrt(variance),
                                         "2 / (1 + D), D = expected number of shaders that a warp hits",
                                         {{"packing", "identity"}, {"policy", "stage-majority"}}},
                                        {"traversal_rays", threads, 0, "one ray a thread", identity},
                                        {"traversal_hits", threads, 0, "every ray ends at its cell", identity}};
    if (coherence_ >= 1) {
      answers.push_back({"traversal_warp_efficiency",
                         1,
                         0,
                         "parallel rays into one cell take the same path",
                         {{"packing", "identity"}, {"bvh.layout", "wide-8"}, {"traversal.warp", "while-while"}}});
    }
    return answers;
  }
  [[nodiscard]] std::vector<std::string> examples() const override {
    return {"coherence:coherence=1", "coherence:coherence=0.9", "coherence:coherence=0.5", "coherence:coherence=0"};
  }

 private:
  struct Cell {
    std::uint32_t shader;
    std::uint32_t row;  ///< index among the shader's cells
  };

  /// Shaders are assigned to cells round robin.
  [[nodiscard]] std::uint32_t cells_of(std::uint32_t shader) const {
    return (cells_ * cells_ - shader - 1) / shaders_ + 1;
  }
  [[nodiscard]] Cell any_cell(Draws& draws) const {
    const std::uint32_t shader = draws.below(shaders_);
    return {shader, draws.below(cells_of(shader))};
  }
  [[nodiscard]] std::array<float, 2> corner(const Cell& cell) const {
    const std::uint32_t index = cell.row * shaders_ + cell.shader;
    const std::uint32_t column = index % cells_;
    const std::uint32_t row = index / cells_;
    return {static_cast<float>(column), static_cast<float>(row)};
  }

  double coherence_;
  std::uint32_t shaders_;
  std::uint32_t cells_;
  std::uint32_t lanes_;
  std::uint32_t warps_;
  std::uint64_t seed_;
};

const Workloads::Registrar kRegistrar(
    {.kind = {},
     .name = "coherence",
     .summary = "Rays of a warp from parallel neighbours to random directions",
     .text = "A wall of triangles at a known depth, with k closest-hit shaders dealt out to its cells. With the given "
             "probability a ray goes to the cell of its warp's packet, else to a random cell. Every ray hits. "
             "Efficiency is 2 / (1 + D), D being the expected number of shaders that a warp hits.",
     .source = "rayreplay",
     .parameters = {declare::real("coherence", 0.5, "", "Probability that a ray goes to its packet's cell.", 0, 1),
                    declare::whole("shaders", 8, "shaders", "Closest-hit shaders of the wall.", 1, 1024),
                    declare::whole("cells", 32, "cells", "Cells on a side of the wall.", 1, 512), warp_size_parameter(),
                    warps_parameter(256), declare::whole("seed", 1, "", "Seed of the draws.", 0, 1e15)}},
    [](const Parameters& parameters) { return std::make_unique<Coherence>(parameters); });

}  // namespace
}  // namespace rayreplay::workloads
