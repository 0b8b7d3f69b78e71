#include "kernels/regrouping/places.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>
#include <vector>

#include "RegroupPlaceBox.spv.hpp"
#include "RegroupPlaceKeys.spv.hpp"
#include "kernels/regrouping/common.hpp"

namespace rayreplay::kernels {
namespace {

using namespace regrouping;

const Shader kBox{"regroup: box of places", kRegroupPlaceBox, {.float64 = true}};
const Shader kPlaces{"regroup: places", kRegroupPlaceKeys, {.float64 = true}};

constexpr std::uint32_t kMaxGroups = 1024;

/// The columns' device addresses, and the push constants common to both passes.
std::pair<PlacePush, Buffer> prepare(Device& device, Stream& stream, LaunchOnDevice& launch,
                                     const SegmentsOnDevice& segments, Place place) {
  const trace::ThreadData& data = launch.launch().data;
  const trace::Rays& rays = data.rays;
  PlacePush push{};
  push.threads = static_cast<uint>(segments.threads);
  push.place = place == Place::Hit ? kPlaceHit : kPlaceRay;
  push.kind = launch.column(device, stream, data.events.kind).address();
  push.ray_offset = launch.column(device, stream, data.ray_offset).address();
  if (!data.events.ray.empty()) {
    push.ray = launch.column(device, stream, data.events.ray).address();
  }
  push.first = segments.first.address();
  push.segment_offset = segments.event_offset.address();
  push.bounce = segments.bounce.address();
  std::array<std::uint64_t, 7> columns{};
  std::size_t count = 0;
  for (const auto* column : {&rays.origin_x, &rays.origin_y, &rays.origin_z}) {
    columns.at(count++) = launch.column(device, stream, *column).address();
  }
  for (const auto* column : {&rays.direction_x, &rays.direction_y, &rays.direction_z}) {
    columns.at(count++) = launch.column(device, stream, *column).address();
  }
  columns.at(count) = launch.column(device, stream, data.events.t).address();
  Buffer table = device.allocate_array<std::uint64_t>(columns.size(), "columns of rays");
  stream.upload_array(table, columns);
  push.columns = table.address();
  return {push, std::move(table)};
}

}  // namespace

PlaceBox find_box(Device& device, Stream& stream, LaunchOnDevice& launch, const SegmentsOnDevice& segments,
                  Place place) {
  auto [push, columns] = prepare(device, stream, launch, segments, place);
  push.stride = static_cast<uint>(std::clamp<std::uint64_t>(groups_of(segments.threads), 1, kMaxGroups));
  std::vector<std::uint64_t> parts(std::size_t{push.stride} * kBoxWords);
  const Buffer boxes = device.allocate_array<std::uint64_t>(parts.size(), "boxes of places");
  push.box = boxes.address();
  stream.run(device.program(kBox), push.stride, push);
  stream.download_array(boxes, parts);
  stream.wait();
  PlaceBox box;
  box.low.fill(std::numeric_limits<double>::infinity());
  box.high.fill(-std::numeric_limits<double>::infinity());
  for (std::size_t part = 0; part < parts.size(); part += kBoxWords) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      box.low.at(axis) = std::min(box.low.at(axis), std::bit_cast<double>(parts[part + axis]));
      box.high.at(axis) = std::max(box.high.at(axis), std::bit_cast<double>(parts[part + 3 + axis]));
    }
    box.any_hit = box.any_hit || parts[part + 6] != 0;
  }
  return box;
}

void add_places(Device& device, Stream& stream, LaunchOnDevice& launch, const SegmentsOnDevice& segments, Place place,
                std::uint32_t bits, const PlaceBox& box, const Buffer& keys) {
  auto [push, columns] = prepare(device, stream, launch, segments, place);
  const std::array<double, 6> sides{box.low[0], box.low[1], box.low[2], box.high[0], box.high[1], box.high[2]};
  const Buffer on_device = device.allocate_array<double>(sides.size(), "the box of places");
  stream.upload_array(on_device, sides);
  push.bits = bits;
  push.box = on_device.address();
  push.keys = keys.address();
  stream.run(device.program(kPlaces), groups_of(segments.threads), push);
  stream.wait();  // the uploaded table must live until then
}

}  // namespace rayreplay::kernels
