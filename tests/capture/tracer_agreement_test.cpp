// What the layer recorded on lavapipe against the built-in tracer, ray by ray and event by event: each captured ray is
// traced again through the same scene by Embree and double-precision intersection tests.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "capture/reference/accelerator.hpp"
#include "capture/reference/precise.hpp"
#include "capture/reference/scene.hpp"
#include "capture/reference/shader_table.hpp"
#include "tests/capture/captured.hpp"

namespace rayreplay::test {
namespace {

reference::Ray ray_of(const trace::Rays& rays, std::uint64_t row) {
  return {{rays.origin_x[row], rays.origin_y[row], rays.origin_z[row]},
          {rays.direction_x[row], rays.direction_y[row], rays.direction_z[row]},
          rays.t_min[row],
          rays.t_max[row]};
}

template <class Array>
std::vector<typename Array::value_type> list(const Array& array) {
  return {array.begin(), array.end()};
}

/// The captured scene is the one that the program was given: same structures, bytes and order.
void expect_same_scene(const trace::Scene& captured, const reference::RenderScene& scene) {
  ASSERT_EQ(captured.instances.size(), scene.instances.size());
  for (std::size_t i = 0; i < scene.instances.size(); ++i) {
    EXPECT_EQ(captured.instances[i].transform, scene.instances[i].transform);
    EXPECT_EQ(captured.instances[i].mask, scene.instances[i].mask);
    const trace::Blas& theirs = captured.blases.at(captured.instances[i].blas);
    const trace::Blas& ours = scene.blases.at(scene.instances[i].blas);
    ASSERT_EQ(theirs.geometry_count, ours.geometry_count);
    for (std::uint32_t g = 0; g < ours.geometry_count; ++g) {
      const trace::Geometry& found = captured.geometries.at(theirs.first_geometry + std::size_t{g});
      const trace::Geometry& given = scene.geometries.at(ours.first_geometry + std::size_t{g}).geometry;
      EXPECT_EQ(found.type, given.type);
      EXPECT_EQ(found.opaque, given.opaque);
      EXPECT_EQ(list(found.vertices), list(given.vertices));
      EXPECT_EQ(list(found.indices), list(given.indices));
      EXPECT_EQ(list(found.boxes), list(given.boxes));
    }
  }
}

struct Case {
  std::string name;
  std::string program;
  std::string scene;
  std::vector<std::string> arguments;
  double tolerance = 0;      ///< of t, relative
  double disagreements = 0;  ///< share of rays that may: those that graze an edge, in single precision
};

void PrintTo(const Case& value, std::ostream* out) {
  *out << value.name;
}

class TracerAgreement : public testing::TestWithParam<Case> {
 protected:
  TracerAgreement()
      : scene_(reference::make_scene(GetParam().scene, nullptr)),
        table_(reference::make_shader_table(scene_, reference::HitGroups::Single, true, "rays")),
        accelerator_(scene_, table_),
        captured_(capture(GetParam().program, arguments())) {}

  static std::vector<std::string> arguments() {
    std::vector<std::string> arguments{"--size", "40x23", "--spp", "2", "--depth", "6"};
    arguments.insert(arguments.end(), GetParam().arguments.begin(), GetParam().arguments.end());
    return arguments;
  }
  [[nodiscard]] const trace::Launch& launch() const {
    return captured_.trace.launches.at(0);
  }
  /// Whether the captured end of a ray is the tracer's: same hit, or two hits at the same distance.
  [[nodiscard]] bool agrees(const RayStory& story) const {
    const reference::Ray ray = ray_of(launch().data.rays, story.ray);
    if (story.occlusion) {
      return accelerator_.occluded(ray, nullptr) == (story.misses == 0);
    }
    reference::Hit hit;
    if (!accelerator_.closest(ray, nullptr, hit)) {
      return story.misses == 1;
    }
    if (story.closest_hits != 1) {
      return false;
    }
    const auto t = static_cast<double>(launch().data.events.t[story.end]);
    const double scale = std::max(std::abs(t), static_cast<double>(reference::length(ray.origin)));
    const double tolerance = GetParam().tolerance * scale;
    return std::abs(t - static_cast<double>(hit.t)) <= tolerance &&
           (is_same_primitive(story.end, hit) || meets_captured(ray, story.end, tolerance));
  }

  reference::RenderScene scene_;
  reference::ShaderTable table_;
  reference::Accelerator accelerator_;
  Captured captured_;

 private:
  [[nodiscard]] bool is_same_primitive(std::uint64_t row, const reference::Hit& hit) const {
    const trace::Events& events = launch().data.events;
    const std::uint32_t geometry = events.geometry.empty() ? 0U : events.geometry[row];
    return events.instance[row] == hit.instance && events.primitive[row] == hit.primitive &&
           scene_.blases[scene_.instances[hit.instance].blas].first_geometry + geometry == hit.geometry;
  }
  /// Whether the ray meets the captured primitive at the captured distance: then it and the tracer's hit are tied.
  [[nodiscard]] bool meets_captured(const reference::Ray& ray, std::uint64_t row, double tolerance) const {
    const trace::Events& events = launch().data.events;
    if (events.instance[row] >= scene_.instances.size()) {
      return false;
    }
    const trace::Blas& blas = scene_.blases[scene_.instances[events.instance[row]].blas];
    const std::uint32_t index = events.geometry.empty() ? 0U : events.geometry[row];
    if (index >= blas.geometry_count) {
      return false;
    }
    const trace::Geometry& geometry = scene_.geometries[blas.first_geometry + std::size_t{index}].geometry;
    if (geometry.type != trace::GeometryType::Triangles || events.primitive[row] >= geometry.primitives()) {
      return false;
    }
    const auto corner = [&](std::size_t k) {
      return &geometry.vertices[std::size_t{geometry.indices[std::size_t{events.primitive[row]} * 3 + k]} * 3];
    };
    const auto object = reference::transform_ray(reference::precise_ray(ray.origin, ray.direction),
                                                 accelerator_.instance(events.instance[row]).to_object);
    const auto hit = reference::intersect_triangle(object, corner(0), corner(1), corner(2));
    constexpr double kEdge = 1e-4;
    return hit.valid && hit.u > -kEdge && hit.v > -kEdge && hit.u + hit.v < 1 + kEdge &&
           std::abs(hit.t - static_cast<double>(events.t[row])) <= tolerance;
  }
};

TEST_P(TracerAgreement, SceneIsTheOneGiven) {
  expect_same_scene(captured_.trace.scene, scene_);
}

TEST_P(TracerAgreement, RaysEndWhereTheTracerSaysTheyDo) {
  std::size_t rays = 0;
  std::size_t hits = 0;
  std::size_t shadows = 0;
  std::size_t wrong = 0;
  for (const RayStory& story : tell_rays(launch())) {
    ++rays;
    hits += story.closest_hits;
    shadows += story.occlusion ? 1U : 0U;
    wrong += agrees(story) ? 0U : 1U;
  }
  RecordProperty("rays", std::to_string(rays));
  RecordProperty("wrong", std::to_string(wrong));
  EXPECT_GT(rays, std::size_t{40 * 23 * 2});
  EXPECT_GT(hits, rays / 4);
  EXPECT_LE(static_cast<double>(wrong), GetParam().disagreements * static_cast<double>(rays))
      << wrong << " of " << rays << " rays, " << shadows << " of them shadow rays";
}

/// The comparison can fail: a hit moved by a hundredth of its distance is noticed, and so is a wrong primitive.
TEST_P(TracerAgreement, NoticesWrongHits) {
  trace::Events& events = captured_.trace.launches.at(0).data.events;
  std::size_t noticed_distance = 0;
  std::size_t noticed_instance = 0;
  std::size_t hits = 0;
  for (const RayStory& story : tell_rays(launch())) {
    if (story.closest_hits == 0) {
      continue;
    }
    ++hits;
    const float t = std::exchange(events.t[story.end], events.t[story.end] * 1.01F);
    noticed_distance += agrees(story) ? 0U : 1U;
    events.t[story.end] = t;
    ++events.instance[story.end];
    noticed_instance += agrees(story) ? 0U : 1U;
    --events.instance[story.end];
  }
  EXPECT_GT(noticed_distance, hits * 9 / 10);
  EXPECT_GT(noticed_instance, hits * 9 / 10);
}

/// Every call of an intersection shader is one the tracer could make: the ray comes near the box, the sphere is hit
/// exactly when the shader reports it, at the same distance and from the same side.
TEST_P(TracerAgreement, IntersectionsReportWhatTheTracerComputes) {
  const trace::Events& events = launch().data.events;
  std::size_t calls = 0;
  std::size_t reports = 0;
  for (const RayStory& story : tell_rays(launch())) {
    const reference::PreciseRay ray = [&] {
      const reference::Ray world = ray_of(launch().data.rays, story.ray);
      return reference::precise_ray(world.origin, world.direction);
    }();
    const float t_min = launch().data.rays.t_min[story.ray];
    for (std::size_t i = 0; i < story.during_traversal.size(); ++i) {
      const std::uint64_t row = story.during_traversal[i];
      if (events.kind[row] != trace::EventKind::Intersection) {
        continue;
      }
      ++calls;
      const trace::Instance& instance = scene_.instances.at(events.instance[row]);
      ASSERT_EQ(instance.transform, trace::Instance{}.transform) << "the spheres here are not transformed";
      const std::size_t geometry =
          scene_.blases.at(instance.blas).first_geometry + (events.geometry.empty() ? 0U : events.geometry[row]);
      const float* sphere = &scene_.geometries.at(geometry).spheres.at(std::size_t{events.primitive[row]} * 4);
      const reference::SphereRoot root = reference::intersect_sphere(ray, sphere, t_min, events.t[row]);
      const bool reported = i + 1 < story.during_traversal.size() &&
                            events.kind[story.during_traversal[i + 1]] == trace::EventKind::ReportIntersection;
      ASSERT_EQ(root.found, reported) << "ray " << story.ray << ", instance " << events.instance[row];
      if (reported) {
        ++reports;
        const std::uint64_t report = story.during_traversal[i + 1];
        EXPECT_NEAR(events.t[report], root.t, 1e-6F * std::abs(root.t));
        EXPECT_EQ(events.hit_kind[report], root.hit_kind);
        EXPECT_EQ(events.instance[report], events.instance[row]);
      }
    }
  }
  RecordProperty("calls", std::to_string(calls));
  RecordProperty("reports", std::to_string(reports));
  const bool has_spheres = GetParam().scene != "hall";
  EXPECT_EQ(calls > 0, has_spheres);
  EXPECT_EQ(reports > 0, has_spheres);
}

INSTANTIATE_TEST_SUITE_P(Scenes, TracerAgreement,
                         testing::Values(Case{"one_weekend", kOneWeekend, "one-weekend", {}, 1e-6, 0},
                                         Case{"hall", kMeshViewer, "hall", {"--scene", "hall"}, 1e-5, 0.001},
                                         Case{"cornell",
                                              kMeshViewer,
                                              "cornell:glass_sphere=true",
                                              {"--scene", "cornell:glass_sphere=true"},
                                              1e-5,
                                              0.001}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace rayreplay::test
