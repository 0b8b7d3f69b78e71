#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <set>
#include <string>

#include "capture/reference/scene.hpp"
#include "capture/reference/vec.hpp"

namespace rayreplay::reference {
namespace {

std::uint64_t stored_triangles(const RenderScene& scene) {
  std::uint64_t count = 0;
  for (const auto& part : scene.geometries) {
    count += part.geometry.primitives();
  }
  return count;
}

const RenderScene& hall() {
  static const RenderScene scene = make_scene("hall", nullptr);
  return scene;
}

TEST(Hall, IsLargeAndInstanced) {
  EXPECT_GT(stored_triangles(hall()), 250000U);
  std::uint64_t placed = 0;
  std::set<std::uint32_t> used;
  for (const auto& instance : hall().instances) {
    used.insert(instance.blas);
    const auto [first, count] = hall().blases[instance.blas];
    for (std::uint32_t g = first; g < first + count; ++g) {
      placed += hall().geometries[g].geometry.primitives();
    }
  }
  EXPECT_EQ(used.size(), hall().blases.size()) << "every bottom-level structure is placed";
  EXPECT_GT(placed, 4 * stored_triangles(hall())) << "the instances repeat most of it";
}

TEST(Hall, HasEveryMaterialKindAndFoliage) {
  std::set<MaterialKind> kinds;
  std::uint64_t leaves = 0;
  for (const auto& part : hall().geometries) {
    const Material& material = hall().materials[part.material[0]];
    kinds.insert(material.kind);
    if (!part.geometry.opaque) {
      leaves += part.geometry.primitives();
      ASSERT_NE(material.texture, kNoTexture);
      const Texture& texture = hall().textures[material.texture];
      std::uint64_t clear = 0;
      for (std::size_t i = 3; i < texture.rgba.size(); i += 4) {
        clear += texture.rgba[i] == 0 ? 1U : 0U;
      }
      const double share = static_cast<double>(clear) / (static_cast<double>(texture.width) * texture.height);
      EXPECT_GT(share, 0.2) << material.name;
      EXPECT_LT(share, 0.8) << material.name;
    }
  }
  EXPECT_EQ(kinds.size(), kMaterialKinds);
  EXPECT_GT(leaves, 20000U);
}

TEST(Hall, BottomLevelStructuresHaveOneKindAndSayIt) {
  for (const auto& instance : hall().instances) {
    const auto [first, count] = hall().blases[instance.blas];
    for (std::uint32_t g = first; g < first + count; ++g) {
      const auto kind = hall().materials[hall().geometries[g].material[0]].kind;
      EXPECT_EQ(instance.hit_group_offset, static_cast<std::uint32_t>(kind));
    }
  }
}

TEST(Hall, NormalsAreOfUnitLengthAndAgreeWithTheWinding) {
  std::uint64_t triangles = 0;
  std::uint64_t turned = 0;
  for (const auto& part : hall().geometries) {
    const auto& v = part.geometry.vertices;
    const auto& index = part.geometry.indices;
    for (std::size_t i = 0; i < part.normals.size(); i += 3) {
      ASSERT_NEAR(length({part.normals[i], part.normals[i + 1], part.normals[i + 2]}), 1, 1e-3) << part.geometry.name;
    }
    for (std::size_t t = 0; t < index.size(); t += 3) {
      const auto at = [&](const auto& array, std::size_t k) {
        const std::size_t row = std::size_t{3} * index[t + k];
        return Vec3{array[row], array[row + 1], array[row + 2]};
      };
      const Vec3 face = (at(v, 1) - at(v, 0)).cross(at(v, 2) - at(v, 0));
      const Vec3 shading = at(part.normals, 0) + at(part.normals, 1) + at(part.normals, 2);
      ++triangles;
      turned += dot(face, shading) < 0 ? 1U : 0U;
    }
  }
  EXPECT_LT(turned, triangles / 500) << "of " << triangles;
}

TEST(Hall, ParametersChangeSizeSunAndPlaces) {
  std::string spec;
  const RenderScene small = make_scene("hall:detail=0.1,sun=0", &spec);
  EXPECT_EQ(spec, "hall:detail=0.1,sun=0,seed=1");
  EXPECT_LT(stored_triangles(small), stored_triangles(hall()) / 2);
  EXPECT_EQ(small.instances.size() + 1, hall().instances.size()) << "all but the sun";
  const RenderScene again = make_scene("hall:detail=0.1,sun=0", nullptr);
  const RenderScene other = make_scene("hall:detail=0.1,sun=0,seed=2", nullptr);
  bool same = true;
  bool differs = false;
  for (std::size_t g = 0; g < small.geometries.size(); ++g) {
    same = same && small.geometries[g].geometry.vertices == again.geometries[g].geometry.vertices;
    differs = differs || small.geometries[g].geometry.vertices != other.geometries[g].geometry.vertices;
  }
  EXPECT_TRUE(same);
  EXPECT_TRUE(differs);
}

}  // namespace
}  // namespace rayreplay::reference
