#include "kernels/packing/call_counts.hpp"

#include <algorithm>
#include <array>

#include "CallCounts.spv.hpp"
#include "ColumnMax16.spv.hpp"
#include "ColumnMax32.spv.hpp"
#include "kernels/packing/packer.hpp"
#include "kernels/packing/packing_types.h"

namespace rayreplay::kernels {
namespace packing {
namespace {

using packing_types::EventPush;

const Shader kMaxOf16{"packing.column_max 16", kColumnMax16};
const Shader kMaxOf32{"packing.column_max 32", kColumnMax32};
const Shader kCounts{"packing.call_counts", kCallCounts};

/// Fills every GPU; more groups would only add more often to the same counts.
constexpr std::uint64_t kMaxGroups = 2048;
/// Events of a piece, so that counts fit 32 bits.
constexpr std::uint64_t kPieceEvents = std::uint64_t{1} << 31;

std::uint32_t groups_for(std::uint64_t entries) {
  const std::uint64_t quads = (entries + 3) / 4;
  return static_cast<std::uint32_t>(std::min((quads + kGroupThreads - 1) / kGroupThreads, kMaxGroups));
}

void find_max(Device& device, Stream& stream, const Shader& shader, const Buffer& column, std::uint64_t entries,
              std::uint64_t to) {
  if (entries == 0) {
    return;
  }
  EventPush push{};
  push.groups = groups_for(entries);
  push.count = entries;
  push.kinds = column.address();
  push.to = to;
  stream.run(device.program(shader), push.groups, push);
}

std::uint64_t pieces_of(std::uint64_t events) {
  return std::max<std::uint64_t>(1, (events + kPieceEvents - 1) / kPieceEvents);
}

}  // namespace

std::uint32_t last_shader(LaunchOnDevice& launch, Device& device, Stream& stream) {
  const auto& column = launch.launch().data.events.shader;
  const Buffer& last = launch.derived(device, stream, "packing.last_shader", [&](Device& on, Stream& with) {
    Buffer result = on.allocate_array<std::uint32_t>(1, "the last shader");
    with.fill(result, 0, 0, sizeof(std::uint32_t));
    find_max(on, with, kMaxOf16, launch.column(on, with, column), column.size(), result.address());
    return result;
  });
  std::array<std::uint32_t, 1> result{};
  stream.download_array(last, result);
  stream.wait();
  return result[0];
}

LastObject last_object(LaunchOnDevice& launch, Device& device, Stream& stream) {
  const auto& events = launch.launch().data.events;
  const Buffer& last = launch.derived(device, stream, "packing.last_object", [&](Device& on, Stream& with) {
    Buffer result = on.allocate_array<std::uint32_t>(2, "the last object");
    with.fill(result, 0, 0, 2 * sizeof(std::uint32_t));
    const std::uint64_t primitive = result.address() + sizeof(std::uint32_t);
    find_max(on, with, kMaxOf32, launch.column(on, with, events.instance), events.instance.size(), result.address());
    find_max(on, with, kMaxOf32, launch.column(on, with, events.primitive), events.primitive.size(), primitive);
    return result;
  });
  std::array<std::uint32_t, 2> result{};
  stream.download_array(last, result);
  stream.wait();
  return {result[0], result[1]};
}

CallCounts count_calls(LaunchOnDevice& launch, Device& device, Stream& stream) {
  const auto& events = launch.launch().data.events;
  CallCounts result;
  if (events.size() == 0) {
    return result;
  }
  result.shaders = last_shader(launch, device, stream) + 1;
  const std::uint64_t bins = result.shaders * trace::kEventKinds;
  const std::uint64_t pieces = pieces_of(events.size());
  const Buffer& counts = launch.derived(device, stream, "packing.call_counts", [&](Device& on, Stream& with) {
    Buffer made = on.allocate_array<std::uint32_t>(bins * pieces, "the counts of calls");
    with.fill(made, 0, 0, bins * pieces * sizeof(std::uint32_t));
    const Buffer& kinds = launch.column(on, with, events.kind);
    const Buffer& shaders = launch.column(on, with, events.shader);
    for (std::uint64_t piece = 0; piece < pieces; ++piece) {
      EventPush push{};
      push.first = piece * kPieceEvents;
      push.count = std::min(kPieceEvents, events.size() - push.first);
      push.groups = groups_for(push.count);
      push.shaders = result.shaders;
      push.bins = static_cast<std::uint32_t>(bins);
      push.kinds = kinds.address();
      push.shader_of = shaders.address();
      push.to = made.address() + piece * bins * sizeof(std::uint32_t);
      with.run(on.program(kCounts), push.groups, push);
    }
    return made;
  });
  std::vector<std::uint32_t> by_piece(bins * pieces);
  stream.download_array(counts, by_piece);
  stream.wait();
  result.count.assign(bins, 0);
  for (std::size_t i = 0; i < by_piece.size(); ++i) {
    result.count[i % bins] += by_piece[i];
  }
  return result;
}

}  // namespace packing

CallCounts call_counts(LaunchOnDevice& launch, Device& device) {
  Stream stream(device);
  return packing::count_calls(launch, device, stream);
}

}  // namespace rayreplay::kernels
