// Where traversals run: on the devices of an Accelerator, or on the processor.
//
// Contract: `trace_where` and `trace_warps_where` give what `on_cpu` gives: the same bits for hits, counters, accesses
// and steps, under the bound on denormals of kernels/traversal/bvh_on_device.hpp. The processor does it without an
// accelerator or a device, where a device fails (kernels/accelerator.hpp), and, noted in the accelerator's records,
// where there is no kernel: logs of tests; layouts but binary, wide-8 and compressed-wide-8; shaders that are neither
// null nor ObservedShaders; Ordered without Bvh::own_boxes; accesses of warps whose stack does not fit on chip. Rays,
// or warps, are divided into contiguous parts, one a device. Questions that ObservedShaders could not answer are
// counted there as if they had been put.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "traversal/traversal.hpp"
#include "traversal/warp_traversal.hpp"

namespace rayreplay::traversal {

enum class DeviceOrder : std::uint8_t { BySlot, NearFirst, Ordered };  ///< of visits; kernels::traversal::Order

[[nodiscard]] TraceResult trace_where(DeviceOrder order, const bvh::Bvh& bvh, std::span<const Ray> rays,
                                      const TraceOptions& options, const std::function<TraceResult()>& on_cpu);

enum class DeviceSchedule : std::uint8_t { IfIf, WhileWhile };  ///< kernels::traversal::Schedule

[[nodiscard]] WarpTraceResult trace_warps_where(DeviceSchedule schedule, const bvh::Bvh& bvh, std::span<const Ray> rays,
                                                std::span<const std::uint64_t> first_ray,
                                                const WarpTraceOptions& options,
                                                const std::function<WarpTraceResult()>& on_cpu);

/// For warp traversals without a kernel: notes so if there is an accelerator.
void note_no_kernel(const WarpTraceOptions& options, const char* name);
void note_no_kernel(const TraceOptions& options, const char* name);

}  // namespace rayreplay::traversal
