// Packings whose keys are one number a thread.
#include <array>

#include "CurveBounds.spv.hpp"
#include "CurveKeys.spv.hpp"
#include "ThreadKeys.spv.hpp"
#include "kernels/packing/packer.hpp"

namespace rayreplay::kernels::packing {
namespace {

using packing_types::KeyPush;

const Shader kKeysOfThreads{"packing.thread_keys", kThreadKeys};
const Shader kBoundsOfCurve{"packing.curve_bounds", kCurveBounds};
const Shader kKeysOfCurve{"packing.curve_keys", kCurveKeys, {.float64 = true}};

// thread_keys.comp
constexpr std::uint32_t kRayCount = 0;
constexpr std::uint32_t kFirstHit = 1;
constexpr std::uint32_t kRandom = 2;
constexpr std::uint32_t kTile = 3;

constexpr std::uint64_t kAllBits = ~std::uint64_t{0};

void run_keys(Packer& packer, std::uint32_t which, const KeyPush& push) {
  packer.run_items(kKeysOfThreads, push.count, push, std::array{which});
}

/// The least and the greatest coordinates of the ray's origins, on the device.
Buffer bounds_of(Packer& packer, const KeyPush& keys) {
  constexpr std::uint64_t kBytes = 3 * sizeof(std::uint32_t);
  Buffer bounds = packer.device.allocate(2 * kBytes, "the box of the origins");
  packer.stream.fill(bounds, 0xFFFF'FFFFU, 0, kBytes);
  packer.stream.fill(bounds, 0, kBytes, kBytes);
  KeyPush push = keys;
  push.bounds = bounds.address();
  packer.run_items(kBoundsOfCurve, push.count, push);
  return bounds;
}

/// Returns the bits by which to sort.
std::uint64_t curve_keys(Packer& packer, const PackingRequest& request, KeyPush push) {
  const trace::ThreadData& data = packer.launch.launch().data;
  const bool directions = request.key == PackingKey::DirectionMorton || request.key == PackingKey::DirectionHilbert;
  const bool hilbert = request.key == PackingKey::OriginHilbert || request.key == PackingKey::DirectionHilbert;
  const auto column = [&](const trace::Column<float>& origin, const trace::Column<float>& direction) {
    return packer.launch.column(packer.device, packer.stream, directions ? direction : origin).address();
  };
  push.offset = packer.launch.column(packer.device, packer.stream, data.ray_offset).address();
  push.x = column(data.rays.origin_x, data.rays.direction_x);
  push.y = column(data.rays.origin_y, data.rays.direction_y);
  push.z = column(data.rays.origin_z, data.rays.direction_z);
  push.bits = request.bits;
  push.number = request.ray;
  Buffer bounds;
  if (!directions) {
    bounds = bounds_of(packer, push);
    push.bounds = bounds.address();
  }
  packer.run_items(kKeysOfCurve, push.count, push, std::array{directions ? 1U : 0U, hilbert ? 1U : 0U});
  const std::uint32_t axes = directions ? 2 : 3;
  // One bit more marks threads without a place on the curve: at most 64 bits.
  return kAllBits >> (63 - axes * request.bits);
}

}  // namespace

void run_tile_keys(Packer& packer, const KeyPush& push) {
  run_keys(packer, kTile, push);
}

void sort_by_key(Packer& packer, const PackingRequest& request, ThreadBuffer& list) {
  const trace::ThreadData& data = packer.launch.launch().data;
  Buffer keys = packer.device.allocate_array<std::uint64_t>(list.count, "the keys");
  Buffer other_keys = packer.device.allocate_array<std::uint64_t>(list.count, "the keys");
  KeyPush push{};
  push.count = list.count;
  push.threads = list.threads.address();
  push.keys = keys.address();
  std::uint64_t mask = kAllBits;
  switch (request.key) {
    case PackingKey::RayCount:
      push.offset = packer.launch.column(packer.device, packer.stream, data.ray_offset).address();
      run_keys(packer, kRayCount, push);
      mask = packer.sorter.varying_bits(packer.stream, keys, list.count, sizeof(std::uint64_t));
      break;
    case PackingKey::FirstHitShader:
      push.offset = packer.launch.column(packer.device, packer.stream, data.event_offset).address();
      push.x = packer.launch.column(packer.device, packer.stream, data.events.kind).address();
      push.y = packer.launch.column(packer.device, packer.stream, data.events.shader).address();
      run_keys(packer, kFirstHit, push);
      mask = packer.sorter.varying_bits(packer.stream, keys, list.count, sizeof(std::uint64_t));
      break;
    case PackingKey::Random:
      push.number = request.seed;
      run_keys(packer, kRandom, push);
      break;
    default:
      mask = curve_keys(packer, request, push);
      break;
  }
  SortArrays arrays{&keys, &list.threads, &other_keys, &list.other};
  packer.sorter.sort_by_mask(packer.stream, list.count, sizeof(std::uint64_t), mask, arrays);
  if (arrays.values != &list.threads) {
    std::swap(list.threads, list.other);
  }
}

}  // namespace rayreplay::kernels::packing
