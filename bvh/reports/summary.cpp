#include "bvh/reports/summary.hpp"

#include <algorithm>

#include "bvh/decoded_tree.hpp"

namespace rayreplay::bvh {
namespace {

constexpr std::uint64_t kLineSeed = 1;

/// Active instances of each bottom-level structure, ascending.
std::vector<std::vector<std::uint32_t>> users_of(const PreparedScene& scene) {
  std::vector<std::vector<std::uint32_t>> users(scene.blases.size());
  for (std::uint32_t i = 0; i < scene.instances.size(); ++i) {
    if (scene.instances[i].active) {
      users[scene.instances[i].blas].push_back(i);
    }
  }
  return users;
}

/// Instance j of k takes rays j, j + k, …
std::vector<QualityRay> shared_out(const PreparedScene& scene, const std::vector<std::uint32_t>& users,
                                   std::span<const QualityRay> rays) {
  std::vector<QualityRay> result;
  for (std::size_t j = 0; j < std::min(users.size(), rays.size()); ++j) {
    std::vector<QualityRay> own;
    for (std::size_t ray = j; ray < rays.size(); ray += users.size()) {
      own.push_back(rays[ray]);
    }
    const std::vector<QualityRay> turned = to_object(scene.instances[users[j]], own);
    result.insert(result.end(), turned.begin(), turned.end());
  }
  return result;
}

LevelSummary summarise_level(const Bvh& bvh, const Level& level, const Tree& tree, std::size_t number,
                             std::span<const QualityRay> rays, const SummaryOptions& options) {
  LevelSummary summary;
  summary.records = level.node_count;
  summary.bytes = level.nodes.size();
  const bool random = options.rays.empty() && options.random_lines > 0 && !tree.empty();
  const std::vector<QualityRay> lines =
      random ? random_rays(tree.bounds, options.random_lines, kLineSeed) : std::vector<QualityRay>();
  summary.quality = measure(bvh.scene, number, tree, random ? lines : rays, options.costs, options.progress);
  summary.layout_sah =
      bvh.traits.quantised ? measure_tree(decoded_tree(*bvh.layout, level), options.costs).sah : summary.quality.sah;
  const auto& depths = summary.quality.leaf_depths;
  summary.depth = depths.empty() ? 0 : static_cast<std::uint32_t>(depths.size() - 1);
  return summary;
}

void add_histogram(std::vector<std::uint64_t>& sum, const std::vector<std::uint64_t>& part) {
  sum.resize(std::max(sum.size(), part.size()));
  for (std::size_t i = 0; i < part.size(); ++i) {
    sum[i] += part[i];
  }
}

/// Additive values, independent of how levels overlap. The caller computes means.
void add(LevelSummary& sum, const LevelSummary& part) {
  sum.records += part.records;
  sum.bytes += part.bytes;
  sum.quality.nodes += part.quality.nodes;
  sum.quality.leaves += part.quality.leaves;
  sum.quality.references += part.quality.references;
  sum.quality.items += part.quality.items;
}

double ratio(double part, double whole) {
  return whole == 0 ? 0 : part / whole;
}

/// Children of all nodes: every node but the roots, and every leaf.
void set_means(LevelSummary& sum, std::size_t trees) {
  TreeQuality& quality = sum.quality;
  const auto nodes = static_cast<double>(quality.nodes);
  quality.mean_children = ratio(nodes - static_cast<double>(trees) + static_cast<double>(quality.leaves), nodes);
  quality.references_per_item = ratio(static_cast<double>(quality.references), static_cast<double>(quality.items));
}

LevelSummary sum_bottoms(const Bvh& bvh, const std::vector<LevelSummary>& bottoms,
                         const std::vector<std::vector<std::uint32_t>>& users) {
  LevelSummary sum;
  const double whole = half_area(bvh.top.bounds);
  for (const LevelSummary& part : bottoms) {
    add(sum, part);
    sum.instances += part.instances;
    sum.primitives += part.primitives;
    sum.depth = std::max(sum.depth, part.depth);
    add_histogram(sum.quality.leaf_depths, part.quality.leaf_depths);
    add_histogram(sum.quality.leaf_sizes, part.quality.leaf_sizes);
    double share = 0;
    for (const std::uint32_t instance : users[part.blas]) {
      share += whole > 0 ? half_area(bvh.scene.instances[instance].world) / whole : 1;
    }
    sum.quality.sah += share * part.quality.sah;
    sum.layout_sah += share * part.layout_sah;
    const auto weight = static_cast<double>(part.quality.references);
    sum.quality.epo += weight * part.quality.epo;
    sum.quality.lcv += weight * part.quality.lcv;
    sum.quality.mean_leaves += weight * part.quality.mean_leaves;
    sum.quality.rays += part.quality.rays;
  }
  const auto weights = static_cast<double>(sum.quality.references);
  for (double* mean : {&sum.quality.epo, &sum.quality.lcv, &sum.quality.mean_leaves}) {
    *mean = ratio(*mean, weights);
  }
  set_means(sum, bottoms.size());
  return sum;
}

LevelSummary sum_all(const BvhSummary& summary) {
  LevelSummary sum;
  add(sum, summary.top);
  add(sum, summary.all_bottoms);
  sum.instances = summary.top.instances;
  sum.primitives = summary.all_bottoms.primitives;
  sum.depth = summary.top.depth + summary.all_bottoms.depth;
  sum.quality.sah = summary.top.quality.sah + summary.all_bottoms.quality.sah;
  sum.layout_sah = summary.top.layout_sah + summary.all_bottoms.layout_sah;
  set_means(sum, summary.bottoms.size() + (summary.top.quality.nodes > 0 ? 1 : 0));
  return sum;
}

}  // namespace

BvhSummary summarise(const Bvh& bvh, const std::vector<Tree>& trees, const SummaryOptions& options) {
  const std::vector<std::vector<std::uint32_t>> users = users_of(bvh.scene);
  BvhSummary summary;
  summary.top = summarise_level(bvh, bvh.top, trees[0], 0, options.rays, options);
  for (std::uint32_t blas = 0; blas < users.size(); ++blas) {
    if (users[blas].empty()) {
      continue;
    }
    const std::vector<QualityRay> rays = shared_out(bvh.scene, users[blas], options.rays);
    LevelSummary bottom =
        summarise_level(bvh, bvh.bottoms[blas], trees[1 + std::size_t{blas}], 1 + std::size_t{blas}, rays, options);
    bottom.blas = blas;
    bottom.instances = users[blas].size();
    bottom.primitives = bvh.scene.blases[blas].active;
    summary.top.instances += bottom.instances;
    summary.bottoms.push_back(std::move(bottom));
  }
  summary.top.primitives = summary.top.instances;
  summary.all_bottoms = sum_bottoms(bvh, summary.bottoms, users);
  summary.all = sum_all(summary);
  return summary;
}

}  // namespace rayreplay::bvh
