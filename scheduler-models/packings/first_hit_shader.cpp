// First-hit-shader packing: threads sorted by the shader in which their first ray ended (MODELS.md §6).
//
// Contract: the key is the shader id of the thread's first ClosestHit or Miss event, ascending; threads without one go
// last; ties by original warp id, then lane. O(events up to the first such event of each thread).
#include "scheduler-models/packing.hpp"
#include "scheduler-models/sort_threads.hpp"

namespace rayreplay::scheduler {
namespace {

class FirstHitShader final : public Packing {
 public:
  explicit FirstHitShader(const Parameters& parameters) : tiled_(parameters.get_bool("tiled")) {}

  [[nodiscard]] Swizzle compute(const trace::Launch& launch, const WarpAssignment& assignment) const override {
    constexpr std::uint64_t kLast = 0x1'0000;  // above every shader id
    const auto& events = launch.data.events;
    const auto& offset = launch.data.event_offset;
    trace::Column<std::uint64_t> key(launch.data.threads());
    for (std::size_t thread = 0; thread < key.size(); ++thread) {
      key[thread] = kLast;
      for (std::size_t row = offset[thread]; row < offset[thread + 1]; ++row) {
        if (events.kind[row] == trace::EventKind::ClosestHit || events.kind[row] == trace::EventKind::Miss) {
          key[thread] = events.shader[row];
          break;
        }
      }
    }
    ThreadList threads = threads_by_start(assignment);
    sort_by_key(threads, key);
    return place(assignment, threads, tiled_);
  }

 private:
  bool tiled_;
};

const Packings::Registrar kRegistrar(
    {.kind = {},
     .name = "first-hit-shader",
     .summary = "Threads sorted by the shader in which their first ray ended",
     .text = "The key is the shader id of the thread's first closest-hit or miss call; threads without one go last; "
             "ties keep the order in which the warps started.",
     .source = "rayreplay",
     .parameters = {tiled_parameter()}},
    [](const Parameters& parameters) { return std::make_unique<FirstHitShader>(parameters); });

}  // namespace
}  // namespace rayreplay::scheduler
