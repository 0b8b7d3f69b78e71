// Ray-tracing pipelines: instrumented stages, group handles, stack sizes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <vulkan/vulkan.h>

#include "capture/instrument/instrument.hpp"
#include "capture/spool/format.hpp"

namespace rayreplay::layer {

/// A pipeline as the layer knows it; immutable once its creation has completed.
struct PipelineRecord {
  std::uint32_t number = spool::kNone;  ///< as in the spool
  VkPipeline handle = VK_NULL_HANDLE;
  VkPipelineLayout layout = VK_NULL_HANDLE;
  std::vector<spool::Group> groups;          ///< handles included, unless it is a library
  std::vector<instrument::TraceSite> sites;  ///< of all its shaders
  bool instrumented = false;
  bool dynamic_stack = false;
  std::uint32_t needed_stack = 0;  ///< the specification's default for this (instrumented) pipeline
};

}  // namespace rayreplay::layer
