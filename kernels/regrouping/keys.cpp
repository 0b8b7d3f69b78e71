#include "kernels/regrouping/keys.hpp"

#include <algorithm>

#include "RegroupKeys.spv.hpp"
#include "RegroupWidest.spv.hpp"
#include "kernels/regrouping/common.hpp"

namespace rayreplay::kernels {
namespace {

using namespace regrouping;

const Shader kKeys{"regroup: keys", kRegroupKeys};
const Shader kWidest{"regroup: widest hint", kRegroupWidest};

}  // namespace

std::uint32_t widest_hint(Device& device, Stream& stream, LaunchOnDevice& launch) {
  const auto& bits = launch.launch().data.rays.hint_bits;
  const Buffer most = device.allocate_array<std::uint32_t>(1, "the widest hint");
  stream.fill(most, 0);
  WidestPush push{};
  push.count = static_cast<std::uint32_t>(bits.size());
  push.bytes = launch.column(device, stream, bits).address();
  push.most = most.address();
  stream.run(device.program(kWidest), groups_of(bits.size(), kPlacesAGroup), push);
  return std::min(read_word(stream, most, 0), 32U);
}

Buffer make_keys(Device& device, Stream& stream, LaunchOnDevice& launch, const SegmentsOnDevice& segments,
                 const KeySpec& spec) {
  const trace::ThreadData& data = launch.launch().data;
  Buffer keys = device.allocate_array<std::uint64_t>(segments.size, "reorder keys");
  KeysPush push{};
  push.threads = static_cast<std::uint32_t>(segments.threads);
  push.shader_bits = spec.shader_bits;
  push.hint_width = spec.hint_width;
  push.hint_bits = spec.hint_bits;
  push.place_bits = spec.place_bits;
  push.kind = launch.column(device, stream, data.events.kind).address();
  push.shader = launch.column(device, stream, data.events.shader).address();
  if (spec.hint_bits > 0 && spec.given != nullptr) {
    push.hint_from = kHintGiven;
    push.value = spec.given->address();
  } else if (spec.hint_bits > 0) {
    push.hint_from = kHintCaptured;
    push.hint = launch.column(device, stream, data.rays.hint).address();
    push.hint_bits_of = launch.column(device, stream, data.rays.hint_bits).address();
    push.ray_offset = launch.column(device, stream, data.ray_offset).address();
    if (!data.events.ray.empty()) {
      push.ray = launch.column(device, stream, data.events.ray).address();
    }
  }
  push.first = segments.first.address();
  push.segment_offset = segments.event_offset.address();
  push.bounce = segments.bounce.address();
  push.keys = keys.address();
  stream.run(device.program(kKeys), groups_of(segments.threads), push);
  return keys;
}

}  // namespace rayreplay::kernels
