// Exact caches with sectors and stores (sim/memory/caches/exact_counts.hpp) on devices; each takes some of the caches.
#include <algorithm>

#include <fmt/format.h>

#include "kernels/caches/exact.hpp"
#include "kernels/caches/upload.hpp"
#include "kernels/on_each.hpp"
#include "kernels/reuse/reuse.hpp"
#include "kernels/twins.hpp"
#include "sim/memory/caches/exact_counts.hpp"
#include "sim/memory/caches/line_range.hpp"

namespace rayreplay::memory {
namespace {

using kernels::Device;

/// Runs caches[first], caches[first + step], …; caches with the same number of sets are adjacent.
class OnDevice {
 public:
  OnDevice(Device& device, const ExactStreams& streams) : device_(&device), streams_(&streams) {
    const LineRange range =
        line_range(streams.accesses.size(), [&](std::size_t i) { return streams.accesses[i].line; });
    low_ = range.low;
    wide_ = range.bits() > 32;
  }

  void run(std::span<const ExactCache> caches, const std::vector<std::size_t>& which, std::size_t first,
           std::size_t step, ExactCounts& counts) {
    const std::size_t size = streams_->accesses.size();
    if (size >= kernels::kMostReuseAccesses) {
      throw DeviceError(Fault::Memory,
                        {"there are too many accesses for one pass", "exact caches", fmt::format("{}", size),
                         fmt::format("less than {}", kernels::kMostReuseAccesses), "--device cpu"});
    }
    std::vector<std::uint32_t> begins(streams_->begins.begin(), streams_->begins.end() - 1);
    std::vector<std::uint64_t> found;
    kernels::ExactPasses passes(*device_, size, wide_ ? sizeof(std::uint64_t) : sizeof(std::uint32_t));
    const kernels::Buffer begins_there = device_->allocate_array<std::uint32_t>(begins.size(), "beginnings of streams");
    kernels::Stream stream(*device_);
    stream.upload_array(begins_there, begins);
    const std::span<const LineAccess> accesses = streams_->accesses;
    if (wide_) {
      kernels::upload_made<std::uint64_t>(stream, passes.lines(), size,
                                          [&](std::size_t i) { return accesses[i].line - low_; });
    } else {
      kernels::upload_made<std::uint32_t>(stream, passes.lines(), size, [&](std::size_t i) {
        return static_cast<std::uint32_t>(accesses[i].line - low_);
      });
    }
    kernels::upload_made<std::uint16_t>(stream, passes.flags(), size, [&](std::size_t i) {
      return static_cast<std::uint16_t>(accesses[i].sectors | (accesses[i].store ? kernels::kExactStore : 0));
    });
    std::uint64_t sets = 0;
    for (std::size_t i = first; i < which.size(); i += step) {
      const ExactCache& one = caches[which[i]];
      if (one.geometry.sets() != sets) {
        sets = one.geometry.sets();
        passes.order_by_sets(stream, sets, low_, begins_there, static_cast<std::uint32_t>(begins.size()));
      }
      const kernels::Buffer& there = passes.run(stream, static_cast<std::uint32_t>(one.geometry.associativity()),
                                                one.policy.write_back, one.policy.allocate);
      found.resize(passes.sequences() * kernels::kExactCounts);
      stream.download_array(there, found);
      stream.wait();
      sum_up(found, counts[which[i]]);
    }
  }

 private:
  void sum_up(const std::vector<std::uint64_t>& found, std::vector<CacheCounts>& counts) const {
    const std::size_t streams = streams_->count();
    for (std::size_t s = 0; s < streams; ++s) {
      CacheCounts& sum = counts[s];
      sum = {};
      sum.accesses = streams_->begins[s + 1] - streams_->begins[s];
      for (std::size_t sequence = s; sequence < found.size() / kernels::kExactCounts; sequence += streams) {
        const std::uint64_t* const one = &found[sequence * kernels::kExactCounts];
        sum.hits += one[0] * kOne;
        sum.sector_misses += one[1];
        sum.evictions += one[2];
        sum.sectors_filled += one[3];
        sum.sectors_written += one[4];
      }
    }
  }

  Device* device_;
  const ExactStreams* streams_;
  std::uint64_t low_ = 0;
  bool wide_ = false;
};

bool has_kernel(const ExactCache& one, std::size_t streams, std::uint64_t most_ways) {
  const std::uint64_t ways = one.geometry.associativity();
  return one.policy.replacement == Replacement::Lru && ways <= most_ways &&
         one.geometry.lines() <= kernels::kMostExactWays / streams;
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
      step, [&](std::size_t number) { OnDevice(*devices[number], streams).run(caches, which, number, step, counts); });
  return done;
}

const decltype(exact_counts_twin)::Registrar kExactCountsTwin(exact_counts_twin,
                                                              {.run = kernels::all_devices(exact_counts_on)});

}  // namespace
}  // namespace rayreplay::memory
