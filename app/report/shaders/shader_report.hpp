// Results of `rayreplay shaders`: facts of shaders without a run (capture/spirv/facts.hpp).
//
// Contract: tables of shaders, of their calls, and of their branches and loads from memory, in the order of the
// report's shaders and then by place. Cells of what was not analysed are empty, and `notes` say why. docs/surfaces.md
// lists the keys. The results depend on the file and `most_instructions` alone.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "app/report/export/table.hpp"
#include "app/report/shaders/pipeline_facts.hpp"
#include "capture/spirv/facts.hpp"

namespace rayreplay::report {

/// A module that parsed, with its facts.
struct KnownModule {
  KnownModule(spirv::Module given, std::uint32_t most_instructions)
      : module(std::move(given)), analysed(module), facts(spirv::facts_of(analysed, most_instructions)) {}
  KnownModule(const KnownModule&) = delete;
  KnownModule& operator=(const KnownModule&) = delete;

  spirv::Module module;
  spirv::Analysed analysed;
  spirv::ModuleFacts facts;
};

/// A row: a shader of a trace, or an entry point of a module.
struct ShaderRow {
  std::string stage, entry;
  std::string name;                           ///< empty: the same as the entry
  std::shared_ptr<const KnownModule> known;   ///< null: see `missing`
  const spirv::ShaderFacts* facts = nullptr;  ///< of `known`
  std::string missing;                        ///< why nothing is known
};

struct ShaderReport {
  std::string file;
  bool is_trace = false;
  std::uint32_t most_instructions = 0;  ///< most that may recompute a live value
  std::vector<ShaderRow> shaders;
  std::vector<trace::PipelineFacts> pipelines{};  ///< what the driver says; empty: not captured
  std::vector<ShaderDriverFacts> driver{};        ///< with `pipelines`: by shader
  std::vector<PipelineOccupancy> occupancies{};   ///< with `pipelines`: on `machine`
  machine::Machine machine{};
  OccupancyWarps warps{};
};

/// Subjects of a CSV's rows.
enum class ShaderRows : std::uint8_t { Shaders, Calls, Branches, Loads, Pipelines };

[[nodiscard]] output::Table shader_rows(const ShaderReport& report, ShaderRows rows);
[[nodiscard]] std::string shader_text(const ShaderReport& report);
[[nodiscard]] nlohmann::ordered_json shader_json(const ShaderReport& report);

/// "ray-generation", "compute", "model 12".
[[nodiscard]] std::string stage_of_model(std::uint32_t execution_model);

}  // namespace rayreplay::report
