// Materials of Wavefront .mtl files.
#pragma once

#include <string>
#include <vector>

#include "capture/reference/scene.hpp"

namespace rayreplay::reference {

struct MtlMaterial {
  Material material;
  std::string color_texture;  ///< file name as written, or ""
  std::string alpha_texture;  ///< map_d
};

/// Ke above 0: Emissive. illum 4 to 7, or d below 1 without map_d: Dielectric with index Ni. Pm above 0.5 or illum 3:
/// Metal, with fuzz Pr or from Ns. Else Diffuse with Kd. Values out of range are clamped.
[[nodiscard]] std::vector<MtlMaterial> parse_mtl(const std::string& text);

}  // namespace rayreplay::reference
