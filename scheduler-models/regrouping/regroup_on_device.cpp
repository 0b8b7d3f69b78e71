// schedule_rounds and schedule_by_key: on the device where there is one to ask.
#include <memory>
#include <optional>
#include <utility>

#include "base/huge_pages.hpp"
#include "kernels/regrouping/rounds.hpp"
#include "scheduler-models/regrouping/device_stage.hpp"
#include "scheduler-models/regrouping/keys_on_device.hpp"
#include "scheduler-models/regrouping/regroup.hpp"
#include "scheduler-models/regrouping/rounds_on_cpu.hpp"
#include "scheduler-models/regrouping/rounds_on_device.hpp"
#include "scheduler-models/regrouping/segments_on_device.hpp"
#include "scheduler-models/regrouping/units.hpp"

namespace rayreplay::scheduler {
namespace {

using Keys = trace::Column<std::uint64_t>;

/// `keys(stream, segments)` returns the buffer, of which `all_the_same` makes none.
template <class MakeKeys>
SegmentSchedule schedule_on(kernels::Device& device, const PlanContext& context, const Regrouping& regrouping,
                            bool all_the_same, const MakeKeys& make_keys) {
  const Units units = make_units(context, regrouping);
  kernels::Stream stream(device);
  const auto segments = segments_on(device, stream, context.segments);
  const kernels::Buffer keys = all_the_same ? kernels::Buffer() : make_keys(stream, *segments);
  const auto& order = context.order.thread_at;
  const kernels::Buffer thread_at = device.allocate_array<std::uint32_t>(order.size(), "threads by place");
  stream.upload_array(thread_at, order);
  kernels::RoundsSpec spec;
  spec.warp_size = context.order.warp_size;
  spec.split_keys = regrouping.split_keys;
  spec.keep_lanes = regrouping.keep_lanes;
  spec.only_if_fewer = regrouping.only_if_fewer;
  spec.warps = units.warps;
  spec.unit_begin = units.begin;
  auto made = std::make_shared<kernels::ScheduleOnDevice>(
      kernels::schedule_rounds(device, stream, *segments, all_the_same ? nullptr : &keys, thread_at, spec));
  SegmentSchedule schedule;
  schedule.warp_size = made->warp_size;
  schedule.segment_at.resize(made->warps * made->warp_size);
  prefer_huge_pages(schedule.segment_at);
  schedule.moved.resize(made->warps);
  stream.download_array(made->segment_at, schedule.segment_at);
  stream.download_array(made->moved, schedule.moved);
  schedule.round_begin.assign(made->round_begin.begin(), made->round_begin.end());
  schedule.unit_begin.assign(made->unit_begin.begin(), made->unit_begin.end());
  for (const std::uint32_t unit : made->unit) {
    schedule.unit_sm.push_back(units.sm[unit]);
  }
  schedule.spread = regrouping.scope == Scope::Launch;
  schedule.sm_source = units.source;
  stream.wait();
  schedule.on_device = std::move(made);
  return schedule;
}

}  // namespace

SegmentSchedule schedule_on_device(kernels::Device& device, const PlanContext& context,
                                   const std::optional<KeyParts>& parts, const Regrouping& regrouping) {
  return schedule_on(device, context, regrouping, !parts,
                     [&](kernels::Stream& stream, const kernels::SegmentsOnDevice& segments) {
                       return keys_on(device, stream, context, segments, *parts);
                     });
}

SegmentSchedule schedule_rounds(const PlanContext& context, const Keys& keys, const Regrouping& regrouping) {
  return run_stage(
      context.on_device, "regroup", why_not_on_device(context.launch),
      [&](kernels::Device& device) {
        return schedule_on(device, context, regrouping, false,
                           [&](kernels::Stream& stream, const kernels::SegmentsOnDevice&) {
                             kernels::Buffer buffer = device.allocate_array<std::uint64_t>(keys.size(), "reorder keys");
                             stream.upload_array(buffer, keys);
                             return buffer;
                           });
      },
      [&] { return rounds_on_cpu(context, keys, regrouping); });
}

SegmentSchedule schedule_by_key(const PlanContext& context, const std::optional<KeyParts>& parts,
                                const Regrouping& regrouping) {
  if (parts && !why_no_keys_on_device(context, *parts).empty()) {
    return schedule_rounds(context, reorder_keys(context, *parts), regrouping);
  }
  return run_stage(
      context.on_device, "regroup", why_not_on_device(context.launch),
      [&](kernels::Device& device) { return schedule_on_device(device, context, parts, regrouping); },
      [&] {
        return rounds_on_cpu(context, parts ? keys_on_cpu(context, *parts) : Keys(context.segments.size(), 0),
                             regrouping);
      });
}

}  // namespace rayreplay::scheduler
