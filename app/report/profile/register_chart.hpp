// Registers and occupancy: a mark for each pipeline whose registers the driver names, and for each of its programs.
//
// Contract: occupancy is the number of warps that an SM of the machine can hold (shaders/pipeline_facts.hpp). A program
// (executable) has a mark of its own where its pipeline has several that name registers. It stands for a shader if it
// has one stage, of which its pipeline has one shader. Behind the marks, the machine's limit for every number of
// registers is drawn. A chart shows kMostMarks marks. Where no registers are known, there are no charts, and `reason`
// says why. O(statistics + groups + shaders).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/report/charts/plot.hpp"
#include "app/report/export/table.hpp"
#include "capture/profile/shader_profile.hpp"
#include "capture/trace/reader.hpp"
#include "sim/machine/machine.hpp"

namespace rayreplay::report {

inline constexpr std::size_t kMostMarks = 400;

struct RegisterMark {
  std::uint32_t pipeline = 0;
  std::optional<std::uint32_t> executable{};  ///< none: the whole pipeline
  std::string name{};                         ///< of the executable
  std::optional<std::uint16_t> shader{};
  std::string statistic{};
  std::uint32_t registers = 0;  ///< of a thread
  std::uint32_t resident_warps = 0;
  std::optional<double> executed_share{};  ///< of the instructions of all counted shaders
};

struct RegisterMarks {
  std::vector<RegisterMark> marks;
  std::string reason;  ///< why there are none, or fewer than pipelines; "" otherwise
};

/// `lanes`: of a warp, at least 1. `shaders`: with counts of blocks; may be empty.
[[nodiscard]] RegisterMarks register_marks(const trace::Profile& trace,
                                           const std::vector<profile::ShaderProfile>& shaders,
                                           const machine::Machine& machine, std::uint32_t lanes);

[[nodiscard]] output::Table register_table(const std::vector<trace::Shader>& shaders,
                                           const std::vector<RegisterMark>& marks);
[[nodiscard]] std::vector<pictures::Chart> register_charts(const std::vector<trace::Shader>& shaders,
                                                           const std::vector<RegisterMark>& marks,
                                                           const machine::Machine& machine, std::uint32_t lanes);

}  // namespace rayreplay::report
