// First-hit-shader packing: threads sorted by the shader in which their first ray ended (MODELS.md §6).
//
// Contract: the key is the shader id of the thread's first ClosestHit or Miss event, ascending; threads without one go
// last; ties by original warp id, then lane. O(events up to the first such event of each thread).
#include "scheduler-models/sorting_packing.hpp"

namespace rayreplay::scheduler {
namespace {

void sort_by_first_hit(const trace::Launch& launch, ThreadList& threads) {
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
  sort_by_key(threads, key);
}

const Packings::Registrar kRegistrar(
    {.kind = {},
     .name = "first-hit-shader",
     .summary = "Threads sorted by the shader in which their first ray ended",
     .text = "The key is the shader id of the thread's first closest-hit or miss call; threads without one go last; "
             "ties keep the order in which the warps started.",
     .source = "rayreplay",
     .parameters = {tiled_parameter()}},
    [](const Parameters& parameters) {
      return std::make_unique<SortingPacking>(sort_by_first_hit, parameters.get_bool("tiled"));
    });

}  // namespace
}  // namespace rayreplay::scheduler
