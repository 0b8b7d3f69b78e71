// Rules of the counts of branches and loads.
#include <array>
#include <tuple>

#include <fmt/format.h>

#include "capture/trace/rules/rules.hpp"

namespace rayreplay::trace {
namespace {

/// Whether all columns have the rows of `lanes`; those of addresses may have none.
bool check_lengths(const InstructionCounts& counts, const std::string& path, bool addresses, FaultList& faults) {
  const std::size_t rows = counts.size();
  const std::array<std::pair<const char*, std::size_t>, 8> columns = {
      {{"pipeline", counts.pipeline.size()},
       {"shader", counts.shader.size()},
       {"function", counts.function.size()},
       {"block", counts.block.size()},
       {"instruction", counts.instruction.size()},
       {"groups", counts.groups.size()},
       {"uniform", counts.uniform.size()},
       {"uniform_address", counts.uniform_address.size()}}};
  for (const auto& [name, found] : columns) {
    const std::size_t expected = std::string_view(name) == "uniform_address" && !addresses ? 0 : rows;
    if (found != expected) {
      faults.add(path + "/" + name, "the column has another length than lanes", std::to_string(found),
                 std::to_string(expected));
      return false;
    }
  }
  return true;
}

}  // namespace

void check_instruction_counts(const InstructionCounts& counts, const char* kind, bool addresses, std::size_t shaders,
                              std::uint32_t warp_size, FaultList& faults) {
  const std::string path = fmt::format("/profile/{}", kind);
  if (!check_lengths(counts, path, addresses, faults)) {
    return;
  }
  const auto place = [&](std::size_t row) {
    return std::tuple(counts.pipeline[row], counts.shader[row], counts.function[row], counts.instruction[row]);
  };
  const auto check_uniform = [&](const char* column, std::uint64_t uniform, std::size_t row) {
    if (uniform != kNotCompared && uniform > counts.groups[row]) {
      faults.add_row(path + "/" + column, row, "more executions were uniform than there are", std::to_string(uniform),
                     fmt::format("{} or fewer, or {} for not compared", counts.groups[row], kNotCompared));
    }
  };
  for (std::size_t row = 0; row < counts.size() && !faults.full(); ++row) {
    if (counts.shader[row] >= shaders) {
      faults.add_row(path + "/shader", row, "the instruction's shader id is out of range",
                     std::to_string(counts.shader[row]), fmt::format("less than {}, the number of shaders", shaders));
    }
    if (row > 0 && place(row - 1) >= place(row)) {
      faults.add_row(path + "/instruction", row, "the rows do not ascend",
                     fmt::format("pipeline {}, shader {}, function {}, instruction {}", counts.pipeline[row],
                                 counts.shader[row], counts.function[row], counts.instruction[row]),
                     "each instruction once, by pipeline, shader, function and instruction");
    }
    check_groups(path, row, counts.lanes[row], counts.groups[row], warp_size, faults);
    check_uniform("uniform", counts.uniform[row], row);
    if (addresses) {
      check_uniform("uniform_address", counts.uniform_address[row], row);
    }
  }
}

}  // namespace rayreplay::trace
