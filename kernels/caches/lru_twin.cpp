// Hits of many LRU caches (sim/memory/caches/lru_hits.hpp) on devices.
//
// Contract: streams go in batches of as many whole ones as fit; numbers of sets are divided among devices. Errors:
// DeviceError; Memory if a single stream is too long.
#include <algorithm>

#include <fmt/format.h>

#include "kernels/caches/lru.hpp"
#include "kernels/on_each.hpp"
#include "kernels/reuse/upload.hpp"
#include "kernels/twins.hpp"
#include "sim/memory/caches/line_range.hpp"
#include "sim/memory/caches/lru_hits.hpp"

namespace rayreplay::memory {
namespace {

using kernels::Device;

constexpr std::size_t kRow = kernels::kMaxLruWays + 1;
constexpr std::size_t kMaxStreams = 65536;  ///< of a batch: counts take 260 bytes each

/// Streams [first, last), which are adjacent.
struct Batch {
  std::size_t first = 0;
  std::size_t last = 0;
};

std::vector<Batch> batches_of(const LruStreams& streams, std::uint64_t limit) {
  std::vector<Batch> batches;
  for (std::size_t s = 0; s < streams.count(); ++s) {
    const std::uint64_t end = streams.begins[s + 1];
    if (end - streams.begins[s] > limit) {
      throw DeviceError(Fault::Memory, {"a stream of accesses does not fit on the device", "set-associative LRU",
                                        fmt::format("{} accesses", end - streams.begins[s]),
                                        fmt::format("at most {}", limit), "--device cpu"});
    }
    if (batches.empty() || end - streams.begins[batches.back().first] > limit ||
        s - batches.back().first == kMaxStreams) {
      batches.push_back({s, s});
    }
    batches.back().last = s + 1;
  }
  return batches;
}

/// Groups first, first + step, … of one batch.
void run_batch(Device& device, const LruStreams& streams, const Batch& batch, const std::vector<LruGroup>& groups,
               std::size_t first, std::size_t step, LruGroupHits& hits) {
  const std::uint64_t begin = streams.begins[batch.first];
  const std::span<const std::uint64_t> lines = streams.lines.subspan(begin, streams.begins[batch.last] - begin);
  if (lines.empty()) {
    return;
  }
  const std::size_t count = batch.last - batch.first;
  const LineRange range = line_range(lines.size(), [&](std::size_t i) { return lines[i]; });

  // The buffers outlive the device stream, also when an exception is thrown.
  std::vector<std::uint32_t> begins;
  std::vector<kernels::HistogramPiece> pieces;
  for (std::size_t s = 0; s < count; ++s) {
    begins.push_back(static_cast<std::uint32_t>(streams.begins[batch.first + s] - begin));
    kernels::add_pieces(static_cast<std::uint32_t>(s), begins.back(), streams.begins[batch.first + s + 1] - begin,
                        pieces);
  }
  std::vector<std::uint32_t> counts(count * kRow);
  std::vector<std::uint32_t> ways;
  kernels::LruPasses passes(device, lines.size(), kernels::bytes_of_line(range));
  const kernels::Buffer begins_there = device.allocate_array<std::uint32_t>(count, "beginnings of streams");
  const kernels::Buffer pieces_there = device.allocate_array<kernels::HistogramPiece>(pieces.size(), "pieces");
  const kernels::Buffer counts_there = device.allocate_array<std::uint32_t>(counts.size(), "hits by ways");
  const kernels::Buffer ways_there = device.allocate_array<std::uint32_t>(kernels::kMaxLruWays, "ways");
  kernels::Stream stream(device);
  kernels::upload_lines(stream, passes.lines(), lines.size(), range, [&](std::size_t i) { return lines[i]; });
  stream.upload_array(begins_there, begins);
  stream.upload_array(pieces_there, pieces);
  passes.link(stream, range.bits(), begins_there, static_cast<std::uint32_t>(count));
  for (std::size_t g = first; g < groups.size(); g += step) {
    passes.count_sets(stream, groups[g].sets, range.low);
    for (std::size_t from = 0; from < groups[g].ways.size(); from += kernels::kMaxLruWays) {
      const std::size_t some = std::min<std::size_t>(kernels::kMaxLruWays, groups[g].ways.size() - from);
      const auto from_ways = groups[g].ways.begin() + static_cast<std::ptrdiff_t>(from);
      ways.assign(from_ways, from_ways + static_cast<std::ptrdiff_t>(some));
      stream.upload_array(ways_there, ways);
      stream.fill(counts_there, 0, 0, counts.size() * sizeof(std::uint32_t));
      passes.count_ways(stream, ways_there, static_cast<std::uint32_t>(some), pieces_there, pieces.size(),
                        counts_there);
      stream.download_array(counts_there, counts);
      stream.wait();
      for (std::size_t s = 0; s < count; ++s) {
        std::uint64_t sum = 0;
        for (std::size_t k = 0; k < some; ++k) {
          sum += counts[s * kRow + k];
          hits[g][from + k][batch.first + s] = sum;
        }
      }
    }
  }
}

LruGroupHits lru_hits_on(std::span<Device* const> devices, const LruStreams& streams,
                         const std::vector<LruGroup>& groups) {
  LruGroupHits hits = no_hits(streams, groups);
  const std::size_t step = std::min(devices.size(), groups.size());
  kernels::on_each(step, [&](std::size_t number) {
    Device& device = *devices[number];
    constexpr double kShare = 0.8;  // of the free device memory
    const std::uint64_t fits = kernels::accesses_that_fit(device, kShare, kernels::lru_bytes);
    for (const Batch& batch : batches_of(streams, std::min(fits, kernels::kMaxReuseAccesses))) {
      run_batch(device, streams, batch, groups, number, step, hits);
    }
  });
  return hits;
}

const decltype(lru_hits_twin)::Registrar kLruHitsTwin(lru_hits_twin, {.run = kernels::all_devices(lru_hits_on)});

}  // namespace
}  // namespace rayreplay::memory
