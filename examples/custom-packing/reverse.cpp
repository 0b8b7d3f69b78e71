// Reverse packing: threads in the opposite order of their ids.
//
// Contract: descending thread id, over the whole launch or inside each launch tile. O(threads). An example: see
// docs/adding-a-model.md.
#include "scheduler-models/sorting_packing.hpp"

namespace {

using rayreplay::Parameters;
using rayreplay::scheduler::Packings;
using rayreplay::scheduler::SortingPacking;
using rayreplay::scheduler::ThreadList;
using rayreplay::trace::Launch;

void sort_in_reverse(const Launch& launch, ThreadList& threads) {
  rayreplay::trace::Column<std::uint64_t> key(launch.size.threads());
  for (std::size_t thread = 0; thread < key.size(); ++thread) {
    key[thread] = key.size() - thread;
  }
  rayreplay::scheduler::sort_by_key(threads, key);
}

const Packings::Registrar kRegistrar(
    {.kind = {},
     .name = "reverse",
     .summary = "Threads in the opposite order of their ids",
     .text = "Shows how a packing is written; warps keep their threads but for the launch's edges.",
     .source = "rayreplay, an example",
     .parameters = {rayreplay::scheduler::tiled_parameter()}},
    [](const Parameters& parameters) {
      return std::make_unique<SortingPacking>(sort_in_reverse, parameters.get_bool("tiled"));
    });

}  // namespace
