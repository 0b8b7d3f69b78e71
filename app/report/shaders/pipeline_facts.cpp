#include "app/report/shaders/pipeline_facts.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/count_text.hpp"
#include "base/text.hpp"

namespace rayreplay::report {
namespace {

using nlohmann::ordered_json;
using trace::ShaderStage;

/// VkShaderStageFlagBits of ray tracing.
constexpr std::array<std::pair<std::uint32_t, ShaderStage>, trace::kRayTracingStages> kStageBits = {
    {{0x100, ShaderStage::RayGeneration},
     {0x200, ShaderStage::AnyHit},
     {0x400, ShaderStage::ClosestHit},
     {0x800, ShaderStage::Miss},
     {0x1000, ShaderStage::Intersection},
     {0x2000, ShaderStage::Callable}}};

struct GroupPlace {
  const char* name;
  std::uint16_t trace::GroupStack::*shader;
  std::uint64_t trace::GroupStack::*bytes;
};
constexpr std::array<GroupPlace, 4> kGroupPlaces = {
    {{"general", &trace::GroupStack::general, &trace::GroupStack::general_bytes},
     {"closest_hit", &trace::GroupStack::closest_hit, &trace::GroupStack::closest_hit_bytes},
     {"any_hit", &trace::GroupStack::any_hit, &trace::GroupStack::any_hit_bytes},
     {"intersection", &trace::GroupStack::intersection, &trace::GroupStack::intersection_bytes}}};

void widen(std::optional<LeastAndMost>& range, std::uint64_t value) {
  range =
      range ? LeastAndMost{std::min(range->least, value), std::max(range->most, value)} : LeastAndMost{value, value};
}

bool has_stage(const trace::Executable& executable, ShaderStage stage) {
  return std::any_of(kStageBits.begin(), kStageBits.end(),
                     [&](const auto& bit) { return bit.second == stage && (executable.stages & bit.first) != 0; });
}

ordered_json value_of(const trace::Statistic& statistic) {
  switch (statistic.format) {
    case trace::StatisticFormat::Bool:
      return statistic.value != 0;
    case trace::StatisticFormat::Int64:
      return std::bit_cast<std::int64_t>(statistic.value);
    case trace::StatisticFormat::Float64:
      return std::bit_cast<double>(statistic.value);
    case trace::StatisticFormat::Uint64:
      break;
  }
  return statistic.value;
}

/// Names of the stages; bits of no stage of ray tracing as "0x1".
ordered_json stages_json(std::uint32_t stages) {
  ordered_json names = ordered_json::array();
  for (std::uint32_t rest = stages; rest != 0; rest &= rest - 1) {
    const std::uint32_t lowest = rest & (0U - rest);
    const auto* known = std::find_if(kStageBits.begin(), kStageBits.end(),
                                     [&](const auto& candidate) { return candidate.first == lowest; });
    if (known != kStageBits.end()) {
      names.push_back(to_string(known->second));
    } else {
      std::string hexadecimal = "0x1";
      hexadecimal.back() = "1248"[std::countr_zero(lowest) % 4];
      hexadecimal.append(static_cast<std::size_t>(std::countr_zero(lowest) / 4), '0');
      names.push_back(hexadecimal);
    }
  }
  return names;
}

ordered_json group_json(const trace::GroupStack& group, std::size_t number) {
  ordered_json result = {{"group", number}};
  for (const GroupPlace& place : kGroupPlaces) {
    if (group.*place.shader != trace::kNoShader) {
      result[place.name] = {{"shader", group.*place.shader}, {"stack_bytes", group.*place.bytes}};
    }
  }
  return result;
}

ordered_json executable_json(const trace::Executable& executable) {
  ordered_json statistics = ordered_json::array();
  for (const trace::Statistic& statistic : executable.statistics) {
    statistics.push_back({{"name", statistic.name},
                          {"description", statistic.description},
                          {"type", to_string(statistic.format)},
                          {"value", value_of(statistic)}});
  }
  return {{"name", executable.name},
          {"description", executable.description},
          {"stages", stages_json(executable.stages)},
          {"subgroup_size", executable.subgroup_size},
          {"statistics", std::move(statistics)}};
}

/// Ranks from 0; equal values have the mean of theirs.
std::vector<double> ranks_of(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t end = first;
    while (end < order.size() && values[order[end]] == values[order[first]]) {
      ++end;
    }
    for (std::size_t i = first; i < end; ++i) {
      ranks[order[i]] = static_cast<double>(first + end - 1) / 2;
    }
    first = end;
  }
  return ranks;
}

}  // namespace

std::optional<ShaderStage> only_stage(const trace::Executable& executable) {
  const auto* found = std::find_if(kStageBits.begin(), kStageBits.end(),
                                   [&](const auto& bit) { return bit.first == executable.stages; });
  return found == kStageBits.end() ? std::nullopt : std::optional(found->second);
}

std::vector<ShaderDriverFacts> driver_facts(const std::vector<trace::PipelineFacts>& pipelines,
                                            const std::vector<trace::ShaderStage>& stages) {
  std::vector<ShaderDriverFacts> facts(stages.size());
  for (const trace::PipelineFacts& pipeline : pipelines) {
    std::vector<bool> here(stages.size());
    for (const trace::GroupStack& group : pipeline.groups) {
      for (const GroupPlace& place : kGroupPlaces) {
        if (const std::uint16_t shader = group.*place.shader; shader < stages.size()) {
          here[shader] = true;
          widen(facts[shader].stack_bytes, group.*place.bytes);
        }
      }
    }
    for (const trace::Executable& executable : pipeline.executables) {
      for (const trace::Statistic& statistic : executable.statistics) {
        if (!trace::counts_registers(statistic)) {
          continue;
        }
        for (std::size_t shader = 0; shader < stages.size(); ++shader) {
          if (here[shader] && has_stage(executable, stages[shader])) {
            widen(facts[shader].registers, statistic.value);
          }
        }
      }
    }
  }
  return facts;
}

std::optional<double> rank_correlation(std::span<const double> a, std::span<const double> b) {
  if (a.size() < 3 || a.size() != b.size()) {
    return std::nullopt;
  }
  const std::vector<double> x = ranks_of(a), y = ranks_of(b);
  const double mean = static_cast<double>(a.size() - 1) / 2;
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  if (xx == 0 || yy == 0) {
    return std::nullopt;
  }
  return xy / std::sqrt(xx * yy);
}

OccupancyWarps occupancy_warps(std::uint32_t given, std::uint32_t captured, const machine::Machine& machine) {
  return given != 0      ? OccupancyWarps{given, WarpSizeOrigin::Given}
         : captured != 0 ? OccupancyWarps{captured, WarpSizeOrigin::Captured}
                         : OccupancyWarps{machine.warp_size, WarpSizeOrigin::Machine};
}

std::vector<PipelineOccupancy> occupancies(const std::vector<trace::PipelineFacts>& pipelines,
                                           std::span<const std::uint32_t> launches, const machine::Machine& machine,
                                           std::uint32_t lanes) {
  std::vector<PipelineOccupancy> result;
  for (const trace::PipelineFacts& pipeline : pipelines) {
    PipelineOccupancy& one = result.emplace_back();
    one.pipeline = pipeline.pipeline;
    for (std::uint32_t launch = 0; launch < launches.size(); ++launch) {
      if (launches[launch] == pipeline.pipeline) {
        one.launches.push_back(launch);
      }
    }
    one.executables = pipeline.executables.size();
    one.registers = trace::registers_of(pipeline);
    if (one.registers) {
      one.resident_warps = machine::resident_warps(machine, lanes, one.registers->registers);
    }
  }
  return result;
}

output::Table occupancy_table(std::span<const PipelineOccupancy> occupancies) {
  output::Table table;
  table.columns = {{"pipeline", "pipeline"},   {"launches", "in launches"}, {"executables", "executables"},
                   {"registers", "registers"}, {"statistic", "statistic"},  {"resident_warps", "resident warps"}};
  for (const PipelineOccupancy& one : occupancies) {
    const bool known = one.registers.has_value();
    table.rows.push_back({std::uint64_t{one.pipeline}, fmt::format("{}", fmt::join(one.launches, " ")),
                          std::uint64_t{one.executables},
                          known ? output::Cell(std::uint64_t{one.registers->registers}) : output::Cell(),
                          known ? output::Cell(one.registers->statistic) : output::Cell(),
                          known ? output::Cell(std::uint64_t{one.resident_warps}) : output::Cell()});
  }
  return table;
}

std::string occupancy_text(std::span<const PipelineOccupancy> occupancies, const machine::Machine& machine,
                           const OccupancyWarps& warps) {
  constexpr std::array kOrigins = {"given", "the trace's", "the machine's"};
  std::string text = output::to_text(occupancy_table(occupancies));
  text += fmt::format("\noccupancy    on {}: an SM has {} and holds {}\n", text::printable(machine.name),
                      counted(machine.registers, "register"), counted(machine.resident_warps, "warp"));
  text += fmt::format("warp size    {} ({})\n", counted(warps.lanes, "thread"),
                      kOrigins.at(static_cast<std::size_t>(warps.origin)));
  const auto has_none = [](const PipelineOccupancy& one) { return one.executables == 0; };
  if (std::ranges::any_of(occupancies, has_none)) {
    text += "the driver names no executables of some pipelines: their registers are not known\n";
  }
  if (std::ranges::any_of(occupancies, [](const auto& one) { return one.executables != 0 && !one.registers; })) {
    text += "no executable of some pipelines has a statistic that is known to be the registers of a thread\n";
  }
  return text;
}

ordered_json occupancy_json(std::span<const PipelineOccupancy> occupancies, const machine::Machine& machine,
                            const OccupancyWarps& warps) {
  constexpr std::array kOrigins = {"given", "captured", "machine"};
  ordered_json rows = ordered_json::array();
  for (const PipelineOccupancy& one : occupancies) {
    const auto known = [&](const auto& value) { return one.registers ? ordered_json(value()) : ordered_json(); };
    rows.push_back({{"pipeline", one.pipeline},
                    {"launches", one.launches},
                    {"executables", one.executables},
                    {"registers", known([&] { return one.registers->registers; })},
                    {"statistic", known([&] { return one.registers->statistic; })},
                    {"resident_warps", known([&] { return one.resident_warps; })}});
  }
  return {{"machine", machine.name},
          {"sm_registers", machine.registers},
          {"sm_warps", machine.resident_warps},
          {"warp_size", warps.lanes},
          {"warp_size_origin", kOrigins.at(static_cast<std::size_t>(warps.origin))},
          {"pipelines", std::move(rows)}};
}

ordered_json pipelines_json(const std::vector<trace::PipelineFacts>& pipelines) {
  ordered_json result = ordered_json::array();
  for (const trace::PipelineFacts& pipeline : pipelines) {
    ordered_json groups = ordered_json::array(), executables = ordered_json::array();
    for (std::size_t g = 0; g < pipeline.groups.size(); ++g) {
      groups.push_back(group_json(pipeline.groups[g], g));
    }
    for (const trace::Executable& executable : pipeline.executables) {
      executables.push_back(executable_json(executable));
    }
    result.push_back({{"pipeline", pipeline.pipeline},
                      {"recursion_depth", pipeline.recursion_depth},
                      {"dynamic_stack", pipeline.dynamic_stack},
                      {"set_stack", pipeline.set_stack},
                      {"groups", std::move(groups)},
                      {"executables", std::move(executables)}});
  }
  return result;
}

}  // namespace rayreplay::report
