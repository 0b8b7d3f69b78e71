// The packings of scheduler-models/packings/, and the calls of its bound, on devices.
#include <functional>
#include <map>
#include <string_view>

#include "kernels/packing/call_counts.hpp"
#include "kernels/packing/packing.hpp"
#include "kernels/twins.hpp"
#include "scheduler-models/bound.hpp"
#include "scheduler-models/packing.hpp"

namespace rayreplay::kernels {
namespace {

using scheduler::Swizzle;
using scheduler::WarpAssignment;
using Request = std::function<PackingRequest(const Parameters&)>;

Request sorted_by(PackingKey key, bool tiled = false) {
  return [=](const Parameters&) { return PackingRequest{.key = key, .tiled = tiled}; };
}
Request sorted_by_with_tiles(PackingKey key) {
  return [=](const Parameters& given) { return PackingRequest{.key = key, .tiled = given.get_bool("tiled")}; };
}
Request in_space(PackingKey key) {
  return [=](const Parameters& given) {
    return PackingRequest{.key = key,
                          .tiled = given.get_bool("tiled"),
                          .ray = static_cast<std::uint64_t>(given.get_int("ray")),
                          .bits = static_cast<std::uint32_t>(given.get_int("bits"))};
  };
}
PackingRequest random(const Parameters& given) {
  return {.key = PackingKey::Random,
          .tiled = given.get_bool("tiled"),
          .seed = static_cast<std::uint64_t>(given.get_int("seed"))};
}

/// Null: the model has no kernel.
const Request* find_request(const ModelOrigin& origin) {
  static const std::map<std::string_view, Request> kRequests{
      {"direction-hilbert", in_space(PackingKey::DirectionHilbert)},
      {"direction-morton", in_space(PackingKey::DirectionMorton)},
      {"first-hit-shader", sorted_by_with_tiles(PackingKey::FirstHitShader)},
      {"numrays", sorted_by(PackingKey::RayCount)},
      {"objects", sorted_by(PackingKey::Objects)},
      {"origin-hilbert", in_space(PackingKey::OriginHilbert)},
      {"origin-morton", in_space(PackingKey::OriginMorton)},
      {"random", random},
      {"shader-sequence", sorted_by_with_tiles(PackingKey::ShaderSequence)},
      {"tiled-numrays", sorted_by(PackingKey::RayCount, true)},
      {"tiled-objects", sorted_by(PackingKey::Objects, true)},
  };
  const auto found = kRequests.find(origin.name);
  return found == kRequests.end() ? nullptr : &found->second;
}

DeviceNeeds needs_of(trace::AcceleratedLaunch*, const WarpAssignment&, const ModelOrigin& origin) {
  const Request* request = find_request(origin);
  return request == nullptr ? DeviceNeeds{} : packing_needs((*request)(origin.parameters).key);
}

Swizzle pack_launch(Device& device, trace::AcceleratedLaunch* launch, const WarpAssignment& assignment,
                    const ModelOrigin& origin) {
  const Request* request = find_request(origin);
  if (request == nullptr) {
    throw NoKernel{origin.name == "identity" ? "identity moves nothing" : "some packings have no kernels"};
  }
  return pack(on_devices(*launch), device, assignment, (*request)(origin.parameters));
}

// A single sort does not gain from several devices.
const decltype(scheduler::packing_twin)::Registrar kPackingTwin(
    scheduler::packing_twin, {.run = first_device(pack_launch), .only_first = true, .needs = needs_of});

const decltype(scheduler::call_counts_twin)::Registrar kCallCountsTwin(
    scheduler::call_counts_twin, {.run = first_device([](Device& device, trace::AcceleratedLaunch* launch) {
                                    return call_counts(on_devices(*launch), device);
                                  }),
                                  .only_first = true});

}  // namespace
}  // namespace rayreplay::kernels
