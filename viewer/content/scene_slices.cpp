// The scene's geometry, and values by primitive of each instance.
#include <array>
#include <string_view>

#include "base/error.hpp"
#include "base/text.hpp"
#include "viewer/content/answers.hpp"
#include "viewer/content/slice.hpp"

namespace rayreplay::viewer {
namespace {

constexpr std::array<Choice, 4> kMetrics{{
    {"closest-hits", "closest hits", "Rays that ended on the face: calls of closest-hit shaders.", false, false},
    {"any-hits", "any-hit calls", "Calls of any-hit shaders for the face.", false, false},
    {"intersections", "intersection calls", "Calls of the intersection shader for the box.", false, false},
    {"shader", "closest-hit shader", "The shader of the face's closest-hit calls; the one of the last call.", false,
     true},
}};

trace::EventKind kind_of(std::string_view metric) {
  return metric == "any-hits"        ? trace::EventKind::AnyHit
         : metric == "intersections" ? trace::EventKind::Intersection
                                     : trace::EventKind::ClosestHit;
}

}  // namespace

std::span<const Choice> face_metrics() {
  return kMetrics;
}

std::string geometry_slice(const trace::Trace& trace, std::uint64_t geometry) {
  if (geometry >= trace.scene.geometries.size()) {
    throw Error(ErrorKind::Usage, {"the scene has no such geometry", "geometry", std::to_string(geometry),
                                   "less than " + std::to_string(trace.scene.geometries.size()), ""});
  }
  const trace::Geometry& one = trace.scene.geometries[geometry];
  Slice slice;
  if (one.type == trace::GeometryType::Triangles) {
    slice.add("vertices", std::span(one.vertices.data(), one.vertices.size()));
    slice.add("indices", std::span(one.indices.data(), one.indices.size()));
  } else {
    slice.add("boxes", std::span(one.boxes.data(), one.boxes.size()));
  }
  return slice.bytes();
}

std::string face_slice(const trace::Trace& trace, const trace::Launch& launch, const std::string& metric) {
  std::vector<std::string> names;
  for (const Choice& choice : kMetrics) {
    names.emplace_back(choice.name);
  }
  if (std::find(names.begin(), names.end(), metric) == names.end()) {
    const std::string near = nearest(metric, names);
    throw Error(ErrorKind::Usage, {"unknown metric", "metric", "'" + metric + "'", "a metric of faces",
                                   near.empty() ? "" : "did you mean '" + near + "'?"});
  }
  const trace::Scene& scene = trace.scene;
  // `first`: the first row of each instance; geometry_rows: that of each geometry of its structure.
  std::vector<std::uint32_t> first;
  std::vector<std::vector<std::uint64_t>> geometry_rows(scene.instances.size());
  std::uint64_t rows = 0;
  for (std::size_t instance = 0; instance < scene.instances.size(); ++instance) {
    first.push_back(static_cast<std::uint32_t>(rows));
    const trace::Blas& blas = scene.blases[scene.instances[instance].blas];
    for (std::uint32_t i = 0; i < blas.geometry_count; ++i) {
      geometry_rows[instance].push_back(rows);
      rows += scene.geometries[blas.first_geometry + i].primitives();
    }
  }
  const bool is_shader = metric == "shader";
  std::vector<float> values(rows, is_shader ? std::numeric_limits<float>::quiet_NaN() : 0.0F);
  const trace::Events& events = launch.data.events;
  const trace::EventKind kind = kind_of(metric);
  const std::uint32_t base = launch.tlas < scene.tlases.size() ? scene.tlases[launch.tlas].first_instance : 0;
  if (!scene.instances.empty() && launch.tlas != trace::kNone) {
    for (std::size_t row = 0; row < events.size(); ++row) {
      if (events.kind[row] != kind) {
        continue;
      }
      const std::uint16_t geometry = events.geometry.empty() ? std::uint16_t{0} : events.geometry[row];
      float& value = values.at(geometry_rows.at(base + events.instance[row]).at(geometry) + events.primitive[row]);
      value = is_shader ? static_cast<float>(events.shader[row]) : value + 1.0F;
    }
  }
  Slice slice;
  float most = 0;
  for (const float value : values) {
    most = std::max(most, value);
  }
  slice.facts = {{"metric", metric}, {"least", 0}, {"most", most}};
  slice.add("first", first);
  slice.add("values", values);
  return slice.bytes();
}

}  // namespace rayreplay::viewer
