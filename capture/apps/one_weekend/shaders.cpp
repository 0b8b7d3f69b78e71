#include "capture/apps/one_weekend/shaders.hpp"

#include "OneWeekendAccept.spv.hpp"
#include "OneWeekendAny.spv.hpp"
#include "OneWeekendAnyRecursive.spv.hpp"
#include "OneWeekendDielectric.spv.hpp"
#include "OneWeekendDielectricRecursive.spv.hpp"
#include "OneWeekendDiffuse.spv.hpp"
#include "OneWeekendDiffuseRecursive.spv.hpp"
#include "OneWeekendMetal.spv.hpp"
#include "OneWeekendMetalRecursive.spv.hpp"
#include "OneWeekendRayGeneration.spv.hpp"
#include "OneWeekendRayGenerationRecursive.spv.hpp"
#include "OneWeekendRayGenerationReorder.spv.hpp"
#include "OneWeekendSphere.spv.hpp"
#include "Sky.spv.hpp"

namespace rayreplay::apps {

Spirv ray_generation_shader(const Options& options) {
  return options.reorder     ? Spirv(kOneWeekendRayGenerationReorder)
         : options.recursion ? Spirv(kOneWeekendRayGenerationRecursive)
                             : Spirv(kOneWeekendRayGeneration);
}

Spirv sky_shader() {
  return kSky;
}

Spirv sphere_shader() {
  return kOneWeekendSphere;
}

Spirv accept_shader() {
  return kOneWeekendAccept;
}

std::vector<Spirv> closest_hit_shaders(const Options& options) {
  if (!options.per_material()) {
    return {options.recursion ? Spirv(kOneWeekendAnyRecursive) : Spirv(kOneWeekendAny)};
  }
  if (options.recursion) {
    return {kOneWeekendDiffuseRecursive, kOneWeekendMetalRecursive, kOneWeekendDielectricRecursive};
  }
  return {kOneWeekendDiffuse, kOneWeekendMetal, kOneWeekendDielectric};
}

}  // namespace rayreplay::apps
