// Hand-made scenes and the events of a launch, taken apart ray by ray.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capture/reference/ray.hpp"
#include "capture/reference/tracer.hpp"
#include "capture/reference/vec.hpp"

namespace rayreplay::test {

struct Event {
  trace::EventKind kind{};
  std::uint16_t shader = 0;
  float t = 0;
  std::uint32_t instance = 0;
  std::uint32_t primitive = 0;
  std::uint16_t geometry = 0;
  std::uint8_t hit_kind = 0;
  std::uint8_t accepted = 0;

  bool operator==(const Event&) const = default;
};

/// One ray: its trace call first, then what followed.
struct RayStory {
  std::uint64_t thread = 0;
  reference::Ray ray;
  std::uint16_t flags = 0;
  std::uint8_t sbt_stride = 0;
  std::uint16_t miss_index = 0;
  std::vector<Event> events;

  [[nodiscard]] bool occlusion() const {
    return events.front().kind == trace::EventKind::OcclusionBegin;
  }
};

/// Keeps everything.
class MemorySink final : public reference::ThreadSink {
 public:
  void begin(trace::LaunchSize size, trace::LaunchColumns columns) override;
  void append(const trace::ThreadData& batch) override;

  [[nodiscard]] std::vector<RayStory> stories() const;

  trace::LaunchSize size;
  trace::LaunchColumns columns;
  trace::ThreadData data;
};

/// The built-in tracer's capture of the scene, as a trace of one launch.
[[nodiscard]] trace::Trace traced(const reference::RenderScene& scene, const reference::TracerOptions& options);

/// All columns byte for byte.
[[nodiscard]] bool same(const trace::ThreadData& a, const trace::ThreadData& b);

/// Scenes are made piece by piece; every `add` makes a geometry, a bottom-level structure and an instance.
class SceneKit {
 public:
  SceneKit();
  std::uint32_t material(reference::MaterialKind kind, const Vec3& color = {0.5F, 0.5F, 0.5F});
  /// A material with a checkerboard of holes, `cells` across.
  std::uint32_t perforated(std::uint32_t cells);
  /// Spheres as x y z radius. All in one structure.
  void add_spheres(const std::vector<float>& spheres, std::uint32_t material, bool opaque = true,
                   const Transform& transform = Transform::Identity(), std::uint8_t flags = 0);
  /// A square in the plane z = 0 with corners (±1, ±1): two triangles that face +z, texture coordinates 0 to 1.
  void add_square(std::uint32_t material, bool opaque = true, const Transform& transform = Transform::Identity(),
                  std::uint8_t flags = 0);
  /// Loose triangles, nine coordinates each.
  void add_triangles(const std::vector<float>& corners, std::uint32_t material, bool opaque = true,
                     const Transform& transform = Transform::Identity(), std::uint8_t flags = 0);

  reference::RenderScene scene;

 private:
  void place(const Transform& transform, std::uint8_t flags);
};

/// `count` random spheres of three materials, one instance each, in a cube before the camera.
[[nodiscard]] reference::RenderScene sphere_cloud(std::uint32_t count, std::uint64_t seed);
/// Spheres and triangles, opaque and perforated, several to a structure, under turned, scaled and mirrored instances.
[[nodiscard]] reference::RenderScene mixed_scene(std::uint64_t seed);

[[nodiscard]] reference::TracerOptions small_options();

}  // namespace rayreplay::test
