#include "capture/reference/accelerator.hpp"

#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>

#include "base/error.hpp"
#include "capture/reference/texture.hpp"

namespace rayreplay::reference {
namespace {

using trace::EventKind;

constexpr unsigned kFlipFacing = 2;  // VK_GEOMETRY_INSTANCE_TRIANGLE_FLIP_FACING_BIT_KHR
constexpr float kInfinity = std::numeric_limits<float>::infinity();

Transformd invert(const std::array<float, 12>& rows) {
  const Transformd m = as_transform(rows).cast<double>();
  const Vec3d x = m.col(0);
  const Vec3d y = m.col(1);
  const Vec3d z = m.col(2);
  Eigen::Matrix3d adjugate;
  adjugate << y.cross(z).transpose(), z.cross(x).transpose(), x.cross(y).transpose();
  const double determinant = dot(m.row(0), adjugate.col(0));
  Transformd inverse;
  for (Eigen::Index row = 0; row < 3; ++row) {
    for (Eigen::Index column = 0; column < 3; ++column) {
      const double value = adjugate(row, column) / determinant;
      inverse(row, column) = value;
      inverse(row, 3) -= value * m(column, 3);
    }
  }
  return inverse;
}

bool is_identity(const std::array<float, 12>& m) {
  return m == trace::Instance{}.transform;
}

/// Enlarged by a few units in the last place: Embree must visit every box that the exact test accepts, although its own
/// arithmetic on transformed rays and boxes may round the other way.
RTCBounds padded_bounds(const float* box) {
  float largest = 0;
  for (std::size_t i = 0; i < 6; ++i) {
    largest = std::max(largest, std::abs(box[i]));
  }
  const float pad = largest * 0x1p-20F;
  return {box[0] - pad, box[1] - pad, box[2] - pad, 0, box[3] + pad, box[4] + pad, box[5] + pad, 0};
}

}  // namespace

/// One traversal: what the callbacks need besides Embree's own arguments. Embree hands back a pointer to `context`.
struct Accelerator::Traversal {
  Traversal(const Accelerator& accelerator, const Ray& traced, Recorder* events)
      : self(&accelerator), ray(&traced), recorder(events), world(precise_ray(traced.origin, traced.direction)) {
    embree::init_context(context);
  }

  /// The ray in the space of instance `id`.
  const PreciseRay& in_instance(std::uint32_t id) {
    const InstanceRecord& record = self->instances_[id];
    if (record.identity) {
      return world;
    }
    if (object_instance != id) {
      object = transform_ray(world, record.to_object);
      object_instance = id;
    }
    return object;
  }

  embree::Context context{};
  const Accelerator* self;
  const Ray* ray;
  Recorder* recorder;
  PreciseRay world;
  PreciseRay object;
  std::uint32_t object_instance = trace::kNone;
};

struct Accelerator::GeometryRecord {
  const SceneGeometry* geometry = nullptr;
  const ShaderTable::HitGroup* shaders = nullptr;
  std::uint16_t index_in_blas = 0;
};

struct Accelerator::FlatRecord {
  struct Box {
    std::uint32_t instance = 0;
    const GeometryRecord* record = nullptr;
  };
  std::vector<Box> boxes;
};

struct Accelerator::Callbacks {
  static Traversal& traversal(embree::Context* context) {
    static_assert(offsetof(Traversal, context) == 0);
    return *reinterpret_cast<Traversal*>(context);
  }

  /// The intersection shader of a sphere behind its box test, and the any-hit shader behind that.
  static SphereRoot call_intersection(Traversal& traversal, const GeometryRecord& record, std::uint32_t instance,
                                      std::uint32_t primitive, float t_max) {
    const SceneGeometry& geometry = *record.geometry;
    const PreciseRay& ray = traversal.in_instance(instance);
    const float t_min = traversal.ray->t_min;
    if (!meets_box(ray, &geometry.geometry.boxes[std::size_t{primitive} * 6], t_min, t_max)) {
      return {};
    }
    Recorder* const recorder = traversal.recorder;
    const std::uint16_t shader = record.shaders->intersection;
    if (recorder != nullptr) {
      recorder->hit_event(EventKind::Intersection, shader, t_max, instance, record.index_in_blas, primitive, 0);
    }
    const float* const sphere = &geometry.spheres[std::size_t{primitive} * 4];
    const SphereRoot root = intersect_sphere(ray, sphere, t_min, t_max);
    if (!root.found) {
      return {};
    }
    std::size_t report = 0;
    if (recorder != nullptr) {
      report = recorder->hit_event(EventKind::ReportIntersection, shader, root.t, instance, record.index_in_blas,
                                   primitive, root.hit_kind);
    }
    if (!is_opaque_in(traversal, geometry, instance)) {
      const TexturePoint point = sphere_texture_point(sphere_normal(ray, root.t, sphere));
      if (!call_any_hit(traversal, record, instance, primitive, root.t, root.hit_kind, point)) {
        return {};
      }
    }
    if (recorder != nullptr) {
      recorder->accept(report);
    }
    return root;
  }

  static bool is_opaque_in(const Traversal& traversal, const SceneGeometry& geometry, std::uint32_t instance) {
    return is_opaque(traversal.self->scene_->instances[instance], geometry.geometry);
  }

  static bool call_any_hit(Traversal& traversal, const GeometryRecord& record, std::uint32_t instance,
                           std::uint32_t primitive, float t, std::uint8_t hit_kind, TexturePoint point) {
    Recorder* const recorder = traversal.recorder;
    if (recorder != nullptr) {
      recorder->hit_event(EventKind::AnyHit, record.shaders->any_hit, t, instance, record.index_in_blas, primitive,
                          hit_kind);
    }
    if (passes_alpha_test(*traversal.self->scene_, *record.geometry, primitive, point)) {
      return true;
    }
    if (recorder != nullptr) {
      recorder->event(EventKind::IgnoreIntersection, record.shaders->any_hit);
    }
    return false;
  }

  static void store_hit(RTCRayHit& ray, const SphereRoot& root, std::uint32_t geometry, std::uint32_t primitive,
                        std::uint32_t instance) {
    ray.ray.tfar = root.t;
    ray.hit.u = static_cast<float>(root.hit_kind);
    ray.hit.geomID = geometry;
    ray.hit.primID = primitive;
    ray.hit.instID[0] = instance;
  }

  static void intersect_boxes(const RTCIntersectFunctionNArguments* arguments) {
    auto& ray = *reinterpret_cast<RTCRayHit*>(arguments->rayhit);
    const std::uint32_t instance = arguments->context->instID[0];
    const SphereRoot root = call_intersection(traversal(arguments->context),
                                              *static_cast<const GeometryRecord*>(arguments->geometryUserPtr), instance,
                                              arguments->primID, ray.ray.tfar);
    if (root.found) {
      store_hit(ray, root, arguments->geomID, arguments->primID, instance);
    }
  }

  static void occlude_boxes(const RTCOccludedFunctionNArguments* arguments) {
    auto& ray = *reinterpret_cast<RTCRay*>(arguments->ray);
    if (call_intersection(traversal(arguments->context),
                          *static_cast<const GeometryRecord*>(arguments->geometryUserPtr),
                          arguments->context->instID[0], arguments->primID, ray.tfar)
            .found) {
      ray.tfar = -kInfinity;
    }
  }

  static void intersect_flat(const RTCIntersectFunctionNArguments* arguments) {
    auto& ray = *reinterpret_cast<RTCRayHit*>(arguments->rayhit);
    const auto& box = static_cast<const FlatRecord*>(arguments->geometryUserPtr)->boxes[arguments->primID];
    const SphereRoot root =
        call_intersection(traversal(arguments->context), *box.record, box.instance, 0, ray.ray.tfar);
    if (root.found) {
      store_hit(ray, root, arguments->geomID, arguments->primID, RTC_INVALID_GEOMETRY_ID);
    }
  }

  static void occlude_flat(const RTCOccludedFunctionNArguments* arguments) {
    auto& ray = *reinterpret_cast<RTCRay*>(arguments->ray);
    const auto& box = static_cast<const FlatRecord*>(arguments->geometryUserPtr)->boxes[arguments->primID];
    if (call_intersection(traversal(arguments->context), *box.record, box.instance, 0, ray.tfar).found) {
      ray.tfar = -kInfinity;
    }
  }

  static void filter_triangle(const RTCFilterFunctionNArguments* arguments) {
    Traversal& current = traversal(arguments->context);
    const auto& record = *static_cast<const GeometryRecord*>(arguments->geometryUserPtr);
    const std::uint32_t instance = arguments->context->instID[0];
    if (is_opaque_in(current, *record.geometry, instance)) {
      return;
    }
    const auto& embree_hit = *reinterpret_cast<const RTCHit*>(arguments->hit);
    Hit hit;
    hit.instance = instance;
    hit.primitive = embree_hit.primID;
    hit.t = reinterpret_cast<const RTCRay*>(arguments->ray)->tfar;
    hit.u = embree_hit.u;
    hit.v = embree_hit.v;
    refine(current, *record.geometry, hit);
    const TexturePoint point = triangle_texture_point(*record.geometry, hit.primitive, hit.u, hit.v);
    if (!call_any_hit(current, record, instance, hit.primitive, hit.t, hit.hit_kind, point)) {
      arguments->valid[0] = 0;
    }
  }

  /// Replaces what Embree computed for a triangle by exact values (precise.hpp).
  static void refine(Traversal& traversal, const SceneGeometry& geometry, Hit& hit) {
    const auto& mesh = geometry.geometry;
    const std::uint32_t* corner = &mesh.indices[std::size_t{hit.primitive} * 3];
    const TriangleHit exact =
        intersect_triangle(traversal.in_instance(hit.instance), &mesh.vertices[std::size_t{corner[0]} * 3],
                           &mesh.vertices[std::size_t{corner[1]} * 3], &mesh.vertices[std::size_t{corner[2]} * 3]);
    if (exact.valid) {
      hit.t = std::clamp(static_cast<float>(exact.t), traversal.ray->t_min, traversal.ray->t_max);
      hit.u = std::clamp(static_cast<float>(exact.u), 0.0F, 1.0F);
      hit.v = std::clamp(static_cast<float>(exact.v), 0.0F, 1.0F - hit.u);
    }
    const bool front = exact.front != traversal.self->instances_[hit.instance].flip_facing;
    hit.hit_kind = front ? trace::kHitKindFrontFacing : trace::kHitKindBackFacing;
  }
};

Accelerator::Accelerator(const RenderScene& scene, const ShaderTable& table, AcceleratorOptions options)
    : scene_(&scene), table_(&table) {
  for (const auto& instance : scene.instances) {
    InstanceRecord record;
    record.identity = is_identity(instance.transform);
    record.to_object = invert(instance.transform);
    record.flip_facing = (instance.flags & kFlipFacing) != 0;
    record.first_geometry = scene.blases.at(instance.blas).first_geometry;
    instances_.push_back(record);
  }
  device_ = rtcNewDevice("max_isa=avx2,ignore_config_files=1");
  if (device_ == nullptr) {
    throw Error(ErrorKind::Resource, {"Embree did not start", "", "", "a processor with SSE2", ""});
  }
  // An arena of one thread: see the contract.
  oneapi::tbb::task_arena one_thread(1);
  one_thread.execute([&] {
    build_blases();
    build_top(options);
  });
  require_no_error("building the acceleration structure");
}

Accelerator::~Accelerator() {
  if (top_ != nullptr) {
    rtcReleaseScene(top_);
  }
  for (RTCScene blas : blases_) {
    rtcReleaseScene(blas);
  }
  rtcReleaseDevice(device_);
}

void Accelerator::require_no_error(const char* where) const {
  const RTCError error = rtcGetDeviceError(device_);
  if (error == RTC_ERROR_NONE) {
    return;
  }
  const bool memory = error == RTC_ERROR_OUT_OF_MEMORY;
  throw Error(memory ? ErrorKind::Resource : ErrorKind::Internal,
              {memory ? "not enough memory for the acceleration structure" : "Embree failed", where,
               "Embree error " + std::to_string(static_cast<int>(error)), "", memory ? "use a smaller scene" : ""});
}

void Accelerator::build_blases() {
  std::vector<bool> calls_any_hit(scene_->geometries.size(), false);
  for (const auto& instance : scene_->instances) {
    const auto& blas = scene_->blases[instance.blas];
    for (std::uint32_t i = 0; i < blas.geometry_count; ++i) {
      const std::size_t geometry = std::size_t{blas.first_geometry} + i;
      calls_any_hit[geometry] = calls_any_hit[geometry] || !is_opaque(instance, scene_->geometries[geometry].geometry);
    }
  }
  geometries_.resize(scene_->geometries.size());
  for (const auto& blas : scene_->blases) {
    RTCScene structure = rtcNewScene(device_);
    blases_.push_back(structure);
    rtcSetSceneFlags(structure, RTC_SCENE_FLAG_ROBUST);
    for (std::uint32_t i = 0; i < blas.geometry_count; ++i) {
      const std::size_t index = std::size_t{blas.first_geometry} + i;
      const SceneGeometry& geometry = scene_->geometries[index];
      auto record = std::make_unique<GeometryRecord>(
          GeometryRecord{&geometry, &table_->groups[index], static_cast<std::uint16_t>(i)});
      const auto count = static_cast<unsigned>(geometry.geometry.primitives());
      RTCGeometry made = nullptr;
      if (geometry.geometry.type == trace::GeometryType::Boxes) {
        made = rtcNewGeometry(device_, RTC_GEOMETRY_TYPE_USER);
        rtcSetGeometryUserPrimitiveCount(made, count);
        rtcSetGeometryBoundsFunction(
            made,
            [](const RTCBoundsFunctionArguments* arguments) {
              const auto& boxes = static_cast<const GeometryRecord*>(arguments->geometryUserPtr)->geometry->geometry;
              *arguments->bounds_o = padded_bounds(&boxes.boxes[std::size_t{arguments->primID} * 6]);
            },
            nullptr);
        rtcSetGeometryIntersectFunction(made, Callbacks::intersect_boxes);
        rtcSetGeometryOccludedFunction(made, Callbacks::occlude_boxes);
      } else {
        made = rtcNewGeometry(device_, RTC_GEOMETRY_TYPE_TRIANGLE);
        const auto& mesh = geometry.geometry;
        void* vertices = rtcSetNewGeometryBuffer(made, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, 3 * sizeof(float),
                                                 mesh.vertices.size() / 3);
        void* indices =
            rtcSetNewGeometryBuffer(made, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, 3 * sizeof(std::uint32_t), count);
        require_no_error("copying a mesh");
        std::memcpy(vertices, mesh.vertices.data(), mesh.vertices.size() * sizeof(float));
        std::memcpy(indices, mesh.indices.data(), mesh.indices.size() * sizeof(std::uint32_t));
        if (calls_any_hit[index]) {
          rtcSetGeometryIntersectFilterFunction(made, Callbacks::filter_triangle);
          rtcSetGeometryOccludedFilterFunction(made, Callbacks::filter_triangle);
        }
      }
      rtcSetGeometryUserData(made, record.get());
      rtcCommitGeometry(made);
      rtcAttachGeometryByID(structure, made, i);
      rtcReleaseGeometry(made);
      geometries_[index] = std::move(record);
    }
    rtcCommitScene(structure);
  }
}

void Accelerator::build_top(AcceleratorOptions options) {
  top_ = rtcNewScene(device_);
  rtcSetSceneFlags(top_, RTC_SCENE_FLAG_ROBUST);
  flat_ = std::make_unique<FlatRecord>();
  for (std::uint32_t id = 0; id < instances_.size(); ++id) {
    const auto& instance = scene_->instances[id];
    if (instance.mask == 0) {
      continue;  // no cull mask sees it; the application's masks see all other instances
    }
    const auto& blas = scene_->blases[instance.blas];
    const auto& first = scene_->geometries[blas.first_geometry].geometry;
    if (options.flatten && instances_[id].identity && blas.geometry_count == 1 &&
        first.type == trace::GeometryType::Boxes && first.primitives() == 1) {
      flat_->boxes.push_back({id, geometries_[blas.first_geometry].get()});
      continue;
    }
    RTCGeometry geometry = rtcNewGeometry(device_, RTC_GEOMETRY_TYPE_INSTANCE);
    rtcSetGeometryInstancedScene(geometry, blases_[instance.blas]);
    rtcSetGeometryTransform(geometry, 0, RTC_FORMAT_FLOAT3X4_ROW_MAJOR, instance.transform.data());
    rtcCommitGeometry(geometry);
    rtcAttachGeometryByID(top_, geometry, id);
    rtcReleaseGeometry(geometry);
  }
  if (!flat_->boxes.empty()) {
    attach_flat(top_, static_cast<std::uint32_t>(instances_.size()));
  }
  rtcCommitScene(top_);
}

void Accelerator::attach_flat(RTCScene top, std::uint32_t geometry_id) {
  RTCGeometry geometry = rtcNewGeometry(device_, RTC_GEOMETRY_TYPE_USER);
  rtcSetGeometryUserPrimitiveCount(geometry, static_cast<unsigned>(flat_->boxes.size()));
  rtcSetGeometryUserData(geometry, flat_.get());
  rtcSetGeometryBoundsFunction(
      geometry,
      [](const RTCBoundsFunctionArguments* arguments) {
        const auto& box = static_cast<const FlatRecord*>(arguments->geometryUserPtr)->boxes[arguments->primID];
        *arguments->bounds_o = padded_bounds(box.record->geometry->geometry.boxes.data());
      },
      nullptr);
  rtcSetGeometryIntersectFunction(geometry, Callbacks::intersect_flat);
  rtcSetGeometryOccludedFunction(geometry, Callbacks::occlude_flat);
  rtcCommitGeometry(geometry);
  rtcAttachGeometryByID(top, geometry, geometry_id);
  rtcReleaseGeometry(geometry);
}

namespace {

RTCRay embree_ray(const Ray& ray) {
  RTCRay result{};
  result.org_x = ray.origin.x();
  result.org_y = ray.origin.y();
  result.org_z = ray.origin.z();
  result.tnear = ray.t_min;
  result.dir_x = ray.direction.x();
  result.dir_y = ray.direction.y();
  result.dir_z = ray.direction.z();
  result.tfar = ray.t_max;
  result.mask = 0xFFFF'FFFFU;
  return result;
}

}  // namespace

bool Accelerator::closest(const Ray& ray, Recorder* recorder, Hit& hit) const {
  Traversal traversal(*this, ray, recorder);
  RTCRayHit embree{};
  embree.ray = embree_ray(ray);
  embree.hit.geomID = RTC_INVALID_GEOMETRY_ID;
  embree.hit.instID[0] = RTC_INVALID_GEOMETRY_ID;
  embree::intersect(top_, traversal.context, embree);
  if (embree.hit.geomID == RTC_INVALID_GEOMETRY_ID) {
    return false;
  }
  hit = Hit{};
  hit.t = embree.ray.tfar;
  if (embree.hit.instID[0] == RTC_INVALID_GEOMETRY_ID) {
    const auto& box = flat_->boxes[embree.hit.primID];
    hit.instance = box.instance;
    hit.geometry = instances_[hit.instance].first_geometry;
    hit.hit_kind = static_cast<std::uint8_t>(embree.hit.u);
    return true;
  }
  hit.instance = embree.hit.instID[0];
  hit.geometry = instances_[hit.instance].first_geometry + embree.hit.geomID;
  hit.primitive = embree.hit.primID;
  const SceneGeometry& geometry = scene_->geometries[hit.geometry];
  if (geometry.geometry.type == trace::GeometryType::Boxes) {
    hit.hit_kind = static_cast<std::uint8_t>(embree.hit.u);
  } else {
    hit.u = embree.hit.u;
    hit.v = embree.hit.v;
    Callbacks::refine(traversal, geometry, hit);
  }
  return true;
}

bool Accelerator::occluded(const Ray& ray, Recorder* recorder) const {
  Traversal traversal(*this, ray, recorder);
  RTCRay embree = embree_ray(ray);
  embree::occluded(top_, traversal.context, embree);
  return embree.tfar < 0;
}

std::string embree_version() {
  return RTC_VERSION_STRING;
}

std::string embree_isa() {
#if defined(__x86_64__) || defined(__i386__)
  if (static_cast<bool>(__builtin_cpu_supports("avx2"))) {
    return "avx2";
  }
  if (static_cast<bool>(__builtin_cpu_supports("avx"))) {
    return "avx";
  }
  return static_cast<bool>(__builtin_cpu_supports("sse4.2")) ? "sse4.2" : "sse2";
#else
  return "native";
#endif
}

}  // namespace rayreplay::reference
