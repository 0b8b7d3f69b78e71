// Exact caches with sectors and stores (sim/memory/caches/exact_counts.hpp) on devices; each takes some of the caches.
#include <algorithm>

#include <fmt/format.h>

#include "kernels/caches/exact.hpp"
#include "kernels/on_each.hpp"
#include "kernels/reuse/reuse.hpp"
#include "kernels/reuse/upload.hpp"
#include "kernels/twins.hpp"
#include "sim/memory/caches/exact_counts.hpp"
#include "sim/memory/caches/line_range.hpp"

namespace rayreplay::memory {
namespace {

using kernels::Device;

/// `found`: counts of every set of every stream.
void sum_up(const ExactStreams& streams, const std::vector<std::uint64_t>& found, std::vector<CacheCounts>& counts) {
  const std::size_t step = streams.count();
  for (std::size_t s = 0; s < step; ++s) {
    CacheCounts& sum = counts[s];
    sum = {};
    sum.accesses = streams.begins[s + 1] - streams.begins[s];
    for (std::size_t sequence = s; sequence < found.size() / kernels::kExactCounts; sequence += step) {
      const std::uint64_t* const one = &found[sequence * kernels::kExactCounts];
      sum.hits += one[0] * kOne;
      sum.sector_misses += one[1];
      sum.evictions += one[2];
      sum.sectors_filled += one[3];
      sum.sectors_written += one[4];
    }
  }
}

/// Runs caches which[first], which[first + step], …: those of one number of sets stand together.
void run_caches(Device& device, const ExactStreams& streams, std::span<const ExactCache> caches,
                const std::vector<std::size_t>& which, std::size_t first, std::size_t step, ExactCounts& counts) {
  const std::span<const LineAccess> accesses = streams.accesses;
  const std::size_t size = accesses.size();
  if (size >= kernels::kMaxReuseAccesses) {
    throw DeviceError(Fault::Memory,
                      {"there are too many accesses for one pass", "exact caches", fmt::format("{}", size),
                       fmt::format("less than {}", kernels::kMaxReuseAccesses), "--device cpu"});
  }
  const auto line_of = [&](std::size_t i) { return accesses[i].line; };
  const LineRange range = line_range(size, line_of);
  std::vector<std::uint32_t> begins(streams.begins.begin(), streams.begins.end() - 1);
  std::vector<std::uint64_t> found;
  kernels::ExactPasses passes(device, size, kernels::bytes_of_line(range));
  const kernels::Buffer begins_there = device.allocate_array<std::uint32_t>(begins.size(), "beginnings of streams");
  kernels::Stream stream(device);
  stream.upload_array(begins_there, begins);
  kernels::upload_lines(stream, passes.lines(), size, range, line_of);
  kernels::upload_made<std::uint16_t>(stream, passes.flags(), size, [&](std::size_t i) {
    return static_cast<std::uint16_t>(accesses[i].sectors | (accesses[i].store ? kernels::kExactStore : 0));
  });
  std::uint64_t sets = 0;
  for (std::size_t i = first; i < which.size(); i += step) {
    const ExactCache& one = caches[which[i]];
    if (one.geometry.sets() != sets) {
      sets = one.geometry.sets();
      passes.order_by_sets(stream, sets, range.low, begins_there, static_cast<std::uint32_t>(begins.size()));
    }
    const kernels::Buffer& there = passes.run(stream, static_cast<std::uint32_t>(one.geometry.associativity()),
                                              one.policy.write_back, one.policy.allocate);
    found.resize(passes.sequences() * kernels::kExactCounts);
    stream.download_array(there, found);
    stream.wait();
    sum_up(streams, found, counts[which[i]]);
  }
}

bool has_kernel(const ExactCache& one, std::size_t streams, std::uint64_t most_ways) {
  const std::uint64_t ways = one.geometry.associativity();
  return one.policy.replacement == Replacement::Lru && ways <= most_ways &&
         one.geometry.lines() <= kernels::kMaxExactWays / streams;
}

std::vector<bool> exact_counts_on(std::span<Device* const> devices, const ExactStreams& streams,
                                  std::span<const ExactCache> caches, ExactCounts& counts) {
  std::uint64_t most_ways = ~std::uint64_t{0};
  for (const Device* device : devices) {
    most_ways = std::min<std::uint64_t>(most_ways, std::uint64_t{kernels::kExactSlots} * kernels::exact_lanes(*device));
  }
  std::vector<bool> done(caches.size(), false);
  std::vector<std::size_t> which;
  for (std::size_t i = 0; i < caches.size(); ++i) {
    if (has_kernel(caches[i], streams.count(), most_ways)) {
      done[i] = true;
      which.push_back(i);
    }
  }
  if (which.empty()) {
    throw NoKernel{kNoExactKernel};
  }
  std::stable_sort(which.begin(), which.end(),
                   [&](std::size_t a, std::size_t b) { return caches[a].geometry.sets() < caches[b].geometry.sets(); });
  const std::size_t step = std::min(devices.size(), which.size());
  kernels::on_each(
      step, [&](std::size_t number) { run_caches(*devices[number], streams, caches, which, number, step, counts); });
  return done;
}

const decltype(exact_counts_twin)::Registrar kExactCountsTwin(exact_counts_twin,
                                                              {.run = kernels::all_devices(exact_counts_on)});

}  // namespace
}  // namespace rayreplay::memory
