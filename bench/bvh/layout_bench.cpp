// Laying out the tree of a million triangles: every layout in depth-first order, every node order in wide-8, every
// vertex order; against a copy of the tree's bytes to fresh memory, the least that writing another form of it can take.
//
// The counter `vs_copy` is the ratio to the fastest copy of the tree that the layout encodes, in the same run.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "bvh/bvh.hpp"
#include "tests/support/meshes.hpp"

namespace rayreplay::bvh {
namespace {

constexpr std::size_t kTriangles = 1'040'000;

const trace::Scene& scene() {
  static const trace::Scene kScene = test::one_mesh(test::bumpy_terrain(kTriangles, 1));
  return kScene;
}

/// The mesh's tree with the limits of a layout.
const Tree& tree_for(const std::string& layout) {
  static std::map<std::string, Tree> trees;
  const auto found = trees.find(layout);
  if (found != trees.end()) {
    return found->second;
  }
  const PreparedScene prepared = prepare_scene(scene(), 0, "bench");
  const LayoutTraits traits = Layouts::create(layout).model->traits();
  std::vector<Tree> built = build_trees(prepared, *Builders::create("medium").model,
                                        {traits.width, std::min(traits.max_leaf, 4U)}, 0, nullptr);
  return trees.emplace(layout, std::move(built[1])).first->second;
}

template <class T>
std::vector<std::byte, AlignedAllocator<std::byte>> copied(const std::vector<T>& values) {
  std::vector<std::byte, AlignedAllocator<std::byte>> copy(values.size() * sizeof(T));
  std::memcpy(copy.data(), values.data(), copy.size());
  return copy;
}

double seconds_of(const std::function<void()>& act) {
  const auto start = std::chrono::steady_clock::now();
  act();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Fastest of a few: what `vs_copy` compares with.
double copy_seconds(const Tree& tree) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 5; ++i) {
    best = std::min(best, seconds_of([&tree] {
                      benchmark::DoNotOptimize(copied(tree.nodes).data());
                      benchmark::DoNotOptimize(copied(tree.children).data());
                      benchmark::DoNotOptimize(copied(tree.references).data());
                    }));
  }
  return best;
}

void measure(benchmark::State& state, const Tree& tree, const std::function<void()>& act) {
  const double copy = copy_seconds(tree);
  double best = std::numeric_limits<double>::infinity();
  for (auto _ : state) {
    const double seconds = seconds_of(act);
    state.SetIterationTime(seconds);
    best = std::min(best, seconds);
  }
  state.counters["vs_copy"] = best / copy;
  state.counters["nodes"] = static_cast<double>(tree.nodes.size());
}

void encode(benchmark::State& state, const std::string& layout, const std::string& order) {
  const auto model = Layouts::create(layout).model;
  const auto nodes = NodeOrders::create(order).model;
  const Tree& tree = tree_for(layout);
  measure(state, tree, [&] { benchmark::DoNotOptimize(model->encode(tree, *nodes).nodes.data()); });
}

void order_nodes(benchmark::State& state, const std::string& order, bool siblings) {
  const auto model = NodeOrders::create(order).model;
  const Tree& tree = tree_for("wide-8");
  measure(state, tree, [&] { benchmark::DoNotOptimize(model->order(tree, siblings).data()); });
}

void order_vertices(benchmark::State& state, const std::string& order) {
  const auto model = VertexOrders::create(order).model;
  for (auto _ : state) {
    state.SetIterationTime(seconds_of([&] { benchmark::DoNotOptimize(model->order(scene().geometries[0]).data()); }));
  }
}

void register_all() {
  const auto add = [](const std::string& name, const std::function<void(benchmark::State&)>& body) {
    benchmark::RegisterBenchmark(name.c_str(), body)->UseManualTime()->Unit(benchmark::kMillisecond);
  };
  for (const std::string& layout : Layouts::names()) {
    add("encode/" + layout, [layout](benchmark::State& state) { encode(state, layout, "depth-first"); });
  }
  for (const std::string& order : NodeOrders::names()) {
    add("nodes/" + order, [order](benchmark::State& state) { order_nodes(state, order, false); });
    add("siblings/" + order, [order](benchmark::State& state) { order_nodes(state, order, true); });
  }
  for (const std::string& order : VertexOrders::names()) {
    add("vertices/" + order, [order](benchmark::State& state) { order_vertices(state, order); });
  }
}

}  // namespace
}  // namespace rayreplay::bvh

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
    return 2;
  }
  rayreplay::bvh::register_all();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
