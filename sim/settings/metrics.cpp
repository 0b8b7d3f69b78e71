#include "sim/settings/metrics.hpp"

#include <unordered_map>

#include "base/error.hpp"
#include "base/parameters.hpp"

namespace rayreplay::experiment {
const std::vector<Metric>& all_metrics() {
  static const std::vector<Metric> list = [] {
    std::vector<Metric> made;
    for (const Stage stage : output_stages()) {
      made.insert(made.end(), info_of(stage).metrics.begin(), info_of(stage).metrics.end());
    }
    return made;
  }();
  return list;
}

const Metric& find_metric(std::string_view name) {
  static const std::unordered_map<std::string_view, const Metric*> known = [] {
    std::unordered_map<std::string_view, const Metric*> made;
    for (const Metric& metric : all_metrics()) {
      made.emplace(metric.name, &metric);
    }
    return made;
  }();
  if (const auto found = known.find(name); found != known.end()) {
    return *found->second;
  }
  std::vector<std::string> names;
  for (const Metric& metric : all_metrics()) {
    names.push_back(metric.name);
  }
  const std::string near = nearest(name, names);
  throw Error(ErrorKind::Usage, {"unknown metric", "", "'" + std::string(name) + "'", "",
                                 near.empty() ? "see rayreplay list metrics" : "did you mean '" + near + "'?"});
}

}  // namespace rayreplay::experiment
