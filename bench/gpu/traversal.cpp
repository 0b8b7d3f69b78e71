// Traversal: near-first over a mesh of 1.04 million triangles, primary and diffuse rays, with counters; the peer is the
// driver's own ray-tracing pipeline on the same triangles and rays.
//
// Primary: a pinhole camera, pixel after pixel in tiles of 8×4, as launches of warps come. Diffuse: from the primary
// hits, in their order, cosine-distributed about the normal that faces the ray. Scale 1: 4096×2048 primary rays. Least
// bytes: what a ray's record, hit and counters take; nodes and triangles are not counted, since caches hold them, so
// the share of the copy bandwidth says how far memory is from being the bound. The node and triangle counts in the size
// column tell the work.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/gpu/gpu_case.hpp"
#include "bench/gpu/peer/ray_tracing_peer.hpp"
#include "bvh/bvh.hpp"
#include "kernels/traversal/bvh_on_device.hpp"
#include "kernels/traversal/trace.hpp"
#include "tests/support/meshes.hpp"
#include "traversal/traversal.hpp"

namespace rayreplay::bench {
namespace {

using traversal::Hit;
using traversal::Ray;
using traversal::RayCounters;

constexpr double kTriangles = 1.04e6;
constexpr double kWidth = 4096;

std::vector<Ray> primary_rays(double scale) {
  constexpr std::uint32_t kTileWidth = 8;
  constexpr std::uint32_t kTileHeight = 4;
  const auto width = std::max(2 * kTileWidth, static_cast<std::uint32_t>(kWidth * std::sqrt(scale)) / 16 * 16);
  const std::uint32_t height = width / 2;
  std::vector<Ray> rays;
  rays.reserve(std::size_t{width} * height);
  const auto shoot = [&](std::uint32_t x, std::uint32_t y) {
    Ray ray;
    ray.origin = {0.5F, 0.6F, -0.4F};
    const float across = (static_cast<float>(x) + 0.5F) / static_cast<float>(height) - 1.0F;
    const float down = (static_cast<float>(y) + 0.5F) / static_cast<float>(height) - 0.5F;
    ray.direction = {across, -0.65F - down, 1.0F};
    rays.push_back(ray);
  };
  for (std::uint32_t y = 0; y < height; y += kTileHeight) {
    for (std::uint32_t x = 0; x < width; x += kTileWidth) {
      for (std::uint32_t i = 0; i < kTileWidth * kTileHeight; ++i) {
        shoot(x + i % kTileWidth, y + i / kTileWidth);
      }
    }
  }
  return rays;
}

std::vector<Ray> diffuse_rays(const trace::Geometry& mesh, const std::vector<Ray>& primary,
                              const std::vector<Hit>& hits) {
  test::Random random(7);
  std::vector<Ray> rays;
  for (std::size_t i = 0; i < primary.size(); ++i) {
    const Ray& ray = primary[i];
    const Hit& hit = hits[i];
    if (!hit.found()) {
      continue;
    }
    const std::uint32_t* corner = &mesh.indices[std::size_t{hit.primitive} * 3];
    const auto at = [&](std::size_t c, std::size_t axis) { return mesh.vertices[std::size_t{corner[c]} * 3 + axis]; };
    std::array<float, 3> e{};
    std::array<float, 3> f{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      e[axis] = at(1, axis) - at(0, axis);
      f[axis] = at(2, axis) - at(0, axis);
    }
    const std::array<float, 3> n{e[1] * f[2] - e[2] * f[1], e[2] * f[0] - e[0] * f[2], e[0] * f[1] - e[1] * f[0]};
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

std::string builder_for(const std::string& layout) {
  return layout == "wide-8" ? "medium:leaf_size=8,intersection_cost=0.25" : "medium:intersection_cost=0.25";
}

/// Mesh and rays of a scale: made once, since every case uses them.
struct Input {
  explicit Input(double given)
      : scale(given), scene(test::one_mesh(test::bumpy_terrain(static_cast<std::size_t>(kTriangles * given), 1))) {
    const bvh::Bvh bvh = bvh::build_bvh(scene, 0, "bench", {.builder = builder_for("wide-8"), .layout = "wide-8"});
    primary = primary_rays(scale);
    const auto traced = traversal::Traversals::create("near-first").model->trace(bvh, primary, {.counters = false});
    diffuse = diffuse_rays(scene.geometries[0], primary, traced.hits);
  }

  double scale;
  trace::Scene scene;
  std::vector<Ray> primary, diffuse;
};

const Input& input(double scale) {
  static std::unique_ptr<Input> made;
  if (made == nullptr || made->scale != scale) {
    made = std::make_unique<Input>(scale);
  }
  return *made;
}

const bvh::Bvh& structure(const Input& in, const std::string& layout) {
  struct Built {
    const Input* input = nullptr;
    std::string layout;
    bvh::Bvh bvh;
  };
  static Built built;
  if (built.input != &in || built.layout != layout) {
    built = {&in, layout, bvh::build_bvh(in.scene, 0, "bench", {.builder = builder_for(layout), .layout = layout})};
  }
  return built.bvh;
}

struct What {
  std::string layout;
  bool diffuse = false;
  bool counters = true;
  bool filter = true;
};

/// One case's arrays on the device, and what both sides found.
struct Run {
  Run(kernels::Device& opened, bvh::Bvh given, const std::vector<Ray>& of, const What& what)
      : device(&opened),
        rays(&of),
        counters_too(what.counters),
        filter(what.filter),
        bvh(std::move(given)),
        copies(bvh),
        ray_buffer(opened.allocate_array<Ray>(of.size(), "rays")),
        hit_buffer(opened.allocate_array<Hit>(of.size(), "hits")),
        counter_buffer(opened.allocate_array<RayCounters>(of.size(), "counters")) {
    kernels::Stream stream(opened);
    stream.upload_array(ray_buffer, of);
    static_cast<void>(copies.on(opened, stream, false));
    stream.wait();
  }

  void trace() const {
    kernels::Stream stream(*device);
    kernels::traversal::trace_on_device(*device, stream, copies, kernels::traversal::Order::NearFirst,
                                        {.rays = ray_buffer.address(),
                                         .hits = hit_buffer.address(),
                                         .counters = counters_too ? counter_buffer.address() : 0,
                                         .count = static_cast<std::uint32_t>(rays->size()),
                                         .filter = filter});
    stream.wait();
  }
  void trace_here() {
    twin = traversal::Traversals::create("near-first").model->trace(bvh, *rays, {.counters = counters_too});
  }
  void check() const {
    std::vector<Hit> hits(rays->size());
    std::vector<RayCounters> counters(counters_too ? rays->size() : 0);
    kernels::Stream stream(*device);
    stream.download_array(hit_buffer, hits);
    stream.download_array(counter_buffer, counters);
    stream.wait();
    if (hits != twin.hits || counters != twin.counters) {
      throw std::runtime_error("the device's hits or counters differ from the processor's");
    }
  }

  kernels::Device* device;
  const std::vector<Ray>* rays;
  bool counters_too;
  bool filter;
  bvh::Bvh bvh;  ///< the next case builds another
  kernels::BvhOnDevice copies;
  kernels::Buffer ray_buffer, hit_buffer, counter_buffer;
  traversal::TraceResult twin;
};

std::string size_of(const Input& in, std::size_t rays) {
  return fmt::format("{:.2f} M triangles, {:.2f} M rays",
                     static_cast<double>(in.scene.geometries[0].primitives()) / 1e6, static_cast<double>(rays) / 1e6);
}

PreparedCase prepare(kernels::Device& device, double scale, const What& what) {
  const Input& in = input(scale);
  const std::vector<Ray>& rays = what.diffuse ? in.diffuse : in.primary;
  const auto run = std::make_shared<Run>(device, structure(in, what.layout), rays, what);
  PreparedCase prepared;
  prepared.size = size_of(in, rays.size());
  prepared.unit = "rays";
  prepared.items = static_cast<double>(rays.size());
  prepared.least_bytes =
      prepared.items * static_cast<double>(sizeof(Ray) + sizeof(Hit) + (what.counters ? sizeof(RayCounters) : 0));
  prepared.device = [run] { run->trace(); };
  prepared.cpu = [run] { run->trace_here(); };
  prepared.check = [run] { run->check(); };
  return prepared;
}

/// Of some of the rays: the peer's test is neither watertight nor exact, so a few may differ.
void require_agreement(const Input& in, const std::vector<Ray>& rays, const std::vector<PeerHit>& theirs) {
  constexpr std::size_t kSome = 100'000;
  const std::span<const Ray> some(rays.data(), std::min(kSome, rays.size()));
  const auto ours = traversal::Traversals::create("near-first").model->trace(structure(in, "wide-8"), some, {}).hits;
  std::size_t different = 0;
  for (std::size_t i = 0; i < some.size(); ++i) {
    const bool same = ours[i].found() == (theirs[i].primitive != trace::kNone) &&
                      (!ours[i].found() || std::abs(ours[i].t - theirs[i].t) <= 1e-3F * ours[i].t + 1e-5F);
    different += same ? 0U : 1U;
  }
  if (different > some.size() / 1000 + 1) {
    throw std::runtime_error(fmt::format("the peer differs in {} of {} rays", different, some.size()));
  }
}

PreparedCase prepare_peer(kernels::Device& device, double scale, bool diffuse) {
  const Input& in = input(scale);
  const std::vector<Ray>& rays = diffuse ? in.diffuse : in.primary;
  const auto peer = std::make_shared<RayTracingPeer>(device.info().index, in.scene.geometries[0], rays);
  const auto seconds = std::make_shared<double>(0);
  peer->trace();
  require_agreement(in, rays, peer->hits());
  PreparedCase prepared;
  prepared.size = size_of(in, rays.size());
  prepared.unit = "rays";
  prepared.items = static_cast<double>(rays.size());
  prepared.device = [peer, seconds] { *seconds = peer->trace(); };
  prepared.clock = [seconds] { return *seconds; };
  return prepared;
}

std::string name_of(const What& what) {
  return fmt::format("traversal, {}, {}{}{}", what.layout, what.diffuse ? "diffuse" : "primary",
                     what.counters ? ", counters" : "", what.filter ? "" : ", no filter");
}

struct Registered {
  Registered() {
    const auto add = [](const What& what) {
      const GpuCases::Registrar one(
          {name_of(what), kernels::traversal::kNeeds,
           [what](kernels::Device& device, double scale) { return prepare(device, scale, what); }});
    };
    for (const bool diffuse : {false, true}) {
      for (const char* layout : {"compressed-wide-8", "wide-8", "binary"}) {
        add({.layout = layout, .diffuse = diffuse});
      }
      add({.layout = "compressed-wide-8", .diffuse = diffuse, .counters = false});
      add({.layout = "compressed-wide-8", .diffuse = diffuse, .filter = false});
      const GpuCases::Registrar peer(
          {fmt::format("traversal, peer: the driver's, {}", diffuse ? "diffuse" : "primary"),
           {},
           [diffuse](kernels::Device& device, double scale) { return prepare_peer(device, scale, diffuse); }});
    }
  }
};

const Registered kRegistered;

}  // namespace
}  // namespace rayreplay::bench
