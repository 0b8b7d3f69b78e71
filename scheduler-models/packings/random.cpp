// Random packing: a seeded permutation of the threads (ReRay thesis §3.3).
//
// Contract: threads are sorted by 64 bits drawn for each thread id by SplitMix64 (Steele, Lea, Flood 2014), so that the
// permutation depends on nothing but seed and number of threads, and on the tiles when `tiled`. O(threads).
#include "scheduler-models/sort_threads.hpp"

namespace rayreplay::scheduler {
namespace {

/// The `index`-th output of SplitMix64 started from `seed`.
std::uint64_t split_mix(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = seed + (index + 1) * 0x9E37'79B9'7F4A'7C15U;
  z = (z ^ z >> 30) * 0xBF58'476D'1CE4'E5B9U;
  z = (z ^ z >> 27) * 0x94D0'49BB'1331'11EBU;
  return z ^ z >> 31;
}

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
     .text = "What warps are worth when nothing speaks for their threads being together.",
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
