#include "capture/profile/count_sums.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/count_text.hpp"
#include "base/error.hpp"

namespace rayreplay::profile {
namespace {

void add_to(std::uint64_t& sum, std::uint64_t count, const std::string& file, const char* column, std::size_t row) {
  if (__builtin_add_overflow(sum, count, &sum)) {
    throw Error(ErrorKind::Input, {"the sum of a block's counts exceeds 64 bits",
                                   fmt::format("{}:/profile/blocks/{}[{}]", file, column, row), std::to_string(count),
                                   "counts whose sum is below 2^64", "leave this profile out, or capture it again"});
  }
}

}  // namespace

std::vector<RowRange> parts_of(const trace::BlockCounts& counts) {
  std::vector<RowRange> parts;
  for (std::size_t row = 0; row < counts.size(); ++row) {
    if (row == 0 || counts.pipeline[row] != counts.pipeline[row - 1] || counts.shader[row] != counts.shader[row - 1]) {
      parts.push_back({row, row});
    }
    parts.back().end = row + 1;
  }
  return parts;
}

void CountSums::add(std::uint32_t pipeline, std::uint16_t shader, const trace::BlockCounts& counts, RowRange rows,
                    const std::string& file) {
  groups_ = groups_ && !counts.groups.empty();
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
  for (std::size_t b = 0; sum.same_blocks && b < blocks.size(); ++b) {
    add_to(sum.lanes[b], counts.lanes[rows.first + b], file, "lanes", rows.first + b);
    if (!counts.groups.empty()) {
      add_to(sum.groups[b], counts.groups[rows.first + b], file, "groups", rows.first + b);
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
