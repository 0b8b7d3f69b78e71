// Pipeline and records of the viewer's scene.
//
// Contract: one hit group for each combination that occurs of geometry type, any-hit shader and, per material, kind;
// every geometry has a record of its own with its group and data. Groups 0 to 2 are ray generation, sky, unoccluded.
#pragma once

#include <vector>

#include "capture/apps/framework/options.hpp"
#include "capture/apps/framework/pipeline.hpp"
#include "capture/apps/framework/shared_resources.hpp"
#include "capture/apps/mesh_viewer/mesh_scene.hpp"

namespace rayreplay::apps {

struct ViewerPipeline {
  PipelineBuilder builder;
  ShaderRecord ray_generation;
  std::vector<ShaderRecord> miss;
  std::vector<ShaderRecord> hit;
};

[[nodiscard]] ViewerPipeline make_viewer_pipeline(const Options& options, const SharedResources& shared,
                                                  const std::vector<GeometryTraits>& traits,
                                                  const std::vector<GeometryRecord>& records);

}  // namespace rayreplay::apps
