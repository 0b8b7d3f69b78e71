// Exclusions and conditions of a sweep, asked for one row after another. Internal to this room.
//
// Contract: `keeps` answers as if the row's settings were completed and looked up, in far less time: an axis' own value
// is taken from the row; what else a condition names is completed once for each combination of the factors that decide
// it (influence.hpp). Where the row cannot be completed and that matters, it is kept: its error shall be seen. Not
// thread-safe: it remembers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/sweep/definition/definition.hpp"
#include "sim/sweep/plan/run_table.hpp"

namespace rayreplay::sweep {

/// What is asked of a key that holds a spec: the model's name, or the spec with every parameter.
enum class SpecForm : std::uint8_t { Name, Whole };

class Filter {
 public:
  explicit Filter(const Definition& definition);  ///< outlives it
  ~Filter();
  Filter(const Filter&) = delete;
  Filter& operator=(const Filter&) = delete;

  [[nodiscard]] bool keeps(const Row& row);
  /// "12 by "sms > 3"", …: each row counts for the first that drops it.
  [[nodiscard]] std::string summary() const;

 private:
  class Source;
  struct Exclude;
  struct Test;
  [[nodiscard]] Source* source_of(const std::string& key, SpecForm form);
  [[nodiscard]] bool excluded(const Exclude& exclude, const Row& row) const;

  const Definition* definition_;
  std::vector<std::unique_ptr<Source>> sources_;
  std::vector<Exclude> excludes_;
  std::vector<Test> tests_;
};

}  // namespace rayreplay::sweep
