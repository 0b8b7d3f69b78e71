// Segments of a launch's paths in device memory: cut on the device, or uploaded.
//
// Contract: the columns of scheduler-models/regrouping/segments.hpp in device memory. LaunchOnDevice keeps the launch's
// columns there. `cut_paths` reads the events' kinds twice, 1 byte an event, and writes 10 bytes a segment and 4 a
// thread; an invocation walks one path, however long. It does not check the launch for data that the cut needs (sites,
// reorder calls): callers do. Limits: less than 2^32 − 2 events and 2^32 − 2 threads (`can_cut`). The host waits once,
// for the number of segments. Errors: DeviceError.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "capture/trace/trace.hpp"
#include "kernels/device/device.hpp"
#include "kernels/launch_on_device.hpp"
#include "scheduler-models/regrouping/segments.hpp"

namespace rayreplay::kernels {

/// The device must outlive it.
struct SegmentsOnDevice {
  Device* device = nullptr;
  Buffer event_offset;  ///< u64, segments + 1
  Buffer first;         ///< u32, threads + 1
  Buffer bounce;        ///< u16 by segment
  std::uint64_t threads = 0;
  std::uint64_t size = 0;
  std::uint32_t most_of_a_thread = 0;
};

[[nodiscard]] bool can_cut(const trace::Launch& launch);

[[nodiscard]] SegmentsOnDevice cut_paths(Device& device, Stream& stream, LaunchOnDevice& launch,
                                         const scheduler::Cut& cut);

/// Uploads; the spans may be freed afterwards.
[[nodiscard]] SegmentsOnDevice bring_segments(Device& device, Stream& stream,
                                              std::span<const std::uint64_t> event_offset,
                                              std::span<const std::uint32_t> first,
                                              std::span<const std::uint16_t> bounce, std::uint32_t most_of_a_thread);

/// The segments in this device's memory: existing ones, or an upload.
[[nodiscard]] std::shared_ptr<const SegmentsOnDevice> segments_on(Device& device, Stream& stream,
                                                                  const scheduler::Segments& segments);

}  // namespace rayreplay::kernels
