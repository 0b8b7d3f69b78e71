#include "sim/memory/caches/exact_counts.hpp"

#include <algorithm>
#include <exception>
#include <future>
#include <memory>

#include <fmt/format.h>
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

#include "base/error.hpp"
#include "kernels/accelerator.hpp"
#include "kernels/caches/exact.hpp"
#include "kernels/reuse/reuse.hpp"
#include "sim/memory/caches/line_range.hpp"

namespace rayreplay::memory {
namespace {

namespace tbb = oneapi::tbb;
using kernels::Device;

constexpr const char* kStage = "exact caches";
constexpr std::size_t kBatch = std::size_t{1} << 14U;
constexpr std::size_t kUploaded = std::size_t{1} << 22U;  ///< accesses in one upload

struct Streams {
  std::span<const LineAccess> accesses;
  std::span<const std::uint64_t> begins;

  [[nodiscard]] std::size_t count() const {
    return begins.size() - 1;
  }
};

void check(const Streams& streams, std::span<const ExactCache> caches) {
  for (const ExactCache& one : caches) {
    check(one.geometry, "a cache of several");
    if (one.geometry.bytes == 0 || one.geometry.line_bytes != caches.front().geometry.line_bytes ||
        one.geometry.sector() != caches.front().geometry.sector()) {
      throw Error(ErrorKind::Usage, {"caches of one stream have different lines or sectors", "",
                                     to_string(one.geometry), to_string(caches.front().geometry), ""});
    }
  }
  const std::span<const std::uint64_t> begins = streams.begins;
  if (begins.empty() || begins.front() != 0 || begins.back() != streams.accesses.size() ||
      !std::is_sorted(begins.begin(), begins.end())) {
    throw Error(ErrorKind::Internal, {"the begins of streams do not partition the accesses", "", "", "", ""});
  }
}

CacheCounts run_one(std::span<const LineAccess> accesses, const ExactCache& one) {
  const std::unique_ptr<Cache> cache = make_set_associative(one.geometry, one.policy);
  std::vector<std::uint32_t> hit(std::min(kBatch, accesses.size()));
  for (std::size_t at = 0; at < accesses.size(); at += kBatch) {
    const std::span<const LineAccess> some = accesses.subspan(at, std::min(kBatch, accesses.size() - at));
    cache->access(some, {}, std::span(hit).first(some.size()), nullptr);
  }
  return cache->counts();
}

/// `which`: the caches to run.
void on_processor(const Streams& streams, std::span<const ExactCache> caches, const std::vector<std::size_t>& which,
                  ExactCounts& counts) {
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, which.size() * streams.count(), 1),
                    [&](const tbb::blocked_range<std::size_t>& range) {
                      for (std::size_t i = range.begin(); i < range.end(); ++i) {
                        const std::size_t cache = which[i / streams.count()];
                        const std::size_t stream = i % streams.count();
                        const std::uint64_t begin = streams.begins[stream];
                        counts[cache][stream] =
                            run_one(streams.accesses.subspan(begin, streams.begins[stream + 1] - begin), caches[cache]);
                      }
                    });
}

/// Runs caches which[first], which[first + step], …; caches with equal numbers of sets are adjacent.
class OnDevice {
 public:
  OnDevice(Device& device, const Streams& streams) : device_(&device), streams_(&streams) {
    const LineRange range =
        line_range(streams.accesses.size(), [&](std::size_t i) { return streams.accesses[i].line; });
    low_ = range.low;
    wide_ = range.bits() > 32;
  }

  void run(std::span<const ExactCache> caches, const std::vector<std::size_t>& which, std::size_t first,
           std::size_t step, ExactCounts& counts) {
    const std::size_t size = streams_->accesses.size();
    if (size >= kernels::kMostReuseAccesses) {
      throw kernels::DeviceError(kernels::Fault::Memory,
                                 {"there are too many accesses for one pass", kStage, fmt::format("{}", size),
                                  fmt::format("less than {}", kernels::kMostReuseAccesses), "--device cpu"});
    }
    std::vector<std::uint32_t> begins(streams_->begins.begin(), streams_->begins.end() - 1);
    std::vector<std::uint64_t> found;
    kernels::ExactPasses passes(*device_, size, wide_ ? sizeof(std::uint64_t) : sizeof(std::uint32_t));
    const kernels::Buffer begins_there = device_->allocate_array<std::uint32_t>(begins.size(), "beginnings of streams");
    kernels::Stream stream(*device_);
    stream.upload_array(begins_there, begins);
    if (wide_) {
      upload<std::uint64_t>(stream, passes.lines(), [&](const LineAccess& access) { return access.line - low_; });
    } else {
      upload<std::uint32_t>(stream, passes.lines(),
                            [&](const LineAccess& access) { return static_cast<std::uint32_t>(access.line - low_); });
    }
    upload<std::uint16_t>(stream, passes.flags(), [](const LineAccess& access) {
      return static_cast<std::uint16_t>(access.sectors | (access.store ? kernels::kExactStore : 0));
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
  template <class Word, class Make>
  void upload(kernels::Stream& stream, const kernels::Buffer& to, const Make& make) const {
    const std::span<const LineAccess> accesses = streams_->accesses;
    std::vector<Word> made;
    for (std::size_t at = 0; at < accesses.size(); at += kUploaded) {
      made.resize(std::min(kUploaded, accesses.size() - at));
      tbb::parallel_for(tbb::blocked_range<std::size_t>(0, made.size(), 65536),
                        [&](const tbb::blocked_range<std::size_t>& range) {
                          for (std::size_t i = range.begin(); i < range.end(); ++i) {
                            made[i] = make(accesses[at + i]);
                          }
                        });
      stream.upload_array(to, made, at);
    }
  }

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
  const Streams* streams_;
  std::uint64_t low_ = 0;
  bool wide_ = false;
};

void on_devices(const Streams& streams, std::span<const ExactCache> caches, const std::vector<std::size_t>& which,
                std::span<Device* const> devices, ExactCounts& counts) {
  const std::size_t step = std::min(devices.size(), which.size());
  const auto work = [&](std::size_t number) {
    OnDevice(*devices[number], streams).run(caches, which, number, step, counts);
  };
  std::vector<std::future<void>> others;
  for (std::size_t i = 1; i < step; ++i) {
    others.push_back(std::async(std::launch::async, work, i));
  }
  std::exception_ptr error;
  try {
    work(0);
  } catch (...) {
    error = std::current_exception();
  }
  for (std::future<void>& other : others) {
    try {
      other.get();
    } catch (...) {
      error = std::current_exception();
    }
  }
  if (error) {
    std::rethrow_exception(error);
  }
}

bool has_kernel(const ExactCache& one, std::size_t streams, std::uint64_t most_ways) {
  const std::uint64_t ways = one.geometry.associativity();
  return one.policy.replacement == Replacement::Lru && ways <= most_ways &&
         one.geometry.lines() <= kernels::kMostExactWays / streams;
}

}  // namespace

ExactCounts exact_counts(std::span<const LineAccess> accesses, std::span<const std::uint64_t> begins,
                         std::span<const ExactCache> caches, kernels::Accelerator* accelerator) {
  const Streams streams{accesses, begins};
  check(streams, caches);
  ExactCounts counts(caches.size(), std::vector<CacheCounts>(streams.count()));
  std::vector<std::size_t> there;
  std::vector<std::size_t> here;
  std::uint64_t most_ways = 0;
  if (accelerator != nullptr && accelerator->has_device()) {
    most_ways = ~std::uint64_t{0};
    for (const Device* device : accelerator->devices()) {
      most_ways =
          std::min<std::uint64_t>(most_ways, std::uint64_t{kernels::kExactSlots} * kernels::exact_lanes(*device));
    }
  }
  for (std::size_t i = 0; i < caches.size(); ++i) {
    const bool on_device = !accesses.empty() && has_kernel(caches[i], streams.count(), most_ways);
    (on_device ? there : here).push_back(i);
  }
  if (!there.empty()) {
    std::stable_sort(there.begin(), there.end(), [&](std::size_t a, std::size_t b) {
      return caches[a].geometry.sets() < caches[b].geometry.sets();
    });
    (void)accelerator->run(
        kStage, {},
        [&](std::span<Device* const> devices) {
          on_devices(streams, caches, there, devices, counts);
          return true;
        },
        [&] {
          on_processor(streams, caches, there, counts);
          return true;
        });
  }
  if (!here.empty()) {
    if (accelerator != nullptr && !accesses.empty()) {
      accelerator->note_cpu(kStage, "replacement other than LRU, or too many ways, have no kernel");
    }
    on_processor(streams, caches, here, counts);
  }
  return counts;
}

}  // namespace rayreplay::memory
