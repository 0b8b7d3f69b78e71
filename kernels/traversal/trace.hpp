// Rays through acceleration structures on a device: hits, counters, access logs, and warps' steps.
//
// Contract: equal bit for bit to traversal::Traversal and traversal::WarpTraversal of the same names, under the bound
// of bvh_on_device.hpp; the structure must be fit. Records (records.h) are the bytes of the rooms' types. Less than
// 2^32 rays in a call. Device memory: 100 bytes a ray, or pieces of the rays where that is too much; logs in pieces of
// at most kLogBytes; `Ordered` 4 KiB a ray and more, in pieces of at most a quarter of the free memory. A first run
// counts the rows of logs, a second writes them. Deterministic for any division of launches. One call at a time per
// device. Errors: DeviceError, std::bad_alloc.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "kernels/device/device.hpp"
#include "kernels/traversal/bvh_on_device.hpp"
#include "kernels/traversal/records.h"

namespace rayreplay::kernels::traversal {

inline constexpr Needs kNeeds{.float64 = true};

enum class Order : std::uint8_t { BySlot, NearFirst, Ordered };

/// Recorded answers of shaders (traversal::ObservedShaders) for all rays of a batch.
struct Answers {
  std::vector<std::uint64_t> ray_of_place;  ///< empty: the place itself
  std::vector<std::uint64_t> offset;
  std::vector<CallRecord> calls;
  std::vector<ReportRecord> reports;
  std::vector<float> t_min;
};

struct TraceInput {
  std::span<const RayRecord> rays;
  std::uint64_t first_place = 0;     ///< place of the first ray among the rays of `answers`
  const Answers* answers = nullptr;  ///< null: every candidate is accepted, boxes report nothing
};

/// Access rows of rays [first, first + ends.size()): those of ray i end at ends[i]. Valid during the call.
using AccessSink =
    std::function<void(std::uint64_t first, std::span<const std::uint64_t> ends, std::span<const AccessRecord> rows)>;

struct TraceOutput {
  std::span<HitRecord> hits;
  std::span<CounterRecord> counters;  ///< empty: not asked for
  AccessSink accesses;                ///< empty: not asked for; pieces come in the order of the rays
  /// Pieces begin at multiples of this many rays.
  std::uint64_t piece = 1;
  std::uint64_t unobserved = 0;  ///< shader calls without a recorded answer
};

void trace(Device& device, const BvhOnDevice& bvh, Order order, const TraceInput& input, TraceOutput& output);

enum class Schedule : std::uint8_t { IfIf, WhileWhile };

struct WarpOutput {
  std::span<HitRecord> hits;
  std::span<CounterRecord> counters;  ///< empty: not asked for
  bool with_steps = false;
  bool with_accesses = false;  ///< implies steps
  std::uint64_t node_steps = 0, node_lanes = 0, leaf_steps = 0, leaf_lanes = 0;
  std::vector<StepRecord> steps;
  std::vector<std::uint32_t> lanes;        ///< rays of the steps' active lanes
  std::vector<std::uint64_t> access_ends;  ///< per active lane
  std::vector<AccessRecord> accesses;
  std::uint64_t unobserved = 0;
};

/// Warp w runs rays [first_ray[w], first_ray[w + 1]) of the batch and has number first_warp + w in the steps. The
/// input's rays are those of all these warps.
void trace_warps(Device& device, const BvhOnDevice& bvh, Schedule schedule, std::uint32_t warp_size,
                 std::uint32_t first_warp, std::span<const std::uint64_t> first_ray, const TraceInput& input,
                 WarpOutput& output);

/// For rays, hits and counters in device memory: measurements, and stages that make rays there. Depth-first orders
/// without answers and logs; no t_min below 0.
struct RaysOnDevice {
  std::uint64_t rays = 0, hits = 0, counters = 0;  ///< addresses; counters 0: not asked for
  std::uint32_t count = 0;
  bool filter = true;  ///< a float test of triangles before the exact one; the same results
};
void trace_on_device(Device& device, Stream& stream, const BvhOnDevice& bvh, Order order, const RaysOnDevice& rays);

}  // namespace rayreplay::kernels::traversal
