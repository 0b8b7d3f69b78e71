// Scenes as models: the interface of the files in scenes/.
//
// Contract: `make` is a pure function of the model's parameters: same parameters, same bytes on every machine. Every
// scene of make_scene, built in or from a file, passes `check`, and all geometries of a bottom-level structure have one
// material kind, whose number is instance.hit_group_offset. A pipeline with one hit group per kind uses the offset
// directly (shader-binding-table stride 0); a pipeline with a single hit group ignores it.
#pragma once

#include "base/registry.hpp"
#include "capture/reference/scene.hpp"

namespace rayreplay::reference {

class SceneModel {
 public:
  static constexpr const char* kModelKind = "scene";
  SceneModel() = default;
  SceneModel(const SceneModel&) = delete;
  SceneModel& operator=(const SceneModel&) = delete;
  virtual ~SceneModel() = default;
  [[nodiscard]] virtual RenderScene make() const = 0;
};

}  // namespace rayreplay::reference
