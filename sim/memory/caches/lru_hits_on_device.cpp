#include "sim/memory/caches/lru_hits_on_device.hpp"

#include <algorithm>
#include <exception>
#include <future>

#include <fmt/format.h>
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

#include "kernels/caches/lru.hpp"
#include "sim/memory/caches/line_range.hpp"

namespace rayreplay::memory {
namespace {

namespace tbb = oneapi::tbb;
using kernels::Device;

constexpr std::size_t kUploaded = std::size_t{1} << 22U;  ///< lines in one upload
constexpr std::size_t kRow = kernels::kMostLruWays + 1;
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
      throw kernels::DeviceError(
          kernels::Fault::Memory,
          {"a stream of accesses does not fit on the device", "set-associative LRU",
           fmt::format("{} accesses", end - streams.begins[s]), fmt::format("at most {}", limit), "--device cpu"});
    }
    if (batches.empty() || end - streams.begins[batches.back().first] > limit ||
        s - batches.back().first == kMaxStreams) {
      batches.push_back({s, s});
    }
    batches.back().last = s + 1;
  }
  return batches;
}

template <class Line>
void upload(kernels::Stream& stream, const kernels::Buffer& to, std::span<const std::uint64_t> lines,
            std::uint64_t low) {
  std::vector<Line> made;
  for (std::size_t at = 0; at < lines.size(); at += kUploaded) {
    made.resize(std::min(kUploaded, lines.size() - at));
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, made.size(), 65536),
                      [&](const tbb::blocked_range<std::size_t>& range) {
                        for (std::size_t i = range.begin(); i < range.end(); ++i) {
                          made[i] = static_cast<Line>(lines[at + i] - low);
                        }
                      });
    stream.upload_array(to, made, at);
  }
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
  const bool wide = range.bits() > 32;

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
  kernels::LruPasses passes(device, lines.size(), wide ? sizeof(std::uint64_t) : sizeof(std::uint32_t));
  const kernels::Buffer begins_there = device.allocate_array<std::uint32_t>(count, "beginnings of streams");
  const kernels::Buffer pieces_there = device.allocate_array<kernels::HistogramPiece>(pieces.size(), "pieces");
  const kernels::Buffer counts_there = device.allocate_array<std::uint32_t>(counts.size(), "hits by ways");
  const kernels::Buffer ways_there = device.allocate_array<std::uint32_t>(kernels::kMostLruWays, "ways");
  kernels::Stream stream(device);
  if (wide) {
    upload<std::uint64_t>(stream, passes.lines(), lines, range.low);
  } else {
    upload<std::uint32_t>(stream, passes.lines(), lines, range.low);
  }
  stream.upload_array(begins_there, begins);
  stream.upload_array(pieces_there, pieces);
  passes.link(stream, range.bits(), begins_there, static_cast<std::uint32_t>(count));
  for (std::size_t g = first; g < groups.size(); g += step) {
    passes.count_sets(stream, groups[g].sets, range.low);
    for (std::size_t from = 0; from < groups[g].ways.size(); from += kernels::kMostLruWays) {
      const std::size_t some = std::min<std::size_t>(kernels::kMostLruWays, groups[g].ways.size() - from);
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

}  // namespace

LruGroupHits lru_hits_on_devices(const LruStreams& streams, const std::vector<LruGroup>& groups,
                                 std::span<Device* const> devices) {
  LruGroupHits hits = no_hits(streams, groups);
  const std::size_t step = std::min(devices.size(), groups.size());
  const auto work = [&](std::size_t number) {
    Device& device = *devices[number];
    constexpr std::uint64_t kMany = std::uint64_t{1} << 24U;
    const double each = static_cast<double>(kernels::lru_bytes(kMany, sizeof(std::uint64_t))) / kMany;
    constexpr double kShare = 0.8;  // of the free device memory
    const auto fits = static_cast<std::uint64_t>(static_cast<double>(device.free_bytes()) * kShare / each);
    for (const Batch& batch : batches_of(streams, std::min(fits, kernels::kMostReuseAccesses))) {
      run_batch(device, streams, batch, groups, number, step, hits);
    }
  };
  std::vector<std::future<void>> others;
  for (std::size_t i = 1; i < step; ++i) {
    others.push_back(std::async(std::launch::async, work, i));
  }
  std::exception_ptr error;
  try {
    if (step != 0) {
      work(0);
    }
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
  return hits;
}

}  // namespace rayreplay::memory
