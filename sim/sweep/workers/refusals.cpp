#include "sim/sweep/workers/refusals.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/error.hpp"

namespace rayreplay::sweep {
namespace {

/// Values of one factor: those of accepted configurations, and the errors of the others.
struct Values {
  std::size_t factor = 0;
  std::vector<bool> accepted;
  std::vector<std::optional<Error>> refused;  ///< the first Usage error with the value
  std::vector<bool> excused;                  ///< also refused with another error than Usage
  std::size_t open = 0;                       ///< values that are not accepted yet
};

/// True if each of the factor's values must be possible.
bool is_judged(const Factor& factor) {
  return std::ranges::all_of(factor.axes, [](const Axis& axis) {
    const experiment::ExperimentParameter* parameter = experiment::find_parameter(axis.key);
    return !axis.range && parameter->model_kind.empty() && !parameter->is_path;
  });
}

std::vector<Values> values_of(const Definition& definition) {
  std::vector<Values> all;
  for (std::size_t f = 0; f < definition.factors.size(); ++f) {
    if (is_judged(definition.factors[f])) {
      const std::size_t size = definition.factors[f].size();
      all.push_back({f, std::vector<bool>(size), std::vector<std::optional<Error>>(size), std::vector<bool>(size), 0});
    }
  }
  return all;
}

/// Counts the values that occur in the plan: a sampler may leave values out.
void count_open(const Plan& plan, std::vector<Values>& all) {
  for (Values& values : all) {
    std::vector<bool> occurs(values.accepted.size());
    for (std::uint64_t run = 0; run < plan.runs(); ++run) {
      const std::uint32_t choice = plan.choices(run)[values.factor];
      values.open += occurs[choice] ? 0U : 1U;
      occurs[choice] = true;
    }
  }
}

std::optional<Error> refusal_of(const Plan& plan, const Work& work, std::uint64_t run) {
  try {
    work.check(experiment::complete(plan.settings(run)));
    return std::nullopt;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::Internal) {
      throw;
    }
    return error;
  }
}

void take(std::vector<Values>& all, std::span<const std::uint32_t> choices, const std::optional<Error>& refusal) {
  for (Values& values : all) {
    const std::uint32_t choice = choices[values.factor];
    if (values.accepted[choice]) {
      continue;
    }
    if (!refusal) {
      values.accepted[choice] = true;
      --values.open;
    } else if (refusal->kind() != ErrorKind::Usage) {
      values.excused[choice] = true;
    } else if (!values.refused[choice]) {
      values.refused[choice] = refusal;
    }
  }
}

}  // namespace

void require_possible(const Plan& plan, const Work& work) {
  if (!work.check) {
    return;
  }
  std::vector<Values> all = values_of(plan.definition());
  count_open(plan, all);
  std::optional<Error> first;
  bool any = false;
  std::uint64_t refused = 0;
  for (std::uint64_t run = 0; run < plan.runs(); ++run) {
    if (any && std::ranges::all_of(all, [](const Values& values) { return values.open == 0; })) {
      return;
    }
    const std::span<const std::uint32_t> choices = plan.choices(run);
    if (any && std::ranges::all_of(all, [&](const Values& one) { return one.accepted[choices[one.factor]]; })) {
      continue;
    }
    const std::optional<Error> refusal = refusal_of(plan, work, run);
    take(all, choices, refusal);
    any = any || !refusal;
    if (refusal && !first) {
      first = refusal;
    }
    if (refusal && ++refused == kMostRefused) {
      return;
    }
  }
  if (!any && first) {
    throw Error(*first);
  }
  for (const Values& values : all) {
    for (std::size_t choice = 0; choice < values.accepted.size(); ++choice) {
      if (!values.accepted[choice] && !values.excused[choice] && values.refused[choice]) {
        throw Error(*values.refused[choice]);
      }
    }
  }
}

}  // namespace rayreplay::sweep
