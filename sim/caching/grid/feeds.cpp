#include "sim/caching/grid/feeds.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <span>

#include <fmt/format.h>
#include <oneapi/tbb/parallel_for.h>

#include "base/error.hpp"
#include "sim/memory/results/sums.hpp"

namespace rayreplay::experiment {
namespace {

using memory::DownAccess;
using memory::LineAccess;
using memory::Transaction;

constexpr std::size_t kBlock = std::size_t{1} << 18U;  ///< transactions whose misses are sorted together
constexpr std::uint8_t kMaxLanes = 64;

void check_stream(const RecordedStream& stream) {
  memory::check(stream.coalescing, "a recorded stream");
  const std::uint32_t sectors = 1U << (stream.coalescing.line_bytes / stream.coalescing.sector_bytes);
  const std::uint64_t last_line = std::numeric_limits<std::uint64_t>::max() / stream.coalescing.line_bytes;
  std::uint64_t requests = 0;
  for (const Transaction& one : stream.transactions) {
    if (one.sm >= stream.sms || one.sectors == 0 || one.sectors >= sectors || one.lanes == 0 || one.lanes > kMaxLanes ||
        one.line > last_line) {
      throw Error(ErrorKind::Internal, {"a transaction of a recorded stream is invalid", "", "", "", ""});
    }
    requests += one.lanes;
  }
  constexpr std::uint64_t kMaxTransactions = std::numeric_limits<std::uint32_t>::max();
  if (requests > memory::kMaxAccesses || stream.transactions.size() > kMaxTransactions) {
    throw Error(ErrorKind::Resource,
                {"the stream is too long for exact sums", "",
                 fmt::format("{} transactions of {} requests", stream.transactions.size(), requests),
                 fmt::format("at most {} of {}", kMaxTransactions, memory::kMaxAccesses), "take a smaller launch"});
  }
}

/// State of an SM's L1 in the stream.
struct Sm {
  std::unique_ptr<memory::Cache> cache;
  std::uint64_t next = 0, end = 0;   ///< rows
  std::uint64_t begin = 0;           ///< of the block
  std::vector<LineAccess> accesses;  ///< of the block
  std::vector<DownAccess> down;
  std::vector<std::uint32_t> hit;
};

}  // namespace

StreamFeeds::StreamFeeds(const RecordedStream& stream)
    : stream_(stream), begins_(stream.sms + std::size_t{1}), order_(stream.transactions.size()) {
  check_stream(stream);
  for (const Transaction& one : stream.transactions) {
    ++begins_[one.sm + std::size_t{1}];
  }
  std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
  std::vector<std::uint64_t> next(begins_.begin(), begins_.end() - 1);
  for (std::size_t i = 0; i < order_.size(); ++i) {
    order_[next[stream.transactions[i].sm]++] = static_cast<std::uint32_t>(i);
  }
}

void StreamFeeds::fill(const memory::LineSplit& to, std::uint64_t row, std::span<LineAccess> into) const {
  for (LineAccess& access : into) {
    const Transaction& one = stream_.transactions[order_[row++]];
    to.each(one.line, one.sectors, [&](std::uint64_t at, std::uint8_t sectors) {
      access = {at, sectors, (one.flags & memory::kStore) != 0};
    });
  }
}

std::vector<LineAccess> StreamFeeds::l1(std::uint32_t sector_bytes, std::size_t first, std::size_t last) const {
  const std::uint32_t line = stream_.coalescing.line_bytes;
  const memory::LineSplit to(line, stream_.coalescing.sector_bytes, line, sector_bytes);
  std::vector<LineAccess> accesses(begins_[last] - begins_[first]);
  tbb::parallel_for(
      tbb::blocked_range<std::size_t>(0, accesses.size(), kBlock), [&](const tbb::blocked_range<std::size_t>& range) {
        fill(to, begins_[first] + range.begin(), std::span(accesses).subspan(range.begin(), range.size()));
      });
  return accesses;
}

std::vector<LineAccess> StreamFeeds::all(std::uint32_t line_bytes, std::uint32_t sector_bytes) const {
  const memory::LineSplit to(stream_.coalescing.line_bytes, stream_.coalescing.sector_bytes, line_bytes, sector_bytes);
  std::vector<LineAccess> accesses;
  accesses.reserve(stream_.transactions.size());
  for (const Transaction& one : stream_.transactions) {
    to.each(one.line, one.sectors, [&](std::uint64_t line, std::uint8_t sectors) {
      accesses.push_back({line, sectors, (one.flags & memory::kStore) != 0});
    });
  }
  return accesses;
}

std::vector<LineAccess> StreamFeeds::misses(const LevelCache& cache) const {
  const std::uint32_t line = stream_.coalescing.line_bytes;
  const memory::LineSplit to(line, stream_.coalescing.sector_bytes, line, cache.sector_bytes);
  const std::unique_ptr<memory::CacheModel> model = memory::CacheModels::create(cache.model).model;
  std::vector<Sm> sms(begins_.size() - 1);
  for (std::size_t s = 0; s < sms.size(); ++s) {
    sms[s].next = begins_[s];
  }
  std::vector<LineAccess> down;
  // A growing vector would hold them up to three times; reserved pages without writes use no memory.
  down.reserve(order_.size());
  std::vector<std::uint32_t> place;
  for (std::size_t at = 0; at < order_.size(); at += kBlock) {
    const std::size_t end = std::min(at + kBlock, order_.size());
    place.assign(end - at + 1, 0);
    tbb::parallel_for(std::size_t{0}, sms.size(), [&](std::size_t s) {
      Sm& sm = sms[s];
      sm.begin = sm.next;
      const auto first = order_.begin() + static_cast<std::ptrdiff_t>(sm.begin);
      const auto last = order_.begin() + static_cast<std::ptrdiff_t>(begins_[s + 1]);
      sm.next = static_cast<std::uint64_t>(std::lower_bound(first, last, end) - order_.begin());
      sm.down.clear();
      if (sm.begin == sm.next) {
        return;
      }
      if (sm.cache == nullptr) {
        sm.cache = model->make(cache.geometry());
      }
      sm.hit.resize(sm.next - sm.begin);
      sm.accesses.resize(sm.hit.size());
      fill(to, sm.begin, sm.accesses);
      sm.cache->access(sm.accesses, {}, sm.hit, &sm.down);
      for (const DownAccess& one : sm.down) {
        ++place[order_[sm.begin + one.cause] - at];
      }
    });
    std::exclusive_scan(place.begin(), place.end(), place.begin(), std::uint32_t{0});
    const std::size_t before = down.size();
    down.resize(before + place.back());
    tbb::parallel_for(std::size_t{0}, sms.size(), [&](std::size_t s) {
      for (const DownAccess& one : sms[s].down) {
        std::uint32_t& here = place[order_[sms[s].begin + one.cause] - at];
        down[before + here++] = {one.line, one.sectors, one.store};
      }
    });
  }
  return down;
}

std::vector<LineAccess> split(const std::vector<LineAccess>& accesses, std::uint32_t from_line,
                              std::uint32_t from_sector, std::uint32_t to_line, std::uint32_t to_sector) {
  const memory::LineSplit to(from_line, from_sector, to_line, to_sector);
  std::vector<LineAccess> result;
  result.reserve(accesses.size());
  for (const LineAccess& one : accesses) {
    to.each(one.line, one.sectors, [&](std::uint64_t line, std::uint8_t sectors) {
      result.push_back({line, sectors, one.store});
    });
  }
  return result;
}

}  // namespace rayreplay::experiment
