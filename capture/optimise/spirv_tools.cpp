#include "capture/optimise/spirv_tools.hpp"

#include <spirv-tools/libspirv.hpp>
#include <spirv-tools/optimizer.hpp>

namespace rayreplay::optimise {
namespace {

spv_target_env environment_of(const Words& words) {
  const spirv::Word minor = words.size() > 1 ? words[1] >> 8U & 0xFFU : 0;
  constexpr spirv::Word kOfVulkan13 = 6, kOfVulkan12 = 5, kOfVulkan11Extended = 4;
  return minor >= kOfVulkan13           ? SPV_ENV_VULKAN_1_3
         : minor == kOfVulkan12         ? SPV_ENV_VULKAN_1_2
         : minor == kOfVulkan11Extended ? SPV_ENV_VULKAN_1_1_SPIRV_1_4
                                        : SPV_ENV_VULKAN_1_1;
}

}  // namespace

std::string fault_of(const Words& words) {
  std::string fault;
  const auto keep = [&](spv_message_level_t, const char*, const spv_position_t&, const char* message) {
    fault = fault.empty() && message != nullptr ? message : fault;
  };
  spvtools::SpirvTools listening(environment_of(words));
  listening.SetMessageConsumer(keep);
  spvtools::ValidatorOptions options;
  // Modules are written for scalar layouts where the device has them.
  options.SetScalarBlockLayout(true);
  if (listening.Validate(words.data(), words.size(), options)) {
    return {};
  }
  return fault.empty() ? "the module is not valid" : fault;
}

std::optional<Words> simplify(const Words& words) {
  spvtools::Optimizer optimizer(environment_of(words));
  optimizer.SetMessageConsumer([](spv_message_level_t, const char*, const spv_position_t&, const char*) {});
  optimizer.RegisterPass(spvtools::CreateEliminateDeadFunctionsPass())
      .RegisterPass(spvtools::CreateDeadBranchElimPass())
      .RegisterPass(spvtools::CreateAggressiveDCEPass(true))
      .RegisterPass(spvtools::CreateBlockMergePass());
  spvtools::OptimizerOptions options;
  options.set_run_validator(false);
  options.set_preserve_bindings(true);
  options.set_preserve_spec_constants(true);
  Words out;
  if (!optimizer.Run(words.data(), words.size(), &out, options)) {
    return std::nullopt;
  }
  return out;
}

}  // namespace rayreplay::optimise
