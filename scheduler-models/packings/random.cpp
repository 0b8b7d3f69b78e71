// Random packing: a seeded permutation of the threads (ReRay thesis §3.3).
//
// Contract: threads are sorted by 64 bits drawn per thread id by SplitMix64 (Steele, Lea, Flood 2014): the permutation
// depends only on the seed, the number of threads and, when `tiled`, the tiles. O(threads).
#include "base/declare_parameters.hpp"
#include "base/split_mix.hpp"
#include "scheduler-models/sorting_packing.hpp"

namespace rayreplay::scheduler {
namespace {

void sort_at_random(std::uint64_t seed, const trace::Launch& launch, ThreadList& threads) {
  trace::Column<std::uint64_t> key(launch.size.threads());
  for (std::size_t thread = 0; thread < key.size(); ++thread) {
    key[thread] = split_mix(seed, thread);
  }
  sort_by_key(threads, key);
}

const Packings::Registrar kRegistrar(
    {.kind = {},
     .name = "random",
     .summary = "A seeded random permutation of the threads",
     .text = "Gives the SIMT efficiency of warps whose threads have nothing in common: a lower reference.",
     .source = "ReRay thesis, section 3.3",
     .parameters = {declare::whole("seed", 1, "", "Other seeds give other permutations.", 0), tiled_parameter()}},
    [](const Parameters& parameters) {
      const auto seed = static_cast<std::uint64_t>(parameters.get_int("seed"));
      return std::make_unique<SortingPacking>(
          [seed](const trace::Launch& launch, ThreadList& threads) { sort_at_random(seed, launch, threads); },
          parameters.get_bool("tiled"));
    });

}  // namespace
}  // namespace rayreplay::scheduler
