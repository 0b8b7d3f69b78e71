#include "sim/comparison/address_features.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <oneapi/tbb/parallel_for.h>

#include "base/split_mix.hpp"
#include "scheduler-models/regrouping/hints/program.hpp"
#include "sim/comparison/sampled_calls.hpp"

namespace rayreplay::experiment {
namespace {

using scheduler::formula::Field;
using scheduler::formula::FieldReader;
using scheduler::formula::FieldSet;
using scheduler::formula::PendingCall;

constexpr double kAsGoodLines = 0.99;        ///< of what the field's best class tells
constexpr double kLeastShareOfLines = 0.01;  ///< of the lines' entropy
constexpr std::size_t kLeastRows = 64;       ///< of a stratum: fewer calls tell nothing
constexpr std::uint64_t kMostStep = 64;
constexpr double kMostValue = 1099511627776.0;  ///< 2^40

/// Numbers different keys from 0 on, and counts how often each occurs.
class Cells {
 public:
  explicit Cells(std::size_t rows) : slots_(std::bit_ceil(2 * rows + 1)), number_(slots_, 0), key_(slots_) {}

  std::uint32_t add(std::uint64_t key) {
    std::size_t slot = split_mix_finish(key) & (slots_ - 1);
    while (number_[slot] != 0 && key_[slot] != key) {
      slot = (slot + 1) & (slots_ - 1);
    }
    if (number_[slot] == 0) {
      counts_.push_back(0);
      number_[slot] = static_cast<std::uint32_t>(counts_.size());
      key_[slot] = key;
    }
    ++counts_[number_[slot] - 1];
    return number_[slot] - 1;
  }
  /// In nats, with Miller's correction.
  [[nodiscard]] double entropy(std::size_t rows) const {
    const auto size = static_cast<double>(rows);
    double sum = 0;
    for (const std::uint32_t count : counts_) {
      sum -= count / size * std::log(count / size);
    }
    return sum + (static_cast<double>(counts_.size()) - 1) / (2 * size);
  }

 private:
  std::size_t slots_;
  std::vector<std::uint32_t> number_;  ///< by slot: number + 1; 0: free
  std::vector<std::uint64_t> key_;
  std::vector<std::uint32_t> counts_;
};

/// Calls of the sample, and a row for each memory instruction of them.
struct Sample {
  std::vector<PendingCall> calls;
  std::vector<std::uint32_t> call_of_row;
  std::vector<std::uint32_t> stratum, way;
};

std::vector<PendingCall> sample_touching(const FieldReader& fields, const CallAddresses& addresses) {
  return sampled_calls(fields, kAddressSample,
                       [&](const PendingCall& call) { return !addresses.of_segment(call.segment).empty(); });
}

struct Row {
  std::uint32_t shader = 0, instruction = 0, call = 0;
  std::uint64_t line = 0;

  [[nodiscard]] auto stratum() const {
    return std::pair(shader, instruction);
  }
};

/// The first line of each memory instruction of the calls.
std::vector<Row> rows_of(const FieldReader& fields, const CallAddresses& addresses,
                         const std::vector<PendingCall>& calls) {
  std::vector<Row> rows;
  for (std::uint32_t i = 0; i < calls.size(); ++i) {
    const std::uint32_t shader = fields.launch().data.events.shader[calls[i].event];
    const std::size_t before = rows.size();
    for (const TouchedSector one : addresses.of_segment(calls[i].segment)) {
      if (rows.size() > before && rows.back().instruction == instruction_of(one)) {
        continue;
      }
      if (rows.size() == before + kRowsOfACall) {
        break;
      }
      rows.push_back({shader, instruction_of(one), i, sector_of(one) >> addresses.line_shift()});
    }
  }
  return rows;
}

/// The least shift whose runs of 2^shift lines have at least kCallsOfALine rows each on average; 0 to a single run.
/// Rows are ascending by line.
std::uint32_t run_shift(std::span<const Row> rows) {
  std::uint32_t shift = 0;
  for (;; ++shift) {
    std::size_t different = 1;
    for (std::size_t i = 1; i < rows.size(); ++i) {
      different += rows[i].line >> shift != rows[i - 1].line >> shift ? 1U : 0U;
    }
    if (different == 1 || different * kCallsOfALine <= rows.size()) {
      return shift;
    }
  }
}

Sample make_sample(const FieldReader& fields, const CallAddresses& addresses) {
  Sample sample;
  sample.calls = sample_touching(fields, addresses);
  std::vector<Row> rows = rows_of(fields, addresses, sample.calls);
  while (rows.size() > kAddressRows) {
    for (std::size_t i = 0; i < sample.calls.size() / 2; ++i) {
      sample.calls[i] = sample.calls[2 * i];
    }
    sample.calls.resize(sample.calls.size() / 2);
    rows = rows_of(fields, addresses, sample.calls);
  }
  std::ranges::sort(rows, {}, [](const Row& row) { return std::tuple(row.stratum(), row.line, row.call); });
  std::uint32_t strata = 0;
  std::uint32_t ways = 0;
  for (std::size_t first = 0; first < rows.size();) {
    std::size_t last = first;
    while (last < rows.size() && rows[last].stratum() == rows[first].stratum()) {
      ++last;
    }
    const std::span<const Row> of_stratum = std::span(rows).subspan(first, last - first);
    first = last;
    if (of_stratum.size() < kLeastRows || of_stratum.front().line == of_stratum.back().line) {
      continue;  // nothing to tell
    }
    const std::uint32_t shift = run_shift(of_stratum);
    for (std::size_t i = 0; i < of_stratum.size(); ++i) {
      ways += i > 0 && of_stratum[i].line >> shift != of_stratum[i - 1].line >> shift ? 1U : 0U;
      sample.call_of_row.push_back(of_stratum[i].call);
      sample.stratum.push_back(strata);
      sample.way.push_back(ways);
    }
    ++strata;
    ++ways;
  }
  return sample;
}

/// The information of a class, and the number of its values.
struct Told {
  double told = 0;
  std::uint64_t classes = 0;
  std::uint64_t by = 0;  ///< divisor, modulus, or bits
};

/// The coarsest that tells nearly as much as the best.
std::optional<Told> coarsest(const std::vector<Told>& all, double least_told) {
  if (all.empty()) {
    return std::nullopt;
  }
  const double best = std::ranges::max_element(all, {}, &Told::told)->told;
  if (best < least_told) {
    return std::nullopt;
  }
  std::optional<Told> chosen;
  for (const Told& one : all) {
    if (one.told >= kAsGoodLines * best && (!chosen || one.classes < chosen->classes)) {
      chosen = one;
    }
  }
  return chosen;
}

struct Found {
  Feature feature;
  double told = 0;
};

Feature quotient(const std::string& name, std::uint64_t step, std::uint64_t largest) {
  const auto needed = static_cast<std::uint32_t>(std::bit_width(largest / step));
  const auto formula = [name, step, needed](std::uint32_t bits) {
    const std::uint64_t by = bits >= needed ? step : step << (needed - bits);  // fewer bits: larger steps
    return by == 1                   ? name
           : std::has_single_bit(by) ? fmt::format("{} >> {}", name, std::countr_zero(by))
                                     : fmt::format("{} / {}", name, by);
  };
  return {formula(needed), needed, formula};
}

Feature remainder(const std::string& name, std::uint64_t modulus) {
  const std::string formula = fmt::format("{} % {}", name, modulus);
  const auto needed = static_cast<std::uint32_t>(std::bit_width(modulus - 1));
  return {formula, needed, [formula, needed](std::uint32_t bits) { return bits < needed ? std::string() : formula; }};
}

/// Fits features to one sample.
class Fitter {
 public:
  Fitter(const FieldReader& fields, const Sample& sample, std::uint32_t bits)
      : fields_(fields),
        sample_(sample),
        information_(sample.stratum, sample.way),
        least_told_(kLeastShareOfLines * information_.entropy()),
        bits_(bits) {}

  [[nodiscard]] bool has_any() const {
    return least_told_ > 0;
  }

  [[nodiscard]] std::optional<Found> of_field(Field field) const {
    std::vector<double> read(sample_.calls.size());
    fields_.read(field, sample_.calls, read.data());
    const double most = largest_value(fields_, field);
    if (!(most >= 1) || !(most < kMostValue)) {
      return std::nullopt;
    }
    std::vector<std::uint64_t> values(read.begin(), read.end());
    const auto largest = static_cast<std::uint64_t>(most);
    const std::uint64_t classes = std::uint64_t{1} << bits_;
    std::vector<Told> steps, rests;
    for (std::uint64_t step = largest / classes + 1; step <= largest;
         step = step < kMostStep ? step + 1 : std::bit_ceil(step + 1)) {
      steps.push_back({told(values, [step](std::uint64_t value) { return value / step; }), largest / step + 1, step});
    }
    for (std::uint64_t modulus = 2; modulus <= std::min({kMostStep, classes, largest}); ++modulus) {
      rests.push_back({told(values, [modulus](std::uint64_t value) { return value % modulus; }), modulus, modulus});
    }
    const std::optional<Told> step = coarsest(steps, least_told_);
    const std::optional<Told> rest = coarsest(rests, least_told_);
    const std::string name = scheduler::formula::kFields.at(static_cast<std::size_t>(field)).name;
    const bool by_rest = rest && (!step || kAsGoodLines * rest->told > step->told ||
                                  (rest->told >= kAsGoodLines * step->told && rest->classes < step->classes));
    if (by_rest) {
      return Found{remainder(name, rest->by), rest->told};
    }
    if (step) {
      return Found{quotient(name, step->by, largest), step->told};
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<Found> of_scale(const Feature& feature) const {
    std::vector<Told> all;
    for (std::uint32_t bits = 1; bits <= std::min(bits_, feature.most_bits); ++bits) {
      const std::string formula = feature.formula(bits);
      const std::optional<std::vector<std::uint64_t>> values = formula.empty() ? std::nullopt : values_of(formula);
      if (values) {
        all.push_back({told(*values, [](std::uint64_t value) { return value; }), std::uint64_t{1} << bits, bits});
      }
    }
    const std::optional<Told> best = coarsest(all, least_told_);
    if (!best) {
      return std::nullopt;
    }
    Found found{feature, best->told};
    found.feature.most_bits = static_cast<std::uint32_t>(best->by);
    return found;
  }

 private:
  /// Of values by call.
  template <class Class>
  [[nodiscard]] double told(const std::vector<std::uint64_t>& values, const Class& class_of) const {
    std::vector<std::uint64_t> rows(sample_.call_of_row.size());
    for (std::size_t row = 0; row < rows.size(); ++row) {
      rows[row] = class_of(values[sample_.call_of_row[row]]);
    }
    return information_.told(rows);
  }

  /// By call, truncated; none where a value is no hint.
  [[nodiscard]] std::optional<std::vector<std::uint64_t>> values_of(const std::string& formula) const {
    const auto expression = scheduler::formula::parse_expression(formula, "candidate");
    const scheduler::formula::Program program(expression);
    scheduler::formula::Program::Bench bench(program);
    std::vector<std::uint64_t> values;
    for (std::size_t first = 0; first < sample_.calls.size(); first += scheduler::formula::kBatch) {
      const auto batch =
          std::span(sample_.calls).subspan(first, std::min(scheduler::formula::kBatch, sample_.calls.size() - first));
      for (const double value : program.run(fields_, batch, bench)) {
        if (!(value >= 0 && value < kMostValue)) {
          return std::nullopt;
        }
        values.push_back(static_cast<std::uint64_t>(value));
      }
    }
    return values;
  }

  const FieldReader& fields_;
  const Sample& sample_;
  Information information_;
  double least_told_ = 0;
  std::uint32_t bits_ = 0;
};

}  // namespace

Information::Information(std::vector<std::uint32_t> strata, std::vector<std::uint32_t> ways)
    : strata_(std::move(strata)), ways_(std::move(ways)) {
  Cells by_stratum(strata_.size()), by_way(strata_.size());
  for (std::size_t row = 0; row < strata_.size(); ++row) {
    by_stratum.add(strata_[row]);
    by_way.add(std::uint64_t{strata_[row]} << 32U | ways_[row]);
  }
  if (!strata_.empty()) {
    of_strata_ = by_stratum.entropy(strata_.size());
    of_ways_ = by_way.entropy(strata_.size());
  }
}

double Information::told(std::span<const std::uint64_t> values) const {
  if (strata_.empty()) {
    return 0;
  }
  Cells by_value(strata_.size()), by_all(strata_.size());
  for (std::size_t row = 0; row < strata_.size(); ++row) {
    const std::uint32_t cell = by_value.add(std::uint64_t{strata_[row]} << 40U | values[row]);
    by_all.add(std::uint64_t{cell} << 32U | ways_[row]);
  }
  // I(way; value | stratum) = H(stratum, way) + H(stratum, value) − H(stratum, value, way) − H(stratum).
  return of_ways_ + by_value.entropy(strata_.size()) - by_all.entropy(strata_.size()) - of_strata_;
}

std::vector<Feature> make_address_features(const FieldReader& fields, const FieldSet& available,
                                           const CallAddresses& addresses, std::span<const Feature> base,
                                           std::uint32_t bits) {
  const Sample sample = make_sample(fields, addresses);
  const Fitter fitter(fields, sample, bits);
  if (!fitter.has_any()) {
    return {};
  }
  const std::span<const Field> whole = whole_fields();
  std::vector<std::optional<Found>> found(whole.size() + base.size());
  oneapi::tbb::parallel_for(std::size_t{0}, found.size(), [&](std::size_t i) {
    if (i >= whole.size()) {
      const Feature& feature = base[i - whole.size()];
      found[i] = feature.is_scale ? fitter.of_scale(feature) : std::nullopt;
    } else if (available[static_cast<std::size_t>(whole[i])]) {
      found[i] = fitter.of_field(whole[i]);
    }
  });
  std::erase_if(found, [](const auto& one) { return !one.has_value(); });
  std::ranges::stable_sort(found, [](const auto& a, const auto& b) { return a->told > b->told; });
  std::vector<Feature> features;
  for (const auto& one : found) {
    if (features.size() < kMostAddressFeatures) {
      features.push_back(one->feature);
    }
  }
  return features;
}

}  // namespace rayreplay::experiment
