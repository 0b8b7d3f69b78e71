// The parts of the hall, each in its own frame: metres, y up, standing on y = 0 at the origin unless stated otherwise.
//
// Contract: `Detail` scales every number of segments, so that triangles grow in proportion to the `detail` parameter.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>

#include "capture/reference/meshes/triangle_mesh.hpp"
#include "capture/reference/scenes/scene_random.hpp"

namespace rayreplay::reference::hall {

class Detail {
 public:
  explicit Detail(double detail) : scale_(std::sqrt(detail)), detail_(detail) {}
  /// Cells along one direction of a surface.
  [[nodiscard]] std::uint32_t cells(std::uint32_t base) const {
    return std::max(3U, static_cast<std::uint32_t>(base * scale_ + 0.5));
  }
  /// Pieces, such as leaves.
  [[nodiscard]] std::uint32_t pieces(std::uint32_t base) const {
    return std::max(1U, static_cast<std::uint32_t>(base * detail_ + 0.5));
  }

 private:
  double scale_;
  double detail_;
};

/// A fluted column with base, leafed capital and square slabs.
[[nodiscard]] TriangleMesh column(float height, float radius, const Detail& detail, std::uint32_t stone);

/// A wall panel in the x-y plane, centred on x, from y = 0 to `height`, with a round-headed opening of `radius` whose
/// springing line is y = 0; mouldings on both faces.
[[nodiscard]] TriangleMesh arch_panel(float width, float height, float thickness, float radius, const Detail& detail,
                                      std::uint32_t stone, std::uint32_t trim);

/// A groin vault over a square of `side`, springing at y = 0.
[[nodiscard]] TriangleMesh groin_vault(float side, const Detail& detail, std::uint32_t plaster, std::uint32_t rib);

/// Blocks in courses, facing +z, from the origin to (width, height).
[[nodiscard]] TriangleMesh ashlar(float width, float height, float block_width, float block_height, float chamfer,
                                  std::span<const std::uint32_t> stones, SceneRandom& random);

/// Cloth hanging from y = 0 down to -height, in folds; `gather` draws it in at the bottom.
[[nodiscard]] TriangleMesh curtain(float width, float height, double folds, double gather, const Detail& detail,
                                   std::uint32_t cloth, SceneRandom& random);

[[nodiscard]] TriangleMesh baluster(float height, const Detail& detail, std::uint32_t stone);
[[nodiscard]] TriangleMesh flower_pot(float radius, float height, const Detail& detail, std::uint32_t clay,
                                      std::uint32_t soil);
/// A hollow vase with inner and outer surface.
[[nodiscard]] TriangleMesh vase(float height, const Detail& detail, std::uint32_t glass);
/// A torus knot, centred on the origin.
[[nodiscard]] TriangleMesh knot(float radius, const Detail& detail, std::uint32_t bronze);
/// A lantern hanging from y = 0: rod, cage and a glowing body.
[[nodiscard]] TriangleMesh lantern(float drop, const Detail& detail, std::uint32_t iron, std::uint32_t glow);

/// Fronds that rise from y = 0 and bend outward.
[[nodiscard]] TriangleMesh palm(float size, const Detail& detail, std::uint32_t leaf, SceneRandom& random);
/// A round bush of leaves, its middle at y = radius.
[[nodiscard]] TriangleMesh bush(float radius, const Detail& detail, std::uint32_t leaf, SceneRandom& random);
/// Vines that hang from the edge y = 0, z = 0 between x = 0 and `width`, in front of a wall that faces +z.
[[nodiscard]] TriangleMesh ivy(float width, float drop, std::uint32_t vines, const Detail& detail, std::uint32_t leaf,
                               std::uint32_t stem, SceneRandom& random);

}  // namespace rayreplay::reference::hall
