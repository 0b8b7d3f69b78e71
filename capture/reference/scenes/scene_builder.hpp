// Puts a RenderScene together from materials, triangle meshes, spheres and their placements.
//
// Contract: an *object* is placed as a whole. `add_object` splits a mesh by material kind and by alpha test: one
// bottom-level structure per kind, with one geometry per opacity, triangles in the given order, unused vertices
// dropped. `place` adds an instance per bottom-level structure, so that the rule of scene_model.hpp holds. Linear in
// the size of the mesh.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "capture/reference/meshes/triangle_mesh.hpp"
#include "capture/reference/scene.hpp"
#include "capture/reference/vec.hpp"

namespace rayreplay::reference {

struct Sphere {
  Vec3 center;
  float radius = 1;
};

class SceneBuilder {
 public:
  /// Bottom-level structures [first_blas, first_blas + count).
  struct Object {
    std::uint32_t first_blas = 0;
    std::uint32_t count = 0;
  };

  explicit SceneBuilder(const std::string& name);

  std::uint32_t add_material(Material material, bool alpha_tested = false);
  std::uint32_t add_texture(Texture texture);
  Object add_object(const std::string& name, const TriangleMesh& mesh);
  /// Procedural boxes, one geometry; the material is that of all spheres.
  Object add_spheres(std::string name, std::span<const Sphere> spheres, std::uint32_t material);
  void place(Object object, const Transform& transform = Transform::Identity());
  void note(std::string text);

  [[nodiscard]] const std::vector<Material>& materials() const {
    return scene_.materials;
  }
  [[nodiscard]] RenderScene finish(const Camera& camera, const Sky& sky);

 private:
  [[nodiscard]] std::string name_of(const std::string& written);

  RenderScene scene_;
  std::vector<bool> alpha_tested_;  // per material
  std::vector<MaterialKind> kind_of_blas_;
  bool says_replaced_ = false;
};

}  // namespace rayreplay::reference
