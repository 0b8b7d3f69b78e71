// Traces with paths of calls, written by hand and drawn at random, and the definition of their costs once more.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "capture/trace/trace.hpp"
#include "sim/machine/costs.hpp"
#include "tests/machine/assembler.hpp"
#include "tests/support/launch_builder.hpp"
#include "tests/support/random_trace.hpp"

namespace rayreplay::machine::by_path {

using test::Assembler;
using trace::EventKind;
using trace::ShaderStage;

/// Issue slots of the blocks below: four of function 0 (a sum of vectors of three is three), one of function 1.
inline constexpr std::array<double, 5> kSlots = {6, 5, 2, 1, 2};

inline std::vector<std::uint32_t> branching(std::uint32_t model) {
  Assembler module;
  module.entry(model, 10).op(23, {8, 7, 3});
  module.function(10).add().add().op(129, {8, 5, 6, 6}).op(247, {3, 0}).op(250, {5, 1, 2});
  module.op(248, {1}).add().add().add().add().op(249, {3});
  module.op(248, {2}).calls(20).op(249, {3});
  module.op(248, {3}).end();
  module.function(20).add().end();
  return module.words();
}

inline void add_blocks(trace::Trace& trace, std::uint16_t shader) {
  for (std::uint32_t block = 0; block < kSlots.size(); ++block) {
    trace.paths.block_shader.push_back(shader);
    trace.paths.function.push_back(block / 4);
    trace.paths.block.push_back(block % 4);
  }
}

inline void add_path(trace::Trace& trace, std::uint16_t shader, const std::vector<std::uint32_t>& counts) {
  trace.paths.shader.push_back(shader);
  trace.paths.calls.push_back(1);
  trace.paths.counts.insert(trace.paths.counts.end(), counts.begin(), counts.end());
}

/// Ray generation and a hit, both as above, and a miss without a module. Paths 1 and 2 are of ray generation (12 and 7
/// issue slots), 3 and 4 of the hit (12 and 11).
inline trace::Trace with_paths() {
  trace::Trace trace;
  trace.shaders = {{ShaderStage::RayGeneration, "main", "gen", branching(test::kRayGenerationModel)},
                   {ShaderStage::ClosestHit, "main", "metal", branching(test::kClosestHitModel)},
                   {ShaderStage::Miss, "main", "sky", {}}};
  add_blocks(trace, 0);
  add_blocks(trace, 1);
  add_path(trace, 0, {1, 1, 0, 1, 0});
  add_path(trace, 0, {1, 0, 0, 1, 0});
  add_path(trace, 1, {1, 1, 0, 1, 0});
  add_path(trace, 1, {1, 0, 1, 1, 1});
  return trace;
}

/// Two threads: two rays of which the first hits, and one ray that hits. `hits`, `threads`: their paths.
inline trace::Trace two_threads(std::array<std::uint32_t, 2> hits, std::array<std::uint32_t, 2> threads) {
  trace::Trace trace = with_paths();
  test::LaunchBuilder builder({2, 1, 1});
  builder.thread().begin(0).closest_hit(1).begin(0).miss(2).thread().begin(0).closest_hit(1);
  trace.launches.push_back(builder.build());
  trace::Launch& launch = trace.launches[0];
  launch.data.events.path = {0, hits[0], 0, 0, 0, hits[1]};
  launch.thread_path = {threads[0], threads[1]};
  return trace;
}

/// Every shader has the code above and paths of random counts; some calls and threads have none.
/// `capture`: also what only captures have, such as several top-level structures.
inline trace::Trace random_paths(std::uint64_t seed, test::Random& random, bool capture = true) {
  trace::Trace trace = test::random_trace({.seed = seed, .size = {16, 4, 1}, .rays_per_thread = 5, .capture = capture});
  constexpr std::uint32_t kPaths = 3;
  for (std::uint16_t shader = 0; shader < trace.shaders.size(); ++shader) {
    trace::Shader& one = trace.shaders[shader];
    one.entry = "main";
    const auto words =
        branching(one.stage == ShaderStage::RayGeneration ? test::kRayGenerationModel : test::kClosestHitModel);
    one.spirv.assign(words.begin(), words.end());
    add_blocks(trace, shader);
    for (std::uint32_t path = 0; path < kPaths; ++path) {
      std::vector<std::uint32_t> counts;
      for (std::size_t block = 0; block < kSlots.size(); ++block) {
        counts.push_back(random.below(40));
      }
      add_path(trace, shader, counts);
    }
  }
  trace::Launch& launch = trace.launches[0];
  const trace::ThreadData& data = launch.data;
  const auto some = [&](std::uint16_t shader) {
    return random.one_in(9) ? 0 : shader * kPaths + random.below(kPaths) + 1;
  };
  launch.data.events.path.clear();
  for (std::size_t row = 0; row < data.events.size(); ++row) {
    launch.data.events.path.push_back(trace::enters_shader(data.events.kind[row]) ? some(data.events.shader[row]) : 0);
  }
  launch.thread_path.clear();
  for (std::size_t thread = 0; thread < data.threads(); ++thread) {
    const std::uint64_t row = data.event_offset[thread];
    launch.thread_path.push_back(row < data.event_offset[thread + 1] ? some(data.events.shader[row]) : 0);
  }
  return trace;
}

/// The definition, event by event.
class SlowPathCosts {
 public:
  SlowPathCosts(const trace::Trace& trace, const Costs& costs)
      : trace_(trace), launch_(trace.launches[0]), costs_(costs) {}

  /// Issue slots of lanes that call together, without a factor by hand. Unknown ones cost the mean.
  [[nodiscard]] double group(std::size_t shader, std::size_t call, const std::vector<std::uint64_t>& rows) const {
    double least = 0, sum = 0;
    for (std::size_t block = 0; block < kSlots.size(); ++block) {
      double most = 0;
      for (const std::uint64_t row : rows) {
        const double executions = executed(shader, row, block);
        least = executions < 0 ? costs_.paths->calls()[costs_.paths->place(call)].mean : least;
        most = std::max(most, executions);
      }
      sum += most * kSlots.at(block);
    }
    return std::max(least, sum);
  }

  /// Below 0: unknown.
  [[nodiscard]] double executed(std::size_t shader, std::uint64_t row, std::size_t block) const {
    const trace::ThreadData& data = launch_.data;
    std::uint32_t path = data.events.path[row];
    std::uint32_t share = 1;
    if (trace::begins_ray(data.events.kind[row])) {
      const auto& first = data.event_offset;
      const auto thread =
          static_cast<std::size_t>(std::upper_bound(first.begin(), first.end(), row) - first.begin() - 1);
      path = launch_.thread_path[thread];
      share = 0;
      for (std::uint64_t other = first[thread]; other < first[thread + 1]; ++other) {
        share += trace::begins_ray(data.events.kind[other]) && data.events.shader[other] == shader ? 1U : 0U;
      }
    }
    if (path == 0 || trace_.paths.shader[path - 1] != shader) {
      return -1;
    }
    return static_cast<double>(trace_.paths.counts[(path - 1) * kSlots.size() + block]) / share;
  }

 protected:
  const trace::Trace& trace_;
  const trace::Launch& launch_;
  const Costs& costs_;
};

}  // namespace rayreplay::machine::by_path
