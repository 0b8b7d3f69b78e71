#include "app/report/shaders/shader_report.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/count_text.hpp"
#include "base/text.hpp"
#include "capture/trace/trace.hpp"

namespace rayreplay::report {
namespace {

using output::Cell;
using output::Table;
using spirv::InstructionClass;
using spirv::Level;

std::uint64_t instructions(const spirv::ShaderFacts& facts, InstructionClass of) {
  return facts.instructions[static_cast<std::size_t>(of)];
}

std::uint64_t issued(const spirv::ShaderFacts& facts) {
  std::uint64_t sum = 0;
  for (std::size_t c = 0; c < spirv::kInstructionClasses; ++c) {
    sum += issues(static_cast<InstructionClass>(c)) ? facts.instructions[c] : 0;
  }
  return sum;
}

std::uint64_t uniform(const std::vector<spirv::UniformityFacts>& list, Level spirv::UniformityFacts::*level) {
  return static_cast<std::uint64_t>(
      std::count_if(list.begin(), list.end(), [&](const auto& facts) { return facts.*level != Level::Divergent; }));
}

Cell if_known(bool known, std::uint64_t value) {
  return known ? Cell(value) : Cell();
}

Cell most_live(const spirv::ShaderFacts& facts) {
  std::uint64_t most = 0;
  for (const spirv::CallFacts& call : facts.calls) {
    most = std::max(most, call.live.bytes());
  }
  return if_known(!facts.calls.empty(), most);
}

/// The columns that every kind of row starts with.
std::vector<output::Column> first_columns() {
  return {{"shader", "shader"}, {"stage", "stage"}, {"entry", "entry"}, {"name", "name"}};
}

std::vector<Cell> first_cells(const ShaderReport& report, std::size_t s) {
  const ShaderRow& row = report.shaders[s];
  return {std::uint64_t{s}, row.stage, row.entry, row.name};
}

const char* level_text(Level level) {
  return level == Level::Launch ? "launch" : level == Level::Group ? "group" : "may diverge";
}

std::string place_text(const spirv::SourcePlace& at) {
  std::string text = fmt::format("{}, block %{}", at.function, at.block);
  if (at.line != 0) {
    text += fmt::format(", {}:{}", at.file.empty() ? "line" : at.file, at.line);
  }
  return text;
}

Table shaders(const ShaderReport& report) {
  constexpr auto kPlain = output::Show::Plain;
  Table table;
  table.columns = first_columns();
  const auto add = [&](const char* key, const char* title, bool detail = false) {
    table.columns.push_back({key, title, kPlain, 0, detail});
  };
  add("functions", "functions", true);
  add("blocks", "blocks");
  add("loops", "loops");
  add("loop_depth", "depth");
  add("instructions", "instructions");
  for (std::size_t c = 0; c < spirv::kInstructionClasses - 1; ++c) {
    const std::string name(to_string(static_cast<InstructionClass>(c)));
    table.columns.push_back({name, name, kPlain, 0, name == "move"});
  }
  add("calls", "calls");
  add("most_live_bytes", "live bytes");
  add("branches_uniform", "uniform branches");
  add("branches_may_diverge", "may diverge");
  add("loads_uniform", "uniform loads");
  add("loads_may_diverge", "may diverge");
  add("addresses_uniform", "uniform addresses", true);
  add("addresses_may_diverge", "may diverge", true);
  add("unreached_blocks", "unused blocks");
  add("unused_functions", "unused functions");
  const std::size_t analysed = table.columns.size();
  if (!report.driver.empty()) {
    const bool no_registers = std::none_of(report.driver.begin(), report.driver.end(),
                                           [](const ShaderDriverFacts& facts) { return facts.registers.has_value(); });
    add("least_stack_bytes", "stack bytes, least");
    add("most_stack_bytes", "stack bytes, most");
    add("least_registers", "registers, least", no_registers);
    add("most_registers", "registers, most", no_registers);
  }
  for (std::size_t s = 0; s < report.shaders.size(); ++s) {
    std::vector<Cell> cells = first_cells(report, s);
    if (const spirv::ShaderFacts* facts = report.shaders[s].facts; facts != nullptr) {
      const bool counted = !facts->functions.empty();
      const bool levels = facts->has_divergence;
      const std::uint64_t branches = uniform(facts->branches, &spirv::UniformityFacts::level);
      const std::uint64_t values = uniform(facts->loads, &spirv::UniformityFacts::level);
      const std::uint64_t addresses = uniform(facts->loads, &spirv::UniformityFacts::address);
      for (const std::uint64_t number : {std::uint64_t{facts->functions.size()}, facts->blocks, facts->loops,
                                         std::uint64_t{facts->loop_depth}, issued(*facts)}) {
        cells.push_back(if_known(counted, number));
      }
      for (std::size_t c = 0; c < spirv::kInstructionClasses - 1; ++c) {
        cells.push_back(if_known(counted, instructions(*facts, static_cast<InstructionClass>(c))));
      }
      cells.push_back(if_known(facts->has_liveness, facts->calls.size()));
      cells.push_back(most_live(*facts));
      cells.push_back(if_known(levels, branches));
      cells.push_back(if_known(levels, facts->branches.size() - branches));
      cells.push_back(if_known(levels, values));
      cells.push_back(if_known(levels, facts->loads.size() - values));
      cells.push_back(if_known(levels, addresses));
      cells.push_back(if_known(levels, facts->loads.size() - addresses));
      cells.push_back(if_known(counted, facts->unreached_blocks.size()));
      cells.emplace_back(std::uint64_t{report.shaders[s].known->facts.unused_functions.size()});
    }
    cells.resize(analysed);
    if (!report.driver.empty()) {
      for (const auto& range : {report.driver[s].stack_bytes, report.driver[s].registers}) {
        cells.push_back(range ? Cell(range->least) : Cell());
        cells.push_back(range ? Cell(range->most) : Cell());
      }
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

/// How the ranks of the shaders by live state at their calls agree with those by the driver's stack sizes.
struct StackAgreement {
  std::size_t shaders = 0;  ///< with both
  std::optional<double> rank_correlation;
};

StackAgreement stack_agreement(const ShaderReport& report) {
  std::vector<double> live, stack;
  for (std::size_t s = 0; s < report.driver.size(); ++s) {
    const spirv::ShaderFacts* facts = report.shaders[s].facts;
    if (facts == nullptr || !facts->has_liveness || facts->calls.empty() || !report.driver[s].stack_bytes) {
      continue;
    }
    std::uint64_t most = 0;
    for (const spirv::CallFacts& call : facts->calls) {
      most = std::max(most, call.live.bytes());
    }
    live.push_back(static_cast<double>(most));
    stack.push_back(static_cast<double>(report.driver[s].stack_bytes->most));
  }
  return {live.size(), rank_correlation(live, stack)};
}

Table calls(const ShaderReport& report) {
  Table table;
  table.columns = first_columns();
  for (const auto& [key, title] : {std::pair{"kind", "call"}, std::pair{"function", "function"}}) {
    table.columns.push_back({key, title, {}, 0, std::string_view(key) == "function"});
  }
  table.columns.insert(table.columns.end(), {{"block", "block", {}, 0, true},
                                             {"instruction", "instruction", {}, 0, true},
                                             {"file", "file", {}, 0, true},
                                             {"line", "line", {}, 0, true},
                                             {"place", "place"},
                                             {"copies", "copies"},
                                             {"live_bytes", "live bytes"},
                                             {"value_bytes", "in values"},
                                             {"variable_bytes", "in variables"},
                                             {"recomputed_bytes", "recomputed"},
                                             {"opaque", "hit objects, queries"},
                                             {"payload_bytes", "payload"}});
  for (std::size_t s = 0; s < report.shaders.size(); ++s) {
    const spirv::ShaderFacts* facts = report.shaders[s].facts;
    for (std::size_t c = 0; facts != nullptr && c < facts->calls.size(); ++c) {
      const spirv::CallFacts& call = facts->calls[c];
      std::vector<Cell> cells = first_cells(report, s);
      cells.insert(cells.end(),
                   {std::string(to_string(call.kind)), call.at.function, std::uint64_t{call.at.block},
                    std::uint64_t{call.at.place.instruction}, call.at.file,
                    call.at.line == 0 ? Cell() : Cell(std::uint64_t{call.at.line}), place_text(call.at),
                    std::uint64_t{call.copies}, call.live.bytes(), call.live.value_bytes, call.live.slot_bytes,
                    call.live.recomputed_bytes, call.live.opaque, call.payload_bytes});
      table.rows.push_back(std::move(cells));
    }
  }
  return table;
}

Table uniformity(const ShaderReport& report, std::vector<spirv::UniformityFacts> spirv::ShaderFacts::*list,
                 bool with_address) {
  Table table;
  table.columns = first_columns();
  table.columns.insert(
      table.columns.end(),
      {{"function", "function"}, {"instruction", "instruction"}, {"level", with_address ? "value" : "condition"}});
  if (with_address) {
    table.columns.push_back({"address_level", "address"});
  }
  for (std::size_t s = 0; s < report.shaders.size(); ++s) {
    const ShaderRow& row = report.shaders[s];
    for (std::size_t f = 0; row.facts != nullptr && f < (row.facts->*list).size(); ++f) {
      const spirv::UniformityFacts& facts = (row.facts->*list)[f];
      std::vector<Cell> cells = first_cells(report, s);
      cells.insert(cells.end(), {function_name(row.known->analysed, facts.place.function),
                                 std::uint64_t{facts.place.instruction}, std::string(level_text(facts.level))});
      if (with_address) {
        cells.emplace_back(std::string(level_text(facts.address)));
      }
      table.rows.push_back(std::move(cells));
    }
  }
  return table;
}

std::vector<std::string> notes_of(const ShaderRow& row) {
  std::vector<std::string> notes;
  if (!row.missing.empty()) {
    notes.push_back(row.missing);
  }
  if (row.facts != nullptr) {
    if (row.facts->irreducible) {
      notes.emplace_back("irreducible control flow: cycles with several entries are not among the loops");
    }
    notes.insert(notes.end(), row.facts->notes.begin(), row.facts->notes.end());
    for (const std::uint32_t f : row.known->facts.unused_functions) {
      notes.push_back("unused function: " + function_name(row.known->analysed, f));
    }
    for (const auto& [f, block] : row.facts->unreached_blocks) {
      notes.push_back(fmt::format("unused block: {}, block %{}", function_name(row.known->analysed, f),
                                  row.known->analysed.flows[f]->blocks[block].label));
    }
  }
  return notes;
}

}  // namespace

std::string stage_of_model(std::uint32_t execution_model) {
  using Model = spv::ExecutionModel;
  switch (static_cast<Model>(execution_model)) {
    case Model::Vertex:
      return "vertex";
    case Model::TessellationControl:
      return "tessellation-control";
    case Model::TessellationEvaluation:
      return "tessellation-evaluation";
    case Model::Geometry:
      return "geometry";
    case Model::Fragment:
      return "fragment";
    case Model::GLCompute:
      return "compute";
    case Model::Kernel:
      return "kernel";
    case Model::RayGenerationKHR:
      return to_string(trace::ShaderStage::RayGeneration);
    case Model::IntersectionKHR:
      return to_string(trace::ShaderStage::Intersection);
    case Model::AnyHitKHR:
      return to_string(trace::ShaderStage::AnyHit);
    case Model::ClosestHitKHR:
      return to_string(trace::ShaderStage::ClosestHit);
    case Model::MissKHR:
      return to_string(trace::ShaderStage::Miss);
    case Model::CallableKHR:
      return to_string(trace::ShaderStage::Callable);
    default:
      return fmt::format("model {}", execution_model);
  }
}

output::Table shader_rows(const ShaderReport& report, ShaderRows rows) {
  switch (rows) {
    case ShaderRows::Calls:
      return calls(report);
    case ShaderRows::Branches:
      return uniformity(report, &spirv::ShaderFacts::branches, false);
    case ShaderRows::Loads:
      return uniformity(report, &spirv::ShaderFacts::loads, true);
    case ShaderRows::Pipelines:
      return occupancy_table(report.occupancies);
    case ShaderRows::Shaders:
      break;
  }
  return shaders(report);
}

std::string shader_text(const ShaderReport& report) {
  std::string text = fmt::format("{:<12}{}\n", report.is_trace ? "trace" : "module", text::printable(report.file));
  text += fmt::format("{:<12}without values that recompute from live ones {}\n\n", "live bytes",
                      report.most_instructions == 0 ? std::string("without any instruction (other names, components)")
                                                    : "by at most " + counted(report.most_instructions, "instruction"));
  text += output::to_text(shaders(report));
  if (const Table table = calls(report); !table.rows.empty()) {
    text += "\n" + output::to_text(table);
  }
  if (!report.occupancies.empty()) {
    text += "\n" + occupancy_text(report.occupancies, report.machine, report.warps);
  }
  std::string notes;
  for (std::size_t s = 0; s < report.shaders.size(); ++s) {
    for (const std::string& note : notes_of(report.shaders[s])) {
      notes += fmt::format("shader {}: {}\n", s, text::printable(note));
    }
  }
  return notes.empty() ? text : text + "\n" + notes;
}

nlohmann::ordered_json shader_json(const ShaderReport& report) {
  nlohmann::ordered_json notes = nlohmann::ordered_json::array();
  for (std::size_t s = 0; s < report.shaders.size(); ++s) {
    for (const std::string& note : notes_of(report.shaders[s])) {
      notes.push_back({{"shader", s}, {"note", note}});
    }
  }
  nlohmann::ordered_json result = {{"schema", "rayreplay.shaders/1"},
                                   {"file", report.file},
                                   {"kind", report.is_trace ? "trace" : "module"},
                                   {"recompute", report.most_instructions},
                                   {"shaders", to_json(shaders(report))},
                                   {"calls", to_json(calls(report))},
                                   {"branches", to_json(uniformity(report, &spirv::ShaderFacts::branches, false))},
                                   {"loads", to_json(uniformity(report, &spirv::ShaderFacts::loads, true))},
                                   {"notes", std::move(notes)}};
  if (!report.pipelines.empty()) {
    const StackAgreement agreement = stack_agreement(report);
    nlohmann::ordered_json correlation;
    if (agreement.rank_correlation) {
      correlation = *agreement.rank_correlation;
    }
    result["pipelines"] = pipelines_json(report.pipelines);
    result["occupancy"] = occupancy_json(report.occupancies, report.machine, report.warps);
    result["stack_agreement"] = {{"shaders", agreement.shaders}, {"rank_correlation", std::move(correlation)}};
  }
  return result;
}

}  // namespace rayreplay::report
