// The final scene of "Ray Tracing in One Weekend" (Peter Shirley, CC0): a ground sphere, up to 22×22 small spheres of
// three materials at jittered places, three large spheres. As in the published Vulkan benchmark every sphere is a
// procedural box in a bottom-level structure and an instance of its own (identity transform): the instance id is the
// sphere's index and the primitive id is 0. Random numbers are drawn in the book's order: material choice, x, z, then
// the colour's channels (two colours for diffuse), then fuzz.
#include <array>
#include <memory>

#include "capture/reference/scene_model.hpp"
#include "capture/reference/scenes/scene_builder.hpp"
#include "capture/reference/scenes/scene_random.hpp"

namespace rayreplay::reference {
namespace {

class OneWeekend final : public SceneModel {
 public:
  explicit OneWeekend(std::uint64_t seed) : seed_(seed) {}

  [[nodiscard]] RenderScene make() const override {
    SceneBuilder builder("one-weekend");
    const auto add = [&](const Vec3& center, float radius, Material material) {
      material.name = "sphere " + std::to_string(builder.materials().size());
      const std::string name = material.name;
      const std::array<Sphere, 1> sphere{Sphere{center, radius}};
      builder.place(builder.add_spheres(name, sphere, builder.add_material(std::move(material))));
    };
    const Material glass{.name = "", .kind = MaterialKind::Dielectric, .color = {1, 1, 1}, .refraction_index = 1.5F};

    add({0, -1000, 0}, 1000, {.name = "", .color = {0.5F, 0.5F, 0.5F}});
    SceneRandom random(seed_);
    for (int a = -11; a < 11; ++a) {
      for (int b = -11; b < 11; ++b) {
        const double choice = random.unit();
        const auto x = static_cast<float>(a + 0.9 * random.unit());
        const auto z = static_cast<float>(b + 0.9 * random.unit());
        const Vec3 center{x, 0.2F, z};
        if (length(center - Vec3{4, 0.2F, 0}) <= 0.9F) {
          continue;
        }
        if (choice < 0.8) {
          const Vec3 first = random.color(0, 1);
          add(center, 0.2F, {.name = "", .color = first.cwiseProduct(random.color(0, 1))});
        } else if (choice < 0.95) {
          const Vec3 color = random.color(0.5, 1);
          const auto fuzz = static_cast<float>(random.between(0, 0.5));
          add(center, 0.2F, {.name = "", .kind = MaterialKind::Metal, .color = color, .fuzz = fuzz});
        } else {
          add(center, 0.2F, glass);
        }
      }
    }
    add({0, 1, 0}, 1, glass);
    add({-4, 1, 0}, 1, {.name = "", .color = {0.4F, 0.2F, 0.1F}});
    add({4, 1, 0}, 1, {.name = "", .kind = MaterialKind::Metal, .color = {0.7F, 0.6F, 0.5F}});

    return builder.finish({.from = {13, 2, 3},
                           .at = {0, 0, 0},
                           .up = {0, 1, 0},
                           .vertical_fov_degrees = 20,
                           .aperture = 0.1F,
                           .focus_distance = 10},
                          {.bottom = {1, 1, 1}, .top = {0.5F, 0.7F, 1}});
  }

 private:
  std::uint64_t seed_;
};

const Registry<SceneModel>::Registrar kOneWeekend(
    {"",
     "one-weekend",
     "The final scene of Ray Tracing in One Weekend: about 485 spheres as procedural boxes",
     "A grey ground sphere of radius 1000, up to 22x22 small spheres (80 % diffuse, 15 % metal, 5 % glass) and three "
     "large ones under a sky from white to blue. Every sphere has a bottom-level structure with one box and one "
     "instance of its own, opaque, with the material kind as hit-group offset, as the published Vulkan benchmark "
     "builds it.",
     "P. Shirley, Ray Tracing in One Weekend, section 'A Final Render'",
     {{"seed", std::int64_t{42}, "", "Seed of the places and materials of the small spheres.", 0, 4294967295.0, {}}}},
    [](const Parameters& p) { return std::make_unique<OneWeekend>(static_cast<std::uint64_t>(p.get_int("seed"))); });

}  // namespace
}  // namespace rayreplay::reference
