#include "bench/trace/synthetic.hpp"

#include <chrono>

#include "capture/trace/writer.hpp"
#include "tests/support/random_trace.hpp"

namespace rayreplay::bench {
namespace {

using test::Random;
using trace::EventKind;

constexpr std::uint32_t kSpheres = 485;
constexpr std::uint32_t kInstances = 8;
constexpr std::uint32_t kThreadsTogether = 8192;
constexpr std::uint64_t kEventsPerThread = 22;
constexpr std::uint32_t kPathsOfShader =
    200;  // together more than 256: two bytes an event on disk, as in real captures
constexpr std::uint32_t kBlocksOfShader = 8;

enum ShaderId : std::uint16_t { kRayGeneration, kSphere, kDiffuse, kMetal, kGlass, kSky, kShaders };

trace::Scene make_scene(Random& random) {
  trace::Scene scene;
  trace::Geometry spheres;
  spheres.type = trace::GeometryType::Boxes;
  spheres.name = "spheres";
  for (std::uint32_t i = 0; i < 6 * kSpheres; ++i) {
    spheres.boxes.push_back(11 * random.unit());
  }
  scene.geometries = {spheres};
  scene.blases = {{0, 1}};
  scene.instances.resize(kInstances);
  return scene;
}

std::vector<trace::Shader> make_shaders() {
  using Stage = trace::ShaderStage;
  return {{Stage::RayGeneration, "main", "camera", {}}, {Stage::Intersection, "main", "sphere", {}},
          {Stage::ClosestHit, "main", "diffuse", {}},   {Stage::ClosestHit, "main", "metal", {}},
          {Stage::ClosestHit, "main", "glass", {}},     {Stage::Miss, "main", "sky", {}}};
}

/// Paths of calls as they are drawn: a few common ones, many rare ones. They have random numbers of their own, so that
/// the events are the same with and without.
class PathMaker {
 public:
  PathMaker() : calls_(std::size_t{kShaders} * kPathsOfShader, 0) {}

  /// Path of the shader's next call, as in Events::path.
  std::uint32_t next(std::uint16_t shader) {
    const std::uint32_t most = random_.one_in(4) ? kPathsOfShader : 4;
    const std::uint32_t row = shader * kPathsOfShader + random_.below(most);
    ++calls_[row];
    return row + 1;
  }

  [[nodiscard]] static std::uint64_t rows() {
    return std::uint64_t{kShaders} * kPathsOfShader;
  }

  /// The table of what was drawn. Path i of a shader executed its first block once and each other block i times.
  [[nodiscard]] trace::Paths table() const {
    trace::Paths paths;
    paths.calls.assign(calls_.begin(), calls_.end());
    for (std::uint16_t shader = 0; shader < kShaders; ++shader) {
      for (std::uint32_t i = 0; i < kPathsOfShader; ++i) {
        paths.shader.push_back(shader);
        paths.counts.push_back(1);
        paths.counts.insert(paths.counts.end(), kBlocksOfShader - 1, i);
      }
      for (std::uint32_t block = 0; block < kBlocksOfShader; ++block) {
        paths.block_shader.push_back(shader);
        paths.function.push_back(0);
        paths.block.push_back(block);
      }
    }
    return paths;
  }

 private:
  Random random_{2};
  std::vector<std::uint64_t> calls_;
};

class Maker {
 public:
  /// `paths`: nullptr for events without them.
  Maker(Random& random, PathMaker* paths) : random_(random), paths_(paths) {}

  void clear() {
    data_ = {};
    data_.ray_offset.push_back(0);
    data_.event_offset.push_back(0);
  }
  const trace::ThreadData& data() const {
    return data_;
  }
  void thread() {
    bool hit = true;
    for (std::uint32_t bounce = 0; bounce < 12 && hit; ++bounce) {
      hit = ray(bounce == 0);
    }
    data_.ray_offset.push_back(data_.rays.size());
    data_.event_offset.push_back(data_.events.size());
  }

 private:
  bool ray(bool primary) {
    trace::Rays& rays = data_.rays;
    rays.origin_x.push_back(primary ? 13.0F : 11 * random_.unit());
    rays.origin_y.push_back(primary ? 2.0F : 0.5F + 0.5F * random_.unit());
    rays.origin_z.push_back(primary ? 3.0F : 11 * random_.unit());
    rays.direction_x.push_back(random_.unit());
    rays.direction_y.push_back(random_.unit());
    rays.direction_z.push_back(random_.unit());
    rays.t_min.push_back(0.001F);
    rays.t_max.push_back(1e4F);
    rays.flags.push_back(trace::kRayFlagOpaque);
    rays.cull_mask.push_back(0xFF);
    rays.sbt_offset.push_back(0);
    rays.sbt_stride.push_back(0);
    rays.miss_index.push_back(0);
    event(EventKind::Begin, kRayGeneration, 0, 0, 0, 0, 0);
    float nearest = 1e4F;
    std::uint32_t instance = 0;
    std::uint32_t sphere = 0;
    for (std::uint32_t tests = random_.below(7); tests > 0; --tests) {
      const std::uint32_t candidate = random_.below(kSpheres);
      const std::uint32_t of = random_.below(kInstances);
      event(EventKind::Intersection, kSphere, nearest, of, candidate, 0, 0);
      if (random_.one_in(2)) {
        const float t = 10 + 10 * random_.unit();
        const bool accepted = t < nearest;
        event(EventKind::ReportIntersection, kSphere, t, of, candidate, 0, accepted ? 1 : 0);
        if (accepted) {
          nearest = t;
          instance = of;
          sphere = candidate;
        }
      }
    }
    const bool hit = nearest < 1e4F;
    if (hit) {
      const auto material = static_cast<std::uint16_t>(kDiffuse + (sphere % 20 < 16 ? 0 : sphere % 20 < 19 ? 1 : 2));
      event(EventKind::ClosestHit, material, nearest, instance, sphere, 0, 0);
    } else {
      event(EventKind::Miss, kSky, 0, 0, 0, 0, 0);
    }
    return hit;
  }

  void event(EventKind kind, std::uint16_t shader, float t, std::uint32_t instance, std::uint32_t primitive,
             std::uint8_t hit_kind, std::uint8_t accepted) {
    trace::Events& events = data_.events;
    events.kind.push_back(kind);
    events.shader.push_back(shader);
    events.t.push_back(t);
    events.instance.push_back(instance);
    events.primitive.push_back(primitive);
    events.hit_kind.push_back(hit_kind);
    events.accepted.push_back(accepted);
    if (paths_ != nullptr) {
      events.path.push_back(trace::enters_shader(kind) ? paths_->next(shader) : 0);
    }
  }

  Random& random_;
  PathMaker* paths_;
  trace::ThreadData data_;
};

}  // namespace

SyntheticCounts write_synthetic(const std::filesystem::path& path, std::uint64_t events, bool paths) {
  using Clock = std::chrono::steady_clock;
  Random random(1);
  trace::Header header;
  header.application = "trace_bench";
  trace::Writer writer(path, header, make_shaders(), make_scene(random), {.overwrite = true});
  const auto rows = static_cast<std::uint32_t>(events / (kEventsPerThread * kThreadsTogether) + 1);
  writer.begin_launch({kThreadsTogether, rows, 1}, {.paths = paths ? PathMaker::rows() : 0});
  SyntheticCounts counts;
  PathMaker path_maker;
  trace::LaunchExtras extras;
  Maker maker(random, paths ? &path_maker : nullptr);
  Clock::duration writing{};
  for (std::uint32_t row = 0; row < rows; ++row) {
    maker.clear();
    for (std::uint32_t i = 0; i < kThreadsTogether; ++i) {
      maker.thread();
    }
    counts.threads += maker.data().threads();
    counts.rays += maker.data().rays.size();
    counts.events += maker.data().events.size();
    const auto start = Clock::now();
    writer.append(maker.data());
    writing += Clock::now() - start;
  }
  for (std::uint64_t thread = 0; paths && thread < counts.threads; ++thread) {
    extras.thread_path.push_back(path_maker.next(kRayGeneration));
  }
  const auto start = Clock::now();
  writer.end_launch({}, {}, {}, extras);
  if (paths) {
    writer.add_paths(path_maker.table());
  }
  writer.finish();
  counts.write_seconds = std::chrono::duration<double>(writing + (Clock::now() - start)).count();
  return counts;
}

}  // namespace rayreplay::bench
