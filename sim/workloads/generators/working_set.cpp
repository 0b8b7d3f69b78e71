// A working set read repeatedly: the hit rate over cache size is a step, or a slope.
//
// Contract: every SM reads N lines of 128 bytes, N · passes reads in all, the SMs in turn; private: each its own lines,
// shared: all the same lines. A read is one transaction.
//   cyclic: line 0, 1, …, N − 1, 0, … : LRU of C ≥ N lines misses each line once, rate 1 − 1/passes; LRU of C < N lines
//           has always just evicted the next line: rate 0 exactly. The L2, behind L1s of one line, gets the lines of
//           all S SMs in turn. Private: it needs N S lines, else its rate is 0. Shared: one SM fetches for all, so the
//           rate is (S − 1) / S even with less than N lines, and 1 − 1/(S passes) with all.
//   random: each read draws a line uniformly. Once LRU has its C < N lines a read hits with probability C / N,
//           independently of the past. Before that it misses C times during a coupon collector's time W, E W = Σ N/(N −
//           i) over i < C. The tolerance is five standard deviations of the number of hits.
//
// Source: rayreplay; King 1971 for LRU under independent references. O(reads).
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "base/draws.hpp"
#include "base/split_mix.hpp"
#include "sim/workloads/declare.hpp"
#include "sim/workloads/memory_maker.hpp"
#include "sim/workloads/workload.hpp"

namespace rayreplay::workloads {
namespace {

constexpr double kDeviations = 5;

class WorkingSet final : public Workload {
 public:
  explicit WorkingSet(const Parameters& parameters)
      : random_(parameters.get_string("pattern") == "random"),
        lines_(get_count(parameters, "lines")),
        passes_(get_count(parameters, "passes")),
        sms_(get_count(parameters, "sms")),
        shared_(parameters.get_string("share") == "shared"),
        seed_(static_cast<std::uint64_t>(parameters.get_int("seed"))) {}

  [[nodiscard]] WorkloadKind kind() const override {
    return WorkloadKind::Memory;
  }
  [[nodiscard]] MemoryWorkload make_memory() const override {
    const std::uint64_t sets = shared_ ? 1 : sms_;
    MemoryWorkload made =
        begin_memory("working-set", kLineWarp, sms_, sets * lines_ * kLineBytes, reads() * sms_ * kLineLanes);
    std::uint64_t draw = 0;
    for (std::uint64_t read = 0; read < reads(); ++read) {
      for (std::uint32_t sm = 0; sm < sms_; ++sm) {
        const std::uint64_t line = random_ ? bounded(split_mix(seed_, draw++), lines_) : read % lines_;
        read_line(made, static_cast<std::uint16_t>(sm), sm, line + (shared_ ? 0 : std::uint64_t{sm} * lines_));
      }
    }
    return made;
  }

  [[nodiscard]] std::vector<KnownAnswer> answers(const machine::Machine& /*machine*/) const override {
    return random_ ? random_answers() : cyclic_answers();
  }
  [[nodiscard]] std::vector<std::string> examples() const override {
    return {"working-set:pattern=cyclic", "working-set:pattern=cyclic,sms=4",
            "working-set:pattern=cyclic,sms=4,share=shared", "working-set:pattern=random"};
  }

 private:
  /// Lines of one SM.
  [[nodiscard]] std::uint64_t reads() const {
    return std::uint64_t{lines_} * passes_;
  }

  [[nodiscard]] std::vector<KnownAnswer> cyclic_answers() const {
    const double all = 1 - 1.0 / passes_;
    std::vector<KnownAnswer> answers = {
        {"l1_hit_rate", all, 0, "1 - 1/passes: the cache holds all lines", cache_of("l1", lines_, kLineBytes)}};
    if (lines_ < 2) {
      return answers;
    }
    answers.push_back({"l1_hit_rate", 0, 0, "0: LRU has just dropped the line that comes next",
                       cache_of("l1", lines_ - 1, kLineBytes)});
    const auto behind = [](std::uint64_t lines) {
      AnswerSettings settings = cache_of("l1", 1, kLineBytes);
      const AnswerSettings second = cache_of("l2", lines, kLineBytes);
      settings.insert(settings.end(), second.begin(), second.end());
      settings.emplace_back("cache.l2_feed", "misses");
      return settings;
    };
    const std::uint64_t held = shared_ ? lines_ : std::uint64_t{lines_} * sms_;
    const double together = sms_;
    answers.push_back({"l2_hit_rate", shared_ ? 1 - 1 / (together * passes_) : all, 0,
                       shared_ ? "1 - 1/(S passes): a line comes once for all SMs" : "1 - 1/passes: it holds all lines",
                       behind(held)});
    answers.push_back({"l2_hit_rate", shared_ ? (together - 1) / together : 0, 0,
                       shared_ ? "(S - 1)/S: one SM fetches a line, the others follow"
                               : "0: LRU has just dropped the line that comes next",
                       behind(held - 1)});
    return answers;
  }

  [[nodiscard]] std::vector<KnownAnswer> random_answers() const {
    std::vector<KnownAnswer> answers;
    for (const std::uint32_t part : {4U, 2U, 1U}) {
      const std::uint32_t held = lines_ / part;
      const double accesses = static_cast<double>(reads());
      if (held == 0) {
        continue;
      }
      const Expectation expected = held == lines_ ? hits_of_all(accesses) : hits_of_some(held, accesses);
      const double total = accesses * sms_;
      answers.push_back({"l1_hit_rate", expected.mean / accesses,
                         kDeviations * std::sqrt(expected.variance * sms_) / total,
                         "C/N of the reads once C of the N lines are held", cache_of("l1", held, kLineBytes)});
    }
    return answers;
  }

  struct Expectation {
    double mean = 0;
    double variance = 0;
  };
  /// The misses are the number of distinct lines drawn.
  [[nodiscard]] Expectation hits_of_all(double accesses) const {
    const double n = lines_;
    const double never = std::pow(1 - 1 / n, accesses);
    return {accesses - n * (1 - never), n * never * (1 - never) + 1e-9};
  }
  [[nodiscard]] Expectation hits_of_some(std::uint32_t held, double accesses) const {
    const double n = lines_;
    const double rate = held / n;
    double warm = 0;
    double variance = 0;
    for (std::uint32_t i = 0; i < held; ++i) {
      const double fresh = (n - i) / n;
      warm += 1 / fresh;
      variance += (1 - fresh) / (fresh * fresh);
    }
    return {warm - held + (accesses - warm) * rate,
            (accesses - warm) * rate * (1 - rate) + (1 - rate) * (1 - rate) * variance};
  }

  bool random_;
  std::uint32_t lines_;
  std::uint32_t passes_;
  std::uint32_t sms_;
  bool shared_;
  std::uint64_t seed_;
};

const Workloads::Registrar kRegistrar(
    {.kind = {},
     .name = "working-set",
     .summary = "A set of lines read repeatedly, in turn or at random",
     .text = "Every SM reads N lines, its own or the same as all SMs. Cyclic reads hit an LRU cache of N lines in "
             "every pass but the first, and one of N - 1 lines never. Random reads hit an LRU cache of C lines in C/N "
             "of the cases. Behind L1s of one line the L2 sees the reads of all SMs.",
     .source = "rayreplay; W. F. King, Analysis of demand paging algorithms, 1971",
     .parameters = {declare::choice("pattern", "cyclic", {"cyclic", "random"}, "Order of the reads."),
                    declare::whole("lines", 256, "lines", "Lines of 128 bytes that each SM reads.", 1, 1 << 24),
                    declare::whole("passes", 16, "", "Reads of an SM, as a multiple of its lines.", 1, 1 << 16),
                    declare::whole("sms", 1, "SMs", "SMs that read.", 1, import::kMaxSms),
                    declare::choice("share", "private", {"private", "shared"},
                                    "Whether the SMs read lines of their own, or all the same."),
                    declare::whole("seed", 1, "", "Seed of the draws.", 0, 1e15)}},
    [](const Parameters& parameters) { return std::make_unique<WorkingSet>(parameters); });

}  // namespace
}  // namespace rayreplay::workloads
