#include "capture/profile/count_sums.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/count_text.hpp"

namespace rayreplay::profile {

void CountSums::add(std::uint32_t pipeline, std::uint16_t shader, const trace::BlockCounts& counts, RowRange rows,
                    const std::string& file) {
  groups_ = groups_ && (rows.first == rows.end || !counts.groups.empty());
  ShaderSum& sum = shaders_[{pipeline, shader}];
  ++sum.parts;
  for (std::size_t row = rows.first; row < rows.end;) {
    std::size_t end = row;
    while (end < rows.end && counts.function[end] == counts.function[row]) {
      ++end;
    }
    add_function(sum.functions[counts.function[row]], counts, {row, end}, file);
    row = end;
  }
}

void CountSums::add_function(FunctionSum& sum, const trace::BlockCounts& counts, RowRange rows,
                             const std::string& file) {
  const std::vector<std::uint32_t> blocks(counts.block.begin() + static_cast<std::ptrdiff_t>(rows.first),
                                          counts.block.begin() + static_cast<std::ptrdiff_t>(rows.end));
  if (sum.parts++ == 0) {
    sum.blocks = blocks;
    sum.lanes.resize(blocks.size());
    sum.groups.resize(blocks.size());
  }
  sum.same_blocks = sum.same_blocks && sum.blocks == blocks;
  const char* const what = "the sum of a block's counts exceeds 64 bits";
  for (std::size_t b = 0; sum.same_blocks && b < blocks.size(); ++b) {
    const std::size_t row = rows.first + b;
    add_count(sum.lanes[b], counts.lanes[row], {file, "/profile/blocks/lanes", what}, row);
    if (!counts.groups.empty()) {
      add_count(sum.groups[b], counts.groups[row], {file, "/profile/blocks/groups", what}, row);
    }
  }
}

trace::BlockCounts CountSums::sums() const {
  trace::BlockCounts result;
  for (const auto& [key, shader] : shaders_) {
    for (const auto& [function, sum] : shader.functions) {
      if (sum.parts != shader.parts || !sum.same_blocks) {
        continue;
      }
      for (std::size_t b = 0; b < sum.blocks.size(); ++b) {
        result.pipeline.push_back(key.first);
        result.shader.push_back(key.second);
        result.function.push_back(function);
        result.block.push_back(sum.blocks[b]);
        result.lanes.push_back(sum.lanes[b]);
        if (groups_) {
          result.groups.push_back(sum.groups[b]);
        }
      }
    }
  }
  return result;
}

std::vector<LeftOutFunction> CountSums::left_out() const {
  std::vector<LeftOutFunction> list;
  for (const auto& [key, shader] : shaders_) {
    for (const auto& [function, sum] : shader.functions) {
      if (sum.parts != shader.parts || !sum.same_blocks) {
        list.push_back({key.first, key.second, function, sum.parts, shader.parts});
      }
    }
  }
  return list;
}

std::string reason_text(const LeftOutFunction& function, const char* part) {
  if (function.counted == function.parts) {
    return fmt::format("its blocks differ between the {}s", part);
  }
  return fmt::format("{} of {} {} it", function.counted, counted(function.parts, part),
                     function.counted == 1 ? "counts" : "count");
}

SumOverPipelines sum_over_pipelines(const trace::BlockCounts& counts, std::optional<std::uint32_t> only,
                                    const std::string& file) {
  SumOverPipelines result;
  CountSums sums;
  for (const RowRange& part : parts_of(counts)) {
    const std::uint32_t pipeline = counts.pipeline[part.first];
    const std::uint16_t shader = counts.shader[part.first];
    if (pipeline == only.value_or(pipeline)) {
      result.pipelines[shader].push_back(pipeline);
      sums.add(0, shader, counts, part, file);
    }
  }
  result.counts = sums.sums();
  result.left_out = sums.left_out();
  return result;
}

}  // namespace rayreplay::profile
