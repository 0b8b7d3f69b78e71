// 64 set-associative LRU caches over 100 million accesses (kernels/caches): L1s of 80 SMs, and an L2; 8 exact caches
// with sectors and stores.
//
// Bytes: what the passes read and write, gathers and scatters counted as the words they move.
#include <algorithm>
#include <bit>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/split_mix.hpp"
#include "bench/gpu/access_streams.hpp"
#include "bench/gpu/gpu_case.hpp"
#include "kernels/caches/exact.hpp"
#include "kernels/caches/lru.hpp"
#include "sim/memory/caches/exact_counts.hpp"
#include "sim/memory/caches/lru_hits.hpp"

namespace rayreplay::bench {
namespace {

constexpr double kAccesses = 100e6;
constexpr std::size_t kRow = kernels::kMaxLruWays + 1;

class LruCase {
 public:
  LruCase(kernels::Device& device, AccessStreams streams, std::vector<std::uint64_t> sets,
          std::vector<std::uint32_t> ways)
      : device_(&device),
        streams_(std::move(streams)),
        sets_(std::move(sets)),
        ways_(std::move(ways)),
        size_(streams_.lines.size()),
        count_(streams_.begins.size() - 1),
        passes_(device, size_, sizeof(std::uint32_t)),
        begins_(device.allocate_array<std::uint32_t>(count_, "beginnings")),
        ways_there_(device.allocate_array<std::uint32_t>(ways_.size(), "ways")),
        counts_(device.allocate_array<std::uint32_t>(count_ * kRow * sets_.size(), "hits by ways")) {
    std::vector<kernels::HistogramPiece> pieces;
    for (std::size_t s = 0; s < count_; ++s) {
      kernels::add_pieces(static_cast<std::uint32_t>(s), streams_.begins[s], streams_.begins[s + 1], pieces);
    }
    piece_count_ = pieces.size();
    pieces_ = device.allocate_array<kernels::HistogramPiece>(piece_count_, "pieces");
    kernels::Stream stream(device);
    stream.upload_array(passes_.lines(), std::vector<std::uint32_t>(streams_.lines.begin(), streams_.lines.end()));
    stream.upload_array(begins_, std::vector<std::uint32_t>(streams_.begins.begin(), streams_.begins.end() - 1));
    stream.upload_array(pieces_, pieces);
    stream.upload_array(ways_there_, ways_);
    stream.wait();
  }

  void on_device() {
    found_.assign(sets_.size(), std::vector<std::uint32_t>(count_ * kRow));
    kernels::Stream stream(*device_);
    passes_.link(stream, streams_.bits(), begins_, static_cast<std::uint32_t>(count_));
    for (std::size_t g = 0; g < sets_.size(); ++g) {
      passes_.count_sets(stream, sets_[g], 0);
      stream.fill(counts_, 0);
      passes_.count_ways(stream, ways_there_, static_cast<std::uint32_t>(ways_.size()), pieces_, piece_count_, counts_);
      stream.download_array(counts_, found_[g]);
    }
    stream.wait();
  }
  void on_processor() {
    std::vector<memory::LruConfiguration> configurations;
    for (const std::uint64_t sets : sets_) {
      for (const std::uint32_t ways : ways_) {
        configurations.push_back({sets, ways});
      }
    }
    twin_ = memory::lru_hits(streams_.lines, streams_.begins, configurations, nullptr);
  }
  void check() const {
    for (std::size_t g = 0; g < sets_.size(); ++g) {
      for (std::size_t s = 0; s < count_; ++s) {
        std::uint64_t sum = 0;
        for (std::size_t w = 0; w < ways_.size(); ++w) {
          sum += found_[g][s * kRow + w];
          if (sum != twin_[g * ways_.size() + w][s]) {
            throw Error(ErrorKind::Internal, {"hits differ between device and processor", "", "", "", ""});
          }
        }
      }
    }
  }
  [[nodiscard]] double bytes() const {
    constexpr double kWord = 4;
    std::uint64_t levels = 0;
    for (std::uint64_t tiles = size_ / 2048; tiles > 1; tiles /= 16) {
      ++levels;
    }
    const auto passes = [](std::uint64_t bits) { return (bits + 7) / 8; };
    std::uint64_t words = 3 + 5 * passes(streams_.bits()) + 3;  // copy and numbers, sort, links
    for (const std::uint64_t sets : sets_) {
      // Sets 3; a pass of the sort 5; places 2; links 4; permutation 4; a level 5; leaves 3; distances 2; ways 2.
      words +=
          3 + 5 * passes(static_cast<std::uint64_t>(std::bit_width(sets - 1))) + 2 + 4 + 4 + 5 * levels + 3 + 2 + 2;
    }
    return kWord * static_cast<double>(words) * static_cast<double>(size_);
  }
  /// Look-ups of all caches.
  [[nodiscard]] double items() const {
    return static_cast<double>(size_) * static_cast<double>(sets_.size() * ways_.size());
  }
  [[nodiscard]] std::string size(const char* what) const {
    return fmt::format("{:.4g} M accesses, {} caches, {}", static_cast<double>(size_) * 1e-6,
                       sets_.size() * ways_.size(), what);
  }

 private:
  kernels::Device* device_;
  AccessStreams streams_;
  std::vector<std::uint64_t> sets_;
  std::vector<std::uint32_t> ways_;
  std::uint64_t size_;
  std::size_t count_;
  kernels::LruPasses passes_;
  kernels::Buffer begins_, ways_there_, counts_, pieces_;
  std::uint64_t piece_count_ = 0;
  std::vector<std::vector<std::uint32_t>> found_;
  memory::LruHits twin_;
};

PreparedCase prepared(const std::shared_ptr<LruCase>& one, const char* what) {
  return {.size = one->size(what),
          .unit = "look-ups",
          .items = one->items(),
          .least_bytes = one->bytes(),
          .device = [one] { one->on_device(); },
          .cpu = [one] { one->on_processor(); },
          .check = [one] { one->check(); }};
}

std::size_t scaled(double scale) {
  return static_cast<std::size_t>(std::max(1e4, kAccesses * scale));
}

const GpuCases::Registrar kL1(
    {.kernel = "set-associative LRU, L1s of 80 SMs", .needs = {}, .prepare = [](kernels::Device& device, double scale) {
       return prepared(std::make_shared<LruCase>(device, traversal_streams(scaled(scale)),
                                                 std::vector<std::uint64_t>{1, 4, 8, 16, 32, 64, 128, 256},
                                                 std::vector<std::uint32_t>{1, 2, 4, 8, 16, 24, 32, 64}),
                       "incoherent traversal");
     }});
const GpuCases::Registrar kL2(
    {.kernel = "set-associative LRU, an L2", .needs = {}, .prepare = [](kernels::Device& device, double scale) {
       return prepared(
           std::make_shared<LruCase>(device, traversal_streams(scaled(scale)).joined(),
                                     std::vector<std::uint64_t>{256, 512, 1024, 1536, 2048, 4096, 8192, 16384},
                                     std::vector<std::uint32_t>{1, 2, 4, 8, 16, 24, 32, 64}),
           "incoherent traversal");
     }});

/// Sectors of 32 bytes, a store in sixteen.
class ExactCase {
 public:
  ExactCase(kernels::Device& device, AccessStreams streams, std::vector<memory::ExactCache> caches)
      : device_(&device),
        begins_(std::move(streams.begins)),
        caches_(std::move(caches)),
        passes_(device, streams.lines.size(), sizeof(std::uint32_t)),
        begins_there_(device.allocate_array<std::uint32_t>(begins_.size() - 1, "beginnings")) {
    std::vector<std::uint16_t> flags;
    flags.reserve(streams.lines.size());
    accesses_.reserve(streams.lines.size());
    for (std::size_t i = 0; i < streams.lines.size(); ++i) {
      const std::uint64_t bits = split_mix(1, i);
      const auto sectors = static_cast<std::uint8_t>(1U << (bits % 4));
      const bool store = (bits >> 8U) % 16 == 0;
      accesses_.push_back({streams.lines[i], sectors, store});
      flags.push_back(static_cast<std::uint16_t>(sectors | (store ? kernels::kExactStore : 0)));
    }
    kernels::Stream stream(device);
    stream.upload_array(passes_.lines(), std::vector<std::uint32_t>(streams.lines.begin(), streams.lines.end()));
    stream.upload_array(passes_.flags(), flags);
    stream.upload_array(begins_there_, std::vector<std::uint32_t>(begins_.begin(), begins_.end() - 1));
    stream.wait();
  }

  void on_device() {
    found_.clear();
    kernels::Stream stream(*device_);
    std::uint64_t sets = 0;
    for (const memory::ExactCache& one : caches_) {
      if (one.geometry.sets() != sets) {
        sets = one.geometry.sets();
        passes_.order_by_sets(stream, sets, 0, begins_there_, static_cast<std::uint32_t>(begins_.size() - 1));
      }
      const kernels::Buffer& counts =
          passes_.run(stream, one.geometry.ways, one.policy.write_back, one.policy.allocate);
      std::vector<std::uint64_t>& found = found_.emplace_back(passes_.sequences() * kernels::kExactCounts);
      stream.download_array(counts, found);
      stream.wait();
    }
  }
  void on_processor() {
    twin_ = memory::exact_counts(accesses_, begins_, caches_, nullptr);
  }
  void check() const {
    for (std::size_t c = 0; c < caches_.size(); ++c) {
      memory::CacheCounts sum;
      for (std::size_t i = 0; i < found_[c].size(); i += kernels::kExactCounts) {
        sum.hits += found_[c][i] * memory::kOne;
        sum.sector_misses += found_[c][i + 1];
        sum.evictions += found_[c][i + 2];
        sum.sectors_filled += found_[c][i + 3];
        sum.sectors_written += found_[c][i + 4];
      }
      memory::CacheCounts expected;
      for (const memory::CacheCounts& one : twin_[c]) {
        expected.hits += one.hits;
        expected.sector_misses += one.sector_misses;
        expected.evictions += one.evictions;
        expected.sectors_filled += one.sectors_filled;
        expected.sectors_written += one.sectors_written;
      }
      if (!(sum == expected)) {
        throw Error(ErrorKind::Internal, {"counts of caches differ between device and processor", "", "", "", ""});
      }
    }
  }
  [[nodiscard]] double items() const {
    return static_cast<double>(accesses_.size()) * static_cast<double>(caches_.size());
  }
  [[nodiscard]] std::string size(const char* what) const {
    return fmt::format("{:.4g} M accesses, {} caches, {}", static_cast<double>(accesses_.size()) * 1e-6, caches_.size(),
                       what);
  }

 private:
  kernels::Device* device_;
  std::vector<std::uint64_t> begins_;
  std::vector<memory::ExactCache> caches_;
  std::vector<memory::LineAccess> accesses_;
  kernels::ExactPasses passes_;
  kernels::Buffer begins_there_;
  std::vector<std::vector<std::uint64_t>> found_;
  memory::ExactCounts twin_;
};

PreparedCase prepared(const std::shared_ptr<ExactCase>& one, const char* what) {
  return {.size = one->size(what),
          .unit = "look-ups",
          .items = one->items(),
          .least_bytes = 0,
          .device = [one] { one->on_device(); },
          .cpu = [one] { one->on_processor(); },
          .check = [one] { one->check(); }};
}

std::vector<memory::ExactCache> exact_caches(const std::vector<std::uint64_t>& sets, bool l1) {
  std::vector<memory::ExactCache> caches;
  for (const std::uint64_t s : sets) {
    for (const std::uint32_t ways : {4U, 16U, 32U, 64U}) {
      caches.push_back(
          {.geometry = {.bytes = s * ways * 128, .line_bytes = 128, .ways = ways, .sector_bytes = 32},
           .policy = {.replacement = memory::Replacement::Lru, .write_back = !l1, .allocate = !l1, .seed = 0}});
    }
  }
  return caches;
}

const GpuCases::Registrar kExactL1(
    {.kernel = "exact caches, L1s of 80 SMs", .needs = {}, .prepare = [](kernels::Device& device, double scale) {
       return prepared(
           std::make_shared<ExactCase>(device, traversal_streams(scaled(scale)), exact_caches({8, 64}, true)),
           "sectors, write-through, no allocation");
     }});
const GpuCases::Registrar kExactL2(
    {.kernel = "exact caches, an L2", .needs = {}, .prepare = [](kernels::Device& device, double scale) {
       return prepared(std::make_shared<ExactCase>(device, traversal_streams(scaled(scale)).joined(),
                                                   exact_caches({1024, 8192}, false)),
                       "sectors, write-back");
     }});

}  // namespace
}  // namespace rayreplay::bench
