#include "sim/memory/caches/exact_counts.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

#include "base/error.hpp"

namespace rayreplay::memory {
namespace {

namespace tbb = oneapi::tbb;

constexpr std::size_t kBatch = std::size_t{1} << 14U;

void check(const ExactStreams& streams, std::span<const ExactCache> caches) {
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

/// `which`: the caches to be run.
void on_processor(const ExactStreams& streams, std::span<const ExactCache> caches,
                  const std::vector<std::size_t>& which, ExactCounts& counts) {
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

}  // namespace

ExactCounts exact_counts(std::span<const LineAccess> accesses, std::span<const std::uint64_t> begins,
                         std::span<const ExactCache> caches, Accelerator* accelerator) {
  const ExactStreams streams{accesses, begins};
  check(streams, caches);
  ExactCounts counts(caches.size(), std::vector<CacheCounts>(streams.count()));
  std::vector<bool> done(caches.size(), false);
  if (!accesses.empty() && !caches.empty()) {
    done = exact_counts_twin.run(
        accelerator, [&] { return std::vector<bool>(caches.size(), false); }, streams, caches, counts);
  }
  std::vector<std::size_t> left;
  for (std::size_t i = 0; i < caches.size(); ++i) {
    if (!done[i]) {
      left.push_back(i);
    }
  }
  if (!left.empty()) {
    if (left.size() < caches.size()) {
      accelerator->note_cpu(exact_counts_twin.stage(), kNoExactKernel);
    }
    on_processor(streams, caches, left, counts);
  }
  return counts;
}

}  // namespace rayreplay::memory
