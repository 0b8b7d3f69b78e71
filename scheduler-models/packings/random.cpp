// Random packing: a seeded permutation of the threads (ReRay thesis §3.3).
//
// Contract: threads are sorted by 64 bits drawn per thread id by SplitMix64 (Steele, Lea, Flood 2014): the permutation
// depends only on the seed, the number of threads and, when `tiled`, the tiles. O(threads).
#include "base/split_mix.hpp"
#include "scheduler-models/packing.hpp"
#include "scheduler-models/sort_threads.hpp"

namespace rayreplay::scheduler {
namespace {

class Random final : public Packing {
 public:
  explicit Random(const Parameters& parameters)
      : seed_(static_cast<std::uint64_t>(parameters.get_int("seed"))), tiled_(parameters.get_bool("tiled")) {}

  [[nodiscard]] Swizzle compute(const trace::Launch& launch, const WarpAssignment& assignment) const override {
    trace::Column<std::uint64_t> key(launch.size.threads());
    for (std::size_t thread = 0; thread < key.size(); ++thread) {
      key[thread] = split_mix(seed_, thread);
    }
    ThreadList threads = threads_by_start(assignment);
    sort_by_key(threads, key);
    return place(assignment, threads, tiled_);
  }

 private:
  std::uint64_t seed_;
  bool tiled_;
};

const Packings::Registrar kRegistrar(
    {.kind = {},
     .name = "random",
     .summary = "A seeded random permutation of the threads",
     .text = "SIMT efficiency of warps whose threads have nothing in common: a lower reference.",
     .source = "ReRay thesis, section 3.3",
     .parameters = {{.name = "seed",
                     .default_value = std::int64_t{1},
                     .unit = "",
                     .text = "Other seeds give other permutations.",
                     .minimum = 0,
                     .choices = {}},
                    tiled_parameter()}},
    [](const Parameters& parameters) { return std::make_unique<Random>(parameters); });

}  // namespace
}  // namespace rayreplay::scheduler
