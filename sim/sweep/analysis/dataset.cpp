#include "sim/sweep/analysis/dataset.hpp"

#include <algorithm>
#include <map>

#include "base/error.hpp"
#include "base/toml.hpp"

namespace rayreplay::sweep {
namespace {

/// Numbers the distinct values of a column in ascending order.
VariedParameter levels_of(const ResultSet& rows, std::size_t column) {
  std::vector<const ResultCell*> values;
  values.reserve(rows.rows.size());
  for (const auto& row : rows.rows) {
    values.push_back(&row[column]);
  }
  const auto less = [](const ResultCell* a, const ResultCell* b) {
    if (is_number(*a) && is_number(*b)) {
      return number(*a) < number(*b);
    }
    return *a < *b;
  };
  std::vector<const ResultCell*> distinct = values;
  std::ranges::sort(distinct, less);
  const auto same = [&](const ResultCell* a, const ResultCell* b) { return !less(a, b) && !less(b, a); };
  distinct.erase(std::unique(distinct.begin(), distinct.end(), same), distinct.end());
  VariedParameter result{rows.columns[column].name, {}, static_cast<std::uint32_t>(distinct.size())};
  result.levels.reserve(values.size());
  for (const ResultCell* value : values) {
    result.levels.push_back(
        static_cast<std::uint32_t>(std::ranges::lower_bound(distinct, value, less) - distinct.begin()));
  }
  return result;
}

/// The axes in a TOML table of keys: `"machine.sms" = …`, or `sms = …` in a table `machine`.
void collect_axes(const toml::table& table, const std::string& prefix, const std::vector<std::string>& axes,
                  std::vector<std::string>& found) {
  for (const auto& [key, node] : table) {
    const std::string name = prefix + std::string(key.str());
    if (std::ranges::find(axes, name) != axes.end()) {
      found.push_back(name);
    } else if (const toml::table* inner = node.as_table(); inner != nullptr) {
      collect_axes(*inner, name + ".", axes, found);
    }
  }
}

/// Groups of zipped axes. A sweep text that does not parse gives no groups: it was checked when the sweep began.
std::vector<std::vector<std::string>> zipped(const std::string& sweep, const std::vector<std::string>& axes,
                                             bool& sampled) {
  std::vector<std::vector<std::string>> groups;
  try {
    const toml::table file = parse_toml(sweep, "", "sweep");
    const std::string sampler = file["sampler"].value_or(std::string("grid"));
    sampled = sampler != "grid" && !sampler.starts_with("grid:");
    if (const toml::array* zips = file["zip"].as_array(); zips != nullptr) {
      for (const toml::node& zip : *zips) {
        if (const toml::table* table = zip.as_table(); table != nullptr) {
          collect_axes(*table, "", axes, groups.emplace_back());
        }
      }
    }
  } catch (const Error&) {
    groups.clear();
  }
  return groups;
}

/// One parameter for a group of axes, in their order.
VariedParameter joined(const std::vector<const VariedParameter*>& members) {
  VariedParameter result = *members.front();
  for (std::size_t i = 1; i < members.size(); ++i) {
    result.name += " + " + members[i]->name;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> number;
    for (std::size_t row = 0; row < result.levels.size(); ++row) {
      number[{result.levels[row], members[i]->levels[row]}] = 0;
    }
    std::uint32_t next = 0;
    for (auto& [levels, one] : number) {
      one = next++;
    }
    for (std::size_t row = 0; row < result.levels.size(); ++row) {
      result.levels[row] = number[{result.levels[row], members[i]->levels[row]}];
    }
    result.count = next;
  }
  return result;
}

}  // namespace

std::string finished_where(const std::string& where) {
  return where.empty() ? "status = 'ok'" : "status = 'ok' AND (" + where + ")";
}

Dataset load_parameters(const ResultsReader& reader, const std::string& where) {
  Dataset data;
  std::vector<std::string> names = {"run"};
  for (const ResultColumn& column : reader.columns()) {
    if (column.role == Role::Axis) {
      names.push_back(column.name);
    }
  }
  const ResultSet rows = reader.select(names, finished_where(where));
  for (const auto& row : rows.rows) {
    data.runs.push_back(static_cast<std::uint64_t>(std::get<std::int64_t>(row.front())));
  }
  std::vector<VariedParameter> axes;
  for (std::size_t i = 1; i < names.size(); ++i) {
    axes.push_back(levels_of(rows, i));
  }
  const auto groups = zipped(reader.about().sweep, names, data.sampled);
  std::vector<bool> taken(axes.size(), false);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (taken[i]) {
      continue;
    }
    std::vector<const VariedParameter*> members = {&axes[i]};
    for (const auto& group : groups) {
      if (std::ranges::find(group, axes[i].name) == group.end()) {
        continue;
      }
      for (std::size_t k = i + 1; k < axes.size(); ++k) {
        if (std::ranges::find(group, axes[k].name) != group.end()) {
          members.push_back(&axes[k]);
          taken[k] = true;
        }
      }
    }
    VariedParameter parameter = joined(members);
    if (parameter.count > 1) {
      data.parameters.push_back(std::move(parameter));
    }
  }
  return data;
}

std::vector<double> load_numbers(const ResultsReader& reader, const std::string& name, const std::string& where,
                                 const std::string& option) {
  const ResultColumn& column = reader.column(name, option);
  const ResultSet rows = reader.select({column.name}, finished_where(where));
  std::vector<double> values;
  values.reserve(rows.rows.size());
  for (const auto& row : rows.rows) {
    if (std::holds_alternative<std::string>(row.front())) {
      throw Error(ErrorKind::Usage, {"the column holds texts, not numbers", option, "'" + column.name + "'",
                                     "a metric or a parameter with numbers", ""});
    }
    values.push_back(number(row.front()));
  }
  return values;
}

experiment::Goal goal_of(const ResultsReader& reader, const std::string& metric) {
  const ResultColumn& column = reader.column(metric, "metric");
  const std::string& objective = reader.about().objective;
  if (objective == "more " + column.name) {
    return experiment::Goal::More;
  }
  if (objective == "less " + column.name) {
    return experiment::Goal::Less;
  }
  if (column.goal == experiment::Goal::None) {
    throw Error(ErrorKind::Usage, {"the metric has no goal: less or more is better", column.name, "", "",
                                   "use less:" + column.name + " or more:" + column.name});
  }
  return column.goal;
}

RunComparison compare_runs(const ResultsReader& reader, std::uint64_t a, std::uint64_t b) {
  const ResultSet left = reader.row(a), right = reader.row(b);
  RunComparison result;
  for (std::size_t i = 0; i < left.columns.size(); ++i) {
    const ResultColumn& column = left.columns[i];
    Difference one{column, left.rows.front()[i], right.rows.front()[i]};
    if (column.role == Role::Metric) {
      if (one.a != ResultCell{} || one.b != ResultCell{}) {
        result.metrics.push_back(std::move(one));
      }
    } else if ((column.role != Role::About || column.name == "trace_hash" || column.name == "tool_version") &&
               one.a != one.b) {
      result.parameters.push_back(std::move(one));
    }
  }
  return result;
}

}  // namespace rayreplay::sweep
