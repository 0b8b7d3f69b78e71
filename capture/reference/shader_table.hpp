// Shaders and the shader binding table of the modelled application.
//
// Contract: `make_shader_table` lists exactly the shaders that the scene needs, in the order ray generation,
// intersection, any-hit, closest-hit, miss; a shader's index is its id. Single: one hit group for all geometry.
// PerMaterial: one hit group per material kind and geometry type that occurs, numbered by kind, then type. If all
// geometries of every bottom-level structure share one group, instances have that group's number as offset and the
// stride is 0; otherwise there is one record per geometry: the offset is the structure's first geometry, the stride 1.
#pragma once

#include <cstdint>
#include <vector>

#include "capture/reference/scene.hpp"
#include "capture/trace/trace.hpp"

namespace rayreplay::reference {

enum class HitGroups : std::uint8_t { Single, PerMaterial };

/// Whether a candidate on this geometry in this instance calls an any-hit shader (VkGeometryInstanceFlagBitsKHR can
/// force it either way).
[[nodiscard]] bool is_opaque(const trace::Instance& instance, const trace::Geometry& geometry);

struct ShaderTable {
  struct HitGroup {
    std::uint16_t intersection = trace::kNoShader;
    std::uint16_t any_hit = trace::kNoShader;
    std::uint16_t closest_hit = trace::kNoShader;
  };

  std::vector<trace::Shader> shaders;
  std::uint16_t ray_generation = 0;
  std::uint16_t miss = 0;
  std::uint16_t shadow_miss = trace::kNoShader;
  std::vector<HitGroup> groups;                 ///< one per geometry of the scene
  std::vector<std::uint32_t> hit_group_offset;  ///< one per instance
  std::uint8_t sbt_stride = 0;
  bool all_opaque = true;
  bool several_geometries = false;  ///< in one bottom-level structure: events need their geometry column
};

[[nodiscard]] ShaderTable make_shader_table(const RenderScene& scene, HitGroups groups, bool shadow_rays,
                                            const std::string& ray_generation_name);

[[nodiscard]] const char* to_string(MaterialKind kind);  ///< "diffuse"

}  // namespace rayreplay::reference
