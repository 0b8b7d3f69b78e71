// What every builder promises (builder.hpp, tree.hpp), on ordinary and hostile items.
#include <gtest/gtest.h>

#include "bvh/bvh.hpp"
#include "bvh/items.hpp"
#include "tests/support/meshes.hpp"

namespace rayreplay::bvh {
namespace {

TEST(Builder, Smoke) {
  const trace::Scene scene = test::one_mesh(test::bumpy_terrain(100000, 1));
  const PreparedScene prepared = prepare_scene(scene, 0, "t");
  const auto trees = build_trees(prepared, *Builders::create("medium").model, {8, 4}, 0, nullptr);
  printf("%zu tri, %zu nodes %zu children %zu refs, top %zu\n", scene.geometries[0].primitives(), trees[1].nodes.size(),
         trees[1].children.size(), trees[1].references.size(), trees[0].nodes.size());
}

}  // namespace
}  // namespace rayreplay::bvh
