// Exclusions and conditions of a sweep, applied to one row after another. Internal to this folder.
//
// Contract: `keeps` gives the answer that completed settings would give, at lower cost. Values of axes come from the
// row. Any other key in a condition is completed once for each combination of the factors that decide it
// (influence.hpp). A row that cannot be completed, if that matters for the answer, is kept: its error is a result. Not
// thread-safe, because of its cache.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/sweep/definition/definition.hpp"
#include "sim/sweep/plan/run_table.hpp"

namespace rayreplay::sweep {

/// Which value of a spec key is asked for: the model's name, or the spec with every parameter.
enum class SpecForm : std::uint8_t { Name, Whole };

class Filter {
 public:
  explicit Filter(const Definition& definition);  ///< must outlive this object
  ~Filter();
  Filter(const Filter&) = delete;
  Filter& operator=(const Filter&) = delete;

  [[nodiscard]] bool keeps(const Row& row);
  /// "12 by "sms > 3"", …: a row counts for the first condition that drops it.
  [[nodiscard]] std::string summary() const;

 private:
  class Source;
  struct Exclude;
  struct Test;
  [[nodiscard]] Source* source_of(const std::string& key, SpecForm form);

  const Definition* definition_;
  std::vector<std::unique_ptr<Source>> sources_;
  std::vector<Exclude> excludes_;
  std::vector<Test> tests_;
};

}  // namespace rayreplay::sweep
