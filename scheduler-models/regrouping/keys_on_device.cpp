#include "scheduler-models/regrouping/keys_on_device.hpp"

#include <algorithm>

#include "base/huge_pages.hpp"
#include "scheduler-models/regrouping/segments_on_device.hpp"

namespace rayreplay::scheduler {

std::string why_not_on_device(const trace::Launch& launch, const KeyParts& parts) {
  return parts.spatial == SpatialKey::None
             ? why_not_on_device(launch)
             : "places take 64-bit divisions and roots, which Vulkan does not promise to round correctly";
}

kernels::Buffer keys_on(kernels::Device& device, kernels::Stream& stream, const PlanContext& context,
                        const kernels::SegmentsOnDevice& segments, const KeyParts& parts) {
  using From = HintPlace::From;
  const HintPlace place =
      parts.hint_bits > 0 ? find_hints(context.launch, parts.hint, context.hints) : HintPlace{};
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
  static_cast<void>(place_bits(parts, spec.hint_bits));
  kernels::Buffer keys = kernels::make_keys(device, stream, *context.on_device, segments, spec);
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
