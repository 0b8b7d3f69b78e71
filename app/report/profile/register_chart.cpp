#include "app/report/profile/register_chart.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/report/profile/profile_page.hpp"
#include "base/count_text.hpp"
#include "base/shortened.hpp"
#include "base/text.hpp"
#include "capture/trace/pipeline_registers.hpp"

namespace rayreplay::report {
namespace {

using pictures::Plot;
using pictures::PlotSeries;

constexpr double kMarkPercent = 100;
constexpr std::size_t kMostMarkName = 40;
constexpr std::size_t kNamedMarks = 4;  ///< of one place

/// Shaders of a pipeline's groups.
std::set<std::uint16_t> shaders_of(const trace::PipelineFacts& pipeline, std::size_t shaders) {
  std::set<std::uint16_t> result;
  for (const trace::GroupStack& group : pipeline.groups) {
    for (const std::uint16_t shader : {group.general, group.closest_hit, group.any_hit, group.intersection}) {
      if (shader < shaders) {
        result.insert(shader);
      }
    }
  }
  return result;
}

std::optional<std::uint16_t> shader_of(const trace::Executable& executable, const std::set<std::uint16_t>& candidates,
                                       const std::vector<trace::Shader>& shaders) {
  const std::optional<trace::ShaderStage> stage = only_stage(executable);
  std::optional<std::uint16_t> found;
  for (const std::uint16_t shader : candidates) {
    if (stage && shaders[shader].stage == *stage) {
      if (found) {
        return std::nullopt;
      }
      found = shader;
    }
  }
  return found;
}

/// Shares of all executed instructions: of a pipeline, or of a shader in a pipeline.
class Shares {
 public:
  explicit Shares(const std::vector<profile::ShaderProfile>& shaders) {
    for (const profile::ShaderProfile& of : shaders) {
      all_ += of.lane_instructions;
      pipelines_[of.pipeline] += of.lane_instructions;
      shaders_[{of.pipeline, of.shader}] += of.lane_instructions;
    }
  }
  [[nodiscard]] std::optional<double> of(std::uint32_t pipeline) const {
    const auto found = pipelines_.find(pipeline);
    return found == pipelines_.end() || all_ <= 0 ? std::nullopt : std::optional(found->second / all_);
  }
  [[nodiscard]] std::optional<double> of(std::uint32_t pipeline, std::uint16_t shader) const {
    const auto found = shaders_.find({pipeline, shader});
    return found == shaders_.end() || all_ <= 0 ? std::nullopt : std::optional(found->second / all_);
  }

 private:
  double all_ = 0;
  std::map<std::uint32_t, double> pipelines_;
  std::map<std::pair<std::uint32_t, std::uint16_t>, double> shaders_;
};

std::string reason_of(const std::vector<trace::PipelineFacts>& pipelines, std::size_t known) {
  if (pipelines.empty()) {
    return "The trace has no facts of pipelines: capture with --pipeline-facts.";
  }
  if (known == pipelines.size()) {
    return "";
  }
  const auto silent = static_cast<std::size_t>(
      std::ranges::count_if(pipelines, [](const auto& pipeline) { return pipeline.executables.empty(); }));
  std::string reason = fmt::format("The driver names no registers of a thread for {} of {}.", pipelines.size() - known,
                                   counted(pipelines.size(), "pipeline"));
  return silent == 0 ? reason : reason + fmt::format(" It names no programs at all for {}.", silent);
}

std::string mark_name(const std::vector<trace::Shader>& shaders, const RegisterMark& mark) {
  if (!mark.executable) {
    return fmt::format("pipeline {}", mark.pipeline);
  }
  if (mark.shader) {
    return bar_label(*mark.shader, shaders[*mark.shader].name);
  }
  return fmt::format(
      "{} of pipeline {}",
      mark.name.empty() ? fmt::format("program {}", *mark.executable) : text::shortened(mark.name, kMostMarkName),
      mark.pipeline);
}

/// Corners of the machine's limit between two numbers of registers.
PlotSeries limit_of(const machine::Machine& machine, std::uint32_t lanes, std::uint32_t low, std::uint32_t high) {
  PlotSeries limit{.name = fmt::format("limit of {}", text::shortened(machine.name, kMostMarkName)), .color = 2};
  limit.dots = false;
  std::uint32_t warps = machine::resident_warps(machine, lanes, low);
  limit.points.push_back({static_cast<double>(low), static_cast<double>(warps)});
  for (std::uint32_t registers = low + 1; registers <= high; ++registers) {
    const std::uint32_t next = machine::resident_warps(machine, lanes, registers);
    if (next != warps || registers == high) {
      // Registers are whole numbers: a step is drawn half way between two.
      const double step = registers - 0.5;
      limit.points.push_back({step, static_cast<double>(warps)});
      limit.points.push_back({step, static_cast<double>(next)});
      warps = next;
    }
  }
  return limit;
}

/// Marks of one place share a dot and a label.
PlotSeries dots_of(const std::vector<trace::Shader>& shaders, const std::vector<RegisterMark>& marks, bool programs) {
  PlotSeries dots{.name = programs ? "programs of a pipeline" : "pipelines", .color = programs ? 1U : 0U};
  dots.line = false;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<const RegisterMark*>> places;
  for (const RegisterMark& mark : marks) {
    if (mark.executable.has_value() == programs) {
      places[{mark.registers, mark.resident_warps}].push_back(&mark);
    }
  }
  for (const auto& [place, here] : places) {
    std::vector<std::string> names;
    std::optional<double> share;
    for (const RegisterMark* mark : here) {
      names.push_back(mark_name(shaders, *mark));
      share = mark->executed_share ? std::optional(share.value_or(0) + *mark->executed_share) : share;
    }
    const std::size_t more = names.size() > kNamedMarks ? names.size() - kNamedMarks : 0;
    names.resize(names.size() - more);
    std::string label = fmt::format("{}{}", fmt::join(names, ", "), more == 0 ? "" : fmt::format(" and {} more", more));
    label += share ? fmt::format(" ({:.1f} %)", kMarkPercent * *share) : "";
    dots.points.push_back({static_cast<double>(place.first), static_cast<double>(place.second)});
    dots.titles.push_back(
        fmt::format("{}: {}, {}", label, counted(place.first, "register"), counted(place.second, "resident warp")));
    dots.labels.push_back(std::move(label));
  }
  return dots;
}

}  // namespace

RegisterMarks register_marks(const trace::Profile& trace, const std::vector<profile::ShaderProfile>& shaders,
                             const machine::Machine& machine, std::uint32_t lanes) {
  RegisterMarks result;
  const Shares shares(shaders);
  std::size_t known = 0;
  for (const trace::PipelineFacts& pipeline : trace.pipeline_facts) {
    const std::optional<trace::PipelineRegisters> most = trace::registers_of(pipeline);
    if (!most) {
      continue;
    }
    ++known;
    const auto add = [&](RegisterMark mark, const trace::PipelineRegisters& of) {
      mark.pipeline = pipeline.pipeline;
      mark.statistic = of.statistic;
      mark.registers = of.registers;
      mark.resident_warps = machine::resident_warps(machine, lanes, of.registers);
      result.marks.push_back(std::move(mark));
    };
    add({.executed_share = shares.of(pipeline.pipeline)}, *most);
    std::vector<std::pair<std::uint32_t, trace::PipelineRegisters>> programs;
    for (std::uint32_t e = 0; e < pipeline.executables.size(); ++e) {
      trace::PipelineFacts one;
      one.executables = {pipeline.executables[e]};
      if (const auto of = trace::registers_of(one)) {
        programs.emplace_back(e, *of);
      }
    }
    if (programs.size() < 2) {
      continue;
    }
    const std::set<std::uint16_t> candidates = shaders_of(pipeline, trace.shaders.size());
    std::map<std::uint16_t, std::size_t> programs_of;
    for (const auto& [e, of] : programs) {
      if (const auto shader = shader_of(pipeline.executables[e], candidates, trace.shaders)) {
        ++programs_of[*shader];
      }
    }
    for (const auto& [e, of] : programs) {
      const auto shader = shader_of(pipeline.executables[e], candidates, trace.shaders);
      // Counts are of shaders: the part of each of several programs of one shader is not known.
      const bool alone = shader && programs_of[*shader] == 1;
      add({.executable = e,
           .name = pipeline.executables[e].name,
           .shader = shader,
           .executed_share = alone ? shares.of(pipeline.pipeline, *shader) : std::nullopt},
          of);
    }
  }
  result.reason = reason_of(trace.pipeline_facts, known);
  return result;
}

output::Table register_table(const std::vector<trace::Shader>& shaders, const std::vector<RegisterMark>& marks) {
  using output::Cell;
  output::Table table;
  table.columns = {{"pipeline", "pipeline"},
                   {"executable", "program"},
                   {"executable_name", "name of the program"},
                   {"shader", "shader"},
                   {"name", "name"},
                   {"registers", "registers"},
                   {"statistic", "statistic"},
                   {"resident_warps", "resident warps"},
                   {"executed_share", "of executed instructions", output::Show::Percent, 1}};
  for (const RegisterMark& mark : marks) {
    table.rows.push_back(
        {std::uint64_t{mark.pipeline}, mark.executable ? Cell{std::uint64_t{*mark.executable}} : Cell{},
         mark.executable ? Cell{mark.name} : Cell{}, mark.shader ? Cell{std::uint64_t{*mark.shader}} : Cell{},
         mark.shader ? Cell{shaders[*mark.shader].name} : Cell{}, std::uint64_t{mark.registers}, mark.statistic,
         std::uint64_t{mark.resident_warps}, mark.executed_share ? Cell{*mark.executed_share} : Cell{}});
  }
  return table;
}

std::vector<pictures::Chart> register_charts(const std::vector<trace::Shader>& shaders,
                                             const std::vector<RegisterMark>& marks, const machine::Machine& machine,
                                             std::uint32_t lanes) {
  if (marks.empty()) {
    return {};
  }
  const std::vector<RegisterMark> shown(
      marks.begin(), marks.begin() + static_cast<std::ptrdiff_t>(std::min(marks.size(), kMostMarks)));
  constexpr std::uint32_t kLeast = 16, kMost = 128;  // of the axis, so that the limit's shape shows
  std::uint32_t low = kLeast, high = kMost;
  bool counts = false;
  for (const RegisterMark& mark : shown) {
    low = std::min(low, mark.registers);
    high = std::max(high, mark.registers + mark.registers / 4);
    counts = counts || mark.executed_share.has_value();
  }
  Plot plot{.title = "Registers and occupancy",
            .note = fmt::format("On {}: an SM has {} and holds {} of {}. A dot is a pipeline, or one of its programs "
                                "that the driver names apart{}.{}",
                                text::shortened(machine.name, kMostMarkName), counted(machine.registers, "register"),
                                counted(machine.resident_warps, "warp"), counted(lanes, "thread"),
                                counts ? "; in brackets, its share of the executed instructions" : "",
                                shown.size() == marks.size()
                                    ? ""
                                    : fmt::format(" The first {} of {}.", shown.size(), counted(marks.size(), "mark"))),
            .x = {.title = "registers of a thread"},
            .y = {.title = "resident warps of an SM"}};
  plot.series.push_back(limit_of(machine, lanes, low, high));
  for (const bool programs : {true, false}) {
    PlotSeries dots = dots_of(shaders, shown, programs);
    if (!dots.points.empty()) {
      plot.series.push_back(std::move(dots));
    }
  }
  pictures::fit_axes(plot, {.whole_x = true, .margin = 0.03});
  return {plot};
}

}  // namespace rayreplay::report
