// A shader's instructions as text, block by block, with what is known of each.
//
// Contract: the text has the functions that the entry point reaches, each after its callers, and their blocks in the
// module's order. A block's line has its successors, its loop depth and the bytes that are live where it begins. An
// instruction's mark: "=" uniform in the launch, "-" uniform in the group, "!" may diverge, blank without a result or
// an analysis. Ids have the module's names, "%name" or "%12". Control characters in names are escaped.
#pragma once

#include <string>

#include "app/report/shaders/shader_report.hpp"

namespace rayreplay::report {

/// `row` must have facts.
[[nodiscard]] std::string disassembly(const ShaderRow& row);

}  // namespace rayreplay::report
