// Packings and the bound (kernels/packing): a launch like Ray Tracing in One Weekend.
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include "base/split_mix.hpp"
#include "bench/gpu/gpu_case.hpp"
#include "bench/simt/synthetic_launch.hpp"
#include "kernels/packing/call_counts.hpp"
#include "kernels/packing/packing.hpp"
#include "scheduler-models/bound.hpp"
#include "scheduler-models/launch_order.hpp"
#include "scheduler-models/packing.hpp"

namespace rayreplay::bench {
namespace {

using kernels::PackingKey;
using kernels::PackingRequest;

constexpr double kEvents = 100e6;
constexpr double kMinEvents = 20'000;
constexpr std::uint32_t kWarpSize = 32;
constexpr std::uint64_t kSeed = 1;
constexpr std::uint32_t kObjects = 485;
constexpr std::uint32_t kBits = 10;

/// A number from 0 to 1.
float share(std::uint64_t stream, std::uint64_t index) {
  constexpr int kFraction = 24;
  return static_cast<float>(split_mix(stream, index) >> (64 - kFraction)) / static_cast<float>(1 << kFraction);
}

/// What packings read beyond the replayer's columns: rays, and the objects met. Threads beside each other meet the same
/// objects first.
void add_rays_and_objects(trace::ThreadData& data) {
  const std::size_t threads = data.threads();
  data.ray_offset.assign(threads + 1, 0);
  for (std::size_t thread = 0; thread < threads; ++thread) {
    const auto* kind = data.events.kind.data();
    const auto begins = std::count_if(kind + data.event_offset[thread], kind + data.event_offset[thread + 1],
                                      [](trace::EventKind k) { return trace::begins_ray(k); });
    data.ray_offset[thread + 1] = data.ray_offset[thread] + static_cast<std::uint64_t>(begins);
  }
  trace::Rays& rays = data.rays;
  std::uint64_t stream = kSeed;
  for (auto* column :
       {&rays.origin_x, &rays.origin_y, &rays.origin_z, &rays.direction_x, &rays.direction_y, &rays.direction_z}) {
    column->resize(data.ray_offset.back());
    ++stream;
    tbb::parallel_for(std::size_t{0}, column->size(),
                      [&](std::size_t row) { (*column)[row] = share(stream, row) - 0.5F; });
  }
  data.events.instance.resize(data.events.size());
  data.events.primitive.resize(data.events.size());
  tbb::parallel_for(std::size_t{0}, threads, [&](std::size_t thread) {
    constexpr std::size_t kAlike = 6;  // of a path's first events
    constexpr std::size_t kNeighbours = 64;
    for (std::size_t row = data.event_offset[thread]; row < data.event_offset[thread + 1]; ++row) {
      const std::size_t depth = row - data.event_offset[thread];
      const std::size_t seen_by = depth < kAlike ? thread / kNeighbours : thread;
      const bool hits = trace::carries_hit(data.events.kind[row]);
      data.events.instance[row] = 0;
      data.events.primitive[row] = hits ? static_cast<std::uint32_t>(split_mix(seen_by, depth) % kObjects) : 0;
    }
  });
}

/// Made once for all cases.
const trace::Launch& launch_of(double scale) {
  static std::map<std::uint64_t, trace::Launch> made;
  const auto events = static_cast<std::uint64_t>(std::max(kEvents * scale, kMinEvents));
  const auto found = made.find(events);
  if (found != made.end()) {
    return found->second;
  }
  trace::Launch launch = make_launch(Workload::Weekend, events, kSeed).launch;
  add_rays_and_objects(launch.data);
  return made.emplace(events, std::move(launch)).first->second;
}

struct Setting {
  const char* spec;
  PackingRequest request;
};

const std::vector<Setting>& settings() {
  static const std::vector<Setting> all{
      {"numrays", {.key = PackingKey::RayCount}},
      {"tiled-numrays", {.key = PackingKey::RayCount, .tiled = true}},
      {"objects", {.key = PackingKey::Objects}},
      {"tiled-objects", {.key = PackingKey::Objects, .tiled = true}},
      {"shader-sequence", {.key = PackingKey::ShaderSequence}},
      {"first-hit-shader", {.key = PackingKey::FirstHitShader}},
      {"random", {.key = PackingKey::Random, .seed = 1}},
      {"origin-morton", {.key = PackingKey::OriginMorton, .bits = kBits}},
      {"origin-hilbert", {.key = PackingKey::OriginHilbert, .bits = kBits}},
      {"direction-hilbert", {.key = PackingKey::DirectionHilbert, .bits = kBits}},
  };
  return all;
}

struct Prepared {
  Prepared(kernels::Device& on, double scale)
      : device(&on),
        launch(launch_of(scale)),
        order(scheduler::LaunchOrders::create("z-order:warp=8x4,tile=16x16").model->assign(launch, kWarpSize)),
        resident(std::make_unique<kernels::LaunchOnDevice>(launch)) {}

  scheduler::Swizzle on_device(const PackingRequest& request) {
    return kernels::pack(*resident, *device, order, request);
  }
  scheduler::Swizzle on_cpu(const char* spec) const {
    return scheduler::Packings::create(spec).model->compute(launch, order);
  }

  kernels::Device* device;
  const trace::Launch& launch;
  scheduler::WarpAssignment order;
  std::unique_ptr<kernels::LaunchOnDevice> resident;
  std::vector<scheduler::Swizzle> found = std::vector<scheduler::Swizzle>(settings().size());
  std::vector<scheduler::Swizzle> expected = std::vector<scheduler::Swizzle>(settings().size());
  scheduler::Bound bound;
  scheduler::CallCounts calls;
};

PreparedCase describe(const Prepared& prepared, const char* what) {
  const auto& data = prepared.launch.data;
  PreparedCase result;
  result.size = fmt::format("{:.3g} M events, {:.3g} M threads{}", static_cast<double>(data.events.size()) / 1e6,
                            static_cast<double>(data.threads()) / 1e6, what);
  result.unit = "events";
  result.items = static_cast<double>(data.events.size());
  return result;
}

void check(const Prepared& prepared, std::size_t i) {
  if (prepared.found[i] != prepared.expected[i]) {
    throw Error(ErrorKind::Internal,
                {"the device's swizzle differs from the processor's", settings()[i].spec, "", "", ""});
  }
}

/// Its columns are on the device; places go up and the swizzle comes down, which the wall clock sees.
PreparedCase prepare_packing(std::size_t i, kernels::Device& device, double scale) {
  auto prepared = std::make_shared<Prepared>(device, scale);
  PreparedCase result = describe(*prepared, "");
  result.device = [prepared, i] { prepared->found[i] = prepared->on_device(settings()[i].request); };
  result.cpu = [prepared, i] { prepared->expected[i] = prepared->on_cpu(settings()[i].spec); };
  result.check = [prepared, i] { check(*prepared, i); };
  return result;
}

PreparedCase prepare_all(kernels::Device& device, double scale) {
  auto prepared = std::make_shared<Prepared>(device, scale);
  PreparedCase result = describe(*prepared, ", upload in the wall clock");
  result.device = [prepared] {
    prepared->resident = std::make_unique<kernels::LaunchOnDevice>(prepared->launch);
    for (std::size_t i = 0; i < settings().size(); ++i) {
      prepared->found[i] = prepared->on_device(settings()[i].request);
    }
  };
  return result;
}

PreparedCase prepare_bound(kernels::Device& device, double scale) {
  auto prepared = std::make_shared<Prepared>(device, scale);
  PreparedCase result = describe(*prepared, ", upload in the wall clock");
  // Kinds once, shaders twice.
  constexpr double kBytes = 5;
  result.least_bytes = kBytes * result.items;
  result.device = [prepared] {
    // The counts are kept with the columns.
    prepared->resident = std::make_unique<kernels::LaunchOnDevice>(prepared->launch);
    prepared->calls = kernels::call_counts(*prepared->resident, *prepared->device);
  };
  result.cpu = [prepared] { prepared->bound = scheduler::lower_bound(prepared->launch, 1); };
  result.check = [prepared] {
    std::uint64_t calls = 0;
    for (std::size_t i = 0; i < prepared->calls.count.size(); ++i) {
      const auto kind = static_cast<trace::EventKind>(i / prepared->calls.shaders);
      calls += trace::is_warp_event(kind) ? prepared->calls.count[i] : 0;
    }
    if (calls != prepared->bound.calls) {
      throw Error(ErrorKind::Internal, {"the device's calls differ from the processor's", "", "", "", ""});
    }
  };
  return result;
}

bool register_all() {
  for (std::size_t i = 0; i < settings().size(); ++i) {
    const GpuCases::Registrar one(
        {fmt::format("packing: {}", settings()[i].spec), kernels::packing_needs(settings()[i].request.key),
         [i](kernels::Device& device, double scale) { return prepare_packing(i, device, scale); }});
  }
  const GpuCases::Registrar all({"packing: these ten", {.float64 = true}, prepare_all});
  const GpuCases::Registrar bound({"packing: calls for the bound", {}, prepare_bound});
  return true;
}
const bool kRegistered = register_all();

}  // namespace
}  // namespace rayreplay::bench
