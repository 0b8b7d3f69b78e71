// Embree's own traversal of a trace's scene: two levels, robust, any-hit by filter functions, boxes as user geometry.
//
// Contract: `intersect` and `occluded` answer as rtcIntersect1 and rtcOccluded1 for ray `row`, with the candidates'
// shaders asked as a Traversal would. Inactive primitives and instances are left out (Embree leaves out triangles with
// vertices that are not numbers by itself). No ray flags; cull masks are not modelled. Embree 3 and 4.
#pragma once

#include <cstdint>
#include <deque>

#include "capture/reference/embree.hpp"
#include "tests/support/precise_scene.hpp"

namespace rayreplay::test {

class EmbreeScene {
 public:
  explicit EmbreeScene(const PreciseScene& scene, const trace::Scene& source) : source_(&source) {
    device_ = rtcNewDevice(nullptr);
    std::vector<RTCScene> structures;
    for (std::uint32_t blas = 0; blas < source.blases.size(); ++blas) {
      structures.push_back(new_scene());
      for (std::uint32_t g = 0; g < source.blases[blas].geometry_count; ++g) {
        attach(structures.back(), blas, g);
      }
      rtcCommitScene(structures.back());
    }
    top_ = new_scene();
    for (std::uint32_t i = 0; i < source.instances.size(); ++i) {
      if (!scene.prepared().instances[i].active) {
        continue;
      }
      RTCGeometry instance = rtcNewGeometry(device_, RTC_GEOMETRY_TYPE_INSTANCE);
      rtcSetGeometryInstancedScene(instance, structures[source.instances[i].blas]);
      rtcSetGeometryTransform(instance, 0, RTC_FORMAT_FLOAT3X4_ROW_MAJOR, source.instances[i].transform.data());
      rtcCommitGeometry(instance);
      rtcAttachGeometryByID(top_, instance, i);
      rtcReleaseGeometry(instance);
    }
    rtcCommitScene(top_);
    for (RTCScene structure : structures) {
      rtcReleaseScene(structure);
    }
  }
  EmbreeScene(const EmbreeScene&) = delete;
  EmbreeScene& operator=(const EmbreeScene&) = delete;
  ~EmbreeScene() {
    rtcReleaseScene(top_);
    rtcReleaseDevice(device_);
  }

  [[nodiscard]] traversal::Hit intersect(std::size_t row, const traversal::Ray& ray,
                                         const traversal::Shaders& shaders) const {
    Query query(*this, row, ray, shaders);
    RTCRayHit hit{};
    hit.ray = to_embree(ray);
    hit.hit.geomID = RTC_INVALID_GEOMETRY_ID;
    hit.hit.instID[0] = RTC_INVALID_GEOMETRY_ID;
    reference::embree::intersect(top_, query.context, hit);
    if (hit.hit.geomID == RTC_INVALID_GEOMETRY_ID) {
      return {};
    }
    return {.t = hit.ray.tfar,
            .instance = hit.hit.instID[0],
            .geometry = hit.hit.geomID,
            .primitive = hit.hit.primID,
            .u = hit.hit.u,
            .v = hit.hit.v};
  }
  [[nodiscard]] bool occluded(std::size_t row, const traversal::Ray& ray, const traversal::Shaders& shaders) const {
    Query query(*this, row, ray, shaders);
    RTCRay embree = to_embree(ray);
    reference::embree::occluded(top_, query.context, embree);
    return embree.tfar < 0;
  }

 private:
  /// Embree hands back a pointer to `context`, the first member.
  struct Query {
    Query(const EmbreeScene& owner, std::size_t place, const traversal::Ray& traced, const traversal::Shaders& answers)
        : scene(&owner), row(place), ray(&traced), shaders(&answers) {
      reference::embree::init_context(context);
    }
    reference::embree::Context context{};
    const EmbreeScene* scene;
    std::size_t row;
    const traversal::Ray* ray;
    const traversal::Shaders* shaders;
  };
  struct Part {
    std::uint32_t index = 0;
    const trace::Geometry* geometry = nullptr;
  };

  static RTCRay to_embree(const traversal::Ray& ray) {
    RTCRay result{};
    result.org_x = ray.origin[0], result.org_y = ray.origin[1], result.org_z = ray.origin[2];
    result.dir_x = ray.direction[0], result.dir_y = ray.direction[1], result.dir_z = ray.direction[2];
    result.tnear = ray.t_min;
    result.tfar = ray.t_max;
    result.mask = 0xFFFF'FFFFU;
    return result;
  }

  [[nodiscard]] RTCScene new_scene() const {
    RTCScene scene = rtcNewScene(device_);
    rtcSetSceneFlags(scene, RTC_SCENE_FLAG_ROBUST);
    return scene;
  }

  void attach(RTCScene scene, std::uint32_t blas, std::uint32_t index) {
    const trace::Geometry& geometry = source_->geometries[source_->blases[blas].first_geometry + std::size_t{index}];
    parts_.push_back({index, &geometry});
    const bool boxes = geometry.type == trace::GeometryType::Boxes;
    RTCGeometry made = rtcNewGeometry(device_, boxes ? RTC_GEOMETRY_TYPE_USER : RTC_GEOMETRY_TYPE_TRIANGLE);
    rtcSetGeometryUserData(made, &parts_.back());
    if (boxes) {
      rtcSetGeometryUserPrimitiveCount(made, static_cast<unsigned>(geometry.primitives()));
      rtcSetGeometryBoundsFunction(made, bounds, nullptr);
      rtcSetGeometryIntersectFunction(made, intersect_box);
      rtcSetGeometryOccludedFunction(made, occlude_box);
    } else {
      auto* vertices = static_cast<float*>(rtcSetNewGeometryBuffer(made, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3,
                                                                   3 * sizeof(float), geometry.vertices.size() / 3));
      std::ranges::copy(geometry.vertices, vertices);
      auto* indices = static_cast<std::uint32_t*>(rtcSetNewGeometryBuffer(
          made, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, 3 * sizeof(std::uint32_t), geometry.primitives()));
      std::ranges::copy(geometry.indices, indices);
      if (!geometry.opaque) {
        rtcSetGeometryIntersectFilterFunction(made, filter);
        rtcSetGeometryOccludedFilterFunction(made, filter);
      }
    }
    rtcCommitGeometry(made);
    rtcAttachGeometryByID(scene, made, index);
    rtcReleaseGeometry(made);
  }

  /// A little larger: the shader decides, and Embree's rounding must not keep it from doing so.
  static void bounds(const RTCBoundsFunctionArguments* arguments) {
    const float* box =
        &static_cast<const Part*>(arguments->geometryUserPtr)->geometry->boxes[std::size_t{arguments->primID} * 6];
    float largest = 0;
    bool sound = true;
    for (std::size_t i = 0; i < 6; ++i) {
      largest = std::max(largest, std::abs(box[i]));
      sound &= std::isfinite(box[i]) && box[i % 3] <= box[i % 3 + 3];
    }
    const float pad = largest * kBoxPad;
    RTCBounds& result = *arguments->bounds_o;
    result.lower_x = sound ? box[0] - pad : 1, result.upper_x = sound ? box[3] + pad : -1;
    result.lower_y = sound ? box[1] - pad : 1, result.upper_y = sound ? box[4] + pad : -1;
    result.lower_z = sound ? box[2] - pad : 1, result.upper_z = sound ? box[5] + pad : -1;
  }

  static bool hit_box(const Query& query, const Part& part, std::uint32_t primitive, std::uint32_t instance,
                      float t_max, traversal::Report& report) {
    const traversal::Candidate candidate{instance, part.index, primitive};
    report = query.shaders->intersect(query.row, candidate, t_max);
    return report.found &&
           (part.geometry->opaque || query.shaders->accept(query.row, candidate, report.t, report.hit_kind));
  }
  static const Query& query_of(const reference::embree::Context* context) {
    return *reinterpret_cast<const Query*>(context);
  }
  static void intersect_box(const RTCIntersectFunctionNArguments* arguments) {
    auto& ray = *reinterpret_cast<RTCRayHit*>(arguments->rayhit);
    traversal::Report report;
    if (hit_box(query_of(arguments->context), *static_cast<const Part*>(arguments->geometryUserPtr), arguments->primID,
                arguments->context->instID[0], ray.ray.tfar, report)) {
      ray.ray.tfar = report.t;
      ray.hit.geomID = arguments->geomID;
      ray.hit.primID = arguments->primID;
      ray.hit.instID[0] = arguments->context->instID[0];
    }
  }
  static void occlude_box(const RTCOccludedFunctionNArguments* arguments) {
    auto& ray = *reinterpret_cast<RTCRay*>(arguments->ray);
    traversal::Report report;
    if (hit_box(query_of(arguments->context), *static_cast<const Part*>(arguments->geometryUserPtr), arguments->primID,
                arguments->context->instID[0], ray.tfar, report)) {
      ray.tfar = -std::numeric_limits<float>::infinity();
    }
  }
  static void filter(const RTCFilterFunctionNArguments* arguments) {
    const Query& query = query_of(arguments->context);
    const auto& hit = *reinterpret_cast<const RTCHit*>(arguments->hit);
    const traversal::Candidate candidate{hit.instID[0], static_cast<const Part*>(arguments->geometryUserPtr)->index,
                                         hit.primID};
    if (!query.shaders->accept(query.row, candidate, 0, 0)) {
      arguments->valid[0] = 0;
    }
  }

  const trace::Scene* source_;
  RTCDevice device_ = nullptr;
  RTCScene top_ = nullptr;
  std::deque<Part> parts_;
};

}  // namespace rayreplay::test
