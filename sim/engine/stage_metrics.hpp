// The numbers of one stage's result: made from what the stage gives, kept and stored as a small text.
//
// Contract: names are those of metrics.hpp; what a result does not have is left out. `write_metrics` and `read_metrics`
// are the form in the store: versioned, every number as its bits; `read_metrics` gives nothing for bytes that are not
// whole, of another version, or that name what is not known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rayreplay::experiment {

class MetricSet {
 public:
  /// Internal where there is no such metric.
  void add(std::string_view name, double value);
  void add_count(std::string_view name, std::uint64_t count) {
    add(name, static_cast<double>(count));
  }
  /// By index in all_metrics(), ascending.
  [[nodiscard]] const std::vector<std::pair<std::uint16_t, double>>& values() const {
    return values_;
  }
  std::string device = "CPU";  ///< that made it
  [[nodiscard]] std::uint64_t bytes() const {
    return sizeof(MetricSet) + values_.capacity() * sizeof(values_[0]);
  }

 private:
  std::vector<std::pair<std::uint16_t, double>> values_;
};

[[nodiscard]] std::string write_metrics(const MetricSet& metrics);
[[nodiscard]] std::optional<MetricSet> read_metrics(std::string_view bytes);

}  // namespace rayreplay::experiment
