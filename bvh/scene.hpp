// A traced scene, prepared for building: active primitives and instances, their boxes and transforms.
//
// Contract: `prepare_scene` examines one top-level structure of a trace's scene and decides by the Vulkan specification
// which parts are active. Inactive parts are counted in `ignored`: triangles with a vertex that is NaN or infinite or
// an index out of range; boxes with a NaN, an infinity, or low > high; instances whose structure has no active
// primitive, whose mask is 0, whose transform is singular or not finite (rays have no image in its space), or whose
// transform is out of range: an entry of its linear part or of the inverse's is above kLargestScale (ray tests with
// arbitrary floats would exceed the range of doubles), or a corner of the transformed box is no finite float. Triangles
// and boxes of zero extent are active. Primitives of a bottom-level structure are numbered densely over its geometries,
// inactive ones included: number = first_primitive[g] + primitive; trees refer to these numbers. Instances have the
// numbers of the trace's events (counted from the structure's first instance). Errors: Missing if the scene was not
// captured; Input if `tlas` or an instance's blas does not exist; Resource for a structure with 2^32 − 1 primitives or
// more. O(primitives + instances), parallel. The scene must outlive the result.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bvh/geometry/box.hpp"
#include "capture/trace/trace.hpp"

namespace rayreplay::bvh {

inline constexpr double kLargestScale = 0x1p72;

struct Ignored {
  std::uint64_t triangles_not_finite = 0;
  std::uint64_t triangles_bad_index = 0;
  std::uint64_t boxes_not_finite = 0;
  std::uint64_t boxes_inverted = 0;
  std::uint64_t instances_singular = 0;
  std::uint64_t instances_out_of_range = 0;
  std::uint64_t instances_masked = 0;
  std::uint64_t instances_empty = 0;

  [[nodiscard]] std::uint64_t total() const {
    return triangles_not_finite + triangles_bad_index + boxes_not_finite + boxes_inverted + instances_singular +
           instances_out_of_range + instances_masked + instances_empty;
  }
  bool operator==(const Ignored&) const = default;
};

struct SceneBlas {
  std::uint32_t first_geometry = 0;
  std::uint32_t geometry_count = 0;
  std::vector<std::uint32_t> first_primitive;  ///< one more than geometries; the last is the number of primitives
  std::uint64_t active = 0;                    ///< primitives
  Box bounds;                                  ///< of active primitives, object space
  bool used = false;                           ///< by an instance of the structure

  [[nodiscard]] std::uint32_t primitives() const {
    return first_primitive.empty() ? 0 : first_primitive.back();
  }
};

struct SceneInstance {
  bool active = false;
  bool identity = false;  ///< exactly
  std::uint32_t blas = 0;
  Transformd to_object;  ///< world to object
  Box world;             ///< contains the transformed bounds, rounded outward
};

struct PreparedScene {
  const trace::Scene* scene = nullptr;
  std::uint32_t first_instance = 0;      ///< row of Scene::instances that is instance 0 of events
  std::vector<SceneInstance> instances;  ///< of the structure
  std::vector<SceneBlas> blases;         ///< all of the scene; unused ones are not examined
  Ignored ignored;                       ///< primitives counted once per structure, not per instance

  [[nodiscard]] const trace::Geometry& geometry(std::uint32_t blas, std::uint32_t index) const {
    return scene->geometries[blases[blas].first_geometry + std::size_t{index}];
  }
  [[nodiscard]] const trace::Instance& source(std::uint32_t instance) const {
    return scene->instances[first_instance + std::size_t{instance}];
  }
  /// (geometry in its blas, primitive) of a dense number. O(log geometries).
  [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> locate(std::uint32_t blas, std::uint32_t number) const;
  /// Box of a primitive; empty if it is inactive.
  [[nodiscard]] Box primitive_box(std::uint32_t blas, std::uint32_t number) const;
};

/// `tlas`: row of Scene::tlases (0 where there are none: all instances).
[[nodiscard]] PreparedScene prepare_scene(const trace::Scene& scene, std::uint32_t tlas, const std::string& name);

/// One line a kind, for display: "12 triangles with a vertex that is not finite". Empty: nothing was ignored.
[[nodiscard]] std::vector<std::string> describe(const Ignored& ignored);

}  // namespace rayreplay::bvh
