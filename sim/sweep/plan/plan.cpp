#include "sim/sweep/plan/plan.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "sim/sweep/plan/check_specs.hpp"
#include "sim/sweep/plan/filter.hpp"
#include "sim/sweep/plan/units.hpp"

namespace rayreplay::sweep {
namespace {

void refuse_too_many(const Definition& definition) {
  const std::uint64_t points = count_runs(definition);
  if (points > kMaxRuns) {
    throw Error(ErrorKind::Usage,
                {"the sweep has too many configurations to plan", "",
                 points == std::numeric_limits<std::uint64_t>::max() ? std::string("more than 2^64 combinations")
                                                                     : fmt::format("{} combinations", points),
                 fmt::format("at most {} before exclusions and conditions", kMaxRuns),
                 "draw from them: sampler = \"random:count=1000\" or \"latin-hypercube:count=1000\""});
  }
}

/// `--set` and options may have changed the request after the file was read.
void require_objective(const Definition& definition) {
  if (!definition.objective) {
    return;
  }
  const std::string& output = experiment::find_metric(definition.objective->metric).output;
  if (output.empty() || std::ranges::any_of(outputs_by_choice(definition),
                                            [&](const auto& settings) { return settings.wants(output); })) {
    return;
  }
  throw Error(ErrorKind::Usage, {"no configuration gives the objective", "objective", definition.objective->metric,
                                 fmt::format("outputs with {}", output),
                                 fmt::format("add {} to outputs, or use a metric of these outputs", output)});
}

RunTable sampled(const Definition& definition, std::uint64_t& dropped) {
  const Space space = space_of(definition);
  RunTable table(space.sizes.size(), space.has_continuous());
  Filter filter(definition);
  std::vector<double> numbers(space.sizes.size());
  Samplers::create(definition.sampler).model->sample(space, [&](const Point& point) {
    for (std::size_t f = 0; f < numbers.size(); ++f) {
      if (const auto& range = definition.factors[f].axes.front().range) {
        numbers[f] = number_at(*range, point.number[f]);
      }
    }
    const Row row{.choice = point.choice, .number = numbers};
    const bool kept = filter.keeps(row);
    if (kept) {
      table.add(row);
    } else {
      ++dropped;
    }
    return kept;
  });
  if (table.size() == 0) {
    throw Error(ErrorKind::Usage, {"the sweep has no configurations", "",
                                   fmt::format("{} of {} are dropped: {}", dropped, dropped, filter.summary()),
                                   "at least one that is left", "change the axes, `exclude` or `where`"});
  }
  return table;
}

}  // namespace

std::uint64_t count_runs(const Definition& definition) {
  return Samplers::create(definition.sampler).model->most_points(space_of(definition));
}

Plan::Plan(Definition definition, const PlanOptions& options)
    : definition_(std::move(definition)), keys_(axis_keys(definition_)) {
  check_specs(definition_);
  require_objective(definition_);
  refuse_too_many(definition_);
  table_ = sampled(definition_, dropped_);
  Units made = make_units(definition_, table_, options.most_unit_runs);
  units_ = std::move(made.units);
  stages_ = made.stages;
}

std::vector<ParameterValue> Plan::values(std::uint64_t run) const {
  const Row row = table_.row(run);
  std::vector<ParameterValue> result;
  result.reserve(keys_.size());
  for (std::size_t f = 0; f < definition_.factors.size(); ++f) {
    for (const Axis& axis : definition_.factors[f].axes) {
      result.push_back(value_at(axis, f, row));
    }
  }
  return result;
}

experiment::Settings Plan::settings(std::uint64_t run) const {
  return settings_of(definition_, table_.row(run));
}

}  // namespace rayreplay::sweep
