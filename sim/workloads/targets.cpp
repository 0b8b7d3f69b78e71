#include "sim/workloads/targets.hpp"

#include <fmt/format.h>

namespace rayreplay::workloads {
namespace {

constexpr float kDepth = 4;
constexpr float kApart = 8;

}  // namespace

Targets::Targets(TraceMaker& maker)
    : maker_(&maker), caller_(maker.shader(trace::ShaderStage::RayGeneration, "ray-generation")) {}

void Targets::add(const std::string& shader, const std::string& mesh) {
  maker_->shader(trace::ShaderStage::ClosestHit, shader);
  maker_->add_triangles(mesh, {{-1, -1, 0, 3, -1, 0, -1, 3, 0}}, count_,
                        {kApart * static_cast<float>(count_), 0, kDepth});
  ++count_;
}

void Targets::add_numbered(std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) {
    add(fmt::format("hit-{}", i), fmt::format("target {}", i));
  }
}

void Targets::hit(std::uint32_t target) {
  maker_->begin(caller_, {{kApart * static_cast<float>(target), 0, 0}, {0, 0, 1}});
  maker_->closest_hit(static_cast<std::uint16_t>(caller_ + 1 + target), {target, 0, kDepth, false});
}

}  // namespace rayreplay::workloads
