#include "capture/apps/mesh_viewer/shaders.hpp"

#include "MeshAlphaTest.spv.hpp"
#include "MeshAlphaTestSpheres.spv.hpp"
#include "MeshClosestHit.spv.hpp"
#include "MeshClosestHitRecursive.spv.hpp"
#include "MeshClosestHitSpheres.spv.hpp"
#include "MeshClosestHitSpheresRecursive.spv.hpp"
#include "MeshRayGeneration.spv.hpp"
#include "MeshRayGenerationRecursive.spv.hpp"
#include "MeshRayGenerationReorder.spv.hpp"
#include "MeshSphere.spv.hpp"
#include "MeshUnoccluded.spv.hpp"
#include "Sky.spv.hpp"

namespace rayreplay::apps {

ViewerShaders viewer_shaders(const Options& options) {
  ViewerShaders shaders{kMeshRayGeneration,
                        kSky,
                        kMeshUnoccluded,
                        kMeshSphere,
                        {kMeshAlphaTest, kMeshAlphaTestSpheres},
                        {kMeshClosestHit, kMeshClosestHitSpheres}};
  if (options.recursion) {
    shaders.ray_generation = kMeshRayGenerationRecursive;
    shaders.closest_hit = {kMeshClosestHitRecursive, kMeshClosestHitSpheresRecursive};
  } else if (options.reorder) {
    shaders.ray_generation = kMeshRayGenerationReorder;
  }
  return shaders;
}

}  // namespace rayreplay::apps
