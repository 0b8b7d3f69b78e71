#include "capture/reference/recorder.hpp"

namespace rayreplay::reference {

void Recorder::grow_rays() {
  resize_rays(std::max(kFirstCapacity, 2 * rays_));
}

void Recorder::grow_events() {
  resize_events(std::max(kFirstCapacity, 2 * events_));
}

void Recorder::resize_rays(std::size_t rows) {
  auto& rays = data_.rays;
  for (auto* column : {&rays.origin_x, &rays.origin_y, &rays.origin_z, &rays.direction_x, &rays.direction_y,
                       &rays.direction_z, &rays.t_min, &rays.t_max}) {
    column->resize(rows);
  }
  for (auto* column : {&rays.flags, &rays.miss_index}) {
    column->resize(rows);
  }
  for (auto* column : {&rays.cull_mask, &rays.sbt_offset, &rays.sbt_stride}) {
    column->resize(rows);
  }
  ray_capacity_ = rows;
}

void Recorder::resize_events(std::size_t rows) {
  auto& events = data_.events;
  events.kind.resize(rows);
  events.shader.resize(rows);
  events.t.resize(rows);
  events.instance.resize(rows);
  events.primitive.resize(rows);
  events.hit_kind.resize(rows);
  events.accepted.resize(rows);
  if (with_geometry_) {
    events.geometry.resize(rows);
  }
  event_capacity_ = rows;
}

}  // namespace rayreplay::reference
