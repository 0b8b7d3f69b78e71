#include "sim/comparison/path_features.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <string>
#include <tuple>

#include <fmt/format.h>
#include <oneapi/tbb/parallel_for.h>

#include "sim/comparison/sampled_calls.hpp"

namespace rayreplay::experiment {
namespace {

using scheduler::formula::Field;
using scheduler::formula::FieldReader;
using scheduler::formula::FieldSet;
using scheduler::formula::PendingCall;

constexpr double kAsGood = 0.99;      ///< of what the field's best modulus tells
constexpr double kLeastShare = 0.01;  ///< of the paths' entropy

/// Entropy of the cells' counts in nats, with Miller's correction. `cells` is sorted.
template <class Cell>
double entropy(const std::vector<Cell>& cells) {
  const auto size = static_cast<double>(cells.size());
  double sum = 0;
  double different = 0;
  for (auto first = cells.begin(); first != cells.end();) {
    const auto last = std::upper_bound(first, cells.end(), *first);
    const double share = static_cast<double>(last - first) / size;
    sum -= share * std::log(share);
    ++different;
    first = last;
  }
  return sum + (different - 1) / (2 * size);
}

struct Remainder {
  Field field = Field::Material;
  std::uint32_t modulus = 0;
  double told = 0;
};

/// Empty if the field tells too little, or most as it is.
std::optional<Remainder> best_of(Field field, const std::vector<PathValue>& sample, std::uint32_t most_modulus,
                                 double least_told) {
  const double largest = std::ranges::max_element(sample, {}, &PathValue::value)->value;
  const auto last = static_cast<std::uint32_t>(std::min<double>(most_modulus, largest + 1));
  std::vector<double> told;
  for (std::uint32_t modulus = 2; modulus <= last; ++modulus) {
    told.push_back(told_by(sample, modulus));
  }
  if (told.empty() || *std::ranges::max_element(told) < least_told) {
    return std::nullopt;
  }
  const double enough = kAsGood * *std::ranges::max_element(told);
  const auto first = std::ranges::find_if(told, [&](double one) { return one >= enough; });
  const auto modulus = static_cast<std::uint32_t>(2 + (first - told.begin()));
  if (modulus > largest) {
    return std::nullopt;
  }
  return Remainder{field, modulus, *first};
}

/// Every n-th pending closest hit with a path.
std::vector<PendingCall> sample_calls(const FieldReader& fields, const machine::PathCosts& paths) {
  return sampled_calls(fields, kPathSample, [&](const PendingCall& call) {
    return fields.launch().data.events.kind[call.event] == trace::EventKind::ClosestHit && paths.way(call.event) != 0;
  });
}

}  // namespace

double told_by(const std::vector<PathValue>& sample, std::uint32_t modulus) {
  using Cell = std::tuple<std::uint32_t, double, std::uint32_t>;
  std::vector<Cell> all, ways, values, shaders;
  for (const PathValue& one : sample) {
    const double value = modulus == 0 ? one.value : std::fmod(one.value, modulus);
    all.emplace_back(one.shader, value, one.way);
    ways.emplace_back(one.shader, 0, one.way);
    values.emplace_back(one.shader, value, 0);
    shaders.emplace_back(one.shader, 0, 0);
  }
  double told = 0;
  for (auto* cells : {&all, &ways, &values, &shaders}) {
    std::ranges::sort(*cells);
    // I(way; value | shader) = H(shader, way) + H(shader, value) − H(shader, value, way) − H(shader).
    told += (cells == &ways || cells == &values ? 1 : -1) * entropy(*cells);
  }
  return told;
}

std::vector<Feature> make_path_features(const FieldReader& fields, const FieldSet& available,
                                        const machine::PathCosts& paths, std::uint32_t bits) {
  const std::vector<PendingCall> calls = sample_calls(fields, paths);
  if (calls.empty()) {
    return {};
  }
  std::vector<PathValue> sample;
  for (const PendingCall& call : calls) {
    sample.push_back({fields.launch().data.events.shader[call.event], paths.way(call.event), 0});
  }
  std::vector<PathValue> by_way = sample;
  for (PathValue& one : by_way) {
    one.value = one.way;
  }
  const double least_told = kLeastShare * told_by(by_way, 0);
  if (!(least_told > 0)) {
    return {};
  }
  const auto most_modulus = static_cast<std::uint32_t>(std::min<std::uint64_t>(kMostModulus, std::uint64_t{1} << bits));
  const std::span<const Field> whole = whole_fields();
  std::vector<std::optional<Remainder>> found(whole.size());
  oneapi::tbb::parallel_for(std::size_t{0}, whole.size(), [&](std::size_t i) {
    if (available[static_cast<std::size_t>(whole[i])]) {
      std::vector<double> values(calls.size());
      fields.read(whole[i], calls, values.data());
      std::vector<PathValue> of_field = sample;
      for (std::size_t call = 0; call < values.size(); ++call) {
        of_field[call].value = values[call];
      }
      found[i] = best_of(whole[i], of_field, most_modulus, least_told);
    }
  });
  std::erase_if(found, [](const auto& one) { return !one.has_value(); });
  std::ranges::stable_sort(found, [](const auto& a, const auto& b) { return a->told > b->told; });
  std::vector<Feature> features;
  for (const auto& one : found) {
    const std::string formula =
        fmt::format("{} % {}", scheduler::formula::kFields.at(static_cast<std::size_t>(one->field)).name, one->modulus);
    const auto needed = static_cast<std::uint32_t>(std::bit_width(one->modulus - 1));
    features.push_back(
        {formula, needed, [formula, needed](std::uint32_t given) { return given < needed ? std::string() : formula; }});
  }
  return features;
}

}  // namespace rayreplay::experiment
