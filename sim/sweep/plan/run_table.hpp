// The values of each run on each factor. Internal to this folder.
//
// Contract: a factor of listed values has a choice (an index); a continuous one has a number in the unit of its key.
// Rows are the sampler's points, in order, without the dropped ones.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/sweep/definition/definition.hpp"
#include "sim/sweep/samplers/sampler.hpp"

namespace rayreplay::sweep {

/// One configuration: by factor.
struct Row {
  std::span<const std::uint32_t> choice;
  std::span<const double> number;  ///< of continuous factors, in the unit of the key
};

/// Rows of a plan. Numbers are stored only for continuous factors.
class RunTable {
 public:
  RunTable() = default;
  RunTable(std::size_t factors, bool has_numbers) : factors_(factors), has_numbers_(has_numbers) {}

  void add(const Row& row) {
    choice_.insert(choice_.end(), row.choice.begin(), row.choice.end());
    if (has_numbers_) {
      number_.insert(number_.end(), row.number.begin(), row.number.end());
    }
  }
  [[nodiscard]] std::uint64_t size() const {
    return factors_ == 0 ? 0 : choice_.size() / factors_;
  }
  [[nodiscard]] Row row(std::uint64_t run) const {
    const std::size_t at = run * factors_;
    return {
        .choice = {choice_.data() + at, factors_},
        .number = has_numbers_ ? std::span<const double>(number_.data() + at, factors_) : std::span<const double>()};
  }

 private:
  std::size_t factors_ = 0;
  bool has_numbers_ = false;
  std::vector<std::uint32_t> choice_;
  std::vector<double> number_;
};

[[nodiscard]] Space space_of(const Definition& definition);

/// Maps `share` of [0, 1) to the range; whole numbers are equally likely, both ends included.
[[nodiscard]] double number_at(const Range& range, double share);

[[nodiscard]] ParameterValue value_at(const Axis& axis, std::size_t factor, const Row& row);

/// base + values, not completed.
[[nodiscard]] experiment::Settings settings_of(const Definition& definition, const Row& row);

}  // namespace rayreplay::sweep
