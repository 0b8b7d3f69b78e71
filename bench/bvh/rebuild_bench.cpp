// Rebuilding a structure of a million triangles, layout and order included, against Embree's builder alone.
//
// `embree` is a bare rtcBuildBVH over primitives that are ready, with the shortest callbacks that make a tree;
// `rebuild` is everything from the trace's geometry to encoded nodes. Both make trees of 8 children; times are wall
// clock. The counter `vs_embree` is the ratio to the fastest bare build of the same quality in the same run. Memory:
// `peak_ratio` is the growth of the process over the bytes of layout and geometry while it is built, `kept_ratio`
// after.
#include <array>
#include <chrono>
#include <fstream>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <malloc.h>

#include "bvh/bvh.hpp"
#include "bvh/embree.hpp"
#include "bvh/items.hpp"
#include "bvh/reports/quality.hpp"
#include "tests/support/meshes.hpp"

namespace rayreplay::bvh {
namespace {

constexpr std::size_t kTriangles = 1'040'000;

const trace::Scene& scene() {
  static const trace::Scene kScene = test::one_mesh(test::bumpy_terrain(kTriangles, 1));
  return kScene;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct Node {
  std::array<RTCBounds, 8> bounds;
  std::array<void*, 8> children;
};

void* create_node(RTCThreadLocalAllocator allocator, unsigned /*count*/, void* /*user*/) {
  return rtcThreadLocalAlloc(allocator, sizeof(Node), 64);
}
void set_children(void* node, void** children, unsigned count, void* /*user*/) {
  for (unsigned i = 0; i < count; ++i) {
    static_cast<Node*>(node)->children[i] = children[i];
  }
}
void set_bounds(void* node, const RTCBounds** bounds, unsigned count, void* /*user*/) {
  for (unsigned i = 0; i < count; ++i) {
    static_cast<Node*>(node)->bounds[i] = *bounds[i];
  }
}
void* create_leaf(RTCThreadLocalAllocator allocator, const RTCBuildPrimitive* primitives, std::size_t count,
                  void* /*user*/) {
  auto* leaf = static_cast<std::uint32_t*>(rtcThreadLocalAlloc(allocator, (count + 1) * sizeof(std::uint32_t), 16));
  leaf[0] = static_cast<std::uint32_t>(count);
  for (std::size_t i = 0; i < count; ++i) {
    leaf[1 + i] = primitives[i].primID;
  }
  return leaf;
}

std::map<std::string, double>& fastest() {
  static std::map<std::string, double> map;
  return map;
}

void embree(benchmark::State& state, const std::string& quality, std::uint32_t leaf_size) {
  const PreparedScene prepared = prepare_scene(scene(), 0, "bench");
  const std::vector<BuildItem> items = primitive_items(prepared, 0);
  const RTCDevice device = rtcNewDevice(nullptr);
  const std::size_t capacity = quality == "high" ? items.size() * 3 / 2 : items.size();
  std::vector<RTCBuildPrimitive, AlignedAllocator<RTCBuildPrimitive>> primitives(capacity);
  double& best = fastest().try_emplace(quality, std::numeric_limits<double>::infinity()).first->second;
  for (auto _ : state) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      const Box& box = items[i].box;
      primitives[i] = {box.low[0],  box.low[1],  box.low[2],  0,
                       box.high[0], box.high[1], box.high[2], static_cast<unsigned>(i)};
    }
    const RTCBVH bvh = rtcNewBVH(device);
    RTCBuildArguments arguments = rtcDefaultBuildArguments();
    arguments.buildQuality = quality == "low"    ? RTC_BUILD_QUALITY_LOW
                             : quality == "high" ? RTC_BUILD_QUALITY_HIGH
                                                 : RTC_BUILD_QUALITY_MEDIUM;
    arguments.maxBranchingFactor = 8;
    arguments.maxDepth = 1000;
    arguments.minLeafSize = quality == "low" ? 4 : 1;
    arguments.maxLeafSize = leaf_size;
    arguments.bvh = bvh;
    arguments.primitives = primitives.data();
    arguments.primitiveCount = items.size();
    arguments.primitiveArrayCapacity = capacity;
    arguments.createNode = create_node;
    arguments.setNodeChildren = set_children;
    arguments.setNodeBounds = set_bounds;
    arguments.createLeaf = create_leaf;
    arguments.splitPrimitive = [](const RTCBuildPrimitive* primitive, unsigned axis, float position, RTCBounds* left,
                                  RTCBounds* right, void* /*user*/) {
      // The box cut: the least that a spatial split can cost.
      *left = {primitive->lower_x, primitive->lower_y, primitive->lower_z, 0,
               primitive->upper_x, primitive->upper_y, primitive->upper_z, 0};
      *right = *left;
      (&left->upper_x)[axis] = position;
      (&right->lower_x)[axis] = position;
    };
    const auto start = std::chrono::steady_clock::now();
    void* root = rtcBuildBVH(&arguments);
    const double seconds = seconds_since(start);
    benchmark::DoNotOptimize(root);
    state.SetIterationTime(seconds);
    best = std::min(best, seconds);
    rtcReleaseBVH(bvh);
  }
  rtcReleaseDevice(device);
}

void rebuild(benchmark::State& state, const std::string& builder, const std::string& layout,
             const std::string& node_order) {
  double best = std::numeric_limits<double>::infinity();
  BuildTimes times;
  for (auto _ : state) {
    const auto start = std::chrono::steady_clock::now();
    const Bvh bvh = build_bvh(scene(), 0, "bench", {.builder = builder, .layout = layout, .node_order = node_order});
    const double seconds = seconds_since(start);
    state.SetIterationTime(seconds);
    if (seconds < best) {
      best = seconds;
      times = bvh.times;
    }
  }
  const auto peer = fastest().find(builder.substr(0, builder.find(':')));
  if (peer != fastest().end()) {
    state.counters["vs_embree"] = best / peer->second;
  }
  state.counters["prepare_ms"] = times.prepare_s * 1e3;
  state.counters["build_ms"] = times.build_s * 1e3;
  state.counters["layout_ms"] = times.layout_s * 1e3;
}

/// A field of /proc/self/status, in bytes.
double status_of(const char* field) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(field)) {
      return std::stod(line.substr(line.find(':') + 1)) * 1024;
    }
  }
  return 0;
}

void memory(benchmark::State& state, const std::string& builder, const std::string& layout) {
  const trace::Geometry& geometry = scene().geometries[0];
  for (auto _ : state) {
    malloc_trim(0);
    std::ofstream("/proc/self/clear_refs") << 5;  // the peak counts from here
    const double before = status_of("VmRSS");
    const Bvh bvh = build_bvh(scene(), 0, "bench", {.builder = builder, .layout = layout});
    const double peak = status_of("VmHWM");
    malloc_trim(0);
    const double after = status_of("VmRSS");
    const double geometry_bytes = static_cast<double>(geometry.vertices.size() + geometry.indices.size()) * 4;
    const double needed = geometry_bytes + static_cast<double>(bvh.bottoms[0].nodes.size()) +
                          static_cast<double>(bvh.bottoms[0].references.size()) * 4;
    state.counters["MB"] = needed / 1e6;
    state.counters["peak_ratio"] = (peak - before + geometry_bytes) / needed;
    state.counters["kept_ratio"] = (after - before + geometry_bytes) / needed;
  }
}

void measure_overlap(benchmark::State& state) {
  const PreparedScene prepared = prepare_scene(scene(), 0, "bench");
  const Tree tree = build_trees(prepared, *Builders::create("medium").model, {8, 4}, 0, nullptr)[1];
  for (auto _ : state) {
    benchmark::DoNotOptimize(end_point_overlap(prepared, 1, tree));
  }
}

}  // namespace
}  // namespace rayreplay::bvh

int main(int argc, char** argv) {
  using namespace rayreplay::bvh;  // NOLINT: the whole file is about it
  const auto add = [](const std::string& name, const auto& body) {
    return benchmark::RegisterBenchmark(name.c_str(), body)->UseManualTime()->Unit(benchmark::kMillisecond);
  };
  for (const char* quality : {"low", "medium", "high"}) {
    add(std::string("embree/") + quality, [=](benchmark::State& state) { embree(state, quality, 4); });
    add(std::string("rebuild/") + quality + "/wide-8", [=](benchmark::State& state) {
      rebuild(state, std::string(quality) + ":leaf_size=4", "wide-8", "depth-first");
    });
  }
  add("rebuild/median/wide-8", [](benchmark::State& state) { rebuild(state, "median", "wide-8", "depth-first"); });
  for (const std::string& layout : Layouts::names()) {
    add("memory/medium/" + layout, [=](benchmark::State& state) { memory(state, "medium", layout); })->Iterations(1);
  }
  benchmark::RegisterBenchmark("overlap/medium", measure_overlap)->Unit(benchmark::kMillisecond);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
