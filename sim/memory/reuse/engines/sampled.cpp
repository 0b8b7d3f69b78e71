// Sampled: distances of a fixed share of the lines, chosen by hash.
//
// Contract: approximate. A line is in the sample if its hash (with the seed) is below the rate. Its accesses get the
// number of sampled lines touched since, divided by the rate and rounded; all others get kNotSampled. The sample
// depends on rate and seed only, not on the cuts of the stream; rate 1 is exact. `parts` splits the sample's lines by a
// second hash and counts distances in each part separately, divided by the part's rate (sample_error.hpp); distances do
// not change. Time: that of the bitmap engine for the sampled accesses, twice with parts, and a hash for every other
// one. Memory: 16 to 72 bytes a sampled line; for each part 43 KB and 20 to 28 bytes for each of its lines.
#include <algorithm>
#include <cmath>
#include <vector>

#include "base/declare_parameters.hpp"
#include "base/split_mix.hpp"
#include "sim/memory/reuse/engines/bitmap_stack.hpp"
#include "sim/memory/reuse/histogram.hpp"

namespace rayreplay::memory {
namespace {

class SampledStack final : public ReuseStack {
 public:
  SampledStack(double rate, std::uint64_t seed, std::size_t parts)
      : rate_(rate),
        limit_(static_cast<std::uint64_t>(std::ldexp(rate, kHashBits))),
        seed_(seed),
        ids_(kIdSlack),
        histograms_(parts) {
    for (std::size_t i = 0; i < std::max<std::size_t>(parts, 1); ++i) {
      groups_.emplace_back();
    }
  }

  void distances(std::span<const std::uint64_t> lines, std::span<std::uint32_t> out) override {
    while (!lines.empty()) {
      const std::size_t n = std::min(lines.size(), kChunk);
      sampled_.resize(n);
      places_.resize(n);
      std::size_t count = 0;
      for (std::size_t i = 0; i < n; ++i) {  // without a branch on the hash
        sampled_[count] = lines[i];
        places_[count] = static_cast<std::uint32_t>(i);
        out[i] = kNotSampled;
        count += split_mix(seed_, lines[i]) >> (64U - kHashBits) < limit_ ? 1U : 0U;
      }
      number(count);
      found_.resize(count);
      stack_.distances({sampled_.data(), count}, found_);
      for (std::size_t i = 0; i < count; ++i) {
        out[places_[i]] = scaled(found_[i], rate_);
      }
      count_parts(n);
      lines = lines.subspan(n);
      out = out.subspan(n);
    }
  }
  [[nodiscard]] std::uint64_t live_lines() const override {
    return static_cast<std::uint64_t>(std::llround(static_cast<double>(stack_.live_lines()) / rate_));
  }
  [[nodiscard]] std::uint64_t memory_bytes() const override {
    std::uint64_t sum = ids_.memory_bytes() + stack_.memory_bytes() + sampled_.capacity() * sizeof(std::uint64_t) +
                        (places_.capacity() + found_.capacity()) * sizeof(std::uint32_t);
    for (const Group& group : groups_) {
      sum += group.stack.memory_bytes() + group.ids.capacity() * sizeof(std::uint64_t);
    }
    for (const ReuseHistogram& histogram : histograms_) {
      sum += histogram.memory_bytes();
    }
    return sum;
  }
  [[nodiscard]] std::span<const ReuseHistogram> parts() const override {
    return histograms_;
  }

 private:
  static constexpr int kHashBits = 53;
  static constexpr std::size_t kChunk = 4096;
  static constexpr std::size_t kIdSlack = std::size_t{1} << 16U;  ///< sampled line numbers are rarely dense
  static constexpr std::uint64_t kFirstSlots = 4096;

  /// The lines of one part.
  struct Group {
    BitmapStack stack{SlotRank::best_form(), kFirstSlots};  ///< used only with parts
    std::uint32_t lines = 0;
    std::vector<std::uint64_t> ids;  ///< of this chunk's accesses
  };

  /// Lines become dense numbers, which are fastest and smallest for the stacks: `id` within the group, and id · groups
  /// + group in the whole sample.
  void number(std::size_t count) {
    for (Group& group : groups_) {
      group.ids.clear();
    }
    const std::size_t groups = groups_.size();
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t line = sampled_[i];
      const auto which = static_cast<std::size_t>((split_mix(~seed_, line) >> 32U) * groups >> 32U);
      Group& group = groups_[which];
      std::uint32_t& number = ids_.at(line);
      if (number == 0) {
        number = ++group.lines;  // the stack's limit is far below 2^32
      }
      group.ids.push_back(number - 1);
      sampled_[i] = std::uint64_t{number - 1} * groups + which;
    }
  }

  void count_parts(std::size_t accesses) {
    const double rate = rate_ / static_cast<double>(groups_.size());
    for (std::size_t i = 0; i < histograms_.size(); ++i) {
      Group& group = groups_[i];
      found_.resize(group.ids.size());
      group.stack.distances(group.ids, found_);
      for (const std::uint32_t distance : found_) {
        histograms_[i].add(scaled(distance, rate), 1);
      }
      histograms_[i].add(kNotSampled, accesses - found_.size());
    }
  }

  static std::uint32_t scaled(std::uint32_t distance, double rate) {
    if (distance == kInfinite) {
      return kInfinite;
    }
    constexpr double kLargest = kNotSampled - 1;
    return static_cast<std::uint32_t>(std::min(std::round(static_cast<double>(distance) / rate), kLargest));
  }

  double rate_;
  std::uint64_t limit_, seed_;
  LineTable ids_;
  BitmapStack stack_{SlotRank::best_form(), kFirstSlots};
  std::vector<Group> groups_;               ///< at least one
  std::vector<ReuseHistogram> histograms_;  ///< of the groups, with parts
  std::vector<std::uint64_t> sampled_;
  std::vector<std::uint32_t> places_, found_;
};

class Sampled final : public ReuseEngine {
 public:
  Sampled(double rate, std::uint64_t seed, std::size_t parts) : rate_(rate), seed_(seed), parts_(parts) {}
  [[nodiscard]] std::unique_ptr<ReuseStack> make() const override {
    return std::make_unique<SampledStack>(rate_, seed_, parts_);
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
  std::size_t parts_;
};

const ReuseEngines::Registrar kRegistrar(
    {.kind = {},
     .name = "sampled",
     .summary = "Approximate: distances of a fixed share of the lines, chosen by hash",
     .text = "Lines whose hash is below the rate are followed exactly; a distance among them, divided by the rate, "
             "stands for the distance among all. Accesses to other lines have no distance. The standard error of "
             "results comes from parts of the sample.",
     .source = "Waldspurger, Park, Garthwaite, Ahmad, \"Efficient MRC Construction with SHARDS\", FAST 2015",
     .parameters = {declare::real("rate", 0.01, "", "Share of the lines that are followed.", 1e-6, 1),
                    declare::whole("seed", 1, "", "Seed of the hash.", 0, 9007199254740991.0),
                    declare::whole("parts", 8, "", "Parts of the sample that the standard error comes from; 0: none.",
                                   0, 64)}},
    [](const Parameters& p) {
      return std::make_unique<Sampled>(p.get_double("rate"), static_cast<std::uint64_t>(p.get_int("seed")),
                                       static_cast<std::size_t>(p.get_int("parts")));
    });

}  // namespace
}  // namespace rayreplay::memory
