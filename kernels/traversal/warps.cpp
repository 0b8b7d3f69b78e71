#include <algorithm>
#include <numeric>
#include <optional>

#include "kernels/traversal/programs.hpp"
#include "kernels/traversal/trace.hpp"

namespace rayreplay::kernels::traversal {
namespace {

constexpr std::uint64_t kRowsBytes = std::uint64_t{1} << 28U;

/// Bytes of a warp's rows.
std::uint64_t bytes_of(const WarpTally& tally, bool accesses) {
  const std::uint64_t lanes = tally.node_lanes + tally.leaf_lanes;
  return (std::uint64_t{tally.node_steps} + tally.leaf_steps) * sizeof(StepRecord) + lanes * sizeof(std::uint32_t) +
         (accesses ? lanes * sizeof(std::uint64_t) + tally.accesses * sizeof(AccessRecord) : 0);
}

/// Rows of steps, lanes and accesses.
struct Rows {
  std::uint64_t steps = 0, lanes = 0, accesses = 0;

  void add(const WarpTally& tally) {
    steps += std::uint64_t{tally.node_steps} + tally.leaf_steps;
    lanes += tally.node_lanes + tally.leaf_lanes;
    accesses += tally.accesses;
  }
};

}  // namespace

void trace_warps(Device& device, const BvhOnDevice& bvh, Schedule schedule, std::uint32_t warp_size,
                 std::uint32_t first_warp, std::span<const std::uint64_t> first_ray, const TraceInput& input,
                 WarpOutput& output) {
  const std::uint64_t warps = first_ray.empty() ? 0 : first_ray.size() - 1;
  if (warps == 0) {
    return;
  }
  const bool with_steps = output.with_steps || output.with_accesses;
  std::optional<AnswersOnDevice> answers;
  const Buffer rays = device.allocate_array<RayRecord>(input.rays.size(), "rays");
  const Buffer hits = device.allocate_array<HitRecord>(input.rays.size(), "hits");
  const Buffer counters =
      device.allocate_array<CounterRecord>(output.counters.empty() ? 0 : input.rays.size(), "counters of rays");
  const Buffer unobserved = device.allocate_array<std::uint32_t>(input.answers == nullptr ? 0 : input.rays.size(),
                                                                 "counts of unrecorded answers");
  const Buffer firsts = device.allocate_array<std::uint64_t>(first_ray.size(), "first rays of warps");
  const Buffer tallies = device.allocate_array<WarpTally>(warps, "tallies of warps");
  Buffer steps, lanes, access_ends, accesses;
  Stream stream(device);
  const std::uint64_t scene = bvh.on(device, stream, output.with_accesses);
  if (input.answers != nullptr) {
    answers.emplace(device, stream, *input.answers);
  }
  stream.upload_array(rays, input.rays);
  stream.upload_array(firsts, first_ray);
  stream.fill(unobserved, 0);
  WarpPush push{};
  push.scene = scene;
  push.ray_at = rays.address();
  push.hit_at = hits.address();
  push.counter_at = output.counters.empty() ? 0 : counters.address();
  push.answers = answers ? answers->address() : 0;
  push.unobserved_at = unobserved.address();
  push.first_place = input.first_place;
  push.first_ray_at = firsts.address();
  push.tally_at = tallies.address();
  push.warps = static_cast<std::uint32_t>(warps);
  push.first_warp = first_warp;
  push.while_while = schedule == Schedule::WhileWhile ? 1 : 0;
  const Program program = warp_program(
      device, bvh, warp_size,
      {.log = output.with_accesses, .answers = input.answers != nullptr, .backward = any_backward(input.rays)});
  std::vector<WarpTally> of_warp(warps);
  std::vector<std::uint32_t> unknown(answers ? input.rays.size() : 0);
  stream.run(program, warps, push);
  stream.download(hits, std::as_writable_bytes(output.hits));
  stream.download(counters, std::as_writable_bytes(output.counters));
  stream.download_array(tallies, of_warp);
  stream.download_array(unobserved, unknown);
  stream.wait();
  output.unobserved = std::accumulate(unknown.begin(), unknown.end(), std::uint64_t{0});
  Rows all;
  for (const WarpTally& tally : of_warp) {
    output.node_lanes += tally.node_lanes;
    output.leaf_lanes += tally.leaf_lanes;
    output.node_steps += tally.node_steps;
    output.leaf_steps += tally.leaf_steps;
    all.add(tally);
  }
  if (!with_steps) {
    return;
  }
  output.steps.resize(all.steps);
  output.lanes.resize(all.lanes);
  output.access_ends.resize(output.with_accesses ? all.lanes : 0);
  output.accesses.resize(all.accesses);
  const std::uint64_t most = std::min(kRowsBytes, device.free_bytes() / 4);
  Rows done;
  for (std::uint64_t warp = 0; warp < warps;) {
    Rows rows;
    std::vector<WarpTally> starts;
    std::uint64_t bytes = 0;
    while (warp + starts.size() < warps) {
      const WarpTally& tally = of_warp[warp + starts.size()];
      bytes += bytes_of(tally, output.with_accesses);
      if (!starts.empty() && bytes > most) {
        break;
      }
      starts.push_back({rows.steps, rows.lanes, rows.accesses, 0, 0});
      rows.add(tally);
    }
    const auto room = [&](Buffer& buffer, std::uint64_t count, std::uint64_t size, const char* what) {
      if (buffer.bytes() < count * size) {
        buffer = {};
        buffer = device.allocate(count * size, what);
      }
    };
    room(steps, rows.steps, sizeof(StepRecord), "steps of warps");
    room(lanes, rows.lanes, sizeof(std::uint32_t), "lanes of steps");
    room(access_ends, output.with_accesses ? rows.lanes : 0, sizeof(std::uint64_t), "accesses of lanes");
    room(accesses, rows.accesses, sizeof(AccessRecord), "accesses");
    WarpPush piece = push;
    piece.first_ray_at += warp * sizeof(std::uint64_t);
    piece.tally_at += warp * sizeof(WarpTally);
    piece.first_warp += static_cast<std::uint32_t>(warp);
    piece.step_at = steps.address();
    piece.lane_at = lanes.address();
    piece.access_end_at = access_ends.address();
    piece.row_at = output.with_accesses ? accesses.address() : 0;
    stream.upload_array(tallies, starts, warp);
    stream.run(program, starts.size(), piece);
    const auto fetch = [&](const Buffer& from, auto& to, std::uint64_t first, std::uint64_t count) {
      if (count > 0) {
        stream.download(from, std::as_writable_bytes(std::span(to).subspan(first, count)));
      }
    };
    fetch(steps, output.steps, done.steps, rows.steps);
    fetch(lanes, output.lanes, done.lanes, rows.lanes);
    fetch(accesses, output.accesses, done.accesses, rows.accesses);
    if (output.with_accesses) {
      fetch(access_ends, output.access_ends, done.lanes, rows.lanes);
    }
    stream.wait();
    if (output.with_accesses) {
      for (std::uint64_t i = done.lanes; i < done.lanes + rows.lanes; ++i) {
        output.access_ends[i] += done.accesses;
      }
    }
    done.steps += rows.steps;
    done.lanes += rows.lanes;
    done.accesses += rows.accesses;
    warp += starts.size();
  }
}

}  // namespace rayreplay::kernels::traversal
