// Overlap of boxes: the number of primitives that a ray must test because their boxes overlap.
//
// Contract: a row of n primitives along x. Their boxes are 1024 units long and begin `pitch` units apart, pitch =
// round((1 − overlap) · 1024): overlap 0 makes them touch, 1 coincide. Rays are perpendicular to the row, at half units
// spread evenly over its length, so none meets a box's edge. A ray at x is in the boxes of all i with i · pitch < x < i
// · pitch + 1024. All coordinates are exact in single precision.
//   triangles: each fills the lower left half of its box and every ray misses it, so every box met is one test (leaves
//              of one triangle, boxes without rounding) and no hit shortens a ray;
//   boxes: intersection shaders run for each box met and report nothing: a warp has 2 + (maximum of boxes met by one of
//          its rays) events.
//
// Source: rayreplay. O(threads · boxes met).
#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "sim/workloads/declare.hpp"
#include "sim/workloads/trace_maker.hpp"
#include "sim/workloads/workload.hpp"

namespace rayreplay::workloads {
namespace {

constexpr std::int64_t kLength = 1024;  ///< of a box, along x and y, in units
constexpr float kAbove = 0.25F;         ///< distance of the rays below the boxes' upper edge: beside every triangle

/// The primitives that a ray meets: index of the first, and their number.
struct Met {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

class BoxOverlap final : public Workload {
 public:
  explicit BoxOverlap(const Parameters& parameters)
      : pitch_(std::llround((1 - parameters.get_double("overlap")) * static_cast<double>(kLength))),
        primitives_(parameters.get_int("primitives")),
        boxes_(parameters.get_string("kind") == "boxes"),
        lanes_(get_count(parameters, "warp_size")),
        warps_(get_count(parameters, "warps")) {}

  [[nodiscard]] trace::Trace make_trace() const override {
    const std::uint64_t events = 2 * threads() + (boxes_ ? total_met() : 0);
    TraceMaker maker("box-overlap", lanes_, events);
    const std::uint16_t caller = maker.shader(trace::ShaderStage::RayGeneration, "ray-generation");
    const std::uint16_t sky = maker.shader(trace::ShaderStage::Miss, "sky");
    const std::uint16_t tester =
        maker.shader(boxes_ ? trace::ShaderStage::Intersection : trace::ShaderStage::ClosestHit, "row");
    add_row(maker);
    for (std::uint64_t thread = 0; thread < threads(); ++thread) {
      const std::int64_t unit = unit_of(thread);
      maker.thread();
      maker.begin(caller, {{static_cast<float>(unit) + 0.5F, static_cast<float>(kLength) - kAbove, -4}, {0, 0, 1}});
      const Met met = met_at(unit);
      for (std::int64_t i = 0; boxes_ && i < met.count; ++i) {
        maker.intersection(tester, 0, static_cast<std::uint32_t>(met.first + i));
      }
      maker.miss(sky);
    }
    return maker.finish();
  }

  [[nodiscard]] std::vector<KnownAnswer> answers(const machine::Machine& /*machine*/) const override {
    const auto rays = static_cast<double>(threads());
    const double mean = static_cast<double>(total_met()) / rays;
    const std::vector<std::pair<std::string, std::string>> exact = {
        {"bvh.builder", "medium"}, {"bvh.layout", "wide-8"}, {"bvh.leaf_size", "1"}, {"traversal.ray", "near-first"}};
    std::vector<KnownAnswer> answers = {{"traversal_hits", 0, 0, "no ray meets a primitive", exact},
                                        {"traversal_unobserved", 0, 0, "every intersection call is an event", exact}};
    if (boxes_) {
      std::uint64_t events = 0;
      for (std::uint32_t warp = 0; warp < warps_; ++warp) {
        std::int64_t most = 0;
        for (std::uint32_t lane = 0; lane < lanes_; ++lane) {
          most = std::max(most, met_at(unit_of(std::uint64_t{warp} * lanes_ + lane)).count);
        }
        events += 2 + static_cast<std::uint64_t>(most);
      }
      answers.push_back({"simt_efficiency",
                         (2 + mean) * rays / (static_cast<double>(lanes_) * static_cast<double>(events)),
                         0,
                         "sum of (2 + boxes a ray meets) / (lanes of sum of (2 + most of a warp))",
                         {{"packing", "identity"}, {"policy", "stage-majority"}}});
    } else {
      answers.push_back({"traversal_triangles_per_ray", mean, 0, "as many tests as boxes that the ray meets", exact});
    }
    return answers;
  }
  [[nodiscard]] std::vector<std::string> examples() const override {
    return {"box-overlap:overlap=0", "box-overlap:overlap=0.5", "box-overlap:overlap=0.9", "box-overlap:overlap=1",
            "box-overlap:overlap=0.9,kind=boxes"};
  }

 private:
  [[nodiscard]] std::uint64_t threads() const {
    return std::uint64_t{lanes_} * warps_;
  }
  /// The ray of `thread` passes through the middle of this unit of the row.
  [[nodiscard]] std::int64_t unit_of(std::uint64_t thread) const {
    const auto length = static_cast<std::uint64_t>((primitives_ - 1) * pitch_ + kLength);
    return static_cast<std::int64_t>(thread * length / threads());
  }
  [[nodiscard]] Met met_at(std::int64_t unit) const {
    if (pitch_ == 0) {
      return {0, primitives_};
    }
    const std::int64_t last = std::min(unit / pitch_, primitives_ - 1);
    const std::int64_t first = unit < kLength ? 0 : (unit - kLength) / pitch_ + 1;
    return {first, last - first + 1};
  }
  [[nodiscard]] std::uint64_t total_met() const {
    std::uint64_t total = 0;
    for (std::uint64_t thread = 0; thread < threads(); ++thread) {
      total += static_cast<std::uint64_t>(met_at(unit_of(thread)).count);
    }
    return total;
  }
  void add_row(TraceMaker& maker) const {
    constexpr auto kEnd = static_cast<float>(kLength);
    std::vector<std::array<float, 9>> triangles;
    std::vector<std::array<float, 6>> boxes;
    for (std::int64_t i = 0; i < primitives_; ++i) {
      const auto x = static_cast<float>(i * pitch_);
      if (boxes_) {
        boxes.push_back({x, 0, -1, x + kEnd, kEnd, 1});
      } else {
        triangles.push_back({x, 0, 0, x + kEnd, 0, 0, x, kEnd, 0});
      }
    }
    if (boxes_) {
      maker.add_boxes("row", boxes);
    } else {
      maker.add_triangles("row", triangles, 0);
    }
  }

  std::int64_t pitch_;
  std::int64_t primitives_;
  bool boxes_;
  std::uint32_t lanes_;
  std::uint32_t warps_;
};

const Workloads::Registrar kRegistrar(
    {.kind = {},
     .name = "box-overlap",
     .summary = "A row of primitives whose boxes lie over each other by a given share",
     .text =
         "Rays cross a row of n primitives whose boxes overlap by the share that the parameter says: from boxes that "
         "touch (a ray meets one) to boxes that coincide (a ray meets all n). No ray hits a primitive, so that every "
         "box that it meets is one test. With kind=boxes the tests are calls of an intersection shader, which diverge "
         "where neighbouring rays meet different numbers of boxes.",
     .source = "rayreplay",
     .parameters = {declare::real("overlap", 0.5, "", "Share of a box that the next one covers.", 0, 1),
                    declare::whole("primitives", 64, "primitives", "Primitives of the row.", 1, 4096),
                    declare::choice("kind", "triangles", {"triangles", "boxes"}, "What the row is made of."),
                    warp_size_parameter(), warps_parameter(64)}},
    [](const Parameters& parameters) { return std::make_unique<BoxOverlap>(parameters); });

}  // namespace
}  // namespace rayreplay::workloads
