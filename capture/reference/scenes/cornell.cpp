// The Cornell box with the dimensions (mm) measured at the Cornell Program of Computer Graphics. The walls meet exactly
// along their shared edges; the box is open towards the camera, and the lamp is the only light. The lamp hangs half a
// millimetre under the ceiling, which has no hole here.
#include <array>
#include <memory>

#include "capture/reference/scene_model.hpp"
#include "capture/reference/scenes/scene_builder.hpp"

namespace rayreplay::reference {
namespace {

/// A block with the given top corners (clockwise seen from above) standing on the floor.
TriangleMesh block(const std::array<Vec3, 4>& top, std::uint32_t material) {
  TriangleMesh mesh;
  const auto foot = [](const Vec3& p) { return Vec3{p.x(), 0, p.z()}; };
  mesh.add_quad(top[0], top[1], top[2], top[3], material);
  for (std::size_t i = 0; i < 4; ++i) {
    const Vec3 a = top[i];
    const Vec3 b = top[(i + 1) % 4];
    mesh.add_quad(b, a, foot(a), foot(b), material);
  }
  return mesh;
}

class Cornell final : public SceneModel {
 public:
  Cornell(bool glass_sphere, bool metal_block, float light)
      : glass_sphere_(glass_sphere), metal_block_(metal_block), light_(light) {}

  [[nodiscard]] RenderScene make() const override {
    SceneBuilder builder("cornell");
    const auto white = builder.add_material({.name = "white", .color = {0.73F, 0.73F, 0.73F}});
    const auto red = builder.add_material({.name = "red", .color = {0.65F, 0.05F, 0.05F}});
    const auto green = builder.add_material({.name = "green", .color = {0.12F, 0.45F, 0.15F}});
    const auto lamp =
        builder.add_material({.name = "lamp", .kind = MaterialKind::Emissive, .color = Vec3{17, 12, 4} * light_});

    TriangleMesh room;
    room.add_quad({552.8F, 0, 0}, {0, 0, 0}, {0, 0, 559.2F}, {549.6F, 0, 559.2F}, white);
    room.add_quad({556, 548.8F, 0}, {556, 548.8F, 559.2F}, {0, 548.8F, 559.2F}, {0, 548.8F, 0}, white);
    room.add_quad({549.6F, 0, 559.2F}, {0, 0, 559.2F}, {0, 548.8F, 559.2F}, {556, 548.8F, 559.2F}, white);
    room.add_quad({0, 0, 559.2F}, {0, 0, 0}, {0, 548.8F, 0}, {0, 548.8F, 559.2F}, green);
    room.add_quad({552.8F, 0, 0}, {549.6F, 0, 559.2F}, {556, 548.8F, 559.2F}, {556, 548.8F, 0}, red);
    builder.place(builder.add_object("room", room));

    TriangleMesh light;
    light.add_quad({343, 548.3F, 227}, {343, 548.3F, 332}, {213, 548.3F, 332}, {213, 548.3F, 227}, lamp);
    builder.place(builder.add_object("lamp", light));

    builder.place(builder.add_object(
        "short block", block({Vec3{130, 165, 65}, {82, 165, 225}, {240, 165, 272}, {290, 165, 114}}, white)));
    const auto tall =
        metal_block_
            ? builder.add_material(
                  {.name = "aluminium", .kind = MaterialKind::Metal, .color = {0.8F, 0.85F, 0.88F}, .fuzz = 0.2F})
            : white;
    builder.place(builder.add_object(
        "tall block", block({Vec3{423, 330, 247}, {265, 330, 296}, {314, 330, 456}, {472, 330, 406}}, tall)));
    if (glass_sphere_) {
      const auto glass = builder.add_material({.name = "glass", .kind = MaterialKind::Dielectric, .color = {1, 1, 1}});
      const std::array<Sphere, 1> sphere{Sphere{{185.5F, 225, 169}, 60}};
      builder.place(builder.add_spheres("glass sphere", sphere, glass));
    }
    // The published camera: a 25 mm square film behind a 35 mm lens.
    return builder.finish({.from = {278, 273, -800},
                           .at = {278, 273, 0},
                           .up = {0, 1, 0},
                           .vertical_fov_degrees = 39.3077F,
                           .aperture = 0,
                           .focus_distance = 1000},
                          {.bottom = {0, 0, 0}, .top = {0, 0, 0}});
  }

 private:
  bool glass_sphere_;
  bool metal_block_;
  float light_;
};

const Registry<SceneModel>::Registrar kCornell(
    {"",
     "cornell",
     "The Cornell box: 32 triangles, one lamp, a diffuse and a metal block, black sky",
     "Five walls, a lamp and two blocks with the measured dimensions in millimetres. The tall block is brushed metal "
     "unless metal=false; glass_sphere=true adds a glass ball (a procedural box) on the short block.",
     "Cornell University Program of Computer Graphics, Cornell Box Data",
     {{"glass_sphere", false, "", "Puts a glass sphere on the short block.", {}, {}, {}},
      {"metal", true, "", "Makes the tall block of metal instead of white.", {}, {}, {}},
      {"light", 1.0, "", "Factor on the lamp's radiance (17, 12, 4).", 0, 1000, {}}}},
    [](const Parameters& p) {
      return std::make_unique<Cornell>(p.get_bool("glass_sphere"), p.get_bool("metal"),
                                       static_cast<float>(p.get_double("light")));
    });

}  // namespace
}  // namespace rayreplay::reference
