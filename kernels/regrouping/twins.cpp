// Segments, reorder keys and static schedules of scheduler-models/regrouping/ on a device.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/huge_pages.hpp"
#include "kernels/arithmetic/arithmetic_check.hpp"
#include "kernels/regrouping/keys.hpp"
#include "kernels/regrouping/places.hpp"
#include "kernels/regrouping/rounds.hpp"
#include "kernels/regrouping/segments.hpp"
#include "kernels/twins.hpp"
#include "scheduler-models/regrouping/regroup.hpp"
#include "scheduler-models/regrouping/reorder_key.hpp"
#include "scheduler-models/regrouping/units.hpp"

namespace rayreplay::kernels {
namespace {

using scheduler::KeyParts;
using scheduler::PlanContext;
using scheduler::Regrouping;
using scheduler::SegmentSchedule;
using scheduler::SpatialKey;
using Keys = trace::Column<std::uint64_t>;

void check_size(const trace::Launch& launch) {
  if (!can_cut(launch)) {
    throw NoKernel{"segments are numbered with 32 bits on the device"};
  }
}

scheduler::Segments cut(Device& device, trace::AcceleratedLaunch* launch, const scheduler::Cut& where) {
  check_size(launch->launch());
  Stream stream(device);
  auto there = std::make_shared<SegmentsOnDevice>(cut_paths(device, stream, on_devices(*launch), where));
  scheduler::Segments segments;
  segments.most_of_a_thread = there->most_of_a_thread;
  segments.event_offset.resize(there->size + 1);
  prefer_huge_pages(segments.event_offset);
  segments.first.resize(there->threads + 1);
  prefer_huge_pages(segments.first);
  segments.bounce.resize(there->size);
  prefer_huge_pages(segments.bounce);
  stream.download_array(there->event_offset, segments.event_offset);
  stream.download_array(there->first, segments.first);
  stream.download_array(there->bounce, segments.bounce);
  stream.wait();
  segments.on_device = std::move(there);
  return segments;
}

bool has_keys(Device& device, const KeyParts& parts) {
  return parts.spatial == SpatialKey::None || (device.info().has.float64 && doubles_are_exact(device));
}

/// Requires `has_keys`.
Buffer keys_on(Device& device, Stream& stream, const PlanContext& context, const SegmentsOnDevice& segments,
               const KeyParts& parts) {
  using From = scheduler::HintPlace::From;
  LaunchOnDevice& launch = on_devices(*context.on_device);
  const scheduler::HintPlace place =
      parts.hint_bits > 0 ? scheduler::find_hints(context.launch, parts.hint, context.hints) : scheduler::HintPlace{};
  KeySpec spec;
  spec.shader_bits = parts.shader_bits;
  spec.hint_width = place.bits;
  Buffer given;
  if (place.from == From::Captured && place.bits == 0) {
    spec.hint_width = widest_hint(device, stream, launch);
  }
  if (place.from == From::Made) {
    const scheduler::Hints hints =
        scheduler::make_hints(context.trace, context.launch, context.segments, parts.hint, context.hints);
    context.on_device->accelerator().note_cpu("hints", "formulas and files are read on the processor");
    spec.hint_width = hints.bits;
    given = device.allocate_array<std::uint32_t>(hints.value.size(), "hints of segments");
    stream.upload_array(given, hints.value);
    spec.given = &given;
  }
  spec.hint_bits = std::min(parts.hint_bits, spec.hint_width);
  spec.place_bits = scheduler::place_bits(parts, spec.hint_bits);
  Buffer keys = make_keys(device, stream, launch, segments, spec);
  if (parts.spatial != SpatialKey::None) {
    scheduler::check_rays(context.launch);
    const Place at = parts.spatial == SpatialKey::Hit ? Place::Hit : Place::Ray;
    const PlaceBox box = find_box(device, stream, launch, segments, at);
    if (parts.spatial == SpatialKey::Hit) {
      scheduler::check_hits(context.launch, box.any_hit);
    }
    add_places(device, stream, launch, segments, at, parts.spatial_bits, box, keys);
  }
  if (spec.given != nullptr) {
    stream.wait();
  }
  return keys;
}

Keys reorder_keys(Device& device, const PlanContext& context, const KeyParts& parts) {
  if (!has_keys(device, parts)) {
    throw NoKernel{"places need doubles, which the device lacks or rounds differently from the processor"};
  }
  check_size(context.launch);
  Stream stream(device);
  const auto segments = segments_on(device, stream, context.segments);
  const Buffer there = keys_on(device, stream, context, *segments, parts);
  Keys keys(context.segments.size());
  prefer_huge_pages(keys);
  stream.download_array(there, keys);
  stream.wait();
  return keys;
}

SegmentSchedule regroup(Device& device, const PlanContext& context, const Keys* given,
                        const std::optional<KeyParts>& parts, const Regrouping& regrouping) {
  check_size(context.launch);
  Keys made;
  if (parts && !has_keys(device, *parts)) {
    made = scheduler::reorder_keys(context, *parts);
    given = &made;
  }
  const scheduler::Units units = scheduler::make_units(context, regrouping);
  Stream stream(device);
  const auto segments = segments_on(device, stream, context.segments);
  std::optional<Buffer> keys;
  if (given != nullptr) {
    keys = device.allocate_array<std::uint64_t>(given->size(), "reorder keys");
    stream.upload_array(*keys, *given);
  } else if (parts) {
    keys = keys_on(device, stream, context, *segments, *parts);
  }
  const auto& order = context.order.thread_at;
  const Buffer thread_at = device.allocate_array<std::uint32_t>(order.size(), "threads by place");
  stream.upload_array(thread_at, order);
  RoundsSpec spec;
  spec.warp_size = context.order.warp_size;
  spec.split_keys = regrouping.split_keys;
  spec.keep_lanes = regrouping.keep_lanes;
  spec.only_if_fewer = regrouping.only_if_fewer;
  spec.warps = units.warps;
  spec.unit_begin = units.begin;
  auto there = std::make_shared<ScheduleOnDevice>(
      schedule_rounds(device, stream, *segments, keys ? &*keys : nullptr, thread_at, spec));
  SegmentSchedule schedule;
  schedule.warp_size = there->warp_size;
  schedule.segment_at.resize(there->warps * there->warp_size);
  prefer_huge_pages(schedule.segment_at);
  schedule.moved.resize(there->warps);
  stream.download_array(there->segment_at, schedule.segment_at);
  stream.download_array(there->moved, schedule.moved);
  schedule.round_begin.assign(there->round_begin.begin(), there->round_begin.end());
  schedule.unit_begin.assign(there->unit_begin.begin(), there->unit_begin.end());
  for (const std::uint32_t unit : there->unit) {
    schedule.unit_sm.push_back(units.sm[unit]);
  }
  schedule.spread = regrouping.scope == scheduler::Scope::Launch;
  schedule.sm_source = units.source;
  stream.wait();
  schedule.on_device = std::move(there);
  return schedule;
}

const decltype(scheduler::cut_paths_twin)::Registrar kCutTwin(scheduler::cut_paths_twin,
                                                              {.run = first_device(cut), .only_first = true});
const decltype(scheduler::reorder_keys_twin)::Registrar kKeysTwin(scheduler::reorder_keys_twin,
                                                                  {.run = first_device(reorder_keys),
                                                                   .only_first = true});
const decltype(scheduler::regroup_twin)::Registrar kRegroupTwin(scheduler::regroup_twin,
                                                                {.run = first_device(regroup), .only_first = true});

}  // namespace
}  // namespace rayreplay::kernels
