// A shader's instructions as text, block by block, with what is known of each.
//
// Contract: the text has the functions that the entry point reaches, each after its callers, and their blocks in the
// module's order. A block's line has its successors, its loop depth and the bytes that are live where it begins; with
// counts also its executions, their share of the shader's executed instructions, and "unused" where it is that
// (capture/profile/shader_profile.hpp). A line of the source, with its text where the module holds it, stands before
// the first instruction that comes from it. An instruction's mark: "=" uniform in the launch, "-" uniform in the group,
// "!" may diverge, blank without a result or an analysis. A counted branch or load also has the groups that executed it
// and its measured uniformity, a load of value and address. Ids have the module's names, "%name" or "%12". Names, files
// and lines are cut to 100 bytes; control characters are escaped. The text's length is linear in the module's.
#pragma once

#include <cstddef>
#include <limits>
#include <string>

#include "app/report/shaders/executions.hpp"
#include "app/report/shaders/measured_uniformity.hpp"
#include "app/report/shaders/shader_report.hpp"

namespace rayreplay::report {

/// What the launches counted; null without it.
struct ShaderCounts {
  const Executions* executions = nullptr;    ///< of blocks
  const MeasuredPlaces* measured = nullptr;  ///< of branches and loads
};

/// `row` must have facts. Of a text longer than `most` bytes the rest is left out
/// behind a line, and a last line says so.
[[nodiscard]] std::string disassembly(const ShaderRow& row, const ShaderCounts& counts,
                                      std::size_t most = std::numeric_limits<std::size_t>::max());

}  // namespace rayreplay::report
