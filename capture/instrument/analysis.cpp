#include "capture/instrument/analysis.hpp"

#include <utility>

namespace rayreplay::instrument {

using spv::Op;

std::optional<Stage> stage_of(Word execution_model) {
  switch (static_cast<spv::ExecutionModel>(execution_model)) {
    case spv::ExecutionModel::RayGenerationKHR:
      return Stage::RayGeneration;
    case spv::ExecutionModel::IntersectionKHR:
      return Stage::Intersection;
    case spv::ExecutionModel::AnyHitKHR:
      return Stage::AnyHit;
    case spv::ExecutionModel::ClosestHitKHR:
      return Stage::ClosestHit;
    case spv::ExecutionModel::MissKHR:
      return Stage::Miss;
    case spv::ExecutionModel::CallableKHR:
      return Stage::Callable;
    case spv::ExecutionModel::Vertex:
      return Stage::Vertex;
    case spv::ExecutionModel::Fragment:
      return Stage::Fragment;
    case spv::ExecutionModel::GLCompute:
      return Stage::Compute;
    default:
      return std::nullopt;
  }
}

std::vector<Shader> shaders_of(const Module& module, std::uint16_t first_shader_id, Stages stages) {
  std::vector<Shader> shaders;
  for (std::size_t i = 0; i < module.entry_points.size(); ++i) {
    const Instruction& entry = module.entry_points[i];
    if (const std::optional<Stage> stage = stage_of(entry[1]); stage && kind_of(*stage) == stages) {
      const auto id = static_cast<std::uint16_t>(first_shader_id + shaders.size());
      shaders.push_back({i, *stage, entry.string(3), id});
    }
  }
  return shaders;
}

Analysis analyse(const Module& module, std::vector<Shader> shaders) {
  Analysis analysis;
  analysis.shaders = std::move(shaders);
  analysis.types.assign(module.bound, 0);
  const auto note_type = [&](const Instruction& i) {
    if (const Id type = i.result_type(); type != 0 && i.result() < analysis.types.size()) {
      analysis.types[i.result()] = type;
    }
  };
  for (std::size_t g = 0; g < module.globals.size(); ++g) {
    note_type(module.globals[g]);
    if (const Id id = module.globals[g].result(); id != 0) {
      analysis.globals.emplace(id, g);
    }
  }
  std::vector<std::vector<std::size_t>> calls(module.functions.size());
  for (std::size_t f = 0; f < module.functions.size(); ++f) {
    analysis.function_of.emplace(module.functions[f].id(), f);
  }
  for (std::size_t f = 0; f < module.functions.size(); ++f) {
    for (const Instruction& i : module.functions[f].body) {
      note_type(i);
      if (i.is(Op::OpFunctionCall)) {
        if (const auto callee = analysis.function_of.find(i[3]); callee != analysis.function_of.end()) {
          calls[f].push_back(callee->second);
        }
      }
    }
  }
  analysis.reached_by.resize(module.functions.size());
  std::vector<std::size_t> open;
  for (std::uint32_t s = 0; s < analysis.shaders.size(); ++s) {
    const auto entry = analysis.function_of.find(module.entry_points[analysis.shaders[s].entry_point][2]);
    if (entry == analysis.function_of.end()) {
      continue;
    }
    open.assign(1, entry->second);
    while (!open.empty()) {
      const std::size_t f = open.back();
      open.pop_back();
      if (!analysis.reached_by[f].empty() && analysis.reached_by[f].back() == s) {
        continue;
      }
      analysis.reached_by[f].push_back(s);
      open.insert(open.end(), calls[f].begin(), calls[f].end());
    }
  }
  return analysis;
}

}  // namespace rayreplay::instrument
