// Memory instructions of a captured launch, for tests and benchmarks of caches.
//
// Contract: the first launch of a trace of tests/data/h200 is replayed through a rebuilt structure
// (sim/memory/streams); one stream for each 32 threads in a row, without requests. Deterministic.
#pragma once

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "bvh/bvh.hpp"
#include "capture/trace/reader.hpp"
#include "scheduler-models/warp_assignment.hpp"
#include "sim/memory/streams/launch_source.hpp"

namespace rayreplay::test {

struct CapturedStreams {
  memory::CoalesceOptions coalescing;
  std::vector<memory::WarpStream> warps;
};

/// `name`: of the trace, without ending.
inline CapturedStreams captured_streams(const std::string& name, const std::string& layout = "wide-8",
                                        bool coalesce = true) {
  const trace::Trace trace = trace::load(RAYREPLAY_SOURCE_DIR "/tests/data/h200/" + name + ".rrt");
  const trace::Launch& launch = trace.launches[0];
  const bvh::Bvh structure = bvh::build_bvh(trace.scene, launch.tlas, name, {.layout = layout});
  memory::StreamOptions options;
  options.coalescing.coalesce = coalesce;
  options.coalescing.requests = false;
  std::vector<std::uint32_t> places(launch.data.threads());
  std::iota(places.begin(), places.end(), 0U);
  places.resize((places.size() + options.warp_size - 1) / options.warp_size * options.warp_size, scheduler::kNoThread);
  const auto source = memory::make_launch_source(trace, launch, structure, places, options);
  std::vector<std::uint32_t> items(source->items());
  std::iota(items.begin(), items.end(), 0U);
  CapturedStreams captured{source->coalescing(), std::vector<memory::WarpStream>(items.size())};
  source->generate(items, captured.warps);
  return captured;
}

}  // namespace rayreplay::test
