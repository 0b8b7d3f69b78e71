// rayreplay profile: what happened inside the shaders of a captured application.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/commands/capture/agreement_tables.hpp"
#include "app/commands/command.hpp"
#include "app/commands/options/options.hpp"
#include "app/console/console.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "capture/profile/shader_profile.hpp"

namespace rayreplay::app {
namespace {

using output::Cell;
using output::Table;

struct ProfileArguments {
  std::string path;
  bool blocks = false;
  std::string rows;
  FormatOption format;
};

Cell ratio(double part, double whole) {
  return whole > 0 ? Cell{part / whole} : Cell{};
}

Cell number(std::optional<double> value) {
  return value ? Cell{*value} : Cell{};
}

Table shader_table(const trace::Profile& trace, const std::vector<profile::ShaderProfile>& shaders) {
  Table table;
  table.columns = {{"pipeline", "pipeline"},
                   {"shader", "shader"},
                   {"stage", "stage"},
                   {"name", "name"},
                   {"entries", "entries"},
                   {"blocks", "blocks"},
                   {"unused_blocks", "unused"},
                   {"instructions", "instructions"},
                   {"unused_share", "unused share", output::Show::Percent, 1},
                   {"instructions_per_entry", "executed per entry", {}, 1},
                   {"simt_efficiency", "SIMT inside", output::Show::Percent, 1}};
  for (const profile::ShaderProfile& shader : shaders) {
    const trace::Shader& known = trace.shaders[shader.shader];
    table.rows.push_back(
        {std::uint64_t{shader.pipeline}, std::uint64_t{shader.shader}, std::string(to_string(known.stage)), known.name,
         shader.entries, std::uint64_t{shader.blocks.size()}, shader.unused_blocks, shader.instructions,
         ratio(static_cast<double>(shader.unused_instructions), static_cast<double>(shader.instructions)),
         ratio(shader.lane_instructions, static_cast<double>(shader.entries)), number(shader.efficiency)});
  }
  return table;
}

Table block_table(const trace::Profile& trace, const std::vector<profile::ShaderProfile>& shaders) {
  Table table;
  table.columns = {{"pipeline", "pipeline"},
                   {"shader", "shader"},
                   {"name", "name"},
                   {"function", "function", {}, 0, true},
                   {"function_name", "function"},
                   {"block", "block"},
                   {"label", "label"},
                   {"loop_depth", "loop depth"},
                   {"instructions", "instructions"},
                   {"lanes", "lanes"},
                   {"groups", "groups"},
                   {"simt_efficiency", "SIMT", output::Show::Percent, 1},
                   {"unused", "unused"}};
  const double warp = trace.header.warp_size;
  for (const profile::ShaderProfile& shader : shaders) {
    for (const profile::BlockProfile& block : shader.blocks) {
      const double groups = static_cast<double>(block.groups.value_or(0));
      table.rows.push_back({std::uint64_t{shader.pipeline}, std::uint64_t{shader.shader},
                            trace.shaders[shader.shader].name, std::uint64_t{block.function}, block.function_name,
                            std::uint64_t{block.block}, fmt::format("%{}", block.label),
                            std::uint64_t{block.loop_depth}, std::uint64_t{block.instructions}, block.lanes,
                            block.groups ? Cell{*block.groups} : Cell{},
                            ratio(static_cast<double>(block.lanes), warp * groups), block.unused});
    }
  }
  return table;
}

/// Input if a trace has none of the counts that are asked for.
void require_counts(std::size_t rows, bool wanted, const char* what, const char* option, const std::string& path) {
  if (wanted && rows == 0) {
    throw Error(ErrorKind::Input, {fmt::format("the trace has no counts of {}", what), path, "", "/profile",
                                   fmt::format("capture the application with --profile {}", option)});
  }
}

int act(const ProfileArguments& options) {
  const output::Format format = options.format.format();
  require_no_memory_trace(options.path);
  const trace::Profile trace = trace::load_profile(options.path);
  const bool has_agreement = trace.branch_counts.size() + trace.load_counts.size() != 0;
  const bool needs_blocks = options.blocks || (options.rows.empty() && !has_agreement);
  require_counts(trace.block_counts.size(), needs_blocks, "basic blocks", "blocks", options.path);
  require_counts(trace.branch_counts.size(), options.rows == "branches", "branches", "branches", options.path);
  require_counts(trace.load_counts.size(), options.rows == "loads", "loads", "loads", options.path);
  require_counts(trace.branch_counts.size() + trace.load_counts.size(), options.rows == "uniformity",
                 "branches or loads", "branches,loads", options.path);
  const auto shaders = profile::shader_profiles(trace, options.path);
  const auto agreement = profile::agreement_profile(trace, options.path);
  const auto blocks = [&] { return block_table(trace, shaders); };
  const auto summary = [&] { return shader_table(trace, shaders); };
  const auto uniformity = [&] { return agreement_table(trace, agreement); };
  const auto table = [&] {
    if (options.rows == "branches" || options.rows == "loads") {
      const bool branches = options.rows == "branches";
      return instruction_table(trace, branches ? agreement.branches : agreement.loads, branches);
    }
    return options.blocks ? blocks() : !options.rows.empty() || shaders.empty() ? uniformity() : summary();
  };
  const auto text = [&] {
    const bool both = !options.blocks && options.rows.empty() && !shaders.empty() && has_agreement;
    return output::to_text(table()) + (both ? "\n" + output::to_text(uniformity()) : "");
  };
  console::print(output::render({text, table,
                                 [&] {
                                   nlohmann::ordered_json document = {{"schema", "rayreplay.profile/1"},
                                                                      {"file", options.path},
                                                                      {"warp_size", trace.header.warp_size},
                                                                      {"shaders", to_json(summary())}};
                                   if (options.blocks) {
                                     document["blocks"] = to_json(blocks());
                                   }
                                   if (has_agreement) {
                                     document["uniformity"] = to_json(uniformity());
                                   }
                                   if (options.rows == "branches" || options.rows == "loads") {
                                     document[options.rows] = to_json(table());
                                   }
                                   return document;
                                 }},
                                format));
  return 0;
}

void declare(CLI::App& command, ProfileArguments& options) {
  add_trace_file(command, options.path)->required();
  command.add_flag("--blocks", options.blocks, "A row for each basic block in place of one for each shader");
  add_value(command, "--rows", options.rows, "NAME",
            "Rows in place of those of shaders: branches, loads, or uniformity (their sums)", "Output")
      ->check(CLI::IsMember({"branches", "loads", "uniformity"}))
      ->excludes("--blocks");
  options.format.add_to(command);
}

}  // namespace

void add_profile_command(CLI::App& root, Session& session) {
  add_command(root, session,
              {"profile", "Traces",
               "Inside the shaders of an application captured with --profile: executions of basic blocks, uniform "
               "branches and loads"},
              declare, act);
}

}  // namespace rayreplay::app
