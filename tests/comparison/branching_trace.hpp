// A launch whose one closest-hit shader branches on the hit's material, with the path of each call.
#pragma once

#include <cstdint>
#include <vector>

#include "capture/trace/trace.hpp"
#include "tests/machine/assembler.hpp"
#include "tests/support/launch_builder.hpp"
#include "tests/support/random_trace.hpp"

namespace rayreplay::test {

inline constexpr std::uint32_t kBranches = 4;
inline constexpr std::uint32_t kBlocks = kBranches + 2;

/// A closest-hit shader that switches to one of four blocks, of 40, 41, 42 and 43 additions.
inline std::vector<std::uint32_t> switching() {
  Assembler module;
  module.entry(kClosestHitModel, 10).function(10).add().op(247, {5, 0}).op(251, {6, 1, 1, 2, 2, 3, 3, 4});
  for (std::uint32_t block = 1; block <= kBranches; ++block) {
    module.op(248, {block});
    for (std::uint32_t i = 0; i < 39 + block; ++i) {
      module.add();
    }
    module.op(249, {5});
  }
  module.op(248, {5}).add().end();
  return module.words();
}

/// Each thread makes a ray that hits; the hit's path is the one of `branch_of(material)`. Instances have materials in
/// another order than their numbers.
template <class Branch>
trace::Trace branching_on(std::uint32_t materials, trace::LaunchSize size, const Branch& branch_of) {
  trace::Trace trace;
  trace.shaders = {{trace::ShaderStage::RayGeneration, "main", "gen", {}},
                   {trace::ShaderStage::ClosestHit, "main", "all", switching()}};
  for (std::uint32_t path = 0; path < kBranches; ++path) {
    trace.paths.shader.push_back(1);
    trace.paths.calls.push_back(1);
    for (std::uint32_t block = 0; block < kBlocks; ++block) {
      trace.paths.counts.push_back(block == 0 || block == path + 1 || block == kBlocks - 1 ? 1 : 0);
    }
  }
  for (std::uint32_t block = 0; block < kBlocks; ++block) {
    trace.paths.block_shader.push_back(1);
    trace.paths.function.push_back(0);
    trace.paths.block.push_back(block);
  }
  const auto material_of = [materials](std::uint32_t instance) { return instance * 7 % materials; };
  for (std::uint32_t instance = 0; instance < materials; ++instance) {
    trace.scene.instances.emplace_back();
    trace.scene.instances.back().hit_group_offset = material_of(instance);
  }
  trace.scene.tlases.push_back({0, materials});
  Random random(11);
  LaunchBuilder builder(size);
  trace::Column<std::uint32_t> paths;
  for (std::uint32_t thread = 0; thread < size.threads(); ++thread) {
    const std::uint32_t instance = random.below(materials);
    builder.thread().begin(0).closest_hit(1, instance);
    paths.push_back(0);
    paths.push_back(branch_of(material_of(instance)) + 1);
  }
  trace.launches.push_back(builder.build());
  trace.launches[0].data.events.path = paths;
  return trace;
}

}  // namespace rayreplay::test
