// A two-storey atrium in the style of palace courtyards: arcades on both sides of a nave that is open to the sky
// between its beams, vaulted aisles below, galleries above, curtains, lanterns and alpha-tested foliage. Procedural
// throughout (hall_parts.hpp); repeated parts are instances. Lengths in metres; the nave runs along x, the floor is y =
// 0.
#include <array>
#include <memory>
#include <numbers>

#include "capture/reference/scene_model.hpp"
#include "capture/reference/scenes/hall_parts.hpp"
#include "capture/reference/scenes/scene_builder.hpp"
#include "capture/reference/scenes/shapes.hpp"
#include "capture/reference/scenes/textures.hpp"

namespace rayreplay::reference {
namespace {

using namespace hall;

constexpr double kPi = std::numbers::pi;
constexpr int kBays = 8;
constexpr float kBay = 4;
constexpr float kHalfLength = kBays * kBay / 2;
constexpr float kColumnLine = 4.5F;  // distance of the arcades from the nave's middle
constexpr float kWallLine = 8.5F;
constexpr float kSpring = 3.6F;    // where the lower arches start
constexpr float kGallery = 6.25F;  // the upper floor
constexpr float kUpperSpring = 9.25F;
constexpr float kRoof = 11.4F;
constexpr float kThickness = 0.7F;

class Hall final : public SceneModel {
 public:
  Hall(double detail, double sun, std::uint64_t seed) : detail_(detail), sun_(static_cast<float>(sun)), seed_(seed) {}
  [[nodiscard]] RenderScene make() const override;

 private:
  double detail_;
  float sun_;
  std::uint64_t seed_;
};

/// Construction of the scene.
class Construction {
 public:
  Construction(double detail, float sun, std::uint64_t seed)
      : detail_(detail), random_(seed), sun_(sun), builder_("hall") {}

  RenderScene run() {
    make_materials();
    arcades();
    aisles();
    walls_and_floor();
    roof();
    curtains();
    foliage();
    furniture();
    sunlight();
    return builder_.finish({.from = {-14.6F, 2.3F, 1.7F},
                            .at = {4, 4.3F, -0.9F},
                            .up = {0, 1, 0},
                            .vertical_fov_degrees = 58,
                            .aperture = 0,
                            .focus_distance = 14},
                           {.bottom = {3.2F, 3.1F, 3.0F}, .top = {1.6F, 2.6F, 5.2F}});
  }

 private:
  std::uint32_t textured(const char* name, Texture texture, const Vec3& color = {1, 1, 1}, bool alpha_tested = false) {
    return builder_.add_material({.name = name, .color = color, .texture = builder_.add_texture(std::move(texture))},
                                 alpha_tested);
  }

  void make_materials() {
    limestone_ = textured("limestone", stone_texture(256, {0.93F, 0.87F, 0.77F}, {0.70F, 0.61F, 0.49F}, 1));
    sandstone_ = textured("sandstone", stone_texture(256, {0.88F, 0.78F, 0.64F}, {0.68F, 0.55F, 0.41F}, 7));
    brick_ = textured("brick", stone_texture(256, {0.82F, 0.66F, 0.53F}, {0.62F, 0.45F, 0.34F}, 13));
    plaster_ = textured("plaster", stone_texture(256, {0.95F, 0.91F, 0.83F}, {0.86F, 0.79F, 0.68F}, 17));
    marble_ = textured("marble", stone_texture(256, {0.94F, 0.92F, 0.89F}, {0.66F, 0.64F, 0.62F}, 19));
    red_marble_ = textured("red marble", stone_texture(256, {0.66F, 0.38F, 0.32F}, {0.40F, 0.20F, 0.17F}, 23));
    wood_ = textured("oak", wood_texture(256, {0.56F, 0.40F, 0.26F}, {0.36F, 0.23F, 0.14F}, 29));
    clay_ = textured("terracotta", stone_texture(128, {0.78F, 0.46F, 0.32F}, {0.60F, 0.33F, 0.22F}, 31));
    soil_ = builder_.add_material({.name = "soil", .color = {0.05F, 0.035F, 0.025F}});
    stem_ = builder_.add_material({.name = "stem", .color = {0.16F, 0.12F, 0.05F}});
    cloths_ = {textured("red cloth", cloth_texture(256, {0.72F, 0.10F, 0.10F}, {0.93F, 0.76F, 0.32F})),
               textured("green cloth", cloth_texture(256, {0.12F, 0.45F, 0.24F}, {0.93F, 0.80F, 0.42F})),
               textured("blue cloth", cloth_texture(256, {0.12F, 0.24F, 0.62F}, {0.90F, 0.82F, 0.55F}))};
    ivy_leaf_ = textured("ivy", ivy_leaf_texture(64), {1, 1, 1}, true);
    palm_leaf_ = textured("palm", palm_leaf_texture(128), {1, 1, 1}, true);
    bronze_ = builder_.add_material(
        {.name = "bronze", .kind = MaterialKind::Metal, .color = {0.80F, 0.50F, 0.28F}, .fuzz = 0.12F});
    iron_ = builder_.add_material(
        {.name = "iron", .kind = MaterialKind::Metal, .color = {0.32F, 0.31F, 0.30F}, .fuzz = 0.3F});
    glass_ = builder_.add_material(
        {.name = "glass", .kind = MaterialKind::Dielectric, .color = {0.97F, 1, 0.98F}, .refraction_index = 1.5F});
    glow_ = builder_.add_material({.name = "lantern", .kind = MaterialKind::Emissive, .color = {10, 6, 2.6F}});
  }

  static float bay_center(int bay) {
    return -kHalfLength + (static_cast<float>(bay) + 0.5F) * kBay;
  }
  static float bay_edge(int bay) {
    return -kHalfLength + static_cast<float>(bay) * kBay;
  }

  void arcades() {
    const auto lower = builder_.add_object("column", column(kSpring, 0.34F, detail_, limestone_));
    const auto upper = builder_.add_object("gallery column", column(kUpperSpring - kGallery, 0.24F, detail_, marble_));
    const auto arch = builder_.add_object(
        "arch", arch_panel(kBay, kGallery - 0.25F - kSpring, kThickness, 1.5F, detail_, sandstone_, limestone_));
    const auto upper_arch = builder_.add_object(
        "gallery arch", arch_panel(kBay, kRoof - kUpperSpring, 0.5F, 1.6F, detail_, limestone_, sandstone_));
    const auto post = builder_.add_object("baluster", baluster(0.85F, detail_, marble_));
    for (const float z : {-kColumnLine, kColumnLine}) {
      for (int i = 0; i <= kBays; ++i) {
        builder_.place(lower, translation({bay_edge(i), 0, z}));
        builder_.place(upper, translation({bay_edge(i), kGallery, z}));
      }
      for (int i = 0; i < kBays; ++i) {
        builder_.place(arch, translation({bay_center(i), kSpring, z}));
        builder_.place(upper_arch, translation({bay_center(i), kUpperSpring, z}));
        for (int k = 0; k < 9; ++k) {
          builder_.place(post, translation({bay_edge(i) + 0.6F + 0.35F * static_cast<float>(k), kGallery, z}));
        }
      }
    }
    TriangleMesh bands;
    for (const float side : {-1.0F, 1.0F}) {
      const float z = side * kColumnLine;
      for (const auto& [y0, y1, reach] :
           {std::array{kGallery - 0.25F, kGallery - 0.13F, 0.44F}, std::array{kGallery - 0.13F, kGallery, 0.52F},
            std::array{kRoof, kRoof + 0.15F, 0.34F}, std::array{kRoof + 0.15F, kRoof + 0.35F, 0.45F}}) {
        bands.add_box({-kHalfLength, y0, z - reach}, {kHalfLength, y1, z + reach}, limestone_);
      }
      for (int i = 0; i < kBays; ++i) {
        bands.add_box({bay_edge(i) + 0.25F, kGallery + 0.85F, z - 0.12F},
                      {bay_edge(i + 1) - 0.25F, kGallery + 0.97F, z + 0.12F}, marble_);
      }
    }
    builder_.place(builder_.add_object("bands", bands));
  }

  void aisles() {
    const auto vault = builder_.add_object("vault", groin_vault(kBay, detail_, plaster_, limestone_));
    const auto lamp = builder_.add_object("lantern", lantern(2.1F, detail_, iron_, glow_));
    for (const float side : {-1.0F, 1.0F}) {
      const float z = side * (kColumnLine + kBay / 2);
      for (int i = 0; i < kBays; ++i) {
        builder_.place(vault, translation({bay_center(i), kSpring, z}));
        builder_.place(lamp, translation({bay_center(i), kSpring + kBay / 2, z}));
      }
    }
    TriangleMesh slabs;
    for (const float side : {-1.0F, 1.0F}) {
      const float near = side * kColumnLine;
      const float far = side * (kWallLine + 0.3F);
      slabs.add_box({-kHalfLength, kGallery - 0.2F, std::min(near, far)},
                    {kHalfLength, kGallery - 0.01F, std::max(near, far)}, marble_, 0.5F);
    }
    builder_.place(builder_.add_object("gallery floor", slabs));
  }

  void walls_and_floor() {
    const std::array<std::uint32_t, 5> stones{sandstone_, sandstone_, limestone_, brick_, sandstone_};
    const TriangleMesh side_wall = ashlar(2 * kHalfLength, kRoof + 0.35F, 0.9F, 0.45F, 0.018F, stones, random_);
    const TriangleMesh end_wall = ashlar(2 * kWallLine, kRoof + 0.35F, 0.9F, 0.45F, 0.018F, stones, random_);
    TriangleMesh walls;
    walls.append(side_wall, translation({-kHalfLength, 0, -kWallLine}));
    walls.append(side_wall, compose(translation({kHalfLength, 0, kWallLine}), rotation_y(kPi)));
    walls.append(end_wall, compose(translation({-kHalfLength - 0.3F, 0, kWallLine}), rotation_y(kPi / 2)));
    walls.append(end_wall, compose(translation({kHalfLength + 0.3F, 0, -kWallLine}), rotation_y(-kPi / 2)));
    builder_.place(builder_.add_object("walls", walls));

    // Tiles as slabs that face up: the nave in a pattern with a red border, the aisles plain.
    constexpr float kTile = 0.75F;
    TriangleMesh floor;
    const auto columns = static_cast<int>(std::lround(2 * kHalfLength / kTile + 0.8F));
    const auto rows = static_cast<int>(std::lround(2 * kWallLine / kTile + 0.3F));
    for (int row = 0; row < rows; ++row) {
      for (int i = 0; i < columns; ++i) {
        const int from_middle = std::abs(2 * row - rows + 1) / 2;
        const bool border = from_middle == 4;
        const bool diamond = (i % 4 == 0 && row % 4 == rows / 2 % 4) || (i % 4 == 2 && row % 4 == (rows / 2 + 2) % 4);
        const std::uint32_t stone =
            border || (from_middle < 4 && diamond) ? red_marble_ : (from_middle < 4 ? marble_ : limestone_);
        const auto proud = static_cast<float>(random_.between(-0.002, 0.002));
        const float x = static_cast<float>(i) * kTile;
        const float y = static_cast<float>(row) * kTile;
        const auto u = static_cast<float>(random_.unit());
        const auto v = static_cast<float>(random_.unit());
        add_chamfered_slab(floor, {x, y, -0.1F}, {x + kTile, y + kTile, proud}, 0.012F, stone, {u, v});
      }
    }
    const float width = static_cast<float>(columns) * kTile;
    const float depth = static_cast<float>(rows) * kTile;
    TriangleMesh laid;
    laid.append(floor, compose(translation({-width / 2, 0, depth / 2}), rotation_x(-kPi / 2)));
    builder_.place(builder_.add_object("floor", laid));
    backing();
  }

  /// Joints between stones are open by the difference of the stones' heights. They show mortar: one plain box without a
  /// lid, closely behind the deepest stone of walls and floor, with shared corners.
  void backing() {
    constexpr float kBehind = 0.03F;
    const float x = kHalfLength + 0.3F + kBehind;
    const float z = kWallLine + kBehind;
    const float top = kRoof + 0.35F;
    const std::array<Vec3, 4> low{Vec3{-x, -kBehind, -z}, Vec3{x, -kBehind, -z}, Vec3{x, -kBehind, z},
                                  Vec3{-x, -kBehind, z}};
    TriangleMesh box;
    for (std::size_t i = 0; i < low.size(); ++i) {
      const Vec3 a = low[i];
      const Vec3 b = low[(i + 1) % low.size()];
      box.add_quad(a, b, {b.x(), top, b.z()}, {a.x(), top, a.z()}, sandstone_, {length(b - a) * 0.5F, top * 0.5F});
    }
    box.add_quad(low[3], low[2], low[1], low[0], limestone_, {x, z});
    builder_.place(builder_.add_object("backing", box));
  }

  void roof() {
    TriangleMesh beams;
    const float top = kRoof + 0.35F;
    for (int i = 0; i <= 2 * kBays; ++i) {
      const float x = -kHalfLength + static_cast<float>(i) * kBay / 2;
      const float h = i % 2 == 0 ? 0.42F : 0.22F;
      const float half = i % 2 == 0 ? 0.17F : 0.09F;
      beams.add_box({x - half, top, -kColumnLine - 0.4F}, {x + half, top + h, kColumnLine + 0.4F}, wood_, 1);
    }
    for (const float z : {-1.6F, 1.6F}) {
      beams.add_box({-kHalfLength, top + 0.3F, z - 0.12F}, {kHalfLength, top + 0.56F, z + 0.12F}, wood_, 1);
    }
    // The galleries' ceilings: planks on joists.
    for (const float side : {-1.0F, 1.0F}) {
      const float near = side * kColumnLine;
      const float far = side * (kWallLine + 0.3F);
      beams.add_box({-kHalfLength, top - 0.06F, std::min(near, far)}, {kHalfLength, top + 0.06F, std::max(near, far)},
                    wood_, 1);
      for (int i = 0; i < 4 * kBays; ++i) {
        const float x = -kHalfLength + (static_cast<float>(i) + 0.5F) * kBay / 4;
        beams.add_box({x - 0.07F, top - 0.26F, std::min(near, far)}, {x + 0.07F, top - 0.06F, std::max(near, far)},
                      wood_, 1);
      }
    }
    builder_.place(builder_.add_object("beams", beams));
  }

  void curtains() {
    TriangleMesh cloth;
    for (int i = 0; i < kBays; ++i) {
      const bool left = i % 2 == 0;
      const float z = left ? -kColumnLine : kColumnLine;
      const TriangleMesh piece =
          curtain(2.9F, 3.0F, 7, 0.25, detail_, cloths_[static_cast<std::size_t>(i) % 3], random_);
      cloth.append(piece, compose(translation({bay_center(i), kUpperSpring + 0.75F, z}), rotation_y(left ? 0 : kPi)));
    }
    for (int i = 0; i < 3; ++i) {
      // Banners across the nave, between beams.
      const TriangleMesh piece =
          curtain(1.7F, 3.1F, 1.5, 0.05, detail_, cloths_[static_cast<std::size_t>(i + 1) % 3], random_);
      cloth.append(piece,
                   compose(translation({bay_edge(3 + 2 * i) - kBay / 2, kRoof + 0.4F, i % 2 == 0 ? 1.5F : -1.5F}),
                           rotation_y(-kPi / 2)));
    }
    builder_.place(builder_.add_object("cloth", cloth));
  }

  void foliage() {
    for (const float side : {-1.0F, 1.0F}) {
      // Over the arcades' faces to the nave, from the gallery down.
      const TriangleMesh vines = ivy(2 * kHalfLength, 2.4F, 90, detail_, ivy_leaf_, stem_, random_);
      const float face = side * (kColumnLine - 0.55F);
      const Transform to_wall = side < 0 ? translation({-kHalfLength, kGallery, -kColumnLine + 0.54F})
                                         : compose(translation({kHalfLength, kGallery, face}), rotation_y(kPi));
      builder_.place(builder_.add_object("ivy", vines), to_wall);
    }
    const TriangleMesh palm_leaves = palm(1.5F, detail_, palm_leaf_, random_);
    const TriangleMesh bush_leaves = bush(0.45F, detail_, ivy_leaf_, random_);
    TriangleMesh potted_palm = flower_pot(0.36F, 0.62F, detail_, clay_, soil_);
    potted_palm.append(palm_leaves, translation({0, 0.56F, 0}));
    TriangleMesh potted_bush = flower_pot(0.3F, 0.5F, detail_, marble_, soil_);
    potted_bush.append(bush_leaves, translation({0, 0.36F, 0}));
    const auto tall = builder_.add_object("potted palm", potted_palm);
    const auto round = builder_.add_object("potted bush", potted_bush);
    for (const float side : {-1.0F, 1.0F}) {
      for (int i = 0; i < kBays; ++i) {
        const double turn = random_.between(0, 2 * kPi);
        const auto size = static_cast<float>(random_.between(0.85, 1.2));
        const bool is_palm = (i % 2 == 0) == (side > 0);
        const Vec3 place{bay_edge(i + (is_palm ? 0 : 1)) + (is_palm ? 0.0F : -0.1F), 0.002F,
                         side * (kColumnLine - (is_palm ? 1.1F : 0.95F))};
        builder_.place(is_palm ? tall : round,
                       compose(compose(translation(place), rotation_y(turn)), scaling({size, size, size})));
      }
      for (int i = 0; i < kBays; i += 2) {
        const Vec3 place{bay_center(i + (side > 0 ? 1 : 0)), 0.002F, side * (kWallLine - 0.8F)};
        builder_.place(tall, compose(translation(place), rotation_y(random_.between(0, 2 * kPi))));
      }
    }
  }

  void furniture() {
    TriangleMesh stands;
    stands.add_box({1.8F, 0, -1.2F}, {4.2F, 0.2F, 1.2F}, limestone_);
    stands.add_box({2.1F, 0.2F, -0.9F}, {3.9F, 0.4F, 0.9F}, limestone_);
    stands.add_box({2.5F, 0.4F, -0.5F}, {3.5F, 1.3F, 0.5F}, red_marble_);
    stands.add_box({2.4F, 1.3F, -0.6F}, {3.6F, 1.42F, 0.6F}, limestone_);
    const auto sculpture = builder_.add_object("knot", knot(1.15F, detail_, bronze_));
    builder_.place(sculpture, compose(translation({3, 2.6F, 0}), rotation_y(-1.1)));
    const auto glass = builder_.add_object("vase", vase(0.9F, detail_, glass_));
    for (const float x : {-5.0F, -1.0F, 7.0F}) {
      for (const float z : {-1.9F, 1.9F}) {
        stands.add_box({x - 0.32F, 0, z - 0.32F}, {x + 0.32F, 0.12F, z + 0.32F}, limestone_);
        stands.add_box({x - 0.24F, 0.12F, z - 0.24F}, {x + 0.24F, 0.85F, z + 0.24F}, red_marble_);
        stands.add_box({x - 0.3F, 0.85F, z - 0.3F}, {x + 0.3F, 0.95F, z + 0.3F}, limestone_);
        builder_.place(glass, translation({x, 0.952F, z}));
      }
    }
    builder_.place(builder_.add_object("stands", stands));
  }

  void sunlight() {
    if (sun_ <= 0) {
      return;
    }
    // A square high above, behind the camera, so that shadow rays picked by power still find the lanterns; through the
    // open roof it lights the floor and the right-hand arcade.
    const auto sun =
        builder_.add_material({.name = "sun", .kind = MaterialKind::Emissive, .color = Vec3{95, 77, 55} * sun_});
    const Vec3 away = normalize({-0.42F, 1, 0.42F});
    const Vec3 middle = away * 26.0F;
    const Vec3 a = normalize(away.cross(Vec3{0, 0, 1})) * 3.1F;
    const Vec3 b = a.cross(away);
    TriangleMesh square;
    square.add_quad(middle - a - b, middle + a - b, middle + a + b, middle - a + b, sun);
    builder_.place(builder_.add_object("sun", square));
  }

  Detail detail_;
  SceneRandom random_;
  float sun_;
  SceneBuilder builder_;
  std::array<std::uint32_t, 3> cloths_{};
  std::uint32_t limestone_ = 0, sandstone_ = 0, brick_ = 0, plaster_ = 0, marble_ = 0, red_marble_ = 0, wood_ = 0,
                clay_ = 0, soil_ = 0, stem_ = 0, ivy_leaf_ = 0, palm_leaf_ = 0, bronze_ = 0, iron_ = 0, glass_ = 0,
                glow_ = 0;
};

RenderScene Hall::make() const {
  return Construction(detail_, sun_, seed_).run();
}

const Registry<SceneModel>::Registrar kHall(
    {"",
     "hall",
     "A two-storey arcaded atrium with vaults, curtains and alpha-tested foliage: more than 250,000 triangles",
     "Eight bays of columns and arches on two storeys around a nave that is open to the sky between its beams. "
     "Columns, arches, vaults, lanterns, balusters, vases and potted plants are instances; walls and floor are laid "
     "of chamfered stones; leaves are quads with an alpha texture in geometries that are not opaque. Materials: "
     "textured diffuse, bronze and iron, glass, glowing lanterns, and a square high above in place of the sun.",
     "rayreplay",
     {{"detail", 1.0, "", "Factor on the number of triangles.", 0.05, 20, {}},
      {"sun", 1.0, "", "Factor on the sun's radiance; 0 leaves it out.", 0, 100, {}},
      {"seed", std::int64_t{1}, "", "Seed of stones, folds and leaves.", 0, 4294967295.0, {}}}},
    [](const Parameters& p) {
      return std::make_unique<Hall>(p.get_double("detail"), p.get_double("sun"),
                                    static_cast<std::uint64_t>(p.get_int("seed")));
    });

}  // namespace
}  // namespace rayreplay::reference
