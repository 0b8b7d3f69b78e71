#include "capture/instrument/launch_levels.hpp"

#include "capture/spirv/facts.hpp"

namespace rayreplay::instrument {

LaunchLevels::LaunchLevels(const Module& module, const Analysis& analysis) {
  const spirv::Analysed analysed(module);
  std::uint64_t steps = 0;
  for (const Shader& shader : analysis.shaders) {
    const auto entry = analysis.function_of.find(module.entry_points[shader.entry_point][2]);
    std::string reason;
    if (entry == analysis.function_of.end() || steps > spirv::kMostModuleWork) {
      continue;
    }
    const auto levels = spirv::uniformity(analysed, static_cast<std::uint32_t>(entry->second), reason);
    if (!levels) {
      steps += reason == spirv::kTooMuchWork ? spirv::kMostDivergenceSteps : 0;
      continue;
    }
    steps += levels->steps;
    for (const auto* list : {&levels->branches, &levels->results}) {
      for (const spirv::UniformityFacts& facts : *list) {
        Known& known = known_[facts.place];
        ++known.shaders;
        known.value = known.value && facts.level == spirv::Level::Launch;
        known.address = known.address && facts.address == spirv::Level::Launch;
      }
    }
  }
  std::erase_if(known_, [&](const auto& entry) {
    return entry.second.shaders != analysis.reached_by[entry.first.function].size();
  });
}

}  // namespace rayreplay::instrument
