// rayreplay optimise: shader modules rewritten by what a captured run executed.
#include "capture/optimise/optimise.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/commands/capture/observed_places.hpp"
#include "app/commands/capture/shader_folder.hpp"
#include "app/commands/command.hpp"
#include "app/commands/options/options.hpp"
#include "app/console/console.hpp"
#include "base/count_text.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "capture/profile/count_sums.hpp"
#include "capture/trace/reader.hpp"

namespace rayreplay::app {
namespace {

struct OptimiseArguments {
  std::string path;
  std::string folder;
  bool force = false;
  bool assume_profile = false;
  bool outline = false;
  bool scalar = false;
  std::string rows;
  FormatOption format;
};

/// A module of the trace, and what its shaders executed.
struct ProfiledModule {
  const std::vector<std::uint32_t>* words = nullptr;
  std::vector<std::uint16_t> shaders;
  std::vector<std::string> names;
  std::vector<optimise::BlockExecutions> executions;
  std::string why;  ///< it is left alone before it is looked at
};

/// By hash, so that the output does not depend on the order in which the application made its modules.
std::map<std::string, ProfiledModule> modules_of(const trace::Profile& trace, const std::string& path) {
  const profile::SumOverPipelines sums = profile::sum_over_pipelines(trace.block_counts, std::nullopt, path);
  std::map<std::uint16_t, std::vector<optimise::BlockExecutions>> by_shader;
  for (std::size_t row = 0; row < sums.counts.size(); ++row) {
    by_shader[sums.counts.shader[row]].push_back(
        {sums.counts.function[row], sums.counts.block[row], sums.counts.lanes[row]});
  }
  std::map<std::string, ProfiledModule> modules;
  for (std::size_t s = 0; s < trace.shaders.size(); ++s) {
    const trace::Shader& shader = trace.shaders[s];
    if (shader.spirv.empty()) {
      continue;
    }
    ProfiledModule& module = modules[layer::module_hash(shader.spirv)];
    module.words = &shader.spirv;
    module.shaders.push_back(static_cast<std::uint16_t>(s));
    module.names.push_back(shader.name);
    const auto counts = by_shader.find(static_cast<std::uint16_t>(s));
    if (counts == by_shader.end()) {
      module.why = fmt::format("shader {} was not counted", s);
    } else {
      module.executions.insert(module.executions.end(), counts->second.begin(), counts->second.end());
    }
  }
  return modules;
}

nlohmann::ordered_json steps_json(const std::vector<optimise::Step>& steps, std::uint64_t launches) {
  const auto a_launch = [&](double slots) { return slots / static_cast<double>(launches); };
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const optimise::Step& step : steps) {
    rows.push_back({{"kind", step.kind},
                    {"function", step.function},
                    {"block", step.label},
                    {"done", step.done},
                    {"text", step.text},
                    {"guard_failed",
                     step.guard_failed == 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(step.guard_failed)},
                    {"issue_slots_a_launch_saved", a_launch(step.slots_saved)},
                    {"uniform_slots_a_launch", a_launch(step.slots_made_uniform)}});
  }
  return rows;
}

/// "ground.rchit, sky.rmiss"
std::string names_of(const nlohmann::ordered_json& module) {
  std::string names;
  for (const auto& name : module["names"]) {
    names += (names.empty() ? "" : ", ") + name.get<std::string>();
  }
  return names;
}

output::Table summary(const nlohmann::ordered_json& modules) {
  output::Table table;
  table.columns = {{"module", "module"},
                   {"shaders", "shaders"},
                   {"steps", "steps done"},
                   {"instructions_before", "instructions"},
                   {"instructions_removed", "removed"},
                   {"slots_before", "slots a launch", output::Show::Plain, 0},
                   {"slots_saved", "saved", output::Show::Plain, 0},
                   {"uniform_slots", "made uniform", output::Show::Plain, 0},
                   {"why", "left alone because"}};
  for (const auto& module : modules) {
    std::uint64_t done = 0;
    for (const auto& step : module["steps"]) {
      done += step["done"].get<bool>() ? 1U : 0U;
    }
    const std::string names = names_of(module);
    const bool left = module["hash"].is_null();
    table.rows.push_back({module["module"].get<std::string>(), names, done,
                          module["instructions_before"].get<std::uint64_t>(),
                          left ? output::Cell{} : output::Cell{json_text(module["instructions_removed"])},
                          module["issue_slots_a_launch_before"].get<double>(),
                          left ? output::Cell{} : output::Cell{module["issue_slots_a_launch_saved"].get<double>()},
                          left ? output::Cell{} : output::Cell{module["uniform_slots_a_launch"].get<double>()},
                          left ? output::Cell{module["why"].get<std::string>()} : output::Cell{}});
  }
  return table;
}

/// A row for each step, with what it is expected to gain.
output::Table steps_table(const nlohmann::ordered_json& modules) {
  output::Table table;
  table.columns = {{"module", "module"},
                   {"shaders", "shaders"},
                   {"kind", "step"},
                   {"function", "function"},
                   {"block", "block"},
                   {"done", "done"},
                   {"issue_slots_a_launch_saved", "slots a launch saved", output::Show::Plain, 0},
                   {"uniform_slots_a_launch", "made uniform", output::Show::Plain, 0},
                   {"guard_failed", "block if it fails"},
                   {"text", "what"}};
  for (const auto& module : modules) {
    for (const auto& step : module["steps"]) {
      const bool done = step["done"].get<bool>(), guarded = !step["guard_failed"].is_null();
      table.rows.push_back({module["module"].get<std::string>(), names_of(module), step["kind"].get<std::string>(),
                            step["function"].get<std::uint64_t>(), step["block"].get<std::uint64_t>(),
                            std::string(done ? "yes" : "no"),
                            done ? output::Cell{step["issue_slots_a_launch_saved"].get<double>()} : output::Cell{},
                            done ? output::Cell{step["uniform_slots_a_launch"].get<double>()} : output::Cell{},
                            guarded ? output::Cell{step["guard_failed"].get<std::uint64_t>()} : output::Cell{},
                            step["text"].get<std::string>()});
    }
  }
  return table;
}

int act(const OptimiseArguments& options) {
  const output::Format format = options.format.format();
  require_file_name(options.folder, "--output");
  require_distinct({{"--output", options.folder}}, {{"TRACE", options.path}});
  require_no_memory_trace(options.path);
  output::require_folder_writable(options.folder, options.force, shader_folder_kind());
  const trace::Profile trace = trace::load_profile(options.path);
  if (trace.block_counts.size() == 0) {
    throw Error(ErrorKind::Input, {"the trace has no counts of basic blocks", options.path, "", "/profile/blocks",
                                   "capture the application with --profile blocks"});
  }
  if (options.scalar && trace.branch_counts.size() == 0) {
    throw Error(ErrorKind::Input,
                {"the trace has no counts of branches, which --scalar needs", options.path, "", "/profile/branches",
                 "capture the application with --profile blocks,branches, or blocks,branches,loads for loads, too"});
  }
  if (options.scalar && trace.load_counts.size() == 0) {
    console::note(
        "the trace has no counts of loads: --scalar makes only branches scalar (capture with --profile "
        "blocks,branches,loads for loads, too)");
  }
  const std::uint64_t known_launches = trace::read_info(options.path).launches.size();
  const std::uint64_t launches = std::max<std::uint64_t>(known_launches, 1);
  if (known_launches == 0) {
    console::note(
        "the file has merged counts without launches: numbers 'a launch' are sums over all launches of the runs");
  }
  const auto modules = modules_of(trace, options.path);
  const std::map<std::string, ObservedPlaces> observed = observed_places(trace, options.path, options.scalar);
  std::vector<RewrittenModule> rewritten;
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const auto& [hash, module] : modules) {
    optimise::Optimised result;
    if (module.why.empty()) {
      const auto found = observed.find(hash);
      const ObservedPlaces places = found == observed.end() ? ObservedPlaces() : found->second;
      result = optimise::optimise(
          *module.words, module.executions,
          {.assume_profile = options.assume_profile, .outline = options.outline, .scalar = options.scalar},
          {places.uniform, places.constants});
    } else {
      result.why = module.why;
    }
    nlohmann::ordered_json row = {{"module", hash}, {"file", nullptr},           {"hash", nullptr},
                                  {"why", nullptr}, {"shaders", module.shaders}, {"names", module.names}};
    if (result.words.empty()) {
      row["why"] = result.why;
    } else {
      const layer::ListedModule listed{hash, layer::module_hash(result.words), hash + ".spv"};
      row["file"] = listed.file;
      row["hash"] = listed.hash;
      rewritten.push_back({listed, result.words});
    }
    const auto a_launch = [&](double slots) { return slots / static_cast<double>(launches); };
    row["instructions_before"] = result.instructions_before;
    row["instructions_after"] = result.instructions_after;
    row["instructions_removed"] =
        static_cast<std::int64_t>(result.instructions_before) - static_cast<std::int64_t>(result.instructions_after);
    row["issue_slots_a_launch_before"] = a_launch(result.slots_before);
    row["issue_slots_a_launch_saved"] = a_launch(result.slots_before - result.slots_after);
    double made_uniform = 0;
    for (const optimise::Step& step : result.steps) {
      made_uniform += step.done ? step.slots_made_uniform : 0;
    }
    row["uniform_slots_a_launch"] = a_launch(made_uniform);
    row["steps"] = steps_json(result.steps, launches);
    rows.push_back(std::move(row));
  }
  const nlohmann::ordered_json manifest = {{"schema", kShaderSchema},
                                           {"tool_version", RAYREPLAY_VERSION},
                                           {"trace", options.path},
                                           {"trace_hash", trace.hash},
                                           {"application", trace.header.application},
                                           {"launches", known_launches},
                                           {"assume_profile", options.assume_profile},
                                           {"outline", options.outline},
                                           {"scalar", options.scalar},
                                           {"modules", rows}};
  write_shader_folder(options.folder, options.force, rewritten, manifest);
  if (format == output::Format::Json) {
    console::print(json_text(manifest, 2) + "\n");
  } else {
    console::print(output::render(options.rows == "steps" ? steps_table(rows) : summary(rows), format));
  }
  console::log(fmt::format("rayreplay: wrote {}: {} of {} rewritten{}", options.folder, rewritten.size(),
                           counted(modules.size(), "module"),
                           options.assume_profile ? ", for inputs that run as the captured ones did" : ""));
  return 0;
}

void declare(CLI::App& command, OptimiseArguments& options) {
  add_trace_file(command, options.path)->required();
  add_plain(command, "-o,--output", options.folder, "DIR", "Folder of modules to write", "Output")->required();
  add_force(command, options.force);
  CLI::Option* assume =
      command
          .add_flag("--assume-profile", options.assume_profile,
                    "Remove blocks that never ran: right only for inputs that run as the captured ones did")
          ->group("Changes");
  command
      .add_flag("--outline", options.outline,
                "Also make code that never ran functions of its own: for drivers that call them cheaply")
      ->excludes(assume)
      ->group("Changes");
  command
      .add_flag("--scalar", options.scalar,
                "Also make branches and loads scalar, behind a guard, if all lanes of a group agreed on them: for "
                "processors with scalar instructions (needs capture --profile blocks,branches; for loads also loads)")
      ->group("Changes");
  add_value(command, "--rows", options.rows, "NAME",
            "Rows of the table: modules, or steps with what each is expected to gain", "Output")
      ->check(CLI::IsMember({"modules", "steps"}));
  options.format.add_to(command);
}

}  // namespace

void add_optimise_command(CLI::App& root, Session& session) {
  add_command(root, session,
              {"optimise", "Capture",
               "Rewrite an application's shaders by what a captured run executed (capture --profile blocks)"},
              declare, act);
}

}  // namespace rayreplay::app
