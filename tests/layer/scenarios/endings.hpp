// Programs that end before they trace rays, or that never do.
#pragma once

#include <string>

namespace scenario {

/// An instance and no device.
void no_device();
/// A device without ray tracing.
void plain_device();
/// A device and a shader for ray queries. with_pipelines: the device could trace with ray-tracing pipelines too.
void ray_queries(bool with_pipelines);

}  // namespace scenario
