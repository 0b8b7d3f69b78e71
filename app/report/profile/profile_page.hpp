// The page of a profile: what ran inside the shaders, in tables and charts, with the annotated instructions.
//
// Contract: lists are bounded, since traces are untrusted: charts by shader show the kMostBars shaders that executed
// most, tables kMostPageRows rows, and the instructions of all shaders together have about kMostPageText bytes, of one
// shader kMostShaderText. The page says what it leaves out, and which counts the trace lacks. The same trace gives the
// same bytes.
#pragma once

#include <string>
#include <vector>

#include "app/report/charts/plot.hpp"
#include "app/report/profile/profile_report.hpp"

namespace rayreplay::report {

inline constexpr std::size_t kMostBars = 24;
inline constexpr std::size_t kMostPageRows = 200;
inline constexpr std::size_t kMostPageText = std::size_t{2} << 20;
inline constexpr std::size_t kMostShaderText = std::size_t{256} << 10;

/// A shader beside its bar: number and shortened name.
[[nodiscard]] std::string bar_label(std::uint16_t shader, const std::string& name);
/// " The 24 of 40 shaders that executed most."; "" where all are shown.
[[nodiscard]] std::string bars_note(std::size_t all);

/// Unused share by shader and by size, uniformity, and executed instructions by shader and class.
[[nodiscard]] std::vector<pictures::Chart> unused_charts(const ProfileDetails& details);
[[nodiscard]] std::vector<pictures::Chart> level_charts(const ProfileDetails& details);
[[nodiscard]] std::vector<pictures::Chart> class_charts(const ProfileDetails& details);

[[nodiscard]] std::string profile_page(const ProfileContext& context, const ProfileDetails& details);

}  // namespace rayreplay::report
