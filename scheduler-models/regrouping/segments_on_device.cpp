#include "scheduler-models/regrouping/segments_on_device.hpp"

#include <utility>

#include "base/huge_pages.hpp"

namespace rayreplay::scheduler {
namespace {

kernels::PathCut path_cut(const Cut& cut) {
  return {.pending_calls = cut.at == CutAt::PendingCall,
          .every_call = cut.at == CutAt::EveryCall,
          .first_bounce = cut.first_bounce,
          .site = cut.site,
          .captured_only = cut.captured_only,
          .inline_any_hit = cut.inline_any_hit};
}

}  // namespace

std::string why_not_on_device(const trace::Launch& launch) {
  return kernels::can_cut(launch) ? "" : "segments are numbered with 32 bits on the device";
}

Segments cut_on_device(kernels::Device& device, kernels::LaunchOnDevice& launch, const Cut& cut) {
  kernels::Stream stream(device);
  auto cut_there =
      std::make_shared<kernels::SegmentsOnDevice>(kernels::cut_paths(device, stream, launch, path_cut(cut)));
  Segments segments;
  segments.most_of_a_thread = cut_there->most_of_a_thread;
  segments.event_offset.resize(cut_there->size + 1);
  prefer_huge_pages(segments.event_offset);
  segments.first.resize(cut_there->threads + 1);
  prefer_huge_pages(segments.first);
  segments.bounce.resize(cut_there->size);
  prefer_huge_pages(segments.bounce);
  stream.download_array(cut_there->event_offset, segments.event_offset);
  stream.download_array(cut_there->first, segments.first);
  stream.download_array(cut_there->bounce, segments.bounce);
  stream.wait();
  segments.on_device = std::move(cut_there);
  return segments;
}

std::shared_ptr<const kernels::SegmentsOnDevice> segments_on(kernels::Device& device, kernels::Stream& stream,
                                                             const Segments& segments) {
  if (segments.on_device != nullptr && segments.on_device->device == &device) {
    return segments.on_device;
  }
  return std::make_shared<const kernels::SegmentsOnDevice>(kernels::bring_segments(
      device, stream, segments.event_offset, segments.first, segments.bounce, segments.most_of_a_thread));
}

}  // namespace rayreplay::scheduler
