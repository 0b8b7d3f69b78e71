// The pipeline as a ray-generation shader sees it: trace calls.
//
// Contract: one Pipeline per worker. `trace` is a trace call without SkipClosestHit: it records Begin, what traversal
// calls, and then ClosestHit (true) or Miss (false). `occluded` is a shadow ray: SkipClosestHit and
// TerminateOnFirstHit; it records OcclusionBegin, traversal, and Miss if nothing is in the way. The Opaque flag is set
// when nothing in the scene calls an any-hit shader. With a null recorder results are the same and nothing is recorded.
#pragma once

#include <cstdint>

#include "capture/reference/accelerator.hpp"
#include "capture/reference/lights.hpp"
#include "capture/reference/recorder.hpp"
#include "capture/reference/shader_table.hpp"

namespace rayreplay::reference {

/// Settings that the application passes to its ray-generation shader, the same for all threads.
struct PipelineSettings {
  std::uint32_t depth = 16;
  bool next_event = false;
  float t_min = 0;
  float t_max = 0;
};

class Pipeline {
 public:
  Pipeline(const Accelerator& accelerator, const ShaderTable& table, const Lights& lights,
           const PipelineSettings& settings, Recorder* recorder)
      : accelerator_(&accelerator), table_(&table), lights_(&lights), settings_(settings), recorder_(recorder) {}

  bool trace(const Ray& ray, Hit& hit);
  [[nodiscard]] bool occluded(const Ray& ray);

  [[nodiscard]] const Accelerator& accelerator() const {
    return *accelerator_;
  }
  [[nodiscard]] const RenderScene& scene() const {
    return accelerator_->scene();
  }
  [[nodiscard]] const Lights& lights() const {
    return *lights_;
  }
  [[nodiscard]] const PipelineSettings& settings() const {
    return settings_;
  }
  /// Trace calls so far.
  [[nodiscard]] std::uint64_t rays() const {
    return rays_;
  }
  [[nodiscard]] std::uint64_t occlusion_rays() const {
    return occlusion_rays_;
  }

 private:
  [[nodiscard]] std::uint16_t opaque_flag() const {
    return table_->all_opaque ? trace::kRayFlagOpaque : 0;
  }

  const Accelerator* accelerator_;
  const ShaderTable* table_;
  const Lights* lights_;
  PipelineSettings settings_;
  Recorder* recorder_;
  std::uint64_t rays_ = 0;
  std::uint64_t occlusion_rays_ = 0;
};

}  // namespace rayreplay::reference
