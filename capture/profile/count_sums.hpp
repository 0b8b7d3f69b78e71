// Sums of block counts: of one shader over its pipelines, or over several runs.
//
// Contract: a part is the counts of one shader in one pipeline. Parts that are added under one pipeline and shader must
// be of one module; their counts add up block by block. A function that not all of these parts count, or of which they
// count other blocks, has no rows in the sum, as if it had not been counted; `left_out` names it. The sum has groups if
// all parts have them. It does not depend on the order of the parts. Errors: Input with the row at which a sum exceeds
// 64 bits.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "capture/profile/row_parts.hpp"
#include "capture/trace/trace.hpp"

namespace rayreplay::profile {

struct LeftOutFunction {
  std::uint32_t pipeline = 0;
  std::uint16_t shader = 0;
  std::uint32_t function = 0;
  std::size_t counted = 0, parts = 0;  ///< parts that count it, of all
};
/// "1 of 2 runs counts it", or "its blocks differ between the runs". `part`: "run", "pipeline".
[[nodiscard]] std::string reason_text(const LeftOutFunction& function, const char* part);

class CountSums {
 public:
  /// `file` stands for the counts in messages. `pipeline` and `shader`: of the sum.
  void add(std::uint32_t pipeline, std::uint16_t shader, const trace::BlockCounts& counts, RowRange rows,
           const std::string& file);
  /// Rows by pipeline, shader, function and block.
  [[nodiscard]] trace::BlockCounts sums() const;
  [[nodiscard]] std::vector<LeftOutFunction> left_out() const;

 private:
  struct FunctionSum {
    std::size_t parts = 0;
    bool same_blocks = true;
    std::vector<std::uint32_t> blocks;
    std::vector<std::uint64_t> lanes, groups;
  };
  struct ShaderSum {
    std::size_t parts = 0;
    std::map<std::uint32_t, FunctionSum> functions;
  };
  static void add_function(FunctionSum& sum, const trace::BlockCounts& counts, RowRange rows, const std::string& file);

  bool groups_ = true;
  std::map<std::pair<std::uint32_t, std::uint16_t>, ShaderSum> shaders_;
};

/// The counts of each shader, summed over its pipelines.
struct SumOverPipelines {
  trace::BlockCounts counts;                                      ///< all rows have pipeline 0
  std::map<std::uint16_t, std::vector<std::uint32_t>> pipelines;  ///< that count a shader, ascending
  std::vector<LeftOutFunction> left_out;
};
/// `only`: this pipeline alone.
[[nodiscard]] SumOverPipelines sum_over_pipelines(const trace::BlockCounts& counts, std::optional<std::uint32_t> only,
                                                  const std::string& file);

}  // namespace rayreplay::profile
