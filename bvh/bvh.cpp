#include "bvh/bvh.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include "base/error.hpp"
#include "base/report_progress.hpp"
#include "base/stopwatch.hpp"
#include "bvh/check_options.hpp"
#include "bvh/items.hpp"
#include "bvh/refit.hpp"
#include "bvh/reports/memory_map.hpp"

namespace rayreplay::bvh {
namespace {

/// The spec with this leaf size in place of its own; 0: unchanged.
std::string with_leaf_size(const std::string& text, std::uint32_t leaf_size) {
  if (leaf_size == 0) {
    return text;
  }
  const ModelSpec spec = parse_spec(text);
  std::string result = fmt::format("{}:leaf_size={}", spec.name, leaf_size);
  for (const auto& [key, value] : spec.settings) {
    if (key != "leaf_size") {
      result += fmt::format(",{}={}", key, value);
    }
  }
  return result;
}

std::uint32_t limit(const char* what, std::uint32_t wanted, std::uint32_t most, const Bvh& bvh) {
  if (wanted > most) {
    throw Error(ErrorKind::Usage,
                {fmt::format("the builder's {} is more than the layout can hold", what), bvh.builder,
                 fmt::format("{}", wanted), fmt::format("at most {} with layout '{}'", most, bvh.layout_spec),
                 "lower it, or set it to 0 for the layout's own"});
  }
  return wanted == 0 ? most : wanted;
}

/// Checks that need no scene.
struct BuildPlan {
  Builders::Created builder;
  NodeOrders::Created node_order;
  VertexOrders::Created vertex_order;
  BuildLimits limits{};
  Bvh bvh{};  ///< specs and layout only
};

BuildPlan plan_of(const BvhOptions& options) {
  BuildPlan plan{.builder = Builders::create(with_leaf_size(options.builder, options.leaf_size)),
                 .node_order = NodeOrders::create(options.node_order),
                 .vertex_order = VertexOrders::create(options.vertex_order)};
  auto layout = Layouts::create(options.layout);
  Bvh& bvh = plan.bvh;
  bvh.builder = plan.builder.spec;
  bvh.layout_spec = layout.spec;
  bvh.node_order = plan.node_order.spec;
  bvh.vertex_order = plan.vertex_order.spec;
  bvh.enlarge = options.enlarge;
  bvh.layout = std::move(layout.model);
  bvh.traits = bvh.layout->traits();
  const BuildLimits wanted = plan.builder.model->wanted();
  plan.limits = {limit("number of children", wanted.branching, bvh.traits.width, bvh),
                 limit("leaf size", wanted.leaf_size, bvh.traits.most_items(), bvh)};
  return plan;
}

std::vector<bool> in_use(const PreparedScene& scene) {
  std::vector<bool> used(scene.blases.size());
  for (const SceneInstance& instance : scene.instances) {
    if (instance.active) {
      used[instance.blas] = true;
    }
  }
  return used;
}

Tree build_over_pairs(const PreparedScene& scene, std::uint32_t blas, const Builder& builder, BuildLimits limits,
                      Progress* progress) {
  const TrianglePairs pairs = pair_triangles(scene, blas);
  const SplitFunction split = splitter(scene, blas, &pairs);
  std::vector<BuildItem> items = primitive_items(scene, blas, &pairs);
  report_advance(progress, scene.blases[blas].active - items.size());
  Tree tree = builder.build(std::move(items), limits, &split, progress);
  name_pairs(tree, pairs);
  return tree;
}

Tree build_tree(const PreparedScene& scene, std::size_t level, const Builder& builder, BuildLimits limits,
                double enlarge, Progress* progress, bool pairs) {
  Tree tree;
  if (level == 0) {
    tree = builder.build(instance_items(scene), limits, nullptr, progress);
  } else {
    const auto blas = static_cast<std::uint32_t>(level - 1);
    if (pairs) {
      tree = build_over_pairs(scene, blas, builder, limits, progress);
    } else {
      const SplitFunction split = splitter(scene, blas);
      tree = builder.build(primitive_items(scene, blas), limits, &split, progress);
    }
  }
  enlarge_leaves(tree, enlarge);
  return tree;
}

std::vector<std::size_t> levels_in_use(const PreparedScene& scene) {
  const std::vector<bool> used = in_use(scene);
  std::vector<std::size_t> levels{0};
  for (std::size_t blas = 0; blas < used.size(); ++blas) {
    if (used[blas]) {
      levels.push_back(1 + blas);
    }
  }
  return levels;
}

void start_progress(const PreparedScene& scene, const std::vector<std::size_t>& levels, Progress* progress) {
  if (progress == nullptr) {
    return;
  }
  std::uint64_t items = 0;
  for (const std::size_t level : levels) {
    items += level == 0 ? static_cast<std::uint64_t>(std::ranges::count_if(scene.instances, &SceneInstance::active))
                        : scene.blases[level - 1].active;
  }
  progress->start("building acceleration structures", items);
}

}  // namespace

std::vector<Tree> build_trees(const PreparedScene& scene, const Builder& builder, BuildLimits limits, double enlarge,
                              Progress* progress, bool pairs) {
  if (!(enlarge >= 0 && std::isfinite(enlarge))) {
    throw Error(ErrorKind::Usage, {"the enlargement of boxes is out of range", "enlarge", fmt::format("{}", enlarge),
                                   "a finite share of at least 0", ""});
  }
  const std::vector<std::size_t> levels = levels_in_use(scene);
  start_progress(scene, levels, progress);
  std::vector<Tree> trees(1 + scene.blases.size());
  tbb::parallel_for(std::size_t{0}, levels.size(), [&](std::size_t i) {
    trees[levels[i]] = build_tree(scene, levels[i], builder, limits, enlarge, progress, pairs);
  });
  report_finish(progress);
  return trees;
}

void check_options(const BvhOptions& options) {
  static_cast<void>(plan_of(options));
}

Bvh build_bvh(const trace::Scene& scene, std::uint32_t tlas, const std::string& name, const BvhOptions& options) {
  BuildPlan plan = plan_of(options);
  const Builders::Created& builder = plan.builder;
  const NodeOrders::Created& node_order = plan.node_order;
  const VertexOrders::Created& vertex_order = plan.vertex_order;
  const BuildLimits limits = plan.limits;
  Bvh bvh = std::move(plan.bvh);

  Stopwatch watch;
  bvh.scene = prepare_scene(scene, tlas, name);
  bvh.times.prepare_s = watch.lap();
  std::vector<Tree> trees =
      build_trees(bvh.scene, *builder.model, limits, options.enlarge, options.progress, bvh.traits.holds_primitives);
  bvh.times.build_s = watch.lap();
  bvh.bottoms.resize(scene.blases.size());
  tbb::parallel_for(std::size_t{0}, trees.size(), [&](std::size_t level) {
    if (!trees[level].empty()) {
      const LeafSource source{&bvh.scene, level == 0 ? LeafSource::kTop : static_cast<std::uint32_t>(level - 1)};
      (level == 0 ? bvh.top : bvh.bottoms[level - 1]) =
          bvh.layout->encode_leaves(trees[level], *node_order.model, source);
      if (options.trees == nullptr) {
        trees[level] = {};
      }
    }
  });
  if (options.trees != nullptr) {
    *options.trees = std::move(trees);
  }
  // Other layouts' kernels do not use a copy of the triangles.
  if (parse_spec(bvh.layout_spec).name == "wide-8") {
    bvh.leaf_triangles.resize(bvh.bottoms.size());
    tbb::parallel_for(std::size_t{0}, bvh.bottoms.size(), [&](std::size_t blas) {
      bvh.leaf_triangles[blas] = gather_leaf_triangles(bvh.scene, static_cast<std::uint32_t>(blas), bvh.bottoms[blas]);
    });
  }
  bvh.memory = map_memory(bvh.scene, bvh.top, bvh.bottoms, *vertex_order.model, bvh.traits.holds_primitives);
  bvh.layout->link(bvh.top, bvh.scene, bvh.memory.bottom_nodes);
  bvh.times.layout_s = watch.lap();
  return bvh;
}

}  // namespace rayreplay::bvh
