// Bindless dispatch: every shader call and every return is a spawn of a continuation (MODELS.md §7; Intel's Xe-HPG).
//
// Contract: timed; paths are cut at every call, and each shading SM has its own queues (exchanges/queue_exchange.hpp),
// one per record. The record of a segment is the kind and shader of the call that opens it. A trace call stands for the
// rest of its caller; its record adds the site of the thread's previous ray (the trace call to which it returns) where
// sites were captured. Records take O(events), parallel over threads, and 8 bytes a segment.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

#include "base/declare_parameters.hpp"
#include "base/error.hpp"
#include "scheduler-models/regrouping/exchanges/queue_exchange.hpp"
#include "scheduler-models/regrouping/models/queue_bytes.hpp"
#include "scheduler-models/regrouping/scheduler_model.hpp"

namespace rayreplay::scheduler {
namespace {

using Records = trace::Column<std::uint64_t>;

constexpr std::size_t kThreadsAPiece = 2048;
constexpr std::uint64_t kNoSite = 256;
constexpr std::uint64_t kNotStarted = 257;

class RecordWriter {
 public:
  RecordWriter(const trace::Launch& launch, const Segments& segments, Records& records)
      : launch_(launch), segments_(segments), records_(records) {}

  void write(std::size_t thread) const {
    const trace::Events& events = launch_.data.events;
    const auto& site = launch_.data.rays.site;
    std::uint64_t next_ray = launch_.data.ray_offset[thread];
    std::uint64_t returns_to = kNotStarted;
    for (std::uint32_t s = segments_.first[thread]; s < segments_.first[thread + 1]; ++s) {
      const std::uint64_t row = segments_.event_offset[s];
      const bool resumes = trace::begins_ray(events.kind[row]);
      const std::uint64_t call =
          std::uint64_t{events.shader[row]} * trace::kEventKinds + static_cast<std::uint64_t>(events.kind[row]);
      records_[s] = call << 16U | (resumes ? returns_to : 0);
      for (std::uint64_t e = row; e < segments_.event_offset[s + 1]; ++e) {
        if (trace::begins_ray(events.kind[e])) {
          returns_to = site.empty() ? kNoSite : site[next_ray];
          ++next_ray;
        }
      }
    }
  }

 private:
  const trace::Launch& launch_;
  const Segments& segments_;
  Records& records_;
};

class BindlessDispatch final : public SchedulerModel {
 public:
  explicit BindlessDispatch(const Parameters& parameters)
      : simd_width_(static_cast<std::uint32_t>(parameters.get_int("simd_width"))),
        queue_threads_(static_cast<std::uint64_t>(parameters.get_int("queue_threads"))),
        spawn_cycles_(parameters.get_double("spawn_cycles")),
        stack_bytes_(parameters.get_double("stack_bytes")),
        queue_bytes_(static_cast<std::uint32_t>(parameters.get_int("queue_bytes"))),
        inline_any_hit_(parameters.get_bool("inline_any_hit")) {}

  [[nodiscard]] Cut cut() const override {
    Cut cut;
    cut.at = CutAt::EveryCall;
    cut.inline_any_hit = inline_any_hit_;
    return cut;
  }
  [[nodiscard]] Grouping grouping() const override {
    return Grouping::Timed;
  }
  [[nodiscard]] Charges charges(const MachineFacts&) const override {
    Charges charges;
    charges.cycles_per_cut = spawn_cycles_;
    charges.bytes_per_thread = stack_bytes_;
    charges.state_traffic = StateTraffic::All;
    return charges;
  }
  [[nodiscard]] std::uint64_t state_bytes(const PlanContext& context) const override {
    // Waiting threads hold the warp slots that they would fill (sim/machine), so the threads in flight are bounded.
    const std::uint64_t slots = std::uint64_t{context.machine.sms} * context.machine.resident_warps;
    const std::uint64_t threads =
        std::min<std::uint64_t>(context.launch.data.threads(), slots * context.order.warp_size);
    return threads * static_cast<std::uint64_t>(stack_bytes_);
  }
  [[nodiscard]] ModelQueues queues(const PlanContext& context) const override {
    if (queue_bytes_ == 0) {
      return {};
    }
    return {queue_bytes_, records_of(context)};
  }
  [[nodiscard]] std::vector<std::unique_ptr<Exchange>> exchanges(const PlanContext& context) const override {
    const std::uint32_t warp_size = context.order.warp_size;
    if (simd_width_ > warp_size) {
      throw Error(ErrorKind::Usage,
                  {"more threads are dispatched together than a warp holds", "bindless-dispatch:simd_width",
                   std::to_string(simd_width_), "at most " + std::to_string(warp_size) + ", the warp size",
                   "take simd_width=0 for the warp size, or choose it with --warp-size"});
    }
    const std::shared_ptr<const Records> records = records_of(context);
    std::vector<std::unique_ptr<Exchange>> result;
    for (std::uint32_t sm = 0; sm < context.machine.sms; ++sm) {
      result.push_back(make_queue_exchange(records, simd_width_ == 0 ? warp_size : simd_width_, queue_threads_));
    }
    return result;
  }

 private:
  static std::shared_ptr<const Records> records_of(const PlanContext& context) {
    auto records = std::make_shared<Records>(context.segments.size());
    const RecordWriter writer(context.launch, context.segments, *records);
    oneapi::tbb::parallel_for(oneapi::tbb::blocked_range<std::size_t>(0, context.launch.data.threads(), kThreadsAPiece),
                              [&](const auto& range) {
                                for (std::size_t thread = range.begin(); thread < range.end(); ++thread) {
                                  writer.write(thread);
                                }
                              });
    return records;
  }

  std::uint32_t simd_width_;
  std::uint64_t queue_threads_;
  double spawn_cycles_;
  double stack_bytes_;
  std::uint32_t queue_bytes_;
  bool inline_any_hit_;
};

const SchedulerModels::Registrar kRegistrar(
    {.kind = {},
     .name = "bindless-dispatch",
     .summary = "Every call and return spawns a continuation; a thread-sorting unit collects them by record",
     .text =
         "Shaders are cut into continuations: a call ends the caller's piece and spawns the callee, a return "
         "spawns the rest of the caller. Threads wait by record in queues of their SM (Intel: Xe core); a queue "
         "with simd_width threads becomes a warp. When an SM has nothing else to run, or its queues hold more than "
         "queue_threads threads, the longest queue becomes a warp with free lanes.\n\n"
         "Spawning events: every intersection, any-hit, closest-hit, miss and callable call, and every trace call, "
         "which stands for the return to its caller from the previous call. A trace call right after the entry of "
         "the shader that makes it spawns nothing: that shader goes on. Returns without an event of their own are "
         "not counted: the last one of each thread to ray generation, and those to a shader that makes no further "
         "call; nor are returns of intersection and any-hit shaders, which go back to the ray-tracing unit. A "
         "trace call of a shader that has just been entered again by recursion counts as its first.\n\n"
         "Assumes queues by record alone (no hints, no place in space), no time-out, and that a thread stays on "
         "its SM, where threads that wait hold the warp slots that they would fill. stack_bytes is charged once "
         "per spawn: what a call spills, its return fills. Which queue goes first when none is full is this "
         "model's choice: no public text says what the hardware does, nor where its queues are. In access streams and "
         "memory time they are taken to be in memory, and their entries and counters are accesses; spawn_cycles is "
         "the time of a spawn without the waits for these. Cost: O(log queues) a spawn.",
     .source = "Ekstrand, Ray-tracing in Vulkan pt. 2, XDC 2021: calls and returns as BTD_SPAWN, any-hit shaders in "
               "intersection shaders",
     .parameters =
         {declare::whole("simd_width", 0, "threads", "Threads dispatched together; 0: the warp size.", 0, kMaxWarpSize),
          declare::whole("queue_threads", 0, "threads",
                         "Most threads that stay in the queues of one SM; beyond it the longest queues are "
                         "dispatched as they are, in warps with free lanes. 0: no limit. Dispatched warps that "
                         "wait for a warp slot are not counted: only the threads of an SM altogether are limited, "
                         "to warp slots times warp size.",
                         0, 1 << 24),
          declare::real("spawn_cycles", 100.0, "cycles", "Latency of every spawn: message, sorting, start of a warp.",
                        0, 1e9),
          declare::real("stack_bytes", 64.0, "bytes",
                        "What a call spills to the thread's stack and its return fills again.", 0, 1e6),
          queue_bytes_parameter("Assumed: public texts do not say where the unit keeps its queues."),
          declare::flag("inline_any_hit", true,
                        "Any-hit shaders are part of the intersection shader that reports the hit.")}},
    [](const Parameters& parameters) { return std::make_unique<BindlessDispatch>(parameters); });

}  // namespace
}  // namespace rayreplay::scheduler
