#include "kernels/regrouping/segments.hpp"

#include <array>

#include "RegroupCut.spv.hpp"
#include "kernels/regrouping/common.hpp"
#include "kernels/sort/exclusive_sum.hpp"

namespace rayreplay::kernels {
namespace {

using namespace regrouping;
using trace::EventKind;

static_assert(static_cast<uint>(EventKind::OcclusionBegin) == kOcclusionBegin &&
              static_cast<uint>(EventKind::Begin) < kOcclusionBegin);
static_assert(static_cast<uint>(EventKind::ReportIntersection) == kReportIntersection);
static_assert(static_cast<uint>(EventKind::AnyHit) == kAnyHit);
static_assert(static_cast<uint>(EventKind::IgnoreIntersection) == kIgnoreIntersection);
static_assert(static_cast<uint>(EventKind::TerminateRay) == kTerminateRay);
static_assert(static_cast<uint>(EventKind::Miss) == kMiss);
static_assert(static_cast<uint>(EventKind::ClosestHit) == kClosestHit);
static_assert(static_cast<uint>(EventKind::Callable) == kCallable);
static_assert(static_cast<uint>(EventKind::Reorder) == kReorder);

const Shader kCut{"regroup: cut paths", kRegroupCut};

std::uint32_t flags_of(const scheduler::Cut& cut) {
  const bool pending = cut.at == scheduler::CutAt::PendingCall;
  return (pending ? kCutPendingCalls : 0U) | (cut.at == scheduler::CutAt::EveryCall ? kCutEveryCall : 0U) |
         (pending && cut.site ? kCutSite : 0U) | (pending && cut.captured_only ? kCutCapturedOnly : 0U) |
         (cut.inline_any_hit ? kCutInlineAnyHit : 0U);
}

}  // namespace

bool can_cut(const trace::Launch& launch) {
  constexpr std::uint64_t kMax = 0xFFFF'FFFDU;
  return launch.data.events.size() <= kMax && launch.data.threads() <= kMax;
}

SegmentsOnDevice cut_paths(Device& device, Stream& stream, LaunchOnDevice& launch, const scheduler::Cut& cut) {
  const trace::ThreadData& data = launch.launch().data;
  const trace::Events& events = data.events;
  SegmentsOnDevice result;
  result.device = &device;
  result.threads = data.threads();
  CutPush push{};
  push.threads = static_cast<std::uint32_t>(result.threads);
  push.flags = flags_of(cut);
  push.first_bounce = cut.first_bounce;
  push.kind = launch.column(device, stream, events.kind).address();
  push.event_offset = launch.column(device, stream, data.event_offset).address();
  if (cut.at == scheduler::CutAt::EveryCall) {
    push.shader = launch.column(device, stream, events.shader).address();
  }
  if (!events.ray.empty()) {
    push.ray = launch.column(device, stream, events.ray).address();
  }
  if ((push.flags & kCutSite) != 0) {
    push.site = *cut.site;
    push.site_of = launch.column(device, stream, data.rays.site).address();
    push.ray_offset = launch.column(device, stream, data.ray_offset).address();
  }
  const Buffer counts = device.allocate_array<std::uint32_t>(result.threads, "segments by thread");
  const Buffer most = device.allocate_array<std::uint32_t>(1, "most segments of a thread");
  result.first = device.allocate_array<std::uint32_t>(result.threads + 1, "the threads' first segments");
  stream.fill(most, 0);
  push.first = counts.address();
  push.most = most.address();
  const Program program = device.program(kCut);
  stream.run(program, groups_of(result.threads), push);
  Summer summer(device);
  summer.exclusive_sum(stream, counts, result.first, result.threads, SumBits::Of32);
  stream.download(most, std::as_writable_bytes(std::span(&result.most_of_a_thread, 1)));
  result.size = read_word(stream, result.first, result.threads);
  result.event_offset = device.allocate_array<std::uint64_t>(result.size + 1, "events of segments");
  result.bounce = device.allocate_array<std::uint16_t>(result.size, "bounces of segments");
  push.flags |= kCutWrite;
  push.first = result.first.address();
  push.out_offset = result.event_offset.address();
  push.out_bounce = result.bounce.address();
  stream.run(program, groups_of(result.threads), push);
  stream.upload_array(result.event_offset, std::array<std::uint64_t, 1>{events.size()}, result.size);
  return result;
}

SegmentsOnDevice bring_segments(Device& device, Stream& stream, std::span<const std::uint64_t> event_offset,
                                std::span<const std::uint32_t> first, std::span<const std::uint16_t> bounce,
                                std::uint32_t most_of_a_thread) {
  SegmentsOnDevice result;
  result.device = &device;
  result.threads = first.empty() ? 0 : first.size() - 1;
  result.size = bounce.size();
  result.most_of_a_thread = most_of_a_thread;
  result.event_offset = device.allocate_array<std::uint64_t>(event_offset.size(), "events of segments");
  result.first = device.allocate_array<std::uint32_t>(result.threads + 1, "the threads' first segments");
  result.bounce = device.allocate_array<std::uint16_t>(bounce.size(), "bounces of segments");
  stream.upload_array(result.event_offset, event_offset);
  stream.fill(result.first, 0, 0, sizeof(std::uint32_t));
  stream.upload_array(result.first, first);
  stream.upload_array(result.bounce, bounce);
  return result;
}

std::shared_ptr<const SegmentsOnDevice> segments_on(Device& device, Stream& stream,
                                                    const scheduler::Segments& segments) {
  auto there = std::static_pointer_cast<const SegmentsOnDevice>(segments.on_device);
  if (there != nullptr && there->device == &device) {
    return there;
  }
  return std::make_shared<const SegmentsOnDevice>(bring_segments(device, stream, segments.event_offset, segments.first,
                                                                 segments.bounce, segments.most_of_a_thread));
}

}  // namespace rayreplay::kernels
