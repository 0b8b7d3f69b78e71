// rayreplay shaders: what is known of the shaders of a trace or of a SPIR-V module without running them.
#include <algorithm>
#include <charconv>
#include <map>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/commands/capture/module_file.hpp"
#include "app/commands/command.hpp"
#include "app/commands/options/options.hpp"
#include "app/report/shaders/disassembly.hpp"
#include "app/report/shaders/shader_report.hpp"
#include "base/count_text.hpp"
#include "base/error.hpp"
#include "base/parameters.hpp"
#include "capture/trace/reader.hpp"

namespace rayreplay::app {
namespace {

constexpr std::uint32_t kMostRecompute = 1000;

struct ShadersArguments {
  std::string path;
  std::uint32_t recompute = 0;
  std::string rows = "shaders";
  std::string shader;
  ResultOption result;
};

report::ShaderRows rows_of(const std::string& name) {
  const std::map<std::string, report::ShaderRows> known = {{"shaders", report::ShaderRows::Shaders},
                                                           {"calls", report::ShaderRows::Calls},
                                                           {"branches", report::ShaderRows::Branches},
                                                           {"loads", report::ShaderRows::Loads}};
  return known.at(name);
}

std::shared_ptr<const report::KnownModule> known_module(std::span<const std::uint32_t> words, std::uint32_t recompute,
                                                        std::string& reason) {
  std::optional<spirv::Module> module = spirv::parse(words, reason);
  return module ? std::make_shared<const report::KnownModule>(std::move(*module), recompute) : nullptr;
}

report::ShaderReport report_of_module(const ShadersArguments& options) {
  report::ShaderReport report{options.path, false, options.recompute, {}};
  std::string reason;
  const auto known = known_module(read_module_file(options.path), options.recompute, reason);
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

/// The entry point of a trace's shader in its module.
const spirv::ShaderFacts* facts_of(const report::KnownModule& known, const trace::Shader& shader) {
  const auto found = std::find_if(known.facts.shaders.begin(), known.facts.shaders.end(), [&](const auto& facts) {
    return facts.entry == shader.entry && report::stage_of_model(facts.model) == to_string(shader.stage);
  });
  return found == known.facts.shaders.end() ? nullptr : &*found;
}

report::ShaderReport report_of_trace(const ShadersArguments& options) {
  report::ShaderReport report{options.path, true, options.recompute, {}};
  const trace::FileInfo info = trace::read_info(options.path);
  std::map<std::vector<std::uint32_t>, std::pair<std::shared_ptr<const report::KnownModule>, std::string>> modules;
  for (const trace::Shader& shader : info.shaders) {
    report::ShaderRow row{to_string(shader.stage), shader.entry, shader.name, nullptr, nullptr, {}};
    if (shader.spirv.empty()) {
      row.missing = "the trace holds no module of it";
    } else {
      const auto [at, added] = modules.try_emplace(shader.spirv);
      auto& [known, reason] = at->second;
      if (added) {
        known = known_module(shader.spirv, options.recompute, reason);
      }
      row.known = known;
      row.facts = known == nullptr ? nullptr : facts_of(*known, shader);
      if (row.facts == nullptr) {
        row.missing = known == nullptr ? "its words are no SPIR-V module: " + reason
                                       : std::string("its module has no such entry point");
        row.known = nullptr;
      }
    }
    report.shaders.push_back(std::move(row));
  }
  if (modules.empty()) {
    throw Error(ErrorKind::Input, {"the trace holds no SPIR-V modules", options.path,
                                   counted(info.shaders.size(), "shader") + " without one", "a captured trace",
                                   "capture the application with rayreplay capture, or give a SPIR-V module"});
  }
  return report;
}

/// By number, entry point or name.
const report::ShaderRow& find_shader(const report::ShaderReport& report, const std::string& text) {
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
  return row;
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
  const report::ShaderReport report = is_module ? report_of_module(options) : report_of_trace(options);
  if (!options.shader.empty()) {
    options.result.write(report::disassembly(find_shader(report, options.shader)));
    return 0;
  }
  options.result.write_result({[&] { return report::shader_text(report); },
                               [&] { return report::shader_rows(report, rows_of(options.rows)); },
                               [&] { return report::shader_json(report); }});
  return 0;
}

void declare(CLI::App& command, ShadersArguments& options) {
  constexpr const char* kAnalysis = "Analysis";
  add_plain(command, "file", options.path, "TRACE|MODULE", "Trace file (.rrt) or SPIR-V module (binary)", "Input")
      ->required();
  add_value(command, "--recompute", options.recompute, "K",
            "Live state leaves out values that K instructions at most compute again from the rest", kAnalysis)
      ->check(CLI::Range(0U, kMostRecompute));
  add_value(command, "--rows", options.rows, "NAME", "Rows of the CSV: shaders, calls, branches or loads", "Output")
      ->check(CLI::IsMember({"shaders", "calls", "branches", "loads"}));
  add_plain(command, "--disassemble", options.shader, "SHADER",
            "Its instructions as text in place of the tables: a shader's number, entry point or name", "Output");
  options.result.add_to(command);
}

}  // namespace

void add_shaders_command(CLI::App& root, Session& session) {
  add_command(root, session,
              {"shaders", "Traces", "What is known of shaders without running them: live state, divergence, loops"},
              declare, act);
}

}  // namespace rayreplay::app
