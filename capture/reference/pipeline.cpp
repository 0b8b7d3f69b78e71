#include "capture/reference/pipeline.hpp"

namespace rayreplay::reference {

using trace::EventKind;

bool Pipeline::trace(const Ray& ray, Hit& hit) {
  ++rays_;
  if (recorder_ != nullptr) {
    recorder_->begin(EventKind::Begin, table_->ray_generation, ray, {opaque_flag(), table_->sbt_stride, 0});
  }
  if (!accelerator_->closest(ray, recorder_, hit)) {
    if (recorder_ != nullptr) {
      recorder_->event(EventKind::Miss, table_->miss);
    }
    return false;
  }
  if (recorder_ != nullptr) {
    const auto in_blas = static_cast<std::uint16_t>(hit.geometry - accelerator_->instance(hit.instance).first_geometry);
    recorder_->hit_event(EventKind::ClosestHit, table_->groups[hit.geometry].closest_hit, hit.t, hit.instance, in_blas,
                         hit.primitive, hit.hit_kind);
  }
  return true;
}

bool Pipeline::occluded(const Ray& ray) {
  ++occlusion_rays_;
  if (recorder_ != nullptr) {
    const unsigned flags = trace::kRayFlagSkipClosestHit | trace::kRayFlagTerminateOnFirstHit | unsigned{opaque_flag()};
    recorder_->begin(EventKind::OcclusionBegin, table_->ray_generation, ray,
                     {static_cast<std::uint16_t>(flags), table_->sbt_stride, 1});
  }
  const bool blocked = accelerator_->occluded(ray, recorder_);
  if (!blocked && recorder_ != nullptr) {
    recorder_->event(EventKind::Miss, table_->shadow_miss);
  }
  return blocked;
}

}  // namespace rayreplay::reference
