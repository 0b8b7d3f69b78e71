#include "sim/workloads/trace_maker.hpp"

#include <utility>

#include "base/error.hpp"
#include "sim/workloads/workload.hpp"

namespace rayreplay::workloads {
namespace {

constexpr float kFarthest = 1e4F;

}  // namespace

TraceMaker::TraceMaker(const std::string& name, std::uint32_t warp_size, std::uint64_t events) {
  if (events > kMaxEvents) {
    throw Error(ErrorKind::Usage,
                {"the workload would be too large", "workload '" + name + "'", std::to_string(events) + " events",
                 "at most " + std::to_string(kMaxEvents), "lower warps, or what each thread does"});
  }
  made_.header.application = "rayreplay workload " + name;
  made_.header.device = "none (synthetic)";
  made_.header.warp_size = warp_size;
  launch_.data.ray_offset.push_back(0);
  launch_.data.event_offset.push_back(0);
}

std::uint16_t TraceMaker::shader(trace::ShaderStage stage, const std::string& name) {
  made_.shaders.push_back({stage, "main", name, {}});
  return static_cast<std::uint16_t>(made_.shaders.size() - 1);
}

std::uint32_t TraceMaker::add_instance(trace::Geometry geometry, std::uint32_t hit_group,
                                       std::array<float, 3> moved_by) {
  trace::Scene& scene = made_.scene;
  scene.blases.push_back({static_cast<std::uint32_t>(scene.geometries.size()), 1});
  scene.geometries.push_back(std::move(geometry));
  trace::Instance instance;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    instance.transform.at(4 * axis + 3) = moved_by.at(axis);
  }
  instance.blas = static_cast<std::uint32_t>(scene.blases.size() - 1);
  instance.hit_group_offset = hit_group;
  scene.instances.push_back(instance);
  return static_cast<std::uint32_t>(scene.instances.size() - 1);
}

std::uint32_t TraceMaker::add_triangles(const std::string& name, const std::vector<std::array<float, 9>>& triangles,
                                        std::uint32_t hit_group, std::array<float, 3> moved_by) {
  trace::Geometry geometry;
  geometry.name = name;
  for (const std::array<float, 9>& corners : triangles) {
    for (std::uint32_t corner = 0; corner < 3; ++corner) {
      geometry.indices.push_back(static_cast<std::uint32_t>(geometry.indices.size()));
    }
    geometry.vertices.insert(geometry.vertices.end(), corners.begin(), corners.end());
  }
  return add_instance(std::move(geometry), hit_group, moved_by);
}

std::uint32_t TraceMaker::add_boxes(const std::string& name, const std::vector<std::array<float, 6>>& boxes) {
  trace::Geometry geometry;
  geometry.type = trace::GeometryType::Boxes;
  geometry.name = name;
  for (const std::array<float, 6>& box : boxes) {
    geometry.boxes.insert(geometry.boxes.end(), box.begin(), box.end());
  }
  return add_instance(std::move(geometry), 0, {0, 0, 0});
}

void TraceMaker::close_thread() {
  if (open_) {
    launch_.data.ray_offset.push_back(launch_.data.rays.size());
    launch_.data.event_offset.push_back(launch_.data.events.size());
    open_ = false;
  }
}

void TraceMaker::thread() {
  close_thread();
  open_ = true;
}

void TraceMaker::event(trace::EventKind kind, std::uint16_t shader, const HitOf& hit, std::uint8_t hit_kind) {
  trace::Events& events = launch_.data.events;
  events.kind.push_back(kind);
  events.shader.push_back(shader);
  events.t.push_back(hit.t);
  events.instance.push_back(hit.instance);
  events.primitive.push_back(hit.primitive);
  events.hit_kind.push_back(hit_kind);
  events.accepted.push_back(0);
}

void TraceMaker::begin(std::uint16_t caller, const RayOf& ray) {
  trace::Rays& rays = launch_.data.rays;
  rays.origin_x.push_back(ray.origin[0]);
  rays.origin_y.push_back(ray.origin[1]);
  rays.origin_z.push_back(ray.origin[2]);
  rays.direction_x.push_back(ray.direction[0]);
  rays.direction_y.push_back(ray.direction[1]);
  rays.direction_z.push_back(ray.direction[2]);
  rays.t_min.push_back(0);
  rays.t_max.push_back(kFarthest);
  rays.flags.push_back(0);
  rays.cull_mask.push_back(0xFF);
  rays.sbt_offset.push_back(0);
  rays.sbt_stride.push_back(0);
  rays.miss_index.push_back(0);
  event(trace::EventKind::Begin, caller, {}, 0);
}

void TraceMaker::intersection(std::uint16_t shader, std::uint32_t instance, std::uint32_t primitive) {
  event(trace::EventKind::Intersection, shader, {instance, primitive, kFarthest}, 0);
}

void TraceMaker::closest_hit(std::uint16_t shader, const HitOf& hit) {
  event(trace::EventKind::ClosestHit, shader, hit, hit.front ? trace::kHitKindFrontFacing : trace::kHitKindBackFacing);
}

void TraceMaker::miss(std::uint16_t shader) {
  event(trace::EventKind::Miss, shader, {}, 0);
}

trace::Trace TraceMaker::finish() {
  close_thread();
  launch_.size = {static_cast<std::uint32_t>(launch_.data.threads()), 1, 1};
  made_.launches.push_back(std::move(launch_));
  return std::move(made_);
}

}  // namespace rayreplay::workloads
