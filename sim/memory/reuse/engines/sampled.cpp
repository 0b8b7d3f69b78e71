// Sampled: distances of a fixed share of the lines, chosen by hash.
//
// Contract: approximate. A line is in the sample if its hash (with the seed) is below the rate; its accesses get the
// number of sampled lines touched since, divided by the rate and rounded; all others get kNotSampled. The same sample
// for the same rate and seed, wherever the stream is cut; at rate 1 exact. Time and memory: those of the bitmap engine
// for the sampled accesses, and a hash for every other one.
#include <algorithm>
#include <cmath>
#include <vector>

#include "base/split_mix.hpp"
#include "sim/memory/reuse/engines/bitmap_stack.hpp"

namespace rayreplay::memory {
namespace {

class SampledStack final : public ReuseStack {
 public:
  SampledStack(double rate, std::uint64_t seed)
      : rate_(rate), limit_(static_cast<std::uint64_t>(std::ldexp(rate, kHashBits))), seed_(seed) {}

  void distances(std::span<const std::uint64_t> lines, std::span<std::uint32_t> out) override {
    while (!lines.empty()) {
      const std::size_t n = std::min(lines.size(), kChunk);
      sampled_.resize(n);
      places_.resize(n);
      std::size_t count = 0;
      for (std::size_t i = 0; i < n; ++i) {  // without a branch that depends on the hash
        sampled_[count] = lines[i];
        places_[count] = i;
        out[i] = kNotSampled;
        count += split_mix(seed_, lines[i]) >> (64U - kHashBits) < limit_ ? 1U : 0U;
      }
      found_.resize(count);
      stack_.distances({sampled_.data(), count}, found_);
      for (std::size_t i = 0; i < count; ++i) {
        out[places_[i]] = scaled(found_[i]);
      }
      lines = lines.subspan(n);
      out = out.subspan(n);
    }
  }
  [[nodiscard]] std::uint64_t live_lines() const override {
    return static_cast<std::uint64_t>(std::llround(static_cast<double>(stack_.live_lines()) / rate_));
  }
  [[nodiscard]] std::uint64_t memory_bytes() const override {
    return stack_.memory_bytes() + (sampled_.capacity() + places_.capacity()) * sizeof(std::uint64_t) +
           found_.capacity() * sizeof(std::uint32_t);
  }

 private:
  static constexpr int kHashBits = 53;
  static constexpr std::size_t kChunk = 4096;

  [[nodiscard]] std::uint32_t scaled(std::uint32_t distance) const {
    if (distance == kInfinite) {
      return kInfinite;
    }
    constexpr double kLargest = kNotSampled - 1;
    return static_cast<std::uint32_t>(std::min(std::round(static_cast<double>(distance) / rate_), kLargest));
  }

  double rate_;
  std::uint64_t limit_, seed_;
  BitmapStack stack_;
  std::vector<std::uint64_t> sampled_;
  std::vector<std::size_t> places_;
  std::vector<std::uint32_t> found_;
};

class Sampled final : public ReuseEngine {
 public:
  Sampled(double rate, std::uint64_t seed) : rate_(rate), seed_(seed) {}
  [[nodiscard]] std::unique_ptr<ReuseStack> make() const override {
    return std::make_unique<SampledStack>(rate_, seed_);
  }
  [[nodiscard]] bool exact() const override {
    return false;
  }
  [[nodiscard]] double weight() const override {
    return 1 / rate_;
  }

 private:
  double rate_;
  std::uint64_t seed_;
};

const ReuseEngines::Registrar kRegistrar(
    {.kind = {},
     .name = "sampled",
     .summary = "Approximate: distances of a fixed share of the lines, chosen by hash",
     .text =
         "Lines whose hash is below the rate are followed exactly; a distance among them, divided by the rate, stands "
         "for the distance among all. Accesses to other lines have no distance.",
     .source = "Waldspurger, Park, Garthwaite, Ahmad, \"Efficient MRC Construction with SHARDS\", FAST 2015",
     .parameters = {{.name = "rate",
                     .default_value = 0.01,
                     .unit = "",
                     .text = "Share of the lines that are followed.",
                     .minimum = 1e-6,
                     .maximum = 1,
                     .choices = {}},
                    {.name = "seed",
                     .default_value = std::int64_t{1},
                     .unit = "",
                     .text = "Of the hash.",
                     .minimum = 0,
                     .maximum = 9007199254740991.0,
                     .choices = {}}}},
    [](const Parameters& p) {
      return std::make_unique<Sampled>(p.get_double("rate"), static_cast<std::uint64_t>(p.get_int("seed")));
    });

}  // namespace
}  // namespace rayreplay::memory
