// Scenes as models: what a scene file in scenes/ implements and registers.
//
// Contract: `make` is a pure function of the model's parameters: same parameters, same bytes on every machine. Every
// scene that make_scene returns, built in or read from a file, passes `check` and keeps one rule more: all geometries
// of a bottom-level structure have one material kind, and instance.hit_group_offset is that kind's number. A pipeline
// with one hit group per kind thus uses the offset as it stands (shader-binding-table stride 0), and a pipeline with a
// single hit group ignores it.
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
