// Rows of a trace's shaders: each with the facts of its entry point.
//
// Contract: a row for each shader, in the trace's order. Shaders with the same words share one analysed module. A row
// without facts says in `missing` why.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "app/report/shaders/shader_report.hpp"
#include "capture/trace/trace.hpp"

namespace rayreplay::report {

/// Null, with the reason, for words that are no module.
[[nodiscard]] std::shared_ptr<const KnownModule> known_module(std::span<const std::uint32_t> words,
                                                              std::uint32_t most_instructions, std::string& reason);
[[nodiscard]] std::vector<ShaderRow> rows_of_trace(const std::vector<trace::Shader>& shaders,
                                                   std::uint32_t most_instructions);

}  // namespace rayreplay::report
