// Closest hits per second: our traversals against Embree's rtcIntersect1 on the same rays, in turn, in one run.
//
// The scene is a generated mesh of 1.04 million triangles; Embree has its own scene of it, of default quality. Rays:
// primary (a pinhole camera, row by row), diffuse (cosine-distributed from the primary hits, in their order) and the
// same shuffled. Each round runs Embree and then ours over all rays; times are the least of all rounds: processor time
// on one thread, which neighbours on the machine disturb little, and wall time on all. `ratio` = ours / Embree in rays
// a second. Before anything is timed, the hits of both are compared. RAYREPLAY_BENCH_SCALE (default 1) scales triangles
// and rays.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>

#include "bvh/bvh.hpp"
#include "capture/reference/embree.hpp"
#include "tests/support/meshes.hpp"
#include "traversal/traversal.hpp"

namespace {

using namespace rayreplay;
namespace embree = reference::embree;
using traversal::Ray;

/// A test of a triangle costs a quarter of a node's where four are tested at once; few layouts hold leaves of eight.
std::string builder_for(const std::string& layout) {
  return layout == "wide-8" ? "medium:leaf_size=8,intersection_cost=0.25" : "medium:intersection_cost=0.25";
}

constexpr std::size_t kBatch = 4096;  ///< rays a thread that are traced in one call

double bench_scale() {
  const char* const text = std::getenv("RAYREPLAY_BENCH_SCALE");
  return text != nullptr ? std::atof(text) : 1.0;
}

class EmbreeScene {
 public:
  explicit EmbreeScene(const trace::Geometry& mesh)
      : device_(rtcNewDevice("ignore_config_files=1")), scene_(rtcNewScene(device_)) {
    RTCGeometry geometry = rtcNewGeometry(device_, RTC_GEOMETRY_TYPE_TRIANGLE);
    void* vertices = rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, 3 * sizeof(float),
                                             mesh.vertices.size() / 3);
    std::copy(mesh.vertices.begin(), mesh.vertices.end(), static_cast<float*>(vertices));
    void* indices = rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3,
                                            3 * sizeof(std::uint32_t), mesh.indices.size() / 3);
    std::copy(mesh.indices.begin(), mesh.indices.end(), static_cast<std::uint32_t*>(indices));
    rtcCommitGeometry(geometry);
    rtcAttachGeometryByID(scene_, geometry, 0);
    rtcReleaseGeometry(geometry);
    rtcCommitScene(scene_);
  }
  EmbreeScene(const EmbreeScene&) = delete;
  EmbreeScene& operator=(const EmbreeScene&) = delete;
  ~EmbreeScene() {
    rtcReleaseScene(scene_);
    rtcReleaseDevice(device_);
  }

  [[nodiscard]] traversal::Hit intersect(const Ray& ray) const {
    RTCRayHit query{};
    query.ray.org_x = ray.origin[0];
    query.ray.org_y = ray.origin[1];
    query.ray.org_z = ray.origin[2];
    query.ray.tnear = ray.t_min;
    query.ray.dir_x = ray.direction[0];
    query.ray.dir_y = ray.direction[1];
    query.ray.dir_z = ray.direction[2];
    query.ray.tfar = ray.t_max;
    query.ray.mask = 0xFFFF'FFFFU;
    query.hit.geomID = RTC_INVALID_GEOMETRY_ID;
    query.hit.instID[0] = RTC_INVALID_GEOMETRY_ID;
    embree::Context context;
    embree::init_context(context);
    embree::intersect(scene_, context, query);
    traversal::Hit hit;
    if (query.hit.geomID != RTC_INVALID_GEOMETRY_ID) {
      hit = {query.ray.tfar, 0, 0, query.hit.primID, query.hit.u, query.hit.v, 0};
    }
    return hit;
  }

  void trace(const std::vector<Ray>& rays, std::vector<traversal::Hit>& hits) const {
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, rays.size(), 1024), [&](const auto& range) {
      for (std::size_t i = range.begin(); i < range.end(); ++i) {
        hits[i] = intersect(rays[i]);
      }
    });
  }

 private:
  RTCDevice device_;
  RTCScene scene_;
};

struct RaySet {
  std::string name;
  std::vector<Ray> rays;
};

std::vector<Ray> primary_rays() {
  const auto width = static_cast<std::uint32_t>(1024 * std::sqrt(bench_scale()));
  const std::uint32_t height = width / 2;
  std::vector<Ray> rays;
  for (std::uint32_t y = 0; y < height; ++y) {
    for (std::uint32_t x = 0; x < width; ++x) {
      Ray ray;
      ray.origin = {0.5F, 0.6F, -0.4F};
      const float across = (static_cast<float>(x) + 0.5F) / static_cast<float>(height) - 1.0F;
      const float down = (static_cast<float>(y) + 0.5F) / static_cast<float>(height) - 0.5F;
      ray.direction = {across, -0.65F - down, 1.0F};
      rays.push_back(ray);
    }
  }
  return rays;
}

/// One ray from each hit point, cosine-distributed about the normal that faces the ray.
std::vector<Ray> diffuse_rays(const trace::Geometry& mesh, const EmbreeScene& scene, const std::vector<Ray>& primary) {
  test::Random random(7);
  std::vector<Ray> rays;
  for (const Ray& ray : primary) {
    const traversal::Hit hit = scene.intersect(ray);
    if (!hit.found()) {
      continue;
    }
    const std::uint32_t* corner = &mesh.indices[std::size_t{hit.primitive} * 3];
    const auto at = [&](std::size_t i, std::size_t axis) { return mesh.vertices[std::size_t{corner[i]} * 3 + axis]; };
    std::array<float, 3> e{}, f{}, n{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      e[axis] = at(1, axis) - at(0, axis);
      f[axis] = at(2, axis) - at(0, axis);
    }
    n = {e[1] * f[2] - e[2] * f[1], e[2] * f[0] - e[0] * f[2], e[0] * f[1] - e[1] * f[0]};
    const float length = std::sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    const float towards = n[0] * ray.direction[0] + n[1] * ray.direction[1] + n[2] * ray.direction[2];
    std::array<float, 3> ball{};
    do {
      ball = {random.unit(), random.unit(), random.unit()};
    } while (ball[0] * ball[0] + ball[1] * ball[1] + ball[2] * ball[2] > 1);
    const float size = std::sqrt(ball[0] * ball[0] + ball[1] * ball[1] + ball[2] * ball[2]);
    Ray bounce;
    bounce.t_min = 1e-5F;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      bounce.origin[axis] = ray.origin[axis] + hit.t * ray.direction[axis];
      bounce.direction[axis] = ball[axis] / size + (towards > 0 ? -n[axis] : n[axis]) / length;
    }
    rays.push_back(bounce);
  }
  return rays;
}

struct Input {
  Input()
      : scene(test::one_mesh(test::bumpy_terrain(static_cast<std::size_t>(1.04e6 * bench_scale()), 1))),
        peer(scene.geometries[0]) {
    sets.push_back({"primary", primary_rays()});
    sets.push_back({"diffuse", diffuse_rays(scene.geometries[0], peer, sets[0].rays)});
    sets.push_back({"shuffled", sets[1].rays});
    test::Random random(9);
    for (std::size_t i = sets[2].rays.size(); i > 1; --i) {
      std::swap(sets[2].rays[i - 1], sets[2].rays[random.below(i)]);
    }
  }

  trace::Scene scene;
  EmbreeScene peer;
  std::vector<RaySet> sets;
};

const Input& input() {
  static const Input result;
  return result;
}

const bvh::Bvh& structure(const std::string& layout) {
  static std::vector<std::pair<std::string, bvh::Bvh>> built;
  for (const auto& [name, bvh] : built) {
    if (name == layout) {
      return bvh;
    }
  }
  built.clear();  // one at a time: they are large
  built.emplace_back(layout,
                     bvh::build_bvh(input().scene, 0, "bench", {.builder = builder_for(layout), .layout = layout}));
  return built.back().second;
}

double processor_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void require_agreement(const std::vector<traversal::Hit>& ours, const std::vector<traversal::Hit>& theirs) {
  std::size_t different = 0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const bool same = ours[i].found() == theirs[i].found() &&
                      (!ours[i].found() || std::abs(ours[i].t - theirs[i].t) <= 1e-4F * theirs[i].t + 1e-6F);
    different += same ? 0U : 1U;
  }
  // Embree's default test is neither watertight nor exact: a few grazing rays differ.
  if (different > ours.size() / 5000 + 1) {
    throw std::runtime_error(fmt::format("{} of {} rays hit something else than Embree says", different, ours.size()));
  }
}

struct Row {
  std::string layout, traversal;
  bool counters = false, accesses = false;
  bool on_all = false;
};

std::uint64_t bytes_of(const bvh::Bvh& bvh) {
  std::uint64_t bytes = 0;
  for (const bvh::LeafTriangles& leaves : bvh.leaf_triangles) {
    bytes += leaves.vertices.size() * sizeof(float);
  }
  for (const bvh::Level& level : bvh.bottoms) {
    bytes += level.nodes.size() + level.references.size() * sizeof(std::uint32_t);
  }
  return bytes;
}

void run(benchmark::State& state, const Row& row, const RaySet& set) {
  const bvh::Bvh& bvh = structure(row.layout);
  const auto model = traversal::Traversals::create(row.traversal).model;
  const auto threads =
      row.on_all
          ? static_cast<std::size_t>(tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism))
          : 1;
  traversal::TraceResult result;
  // Batch by batch in the memory of the last one, as the contract tells callers to do.
  const auto trace = [&](const auto& sink) {
    const std::span<const Ray> all(set.rays);
    for (std::size_t first = 0; first < all.size(); first += kBatch * threads) {
      const auto rays = all.subspan(first, std::min(kBatch * threads, all.size() - first));
      result = model->trace(bvh, rays, {.counters = row.counters, .accesses = row.accesses, .recycled = &result});
      sink(result.hits);
    }
  };
  std::vector<traversal::Hit> theirs(set.rays.size());
  input().peer.trace(set.rays, theirs);
  std::vector<traversal::Hit> hits;
  trace([&](const auto& some) { hits.insert(hits.end(), some.begin(), some.end()); });
  require_agreement(hits, theirs);
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
  const auto now = row.on_all ? wall_seconds : processor_seconds;
  double peer = std::numeric_limits<double>::infinity();
  double ours = peer;
  for (auto round : state) {
    const double start = now();
    input().peer.trace(set.rays, theirs);
    const double middle = now();
    trace([](const auto& some) { benchmark::DoNotOptimize(some.data()); });
    ours = std::min(ours, now() - middle);
    peer = std::min(peer, middle - start);
  }
  const double millions = static_cast<double>(set.rays.size()) / 1e6;
  state.counters["Mrays/s"] = millions / ours;
  state.counters["Embree"] = millions / peer;
  state.counters["ratio"] = peer / ours;
  const auto& geometry = input().scene.geometries[0];
  const auto geometry_bytes = (geometry.vertices.size() + geometry.indices.size()) * sizeof(float);
  const std::uint64_t layout_bytes = bvh.bottoms[0].nodes.size() + bvh.bottoms[0].references.size() * sizeof(float);
  state.counters["memory"] =
      static_cast<double>(bytes_of(bvh) + geometry_bytes) / static_cast<double>(layout_bytes + geometry_bytes);
}

bool any_failed = false;

/// A row that cannot be built, or that hits something else than Embree, is told and does not end the others.
void run_or_say_why(benchmark::State& state, const Row& row, const RaySet& set) {
  try {
    run(state, row, set);
  } catch (const std::exception& error) {
    any_failed = true;
    state.SkipWithError(error.what());
  }
}

void add(const Row& row) {
  for (const RaySet& set : input().sets) {
    const std::string reports = row.accesses ? "accesses" : row.counters ? "counters" : "hits";
    const std::string name =
        fmt::format("{}/{}/{}/{}{}", row.layout, row.traversal, reports, set.name, row.on_all ? "/all_threads" : "");
    benchmark::RegisterBenchmark(name.c_str(),
                                 [row, &set](benchmark::State& state) { run_or_say_why(state, row, set); })
        ->Unit(benchmark::kMillisecond)
        ->Iterations(row.traversal == "near-first" ? 7 : 2);
  }
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  for (const bool on_all : {false, true}) {
    add({.layout = "wide-8", .traversal = "near-first", .on_all = on_all});
    add({.layout = "wide-8", .traversal = "near-first", .counters = true, .on_all = on_all});
    add({.layout = "wide-8", .traversal = "near-first", .counters = true, .accesses = true, .on_all = on_all});
  }
  for (const char* traversal : {"near-first:kernel=decode", "ordered", "short-stack", "fixed-order", "any-order"}) {
    add({.layout = "wide-8", .traversal = traversal, .counters = true});
  }
  for (const char* layout : {"binary", "wide-4", "compressed-wide-8", "quantised-6", "half-4"}) {
    add({.layout = layout, .traversal = "near-first", .counters = true});
  }
  benchmark::RunSpecifiedBenchmarks();
  return any_failed ? 1 : 0;
}
