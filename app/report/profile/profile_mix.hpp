// Executed instructions of a profile's shaders by class, and their branches and loads by level of uniformity.
//
// Contract: a row for each shader that has counts, summed over its pipelines. An instruction was executed as often as
// the lanes that ran its block. Levels are static (capture/spirv/uniformity.hpp): a branch has the level of its
// condition, a load from memory one level for its value and one for its address. `code` counts each place once,
// `executed` its executions by a lane. Shaders of unknown uniformity have no levels. Linear in the modules and counts,
// but for a factor log blocks.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "app/report/export/table.hpp"
#include "app/report/shaders/executions.hpp"
#include "app/report/shaders/shader_report.hpp"

namespace rayreplay::report {

inline constexpr std::size_t kLevels = 3;  ///< launch, group, may diverge: values of spirv::Level

struct LevelCounts {
  std::array<double, kLevels> code{}, executed{};
};

struct ShaderMix {
  std::uint16_t shader = 0;
  std::array<double, spirv::kInstructionClasses> executed{};  ///< Σ lanes by class
  bool has_levels = false;
  LevelCounts branches, values, addresses;

  /// Executed instructions of all classes that issue.
  [[nodiscard]] double issued() const;
};

/// `rows`: by shader id. A shader whose entry point its module does not have gets no mix.
[[nodiscard]] std::vector<ShaderMix> shader_mixes(const std::vector<ShaderRow>& rows,
                                                  const std::map<std::uint16_t, Executions>& executions);

/// Executed instructions by class, a row for each mix.
[[nodiscard]] output::Table class_table(const std::vector<ShaderRow>& rows, const std::vector<ShaderMix>& mixes);
/// Branches and loads by level, in the code and executed, a row for each mix and subject.
[[nodiscard]] output::Table level_table(const std::vector<ShaderRow>& rows, const std::vector<ShaderMix>& mixes);
/// "launch", "group", "may diverge".
[[nodiscard]] const char* level_name(std::size_t level);

}  // namespace rayreplay::report
