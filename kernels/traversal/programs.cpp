#include "kernels/traversal/programs.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <type_traits>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "OrderedKernel.spv.hpp"
#include "TraverseKernel.spv.hpp"
#include "WarpKernel.spv.hpp"

namespace rayreplay::kernels::traversal {
namespace {

constexpr std::uint32_t kOnChip = 6;  ///< of lane.glsl

/// Entries of local memory, in steps, so that similar structures share a pipeline.
std::uint32_t local_stack(const BvhOnDevice& bvh) {
  constexpr std::uint32_t kStep = 64;
  const std::uint32_t most = bvh.most_waiting() > kOnChip ? bvh.most_waiting() - kOnChip : 1;
  return (most + kStep - 1) / kStep * kStep;
}

std::uint32_t word(bool value) {
  return value ? 1 : 0;
}

}  // namespace

Program scalar_program(Device& device, const BvhOnDevice& bvh, Order order, const Variant& variant) {
  const auto layout = static_cast<std::uint32_t>(bvh.nodes());
  if (order == Order::Ordered) {
    const std::array constants{kThreads,
                               layout,
                               word(variant.counters),
                               word(variant.log),
                               word(variant.answers),
                               bvh.count_bits(),
                               word(variant.backward)};
    return device.program({"traversal: ordered", kOrderedKernel, kNeeds}, constants);
  }
  const std::array constants{kThreads,
                             layout,
                             word(order == Order::NearFirst),
                             word(variant.counters),
                             word(variant.log),
                             word(variant.answers),
                             local_stack(bvh),
                             bvh.count_bits(),
                             word(variant.filter),
                             word(variant.backward)};
  return device.program({"traversal: depth-first", kTraverseKernel, kNeeds}, constants);
}

Program warp_program(Device& device, const BvhOnDevice& bvh, std::uint32_t warp_size, const Variant& variant) {
  constexpr std::uint32_t kHalf = 32;
  const std::array constants{warp_size <= kHalf ? kHalf : 2 * kHalf,
                             static_cast<std::uint32_t>(bvh.nodes()),
                             word(variant.log),
                             word(variant.answers),
                             local_stack(bvh),
                             bvh.count_bits(),
                             word(variant.backward)};
  return device.program({"traversal: warps", kWarpKernel, kNeeds}, constants);
}

bool any_backward(std::span<const RayRecord> rays) {
  constexpr std::size_t kGrain = 16384;
  std::atomic<bool> found = false;
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, rays.size(), kGrain), [&](const auto& range) {
    for (std::size_t i = range.begin(); i < range.end() && !found.load(std::memory_order_relaxed); ++i) {
      if (rays[i].t_min < 0) {
        found = true;
      }
    }
  });
  return found;
}

AnswersOnDevice::AnswersOnDevice(Device& device, Stream& stream, const Answers& answers) {
  const auto put = [&](const auto& values, const char* what) {
    using T = typename std::decay_t<decltype(values)>::value_type;
    arrays_.push_back(device.allocate_array<T>(values.size(), what));
    stream.upload_array(arrays_.back(), values);
    return arrays_.back().address();
  };
  AnswerRecord record{};
  record.ray_of_place = answers.ray_of_place.empty() ? 0 : put(answers.ray_of_place, "the rays of the answers");
  record.offset = put(answers.offset, "the calls' offsets");
  record.calls = put(answers.calls, "the calls of shaders");
  record.reports = put(answers.reports, "the reports of shaders");
  record.t_min = put(answers.t_min, "the rays' t_min");
  record_ = device.allocate(sizeof(record), "the answers of shaders");
  stream.upload(record_, std::as_bytes(std::span(&record, 1)));
}

}  // namespace rayreplay::kernels::traversal
