// Reverse packing: threads in the opposite order of their ids.
//
// Contract: descending thread id, over the whole launch or inside each launch tile. O(threads). An example: see
// docs/adding-a-model.md.
#include "scheduler-models/sort_threads.hpp"

namespace {

using rayreplay::Parameters;
using rayreplay::scheduler::Packing;
using rayreplay::scheduler::Packings;
using rayreplay::scheduler::Swizzle;
using rayreplay::scheduler::WarpAssignment;

class Reverse final : public Packing {
 public:
  explicit Reverse(const Parameters& parameters) : tiled_(parameters.get_bool("tiled")) {}

  [[nodiscard]] Swizzle compute(const rayreplay::trace::Launch& launch,
                                const WarpAssignment& assignment) const override {
    rayreplay::trace::Column<std::uint64_t> key(launch.size.threads());
    for (std::size_t thread = 0; thread < key.size(); ++thread) {
      key[thread] = key.size() - thread;
    }
    rayreplay::scheduler::ThreadList threads = rayreplay::scheduler::threads_by_start(assignment);
    rayreplay::scheduler::sort_by_key(threads, key);
    return rayreplay::scheduler::place(assignment, threads, tiled_);
  }

 private:
  bool tiled_;
};

const Packings::Registrar kRegistrar(
    {.kind = {},
     .name = "reverse",
     .summary = "Threads in the opposite order of their ids",
     .text = "Shows how a packing is written; warps keep their threads but for the launch's edges.",
     .source = "rayreplay, an example",
     .parameters = {rayreplay::scheduler::tiled_parameter()}},
    [](const Parameters& parameters) { return std::make_unique<Reverse>(parameters); });

}  // namespace
