// A scene of procedural spheres on the device.
//
// Contract: bottom-level structure i has the boxes of scene.blases[i]; instances keep the scene's order, transforms,
// masks and flags. An instance's custom index is the number of its structure's first sphere in `spheres` and
// `materials`, so that a shader finds its sphere at custom index + primitive; its hit-group offset is the kind of
// material, or 0 if all share one group. Errors: Input when the scene holds triangles; those of result.hpp.
#pragma once

#include <memory>
#include <vector>

#include "capture/apps/framework/acceleration.hpp"
#include "capture/apps/framework/buffer.hpp"
#include "capture/reference/scene.hpp"

namespace rayreplay::apps {

class SphereScene {
 public:
  SphereScene(const Device& device, const reference::RenderScene& scene, bool opaque, bool per_material);

  [[nodiscard]] const std::vector<VkAccelerationStructureInstanceKHR>& instances() const {
    return instances_;
  }
  [[nodiscard]] const Buffer& spheres() const {
    return spheres_;
  }
  [[nodiscard]] const Buffer& materials() const {
    return materials_;
  }

 private:
  Buffer spheres_;
  Buffer materials_;
  std::unique_ptr<BottomLevels> structures_;
  std::vector<VkAccelerationStructureInstanceKHR> instances_;
};

}  // namespace rayreplay::apps
