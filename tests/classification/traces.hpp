// Traces for the tests of this folder, made once each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capture/trace/trace.hpp"

namespace rayreplay::test {

/// Of the built-in tracer: spheres and triangles, opaque and perforated, under turned and mirrored instances.
/// `integrator`: "path" (with shadow rays) or "ao".
[[nodiscard]] trace::Trace mixed_trace(std::uint64_t seed, const std::string& integrator);
[[nodiscard]] trace::Trace sphere_trace(std::uint64_t seed);

/// Rays that start on or in boxes of turned and scaled instances, with t_min about where they leave them; each tests
/// that box and two others. Half of them hit one.
[[nodiscard]] trace::Trace leaving_trace(std::uint64_t seed);

/// tests/data/h200/*.rrt
[[nodiscard]] const std::vector<std::string>& captures();
[[nodiscard]] trace::Trace load_capture(const std::string& name);

}  // namespace rayreplay::test
