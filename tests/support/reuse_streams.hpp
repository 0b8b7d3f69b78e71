// Streams of line numbers for tests and benchmarks of reuse distances: two like a traversal's, two from distributions.
//
// Contract: the same numbers on every machine for the same arguments, below `lines`; `sm` spreads them over 80 SMs.
//   coherent, incoherent   warps of 32 rays descend a complete binary tree of `depth` levels in depth-first order (32
//                          bytes a node, 128 a line), with detours into siblings, then read two faces and their
//                          vertices; warps follow the image, or every ray goes to a leaf of its own
//   zipf                   ranks by a power law, scattered over the lines
//   uniform                every line as likely
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/split_mix.hpp"

namespace rayreplay::test {

struct ReuseStream {
  std::string name;
  std::vector<std::uint64_t> line;
  std::vector<std::uint8_t> sm;
  std::uint64_t lines = 0;  ///< every line number is below
};

/// SplitMix64, one output after another.
class StreamRandom {
 public:
  explicit StreamRandom(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits() {
    state_ += kSplitMixGamma;
    return split_mix_finish(state_);
  }
  std::uint64_t below(std::uint64_t limit) {
    return bits() % limit;
  }
  double unit() {
    return static_cast<double>(bits() >> 11U) * 0x1.0p-53;
  }

 private:
  std::uint64_t state_;
};

/// Multiples of `step` from `first` on, each of `lines` as likely.
inline std::vector<std::uint64_t> random_lines(std::size_t size, std::uint64_t lines, std::uint64_t seed,
                                               std::uint64_t first = 0, std::uint64_t step = 1) {
  StreamRandom random(seed);
  std::vector<std::uint64_t> result(size);
  for (std::uint64_t& line : result) {
    line = first + step * random.below(lines);
  }
  return result;
}

inline constexpr std::size_t kStreamSms = 80;
inline constexpr std::size_t kStreamLanes = 32;

inline ReuseStream empty_stream(std::string name, std::size_t size, std::uint64_t lines) {
  ReuseStream stream;
  stream.name = std::move(name);
  stream.line.reserve(size + 4096);
  stream.sm.reserve(size + 4096);
  stream.lines = lines;
  return stream;
}

inline ReuseStream uniform_stream(std::size_t size, std::uint32_t lines, std::uint64_t seed) {
  ReuseStream stream = empty_stream("uniform", size, lines);
  StreamRandom random(seed);
  for (std::size_t n = 0; n < size; ++n) {
    stream.line.push_back(random.below(lines));
    stream.sm.push_back(static_cast<std::uint8_t>(n / kStreamLanes % kStreamSms));
  }
  return stream;
}

inline ReuseStream zipf_stream(std::size_t size, std::uint32_t lines, double exponent, std::uint64_t seed) {
  std::vector<double> cumulative(lines);
  double sum = 0;
  for (std::uint32_t rank = 0; rank < lines; ++rank) {
    sum += 1.0 / std::pow(rank + 1.0, exponent);
    cumulative[rank] = sum;
  }
  for (double& value : cumulative) {
    value /= sum;
  }
  std::vector<std::uint32_t> line_of(lines);
  for (std::uint32_t rank = 0; rank < lines; ++rank) {
    line_of[rank] = rank;
  }
  StreamRandom random(seed);
  for (std::uint32_t rank = lines - 1; rank > 0; --rank) {
    std::swap(line_of[rank], line_of[random.below(rank + 1)]);
  }
  ReuseStream stream = empty_stream("zipf", size, lines);
  for (std::size_t n = 0; n < size; ++n) {
    const double value = random.unit();
    const auto it = std::lower_bound(cumulative.begin(), cumulative.end(), value);
    const auto rank = std::min<std::size_t>(static_cast<std::size_t>(it - cumulative.begin()), lines - 1);
    stream.line.push_back(line_of[rank]);
    stream.sm.push_back(static_cast<std::uint8_t>(n / kStreamLanes % kStreamSms));
  }
  return stream;
}

/// Nodes, then faces of 12 bytes, two a leaf, then vertices of 12 bytes, one a leaf.
class TreeStream {
 public:
  TreeStream(unsigned depth, bool coherent, std::uint64_t seed)
      : depth_(depth), coherent_(coherent), leaves_(std::uint64_t{1} << depth), random_(seed) {
    const auto whole_lines = [](std::uint64_t bytes) { return (bytes + kLine - 1) / kLine * kLine; };
    faces_ = whole_lines((2 * leaves_ - 1) * kNode);
    vertices_ = whole_lines(faces_ + leaves_ * 2 * kRecord);
  }

  ReuseStream make(std::size_t size) {
    ReuseStream stream =
        empty_stream(coherent_ ? "coherent" : "incoherent", size, (vertices_ + leaves_ * kRecord + 1024) / kLine + 1);
    std::array<std::vector<std::uint64_t>, kStreamLanes> rays;
    for (std::uint64_t warp = 0; stream.line.size() < size; ++warp) {
      std::size_t longest = 0;
      for (std::vector<std::uint64_t>& ray : rays) {
        ray.clear();
        trace(leaf_of(warp), ray);
        longest = std::max(longest, ray.size());
      }
      for (std::size_t step = 0; step < longest; ++step) {
        for (const std::vector<std::uint64_t>& ray : rays) {
          if (step < ray.size()) {
            stream.line.push_back(ray[step]);
            stream.sm.push_back(static_cast<std::uint8_t>(warp % kStreamSms));
          }
        }
      }
    }
    stream.line.resize(size);
    stream.sm.resize(size);
    return stream;
  }

 private:
  static constexpr std::uint64_t kLine = 128, kNode = 32, kRecord = 12;

  std::uint64_t leaf_of(std::uint64_t warp) {
    if (!coherent_) {
      return random_.below(leaves_);
    }
    double place = random_.unit();
    place += random_.unit();
    place += random_.unit();
    place = static_cast<double>(warp % 32768) / 32768.0 + (place - 1.5) * 0.0008;
    place -= std::floor(place);
    return static_cast<std::uint64_t>(place * static_cast<double>(leaves_));
  }

  /// Line of the node that `path` (a bit a level, the first one highest) leads to.
  [[nodiscard]] std::uint64_t node(unsigned level, std::uint64_t path) const {
    std::uint64_t index = 0;
    for (unsigned l = 0; l < level; ++l) {
      const std::uint64_t left_subtree = (std::uint64_t{1} << (depth_ - l)) - 1;
      index += 1 + (((path >> (level - 1 - l)) & 1U) != 0 ? left_subtree : 0);
    }
    return index * kNode / kLine;
  }

  void trace(std::uint64_t leaf, std::vector<std::uint64_t>& ray) {
    for (unsigned level = 0; level <= depth_; ++level) {
      const std::uint64_t path = leaf >> (depth_ - level);
      ray.push_back(node(level, path));
      if (level != 0 && random_.unit() < 0.35) {
        std::uint64_t detour = path ^ 1U;
        unsigned at = level;
        ray.push_back(node(at, detour));
        while (at < depth_ && random_.unit() < 0.5) {
          ++at;
          detour = detour * 2 + (random_.bits() & 1U);
          ray.push_back(node(at, detour));
        }
      }
    }
    for (std::uint64_t face = leaf * 2; face < leaf * 2 + 2; ++face) {
      ray.push_back((faces_ + face * kRecord) / kLine);
      for (int corner = 0; corner < 3; ++corner) {
        const std::uint64_t vertex = (leaf + random_.below(64)) % leaves_;
        ray.push_back((vertices_ + vertex * kRecord) / kLine);
      }
    }
  }

  unsigned depth_;
  bool coherent_;
  std::uint64_t leaves_;
  std::uint64_t faces_ = 0, vertices_ = 0;
  StreamRandom random_;
};

inline ReuseStream coherent_stream(std::size_t size, unsigned depth, std::uint64_t seed) {
  return TreeStream(depth, true, seed).make(size);
}
inline ReuseStream incoherent_stream(std::size_t size, unsigned depth, std::uint64_t seed) {
  return TreeStream(depth, false, seed).make(size);
}

}  // namespace rayreplay::test
