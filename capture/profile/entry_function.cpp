#include "capture/profile/entry_function.hpp"

namespace rayreplay::profile {
namespace {

spirv::Word model_of(trace::ShaderStage stage) {
  switch (stage) {
    case trace::ShaderStage::Vertex:
      return static_cast<spirv::Word>(spv::ExecutionModel::Vertex);
    case trace::ShaderStage::Fragment:
      return static_cast<spirv::Word>(spv::ExecutionModel::Fragment);
    case trace::ShaderStage::Compute:
      return static_cast<spirv::Word>(spv::ExecutionModel::GLCompute);
    default:
      // Execution models of ray tracing are in the order of the stages.
      return static_cast<spirv::Word>(spv::ExecutionModel::RayGenerationKHR) + static_cast<spirv::Word>(stage);
  }
}

}  // namespace

std::optional<std::uint32_t> entry_point(const spirv::Module& module, trace::ShaderStage stage,
                                         const std::string& name) {
  const auto model = model_of(stage);
  for (std::uint32_t e = 0; e < module.entry_points.size(); ++e) {
    if (module.entry_points[e][1] == model && module.entry_points[e].string(3) == name) {
      return e;
    }
  }
  return std::nullopt;
}

std::optional<std::uint32_t> entry_function(const spirv::Module& module, trace::ShaderStage stage,
                                            const std::string& name) {
  const auto entry = entry_point(module, stage, name);
  for (std::uint32_t f = 0; entry && f < module.functions.size(); ++f) {
    if (module.functions[f].id() == module.entry_points[*entry][2]) {
      return f;
    }
  }
  return std::nullopt;
}

}  // namespace rayreplay::profile
