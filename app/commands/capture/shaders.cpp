// rayreplay shaders: what is known of the shaders of a trace or of a SPIR-V module without running them.
#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/commands/capture/module_file.hpp"
#include "app/commands/command.hpp"
#include "app/commands/options/options.hpp"
#include "app/report/shaders/disassembly.hpp"
#include "app/report/shaders/measured_uniformity.hpp"
#include "app/report/shaders/shader_report.hpp"
#include "app/report/shaders/trace_rows.hpp"
#include "base/count_text.hpp"
#include "base/error.hpp"
#include "base/parameters.hpp"
#include "capture/profile/agreement_profile.hpp"
#include "capture/trace/reader.hpp"
#include "scheduler-models/warp_assignment.hpp"
#include "sim/machine/machine.hpp"
#include "sim/settings/machine_settings.hpp"

namespace rayreplay::app {
namespace {

constexpr std::uint32_t kMostRecompute = 1000;

struct ShadersArguments {
  std::string path;
  std::uint32_t recompute = 0;
  std::string rows;  ///< "": shaders in CSV, all tables as text
  std::string shader;
  std::optional<std::uint32_t> pipeline;
  std::string machine =
      std::get<std::string>(experiment::find_parameter(experiment::kMachineName)->declared.default_value);
  std::uint32_t warp_size = 0;
  ResultOption result;
};

report::ShaderRows rows_of(const std::string& name) {
  const std::map<std::string, report::ShaderRows> known = {{"shaders", report::ShaderRows::Shaders},
                                                           {"calls", report::ShaderRows::Calls},
                                                           {"branches", report::ShaderRows::Branches},
                                                           {"loads", report::ShaderRows::Loads},
                                                           {"pipelines", report::ShaderRows::Pipelines}};
  return name.empty() ? report::ShaderRows::Shaders : known.at(name);
}

report::ShaderReport report_of_module(const ShadersArguments& options) {
  report::ShaderReport report{options.path, false, options.recompute, {}};
  std::string reason;
  const auto known = report::known_module(read_module_file(options.path), options.recompute, reason);
  if (!known) {
    throw Error(ErrorKind::Input, {"the file is no SPIR-V module", options.path, reason,
                                   "a SPIR-V 1.x module in this machine's byte order", "check it with spirv-val"});
  }
  if (known->facts.shaders.empty()) {
    throw Error(ErrorKind::Input, {"the module has no shaders", options.path, "no entry point",
                                   "a module with OpEntryPoint", "link it, or give the module that a pipeline uses"});
  }
  for (const spirv::ShaderFacts& facts : known->facts.shaders) {
    report.shaders.push_back({report::stage_of_model(facts.model), facts.entry, {}, known, &facts, {}});
  }
  return report;
}

report::ShaderReport report_of_trace(const ShadersArguments& options, const std::vector<trace::Shader>& shaders,
                                     const std::vector<trace::PipelineFacts>& pipelines,
                                     const std::vector<trace::LaunchInfo>& launches, std::uint32_t warp_size) {
  if (std::ranges::all_of(shaders, [](const trace::Shader& shader) { return shader.spirv.empty(); })) {
    throw Error(ErrorKind::Input,
                {"the trace holds no SPIR-V modules", options.path, counted(shaders.size(), "shader") + " without one",
                 "a captured trace", "capture the application with rayreplay capture, or give a SPIR-V module"});
  }
  report::ShaderReport report{options.path, true, options.recompute, report::rows_of_trace(shaders, options.recompute),
                              pipelines};
  if (!pipelines.empty()) {
    std::vector<trace::ShaderStage> stages;
    for (const trace::Shader& shader : shaders) {
      stages.push_back(shader.stage);
    }
    report.driver = report::driver_facts(pipelines, stages);
    std::vector<std::uint32_t> used;
    for (const trace::LaunchInfo& launch : launches) {
      used.push_back(launch.pipeline);
    }
    report.machine = machine::load_machine(options.machine);
    report.warps = report::occupancy_warps(options.warp_size, warp_size, report.machine);
    report.occupancies = report::occupancies(pipelines, used, report.machine, report.warps.lanes);
  }
  return report;
}

/// The number of a shader by number, entry point or name.
std::size_t find_shader(const report::ShaderReport& report, const std::string& text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::vector<std::size_t> found;
  if (error == std::errc() && end == text.data() + text.size() && number < report.shaders.size()) {
    found.push_back(number);
  } else {
    for (std::size_t s = 0; s < report.shaders.size(); ++s) {
      if (report.shaders[s].entry == text || report.shaders[s].name == text) {
        found.push_back(s);
      }
    }
  }
  if (found.size() != 1) {
    throw Error(ErrorKind::Usage,
                {found.empty() ? "no such shader" : "several shaders have this name", "--disassemble", "'" + text + "'",
                 fmt::format("a number below {}, or the name of one shader", report.shaders.size()),
                 "rayreplay shaders without --disassemble lists them"});
  }
  const report::ShaderRow& row = report.shaders[found.front()];
  if (row.facts == nullptr) {
    throw Error(ErrorKind::Input, {"the shader cannot be shown", "shader " + std::to_string(found.front()), row.missing,
                                   "a shader with a SPIR-V module", ""});
  }
  return found.front();
}

/// Counts of a shader that the options ask for.
struct ChosenCounts {
  std::optional<report::Executions> executions;
  std::optional<report::MeasuredPlaces> measured;

  [[nodiscard]] report::ShaderCounts view() const {
    return {executions ? &*executions : nullptr, measured ? &*measured : nullptr};
  }
};

/// "pipelines 0, 3" that have counts of the shader.
std::string counting_pipelines(const trace::Profile& profile, std::uint16_t shader) {
  report::Executions all;
  std::set<std::uint32_t> pipelines;
  const auto add = [&](const auto& counts) {
    for (std::size_t row = 0; row < counts.size(); ++row) {
      if (counts.shader[row] == shader) {
        pipelines.insert(counts.pipeline[row]);
      }
    }
  };
  add(profile.block_counts);
  add(profile.branch_counts);
  add(profile.load_counts);
  all.pipelines.assign(pipelines.begin(), pipelines.end());
  return pipelines.empty() ? "no pipeline counts this shader" : all.pipelines_text();
}

ChosenCounts counts_of(const ShadersArguments& options, const trace::Profile& profile, std::uint16_t shader) {
  auto executions = report::executions_by_shader(profile, options.pipeline, options.path);
  auto measured = report::measured_by_shader(profile::agreement_profile(profile, options.path), options.pipeline);
  ChosenCounts result;
  if (const auto found = executions.find(shader); found != executions.end()) {
    result.executions = std::move(found->second);
  }
  if (const auto found = measured.find(shader); found != measured.end()) {
    result.measured = std::move(found->second);
  }
  if (options.pipeline && !result.executions && !result.measured) {
    throw Error(ErrorKind::Usage,
                {"the pipeline has no counts of the shader", "--pipeline", std::to_string(*options.pipeline),
                 counting_pipelines(profile, shader), "rayreplay profile lists the shaders of each pipeline"});
  }
  return result;
}

int disassemble(const ShadersArguments& options, bool is_module) {
  const trace::Profile profile = is_module ? trace::Profile{} : trace::load_profile(options.path);
  const report::ShaderReport report =
      is_module ? report_of_module(options)
                : report_of_trace(options, profile.shaders, profile.pipeline_facts, {}, profile.header.warp_size);
  const std::size_t shader = find_shader(report, options.shader);
  const ChosenCounts counts = counts_of(options, profile, static_cast<std::uint16_t>(shader));
  options.result.write(report::disassembly(report.shaders[shader], counts.view()));
  return 0;
}

int act(const ShadersArguments& options) {
  options.result.check();
  require_distinct({{"--output", options.result.path}}, {{"the input", options.path}});
  if (!options.shader.empty() && options.result.format.format() != output::Format::Table) {
    throw Error(ErrorKind::Usage, {"the disassembly is text", "--format", "'" + options.result.format.name + "'",
                                   "table", "leave --format out, or --disassemble"});
  }
  const bool is_module = has_module_start(options.path);
  if (!is_module) {
    require_no_memory_trace(options.path);
    if (!has_trace_start(options.path)) {
      throw Error(ErrorKind::Input, {"this is neither a SPIR-V module nor a trace", options.path,
                                     "a file of another kind", "a binary SPIR-V module, or a trace of rays (.rrt)",
                                     "glslangValidator -V makes the one, rayreplay capture the other"});
    }
  }
  if (!options.shader.empty()) {
    return disassemble(options, is_module);
  }
  const trace::FileInfo info = is_module ? trace::FileInfo{} : trace::read_info(options.path);
  if (info.header.warp_size > scheduler::kMaxWarpSize) {
    // read_info does not hold the header against the rules of traces.
    throw Error(ErrorKind::Input,
                {"the warp size is out of range", options.path + ":/warp_size", std::to_string(info.header.warp_size),
                 fmt::format("at most {}", scheduler::kMaxWarpSize), "capture the trace again"});
  }
  const report::ShaderReport report =
      is_module ? report_of_module(options)
                : report_of_trace(options, info.shaders, info.pipeline_facts, info.launches, info.header.warp_size);
  const auto rows = [&] { return report::shader_rows(report, rows_of(options.rows)); };
  options.result.write_result({[&] { return options.rows.empty() ? report::shader_text(report) : to_text(rows()); },
                               rows, [&] { return report::shader_json(report); }});
  return 0;
}

void declare(CLI::App& command, ShadersArguments& options) {
  constexpr const char* kAnalysis = "Analysis";
  add_plain(command, "file", options.path, "TRACE|MODULE", "Trace file (.rrt) or SPIR-V module (binary)", "Input")
      ->required();
  add_value(command, "--recompute", options.recompute, "K",
            "Live state leaves out values that K instructions at most compute again from the rest", kAnalysis)
      ->check(CLI::Range(0U, kMostRecompute));
  add_value(command, "--machine", options.machine, "NAME|FILE",
            "Machine for the resident warps of each pipeline, where the driver names its registers", kAnalysis);
  add_value(command, "--warp-size", options.warp_size, "N",
            "Threads of a warp for these resident warps; 0: the trace's; where it has none, the machine's", kAnalysis)
      ->check(CLI::Range(0U, scheduler::kMaxWarpSize));
  CLI::Option* rows = add_value(command, "--rows", options.rows, "NAME",
                                "Rows of the table and of the CSV: shaders, calls, branches, loads or pipelines "
                                "[shaders in CSV; the table has a summary, shaders and calls]",
                                "Output")
                          ->check(CLI::IsMember({"shaders", "calls", "branches", "loads", "pipelines"}));
  CLI::Option* disassemble =
      add_plain(command, "--disassemble", options.shader, "SHADER",
                "Annotated instructions of one shader in place of the tables: a shader's number, entry point or name",
                "Output")
          ->excludes(rows);
  add_plain(command, "--pipeline", options.pipeline, "N", "Counts of the shader in this pipeline [summed over all]",
            "Output")
      ->needs(disassemble);
  options.result.add_to(command);
}

}  // namespace

void add_shaders_command(CLI::App& root, Session& session) {
  add_command(root, session,
              {"shaders", "Traces", "What is known of shaders without running them: live state, divergence, loops"},
              declare, act);
}

}  // namespace rayreplay::app
