// The metrics of one stage's result, kept and stored as a small text.
//
// Contract: names are those of metrics.hpp; metrics that a result does not have are absent. `write_metrics` and
// `read_metrics` are the form in the store: versioned, each number as its bits. `read_metrics` returns nothing for
// truncated bytes, another version, or unknown names.
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
  /// Internal for an undeclared metric.
  void add(std::string_view name, double value);
  void add_count(std::string_view name, std::uint64_t count) {
    add(name, static_cast<double>(count));
  }
  /// By index in all_metrics(), ascending.
  [[nodiscard]] const std::vector<std::pair<std::uint16_t, double>>& values() const {
    return values_;
  }
  std::string device = "CPU";  ///< the device that computed the metrics
  [[nodiscard]] std::uint64_t bytes() const {
    return sizeof(MetricSet) + values_.capacity() * sizeof(values_[0]);
  }

 private:
  std::vector<std::pair<std::uint16_t, double>> values_;
};

[[nodiscard]] std::string write_metrics(const MetricSet& metrics);
[[nodiscard]] std::optional<MetricSet> read_metrics(std::string_view bytes);

}  // namespace rayreplay::experiment
