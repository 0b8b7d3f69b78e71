#include "sim/engine/traversal_memory.hpp"

#include <algorithm>
#include <vector>

#include "sim/rays/traverse.hpp"
#include "traversal/observed.hpp"
#include "traversal/traversal.hpp"

namespace rayreplay::experiment {

std::uint64_t batch_bytes(const trace::Launch& launch, const bvh::Bvh& structure) {
  constexpr std::uint64_t kOneOf = 128;
  constexpr std::uint64_t kMin = 32;
  constexpr std::uint64_t kMax = 256;
  constexpr std::uint64_t kMinThreads = 16;
  constexpr const char* kTraversal = "near-first";
  const std::uint64_t threads = launch.size.threads();
  const std::uint64_t rays = launch.data.rays.size();
  if (threads == 0 || rays == 0) {
    return 0;
  }
  const double share = static_cast<double>(std::clamp(rays / kOneOf, kMin, kMax)) / static_cast<double>(rays);
  const std::uint64_t count =
      std::min(threads, std::max(kMinThreads, static_cast<std::uint64_t>(share * static_cast<double>(threads))));
  std::vector<std::uint32_t> some;
  for (std::uint64_t i = 0; i < count; ++i) {
    some.push_back(static_cast<std::uint32_t>((2 * i + 1) * threads / (2 * count)));
  }
  const traversal::Observed observed = traversal::observe(launch, some);
  std::vector<std::uint64_t> place(observed.rays.size());
  for (std::size_t i = 0; i < place.size(); ++i) {
    place[i] = i;
  }
  const traversal::ObservedShaders shaders(observed, place);
  const traversal::TraceResult traced =
      traversal::Traversals::create(kTraversal)
          .model->trace(structure, observed.rays, {.counters = false, .accesses = true, .shaders = &shaders});
  const double accesses = observed.rays.empty()
                              ? 0
                              : static_cast<double>(traced.accesses.size()) / static_cast<double>(observed.rays.size());
  const double of_ray = static_cast<double>(kBytesPerRayTraversed) + accesses * kBytesPerAccessTraversed;
  return static_cast<std::uint64_t>(of_ray * static_cast<double>(std::min(rays, TraverseOptions{}.batch_rays)));
}

}  // namespace rayreplay::experiment
