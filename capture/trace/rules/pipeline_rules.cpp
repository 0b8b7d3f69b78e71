// Rules of what the driver says of pipelines.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "capture/trace/rules/rules.hpp"

namespace rayreplay::trace {
namespace {

struct Place {
  const char* shader;
  const char* bytes;
  std::uint16_t GroupStack::*shader_of;
  std::uint64_t GroupStack::*bytes_of;
};
constexpr std::array<Place, 4> kPlaces = {
    {{"general", "general_bytes", &GroupStack::general, &GroupStack::general_bytes},
     {"closest_hit", "closest_hit_bytes", &GroupStack::closest_hit, &GroupStack::closest_hit_bytes},
     {"any_hit", "any_hit_bytes", &GroupStack::any_hit, &GroupStack::any_hit_bytes},
     {"intersection", "intersection_bytes", &GroupStack::intersection, &GroupStack::intersection_bytes}}};

bool fits(std::size_t place, ShaderStage stage) {
  switch (stage) {
    case ShaderStage::ClosestHit:
      return place == 1;
    case ShaderStage::AnyHit:
      return place == 2;
    case ShaderStage::Intersection:
      return place == 3;
    case ShaderStage::RayGeneration:
    case ShaderStage::Miss:
    case ShaderStage::Callable:
      return place == 0;
    case ShaderStage::Vertex:
    case ShaderStage::Fragment:
    case ShaderStage::Compute:
      break;
  }
  return false;
}

/// `row`: in /pipelines/groups.
void check_group(const GroupStack& group, std::size_t row, const std::vector<ShaderStage>& stages, FaultList& faults) {
  for (std::size_t i = 0; i < kPlaces.size(); ++i) {
    const Place& place = kPlaces.at(i);
    const std::uint16_t shader = group.*place.shader_of;
    const bool has_size = group.*place.bytes_of != kNoStack;
    if (shader != kNoShader && shader >= stages.size()) {
      faults.add_row(fmt::format("/pipelines/groups/{}", place.shader), row, "the group's shader id is out of range",
                     std::to_string(shader), fmt::format("less than {}, the number of shaders", stages.size()));
    } else if (shader != kNoShader && !fits(i, stages[shader])) {
      faults.add_row(fmt::format("/pipelines/groups/{}", place.shader), row, "the shader is of another stage",
                     to_string(stages[shader]), "a shader that can stand there");
    }
    if (has_size != (shader != kNoShader)) {
      faults.add_row(fmt::format("/pipelines/groups/{}", place.bytes), row,
                     has_size ? "a stack size without a shader" : "a shader without a stack size",
                     std::to_string(group.*place.bytes_of), "a size exactly where the group has a shader");
    }
  }
}

void check_statistic(const Statistic& statistic, std::size_t row, FaultList& faults) {
  check_text(statistic.name, fmt::format("/pipelines/statistics/name[{}]", row), faults);
  check_text(statistic.description, fmt::format("/pipelines/statistics/description[{}]", row), faults);
  if (static_cast<std::size_t>(statistic.format) >= kStatisticFormats) {
    faults.add_row("/pipelines/statistics/format", row, "there is no such value",
                   std::to_string(static_cast<unsigned>(statistic.format)),
                   fmt::format("less than {}", kStatisticFormats));
  } else if (statistic.format == StatisticFormat::Bool && statistic.value > 1) {
    faults.add_row("/pipelines/statistics/value", row, "this is no truth value", std::to_string(statistic.value),
                   "0 or 1");
  }
}

}  // namespace

std::vector<ShaderStage> stages_of(const std::vector<Shader>& shaders) {
  std::vector<ShaderStage> stages(shaders.size());
  std::transform(shaders.begin(), shaders.end(), stages.begin(), [](const Shader& shader) { return shader.stage; });
  return stages;
}

void check_pipeline_facts(const std::vector<PipelineFacts>& facts, const std::vector<ShaderStage>& stages,
                          FaultList& faults) {
  std::size_t group_row = 0, executable_row = 0, statistic_row = 0;
  for (std::size_t i = 0; i < facts.size() && !faults.full(); ++i) {
    const PipelineFacts& pipeline = facts[i];
    if (i > 0 && facts[i - 1].pipeline >= pipeline.pipeline) {
      faults.add_row("/pipelines/pipeline", i, "the rows do not ascend", std::to_string(pipeline.pipeline),
                     fmt::format("more than {}", facts[i - 1].pipeline));
    }
    if (pipeline.set_stack != 0 && !pipeline.dynamic_stack) {
      faults.add_row("/pipelines/set_stack", i, "a stack size was set for a pipeline without a dynamic one",
                     std::to_string(pipeline.set_stack), "0");
    }
    for (const GroupStack& group : pipeline.groups) {
      check_group(group, group_row++, stages, faults);
    }
    for (const Executable& executable : pipeline.executables) {
      check_text(executable.name, fmt::format("/pipelines/executables/name[{}]", executable_row), faults);
      check_text(executable.description, fmt::format("/pipelines/executables/description[{}]", executable_row), faults);
      ++executable_row;
      for (const Statistic& statistic : executable.statistics) {
        check_statistic(statistic, statistic_row++, faults);
      }
    }
  }
}

}  // namespace rayreplay::trace
