// The scene that the built-in tracer renders: geometry as the trace holds it, plus what only shading needs.
//
// Contract: plain data. geometries[i].geometry is moved into the trace unchanged, so that the ids of events point into
// it. Each SceneGeometry has one material kind, so that a shader binding table can hold one hit group per kind by
// geometry. `check` throws Input (with geometry and row) on out-of-range indices, NaN or infinite coordinates, empty
// geometry, bad material or texture ids and singular transforms; degenerate triangles are legal, as on hardware, and
// are counted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/vectors.hpp"
#include "capture/trace/trace.hpp"

namespace rayreplay::reference {

enum class MaterialKind : std::uint8_t { Diffuse = 0, Metal, Dielectric, Emissive };
inline constexpr std::size_t kMaterialKinds = 4;
inline constexpr std::uint32_t kNoTexture = 0xFFFF'FFFFU;

/// 8-bit sRGB colour with linear alpha, row 0 at v = 0; repeats.
struct Texture {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::vector<std::uint8_t> rgba;
};

struct Material {
  std::string name;
  MaterialKind kind = MaterialKind::Diffuse;
  Vec3 color{0.5F, 0.5F, 0.5F};        ///< albedo; emitted radiance for Emissive
  float fuzz = 0;                      ///< Metal
  float refraction_index = 1.5F;       ///< Dielectric
  std::uint32_t texture = kNoTexture;  ///< multiplies color; its alpha is tested where the geometry is not opaque
  float alpha_cutoff = 0.5F;
};

struct SceneGeometry {
  trace::Geometry geometry;             ///< opaque = false: alpha-tested by an any-hit shader
  std::vector<float> spheres;           ///< boxes: centre x y z and radius per primitive
  std::vector<float> normals;           ///< triangles: x y z per vertex, or empty (face normals)
  std::vector<float> uvs;               ///< triangles: u v per vertex, or empty
  std::vector<std::uint32_t> material;  ///< one entry, or one per primitive; all of one kind
};

struct Camera {
  Vec3 from{0, 0, 1};
  Vec3 at{0, 0, 0};
  Vec3 up{0, 1, 0};
  float vertical_fov_degrees = 40;
  float aperture = 0;  ///< lens diameter; 0: pinhole
  float focus_distance = 1;
};

/// Radiance of rays that miss: bottom to top by the direction's y.
struct Sky {
  Vec3 bottom{1, 1, 1};
  Vec3 top{0.5F, 0.7F, 1};
};

struct RenderScene {
  std::string name;
  std::vector<SceneGeometry> geometries;
  std::vector<trace::Blas> blases;
  std::vector<trace::Instance> instances;
  std::vector<Material> materials;
  std::vector<Texture> textures;
  Camera camera;
  Sky sky;
  std::vector<std::string> notes;  ///< features that the import dropped or replaced, for display
};

void check(const RenderScene& scene);

/// Scenes are picked by a spec: a registered name with parameters ("one-weekend:seed=42"), or the path of an .obj,
/// .ply, .gltf or .glb file. Throws Usage for an unknown name (nearest suggested), Input for a bad file.
[[nodiscard]] RenderScene make_scene(const std::string& spec, std::string* resolved_spec);

}  // namespace rayreplay::reference
