// Profiles made row by row.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capture/profile/merge.hpp"
#include "tests/support/branching_shader.hpp"

namespace rayreplay::test {

struct CountRow {
  std::uint32_t pipeline;
  std::uint16_t shader;
  std::uint32_t function, block;
  std::uint64_t lanes, groups;
  friend bool operator==(const CountRow&, const CountRow&) = default;
};

inline void add_row(trace::BlockCounts& counts, const CountRow& row) {
  counts.pipeline.push_back(row.pipeline);
  counts.shader.push_back(row.shader);
  counts.function.push_back(row.function);
  counts.block.push_back(row.block);
  counts.lanes.push_back(row.lanes);
  counts.groups.push_back(row.groups);
}

inline std::vector<CountRow> rows_of(const trace::BlockCounts& counts) {
  std::vector<CountRow> rows;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    rows.push_back({counts.pipeline[i], counts.shader[i], counts.function[i], counts.block[i], counts.lanes[i],
                    counts.groups.empty() ? 0 : counts.groups[i]});
  }
  return rows;
}

/// The five blocks of branching_shader(), `scale` times (100, 60, 40, 100, 30) lanes in a quarter as many groups.
inline void add_branching(trace::BlockCounts& counts, std::uint32_t pipeline, std::uint16_t shader,
                          std::uint64_t scale) {
  const std::uint64_t lanes[] = {100, 60, 40, 100, 32};
  for (std::uint32_t b = 0; b < 5; ++b) {
    add_row(counts, {pipeline, shader, b / 4, b % 4, lanes[b] * scale, lanes[b] * scale / 4});
  }
}

/// branching_shader() with other words: another shader.
inline std::vector<std::uint32_t> branching_shader(std::uint32_t generator) {
  std::vector<std::uint32_t> words = branching_shader();
  words[2] = generator;
  return words;
}

/// A run whose only pipeline, number 0, has the shaders "sky" and "ground".
inline profile::Run two_shaders(const std::string& hash, std::uint64_t scale) {
  profile::Run run{hash + ".rrt", {}};
  run.profile.hash = hash;
  run.profile.header.application = "app";
  run.profile.header.device = "made up";
  run.profile.header.configuration = "{}";
  run.profile.header.warp_size = 8;
  run.profile.shaders = {{trace::ShaderStage::Miss, "main", "sky", branching_shader(1)},
                         {trace::ShaderStage::Miss, "main", "ground", branching_shader(2)}};
  add_branching(run.profile.block_counts, 0, 0, scale);
  add_branching(run.profile.block_counts, 0, 1, 10 * scale);
  return run;
}

}  // namespace rayreplay::test
