#include "sim/memory/reuse/histogram.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace rayreplay::memory {
namespace {

constexpr std::uint32_t kExact = ReuseHistogram::kExact;
constexpr std::uint32_t kPerOctave = ReuseHistogram::kPerOctave;
constexpr unsigned kExactBits = std::bit_width(kExact) - 1;       // 12
constexpr unsigned kOctaveBits = std::bit_width(kPerOctave) - 1;  // 6
constexpr std::size_t kBins = ReuseHistogram::kBins;
static_assert(kBins == kExact + (32 - kExactBits) * kPerOctave);

inline std::size_t bin_of(std::uint32_t distance) {
  const unsigned octave = static_cast<unsigned>(std::bit_width(distance | kExact)) - 1;
  const std::size_t above =
      kExact + (octave - kExactBits) * kPerOctave + ((distance >> (octave - kOctaveBits)) & (kPerOctave - 1));
  return distance < kExact ? distance : above;
}

std::uint32_t first_of(std::size_t bin) {
  if (bin < kExact) {
    return static_cast<std::uint32_t>(bin);
  }
  const std::size_t octave = (bin - kExact) / kPerOctave;
  const std::size_t inside = (bin - kExact) % kPerOctave;
  return static_cast<std::uint32_t>((kPerOctave + inside) << (octave + kExactBits - kOctaveBits));
}

/// Distances end below kNotSampled.
std::uint32_t last_of(std::size_t bin) {
  return bin + 1 < kBins ? first_of(bin + 1) - 1 : kNotSampled - 1;
}

}  // namespace

void ReuseHistogram::add(std::span<const std::uint32_t> distances) {
  if (distances.empty()) {
    return;
  }
  const bool was_empty = counts_.empty();
  counts_.resize(kBins);
  std::uint64_t* const counts = counts_.data();
  std::uint64_t cold = 0;
  std::uint64_t not_sampled = 0;
  for (const std::uint32_t distance : distances) {  // without branches: the two special values also go to the last bin
    ++counts[bin_of(distance)];
    cold += distance == kInfinite ? 1 : 0;
    not_sampled += distance == kNotSampled ? 1 : 0;
  }
  counts[kBins - 1] -= cold + not_sampled;
  cold_ += cold;
  not_sampled_ += not_sampled;
  if (was_empty && cold + not_sampled == distances.size()) {
    counts_ = {};  // so that histograms with the same counts are equal
  }
}

void ReuseHistogram::add(std::uint32_t distance, std::uint64_t count) {
  if (count == 0) {
    return;
  }
  if (distance == kInfinite) {
    cold_ += count;
  } else if (distance == kNotSampled) {
    not_sampled_ += count;
  } else {
    counts_.resize(kBins);
    counts_[bin_of(distance)] += count;
  }
}

void ReuseHistogram::add_bins(std::span<const std::uint32_t> counts, std::uint64_t cold) {
  cold_ += cold;
  if (std::all_of(counts.begin(), counts.end(), [](std::uint32_t count) { return count == 0; })) {
    return;  // as in add
  }
  counts_.resize(kBins);
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    counts_[bin] += counts[bin];
  }
}

void ReuseHistogram::take_back_shortest(std::uint64_t count) {
  for (std::uint64_t& bin : counts_) {
    const std::uint64_t taken = std::min(bin, count);
    bin -= taken;
    count -= taken;
  }
  if (std::all_of(counts_.begin(), counts_.end(), [](std::uint64_t c) { return c == 0; })) {
    counts_ = {};  // as in add: equal counts are equal histograms
  }
}

void ReuseHistogram::merge(const ReuseHistogram& other) {
  cold_ += other.cold_;
  not_sampled_ += other.not_sampled_;
  if (other.counts_.empty()) {
    return;
  }
  counts_.resize(kBins);
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    counts_[bin] += other.counts_[bin];
  }
}

std::uint64_t ReuseHistogram::accesses() const {
  std::uint64_t sum = cold_;
  for (const std::uint64_t count : counts_) {
    sum += count;
  }
  return sum;
}

std::vector<ReuseHistogram::Bin> ReuseHistogram::bins() const {
  std::vector<Bin> result;
  for (std::size_t bin = 0; bin < counts_.size(); ++bin) {
    if (counts_[bin] != 0) {
      result.push_back({first_of(bin), last_of(bin), counts_[bin]});
    }
  }
  return result;
}

std::uint64_t ReuseHistogram::misses(std::uint64_t lines) const {
  std::uint64_t sum = cold_;
  for (std::size_t bin = counts_.size(); bin > 0 && last_of(bin - 1) >= lines; --bin) {
    sum += counts_[bin - 1];
  }
  return sum;
}

ReuseHistogram adjusted(const ReuseHistogram& sampled, double weight) {
  ReuseHistogram result = sampled;
  const std::uint64_t members = sampled.accesses();
  const double should = std::round(static_cast<double>(members + sampled.not_sampled()) / weight);
  const auto wanted = static_cast<std::uint64_t>(std::max(should, 0.0));
  if (wanted > members) {
    result.add(0, wanted - members);
  } else {
    result.take_back_shortest(members - wanted);
  }
  return result;
}

std::vector<CurvePoint> miss_ratio_curve(const ReuseHistogram& histogram, std::size_t points) {
  const std::uint64_t accesses = histogram.accesses();
  if (accesses == 0 || points == 0) {
    return {};
  }
  const std::vector<ReuseHistogram::Bin> bins = histogram.bins();
  std::vector<std::uint64_t> sizes = {1};
  for (const ReuseHistogram::Bin& bin : bins) {
    const std::uint64_t size = std::uint64_t{bin.last} + 1;
    if (size > 1) {
      sizes.push_back(size);
    }
  }
  if (sizes.size() > points) {
    std::vector<std::uint64_t> kept;
    const double range = std::log2(static_cast<double>(sizes.back()));
    for (std::size_t i = 0; i < points; ++i) {
      // The last point is the largest size; the others are the first known sizes after even steps.
      const double step = points > 1 ? static_cast<double>(i) / static_cast<double>(points - 1) : 1.0;
      const double wanted = std::floor(std::exp2(range * step));
      const auto it =
          i + 1 == points
              ? sizes.end() - 1
              : std::lower_bound(sizes.begin(), sizes.end() - 1, wanted,
                                 [](std::uint64_t size, double limit) { return static_cast<double>(size) < limit; });
      if (kept.empty() || *it != kept.back()) {
        kept.push_back(*it);
      }
    }
    sizes = std::move(kept);
  }
  // One pass for all sizes: the misses of a size are the accesses of higher bins.
  std::vector<CurvePoint> result;
  std::uint64_t misses = accesses;
  std::size_t next = 0;
  for (const std::uint64_t size : sizes) {
    while (next < bins.size() && bins[next].last < size) {
      misses -= bins[next++].count;
    }
    result.push_back({size, static_cast<double>(misses) / static_cast<double>(accesses)});
  }
  return result;
}

}  // namespace rayreplay::memory
