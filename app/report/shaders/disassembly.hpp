// A shader's instructions as text, block by block, with what is known of each.
//
// Contract: the functions that the entry point reaches, each after its callers, and their blocks in the module's order.
// A block's line says where it branches, its loops and the bytes that are live where it begins. An instruction's mark:
// "=" uniform in the launch, "-" uniform in the group, "!" may diverge, blank where there is no result or no analysis.
// Ids have the module's names, "%name" or "%12". Control characters of names are written out.
#pragma once

#include <string>

#include "app/report/shaders/shader_report.hpp"

namespace rayreplay::report {

/// The row has facts.
[[nodiscard]] std::string disassembly(const ShaderRow& row);

}  // namespace rayreplay::report
