#include "scheduler-models/regrouping/keys_on_device.hpp"

#include <algorithm>
#include <vector>

#include "base/huge_pages.hpp"
#include "kernels/arithmetic/arithmetic_check.hpp"
#include "kernels/regrouping/places.hpp"
#include "scheduler-models/regrouping/segments_on_device.hpp"

namespace rayreplay::scheduler {

std::string why_no_keys_on_device(const PlanContext& context, const KeyParts& parts) {
  if (context.on_device == nullptr) {
    return {};
  }
  if (parts.spatial != SpatialKey::None) {
    const std::vector<kernels::Device*> devices = context.on_device->accelerator().devices();
    if (!devices.empty() && !(devices.front()->info().has.float64 && kernels::doubles_are_exact(*devices.front()))) {
      return "places take doubles, which the device has not or does not round as the processor does";
    }
  }
  return why_not_on_device(context.launch);
}

kernels::Buffer keys_on(kernels::Device& device, kernels::Stream& stream, const PlanContext& context,
                        const kernels::SegmentsOnDevice& segments, const KeyParts& parts) {
  using From = HintPlace::From;
  const HintPlace place = parts.hint_bits > 0 ? find_hints(context.launch, parts.hint, context.hints) : HintPlace{};
  kernels::KeySpec spec;
  spec.shader_bits = parts.shader_bits;
  spec.hint_width = place.bits;
  kernels::Buffer given;
  if (place.from == From::Captured && place.bits == 0) {
    spec.hint_width = kernels::widest_hint(device, stream, *context.on_device);
  }
  if (place.from == From::Made) {
    const Hints hints = make_hints(context.trace, context.launch, context.segments, parts.hint, context.hints);
    context.on_device->accelerator().note_cpu("hints", "formulas and files are read on the processor");
    spec.hint_width = hints.bits;
    given = device.allocate_array<std::uint32_t>(hints.value.size(), "hints of segments");
    stream.upload_array(given, hints.value);
    spec.given = &given;
  }
  spec.hint_bits = std::min(parts.hint_bits, spec.hint_width);
  spec.place_bits = place_bits(parts, spec.hint_bits);
  kernels::Buffer keys = kernels::make_keys(device, stream, *context.on_device, segments, spec);
  if (parts.spatial != SpatialKey::None) {
    check_rays(context.launch);
    const kernels::Place at = parts.spatial == SpatialKey::Hit ? kernels::Place::Hit : kernels::Place::Ray;
    const kernels::PlaceBox box = kernels::find_box(device, stream, *context.on_device, segments, at);
    if (parts.spatial == SpatialKey::Hit) {
      check_hits(context.launch, box.any_hit);
    }
    kernels::add_places(device, stream, *context.on_device, segments, at, parts.spatial_bits, box, keys);
  }
  if (spec.given != nullptr) {
    stream.wait();
  }
  return keys;
}

trace::Column<std::uint64_t> download_keys(kernels::Device& device, const PlanContext& context, const KeyParts& parts) {
  kernels::Stream stream(device);
  const auto segments = segments_on(device, stream, context.segments);
  const kernels::Buffer on_device = keys_on(device, stream, context, *segments, parts);
  trace::Column<std::uint64_t> keys(context.segments.size());
  prefer_huge_pages(keys);
  stream.download_array(on_device, keys);
  stream.wait();
  return keys;
}

}  // namespace rayreplay::scheduler
