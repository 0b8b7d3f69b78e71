#include "capture/profile/path_sums.hpp"

#include "capture/profile/row_parts.hpp"

namespace rayreplay::profile {

void PathSums::add(const trace::Paths& paths, const std::map<std::uint16_t, std::uint16_t>& shaders,
                   const std::string& file) {
  std::map<std::uint16_t, std::vector<Block>> blocks;
  for (std::size_t row = 0; row < paths.block_shader.size(); ++row) {
    blocks[paths.block_shader[row]].emplace_back(paths.function[row], paths.block[row]);
  }
  for (const auto& [shader, of] : blocks) {
    ShaderSum& sum = shaders_[shaders.at(shader)];
    sum.same_blocks = sum.same_blocks && (sum.fresh || sum.blocks == of);
    if (sum.fresh) {
      sum.blocks = of;
      sum.fresh = false;
    }
  }
  auto next = paths.counts.begin();
  for (std::size_t path = 0; path < paths.size(); ++path) {
    const auto end = next + static_cast<std::ptrdiff_t>(blocks[paths.shader[path]].size());
    ShaderSum& sum = shaders_[shaders.at(paths.shader[path])];
    if (sum.same_blocks) {
      add_count(sum.calls[{next, end}], paths.calls[path],
                {file, "/profile/paths/calls", "the sum of a path's calls exceeds 64 bits"}, path);
    }
    next = end;
  }
}

trace::Paths PathSums::sums() const {
  trace::Paths result;
  for (const auto& [shader, sum] : shaders_) {
    if (!sum.same_blocks) {
      continue;
    }
    for (const auto& [function, block] : sum.blocks) {
      result.block_shader.push_back(shader);
      result.function.push_back(function);
      result.block.push_back(block);
    }
    for (const auto& [counts, calls] : sum.calls) {
      result.shader.push_back(shader);
      result.calls.push_back(calls);
      result.counts.insert(result.counts.end(), counts.begin(), counts.end());
    }
  }
  return result;
}

trace::Paths without(const trace::Paths& paths, const std::set<std::uint16_t>& shaders) {
  trace::Paths result;
  std::map<std::uint16_t, std::ptrdiff_t> width;
  for (std::size_t row = 0; row < paths.block_shader.size(); ++row) {
    ++width[paths.block_shader[row]];
    if (!shaders.contains(paths.block_shader[row])) {
      result.block_shader.push_back(paths.block_shader[row]);
      result.function.push_back(paths.function[row]);
      result.block.push_back(paths.block[row]);
    }
  }
  auto next = paths.counts.begin();
  for (std::size_t path = 0; path < paths.size(); ++path) {
    const auto end = next + width[paths.shader[path]];
    if (!shaders.contains(paths.shader[path])) {
      result.shader.push_back(paths.shader[path]);
      result.calls.push_back(paths.calls[path]);
      result.counts.insert(result.counts.end(), next, end);
    }
    next = end;
  }
  return result;
}

void PathSums::add_left_out(std::set<LeftOut>& left_out) const {
  for (const auto& [shader, sum] : shaders_) {
    if (!sum.same_blocks) {
      left_out.insert({Left::Paths, 0, shader, 0, 0, 0});
    }
  }
}

}  // namespace rayreplay::profile
