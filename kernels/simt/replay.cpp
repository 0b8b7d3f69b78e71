#include "kernels/simt/replay.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string>

#include "SimtReplay.spv.hpp"
#include "SimtReplayLarge.spv.hpp"

namespace rayreplay::kernels::simt {
namespace {

constexpr Shader kReplay{"simt replay", kSimtReplay};
constexpr Shader kReplayLarge{"simt replay", kSimtReplayLarge};
/// Sets of lanes take one word up to this size, two beyond.
constexpr std::uint32_t kWordLanes = 32;
/// Most 32-bit counters of a workgroup in shared memory: 16 KiB leave room for several workgroups.
constexpr std::uint32_t kMaxCounters = 4096;

/// The device's own size, or the least that holds a warp where sizes can be requested.
std::uint32_t fitting_subgroup(const DeviceInfo& info, std::uint32_t warp_size) {
  std::uint32_t size = info.subgroup_size;
  while (size < warp_size && size < info.greatest_subgroup) {
    size *= 2;
  }
  return size;
}

/// Counters that the kernel keeps in shared memory, rounded to limit the number of programs; 0: too many calls.
std::uint32_t shared_counters(std::uint32_t calls) {
  const std::uint64_t needed = std::uint64_t{2} * calls + RR_SIMT_LANE_COUNTS;
  return needed <= kMaxCounters ? std::bit_ceil(static_cast<std::uint32_t>(needed)) : 0;
}

}  // namespace

std::uint64_t sums_words(std::uint32_t calls) {
  return 2 * (std::uint64_t{2} * calls + RR_SIMT_LANE_COUNTS) + 1;
}

void replay_resident(Device& device, Stream& stream, const Warps& warps, std::uint64_t piece_at, std::uint64_t count,
                     const Results& results) {
  const std::uint32_t subgroup =
      warps.subgroup != 0 ? warps.subgroup : fitting_subgroup(device.info(), warps.warp_size);
  const std::uint32_t outputs =
      (results.by_warp != 0 ? RR_SIMT_BY_WARP : 0) | (results.by_place != 0 ? RR_SIMT_BY_PLACE : 0) |
      (results.weights != 0 ? RR_SIMT_WEIGHTS : 0) | (warps.rays_before != 0 ? RR_SIMT_DETAIL : 0);
  const Program program =
      device.program(warps.warp_size <= kWordLanes ? kReplay : kReplayLarge,
                     std::array<std::uint32_t, 6>{subgroup, warps.warp_size, static_cast<std::uint32_t>(warps.choice),
                                                  warps.codes.bytes, outputs, shared_counters(warps.calls)},
                     subgroup);
  const std::uint64_t warps_of_group =
      std::uint64_t{RR_SIMT_THREADS} / subgroup * std::max(subgroup / warps.warp_size, 1U);
  ReplayPush push{};
  push.calls = warps.calls;
  push.favoured = warps.favoured;
  push.tables = warps.tables;
  push.warps = count;
  push.pieces = warps.pieces;
  push.codes = warps.codes.address;
  push.offsets = warps.offsets;
  push.piece_at = piece_at;
  push.sums = results.sums;
  push.call_rows = warps.call_rows;
  push.by_warp = results.by_warp;
  push.by_place = results.by_place;
  push.weights_of_warp = results.weights;
  push.rays_before = warps.rays_before;
  push.bounces = results.bounces;
  stream.run(program, (count + warps_of_group - 1) / warps_of_group, push);
}

Sums replay(Device& device, Stream& stream, const Warps& warps, const Places& given, const HostResults& host,
            const std::function<void(std::uint64_t)>& advance, std::uint64_t most_places) {
  const std::uint64_t count = given.piece_at.size() / warps.warp_size;
  const std::uint64_t batch =
      std::min(std::max<std::uint64_t>(most_places / warps.warp_size, 1), std::max<std::uint64_t>(count, 1));
  const std::uint64_t words = sums_words(warps.calls);

  // The smallest allocation for unwanted outputs.
  const auto room = [&](bool asked, std::uint64_t bytes, const char* what) {
    return asked ? device.allocate(bytes, what) : Buffer();
  };
  const bool detail = warps.rays_before != 0;
  const bool upload = given.resident == 0;
  const Buffer places = room(upload, given.piece_at.size_bytes(), "places of a replay");
  const std::uint64_t piece_at = upload ? places.address() : given.resident;
  const Buffer sums = device.allocate_array<std::uint32_t>(words, "sums of a replay");
  const Buffer by_warp = room(!host.by_warp.empty(), batch * kTallyBytes, "sums by warp");
  const Buffer by_place = room(!host.by_place.empty(), batch * warps.warp_size * kTallyBytes, "sums by place");
  const Buffer weights = room(!host.weights.empty(), batch * warps.tables * sizeof(std::uint64_t), "weights by warp");
  const std::uint64_t bounce_words = std::uint64_t{4} * RR_SIMT_BOUNCES * warps.calls;
  const Buffer bounces = room(detail, bounce_words * sizeof(std::uint32_t), "sums by bounce");
  stream.fill(sums, 0);
  if (detail) {
    stream.fill(bounces, 0);
  }

  for (std::uint64_t first = 0; first < count; first += batch) {
    const std::uint64_t now = std::min(batch, count - first);
    const std::uint64_t place = first * warps.warp_size;
    if (upload) {
      stream.upload_beside(places, std::as_bytes(given.piece_at.subspan(place, now * warps.warp_size)),
                           place * sizeof(std::uint32_t));
    }
    replay_resident(device, stream, warps, piece_at + place * sizeof(std::uint32_t), now,
                    {sums.address(), by_warp.address(), by_place.address(), weights.address(), bounces.address()});
    const auto take = [&](const Buffer& from, std::span<std::byte> to, std::uint64_t bytes_of_warp) {
      if (!to.empty()) {
        stream.download(from, to.subspan(first * bytes_of_warp, now * bytes_of_warp));
      }
    };
    take(by_warp, host.by_warp, kTallyBytes);
    take(by_place, host.by_place, warps.warp_size * kTallyBytes);
    take(weights, host.weights, warps.tables * sizeof(std::uint64_t));
    if (advance) {
      stream.wait();
      advance(now);
    }
  }

  Sums result;
  result.by_call.resize(warps.calls);
  std::vector<std::uint32_t> raw(words);
  stream.download_array(sums, raw);
  if (detail) {
    result.by_bounce.resize(std::size_t{RR_SIMT_BOUNCES} * warps.calls);
    stream.download_array(bounces, result.by_bounce);
  }
  stream.wait();
  const auto sum_at = [&](std::size_t index) { return raw[2 * index] | std::uint64_t{raw[2 * index + 1]} << 32U; };
  for (std::size_t code = 0; code < warps.calls; ++code) {
    result.by_call[code] = {sum_at(2 * code), sum_at(2 * code + 1)};
  }
  for (std::size_t lanes = 0; lanes < result.active_lanes.size(); ++lanes) {
    result.active_lanes.at(lanes) = sum_at(std::size_t{2} * warps.calls + lanes);
  }
  const std::uint32_t faults = raw.back();
  result.unknown_piece = (faults & RR_SIMT_UNKNOWN_PIECE) != 0;
  if ((faults & RR_SIMT_LONG_PIECE) != 0) {
    throw DeviceError(Fault::Unsupported, {"a thread has more events than a device can replay", "",
                                           "more than " + std::to_string(RR_SIMT_MOST_ROWS),
                                           "at most " + std::to_string(RR_SIMT_MOST_ROWS) + " of one thread or segment",
                                           "replay on the processor: --device cpu"});
  }
  return result;
}

}  // namespace rayreplay::kernels::simt
