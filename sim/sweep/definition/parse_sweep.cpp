#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "base/input_file.hpp"
#include "base/toml.hpp"
#include "sim/settings/toml_value.hpp"
#include "sim/sweep/definition/axis_values.hpp"
#include "sim/sweep/definition/definition.hpp"
#include "sim/sweep/definition/paths.hpp"
#include "sim/sweep/definition/toml_leaves.hpp"
#include "sim/sweep/samplers/sampler.hpp"

namespace rayreplay::sweep {
namespace {

const std::vector<std::string> kTopLevel = {"base",       "sampler", "objective", "where", "exclude",
                                            "experiment", "axes",    "zip",       "stop"};

std::string read_file(const std::filesystem::path& path, const std::string& where) {
  try {
    return read_text_file(path, kMaxTextBytes, "experiment file");
  } catch (const Error& error) {
    ErrorInfo info = error.info();
    info.what = "the experiment file of the sweep cannot be read: " + info.what;
    info.found = path.string() + (info.found.empty() ? "" : ", " + info.found);
    info.where = where;
    info.fix = "`base` is relative to the sweep file";
    throw Error(error.kind(), info);
  }
}

class SweepReader {
 public:
  SweepReader(std::string_view text, std::string source, std::string folder)
      : source_(std::move(source)), folder_(std::move(folder)), table_(parse_toml(text, source_, "sweep")) {}

  Definition read() {
    for (const auto& [key, node] : table_) {
      const std::string name(key.str());
      if (std::find(kTopLevel.begin(), kTopLevel.end(), name) == kTopLevel.end()) {
        unknown_word(name, at(key.source()));
      }
    }
    definition_.folder = folder_;
    read_base();
    read_sampler();
    read_factors();
    read_excludes();
    read_conditions();
    read_objective();
    read_stop();
    return std::move(definition_);
  }

 private:
  [[nodiscard]] std::string at(const toml::source_region& region) const {
    return place(source_, region.begin);
  }

  [[noreturn]] void unknown_word(const std::string& name, const std::string& where) const {
    const std::string near = nearest(name, kTopLevel);
    const bool is_key = experiment::find_parameter(name.substr(0, name.find('.'))) != nullptr;
    usage("unknown key of a sweep", where, "'" + name + "'", fmt::format("one of {}", fmt::join(kTopLevel, ", ")),
          is_key         ? "put keys of the experiment into [experiment], and several values into [axes]"
          : near.empty() ? ""
                         : "did you mean '" + near + "'?");
  }

  [[noreturn]] void wrong_type(const toml::node& node, std::string_view name, std::string expected) const {
    usage("the value has the wrong type", at(node.source()), fmt::format("{}: {}", name, type_of(node)),
          std::move(expected));
  }

  /// Null: the sweep has none.
  [[nodiscard]] const toml::table* table_at(std::string_view name) const {
    const toml::node* node = table_.get(name);
    if (node != nullptr && !node->is_table()) {
      wrong_type(*node, name, fmt::format("a table: [{}]", name));
    }
    return node == nullptr ? nullptr : node->as_table();
  }

  /// Empty: the sweep has none.
  [[nodiscard]] const toml::array& list_at(std::string_view name, const char* expected) const {
    static const toml::array kNone;
    const toml::node* node = table_.get(name);
    if (node != nullptr && !node->is_array()) {
      wrong_type(*node, name, expected);
    }
    return node == nullptr ? kNone : *node->as_array();
  }

  [[nodiscard]] std::string text_of(const toml::node& node, std::string_view name) const {
    if (!node.is_string()) {
      wrong_type(node, name, "a text");
    }
    return node.as_string()->get();
  }

  /// TOML assigns keys after a [table] head to that table. The message explains how to write a key of the sweep
  /// instead.
  void check_key(const std::string& key, const std::string& where, const char* table) const {
    if (experiment::find_parameter(key) == nullptr &&
        std::find(kTopLevel.begin(), kTopLevel.end(), key) != kTopLevel.end()) {
      usage(fmt::format("'{}' stands inside [{}]", key, table), where, "", "a key of an experiment",
            fmt::format("write `{}` before the first [table] of the file", key));
    }
  }

  ParameterValue value_here(const toml::node& node, const std::string& key, const std::string& where) {
    note_written(node, key, where);
    return experiment::value_of(node, key, folder_, where);
  }

  /// Absolute paths in the value.
  void note_written(const toml::node& node, const std::string& key, const std::string& where) {
    const experiment::ExperimentParameter* parameter = experiment::find_parameter(key);
    if (parameter != nullptr && parameter->is_path && (node.is_string() || node.is_array())) {
      note_absolute(definition_, key, experiment::value_of(node, key, "", where));
    }
  }

  void read_base() {
    if (const toml::node* node = table_.get("base")) {
      const std::filesystem::path path = std::filesystem::path(folder_) / text_of(*node, "base");
      const std::string text = read_file(path, at(node->source()));
      definition_.base = experiment::parse_experiment(text, path.string(), path.parent_path().string());
      const experiment::Settings written = experiment::parse_experiment(text, path.string(), "");
      for (const auto& [key, setting] : written.all()) {
        note_absolute(definition_, key, setting.value);
      }
    }
    if (const toml::table* table = table_at("experiment")) {
      for (const Leaf& leaf : leaves(*table)) {
        const std::string where = place(source_, leaf.at);
        check_key(leaf.key, where, "experiment");
        definition_.base.set(leaf.key, value_here(*leaf.node, leaf.key, where), where);
      }
    }
  }

  void read_sampler() {
    if (const toml::node* node = table_.get("sampler")) {
      definition_.sampler = text_of(*node, "sampler");
    }
    with_place("sampler", [this] { definition_.sampler = Samplers::create(definition_.sampler).spec; });
  }

  /// Errors of `what` name the place of this part of the sweep.
  void with_place(std::string_view name, const std::function<void()>& what) const {
    try {
      what();
    } catch (const Error& error) {
      ErrorInfo info = error.info();
      info.where = at(table_.get(name)->source()) + (info.where.empty() ? "" : ", " + info.where);
      throw Error(error.kind(), info);
    }
  }

  Axis axis_of(const Leaf& leaf, const char* table) {
    const std::string where = place(source_, leaf.at);
    check_key(leaf.key, where, table);
    Axis axis = read_axis(leaf.key, *leaf.node, folder_, source_, where);
    if (const toml::array* values = leaf.node->as_array()) {
      for (const toml::node& value : *values) {
        note_written(value, leaf.key, where);
      }
    }
    const auto [known, is_new] = axis_lines_.emplace(leaf.key, axis.where);
    if (!is_new) {
      usage("a key is on two axes", axis.where, fmt::format("'{}', also in {}", leaf.key, known->second),
            "each key once");
    }
    return axis;
  }

  void read_factors() {
    std::vector<std::pair<toml::source_position, Factor>> found;
    if (const toml::table* table = table_at("axes")) {
      for (const Leaf& leaf : leaves(*table, is_range)) {
        found.emplace_back(leaf.at, Factor{{axis_of(leaf, "axes")}});
      }
    }
    read_zips(found);
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
      return std::pair(a.first.line, a.first.column) < std::pair(b.first.line, b.first.column);
    });
    for (auto& [position, factor] : found) {
      check_rows(factor);
      definition_.factors.push_back(std::move(factor));
    }
    if (definition_.factors.empty()) {
      usage("the sweep has no axes", source_, "", "[axes] or [[zip]] with at least one key",
            "a single experiment is `rayreplay run`");
    }
    const auto sampler = Samplers::create(definition_.sampler);
    for (const Factor& factor : definition_.factors) {
      if (factor.axes.front().range && !sampler.model->draws_numbers()) {
        usage("the range is continuous, and the sampler takes listed values alone", factor.axes.front().where,
              fmt::format("{} with sampler {}", factor.axes.front().key, definition_.sampler),
              "a range with step or count", R"(or sampler = "random:count=100" or "latin-hypercube:count=100")");
      }
    }
  }

  void read_zips(std::vector<std::pair<toml::source_position, Factor>>& found) {
    constexpr const char* kTables = "tables: [[zip]] with two square brackets";
    for (const toml::node& item : list_at("zip", kTables)) {
      if (!item.is_table()) {
        wrong_type(item, "zip", kTables);
      }
      const std::vector<Leaf> keys = leaves(*item.as_table(), is_range);
      if (keys.empty()) {
        usage("the zip is empty", at(item.source()), "", "axes");
      }
      Factor factor;
      for (const Leaf& leaf : keys) {
        factor.axes.push_back(axis_of(leaf, "zip"));
        const Axis& axis = factor.axes.back();
        if (axis.range) {
          usage("a continuous range cannot be zipped", axis.where, axis.key, "a list, or a range with step or count");
        }
        if (axis.values.size() != factor.size()) {
          usage("axes that are zipped have different lengths", axis.where,
                fmt::format("{} has {} values, {} has {}", factor.axes.front().key, factor.size(), axis.key,
                            axis.values.size()),
                "equal lengths");
        }
      }
      found.emplace_back(keys.front().at, std::move(factor));
    }
  }

  /// Every row of a factor is one configuration; duplicates would count twice.
  static void check_rows(const Factor& factor) {
    std::set<std::vector<std::string>> rows;
    for (std::size_t i = 0; i < factor.axes.front().values.size(); ++i) {
      std::vector<std::string> row;
      for (const Axis& axis : factor.axes) {
        row.push_back(to_text(known_spec(axis.key, axis.values[i])));
      }
      if (!rows.insert(row).second) {
        usage("a value is there twice", factor.axes.front().where,
              fmt::format("{} = {}", factor.axes.front().key, fmt::join(row, ", ")), "each once");
      }
    }
  }

  void read_excludes() {
    for (const toml::node& item : list_at("exclude", "a list of tables: exclude = [{ KEY = VALUE, … }, …]")) {
      const toml::table* table = item.as_table();
      if (table == nullptr || table->empty()) {
        usage("an exclusion is a table of keys and values", at(item.source()),
              table == nullptr ? type_of(item) : "an empty table, which would exclude everything",
              "{ KEY = VALUE, … }");
      }
      auto& exclude = definition_.excludes.emplace_back();
      for (const Leaf& leaf : leaves(*table)) {
        const std::string where = place(source_, leaf.at);
        check_key(leaf.key, where, "exclude");
        exclude.emplace_back(leaf.key, checked(leaf.key, value_here(*leaf.node, leaf.key, where), where));
        // An exclusion with an unknown model would never match.
        static_cast<void>(resolved_spec(leaf.key, exclude.back().second, where));
      }
    }
  }

  void read_conditions() {
    if (const toml::node* node = table_.get("where"); node != nullptr && node->is_string()) {
      definition_.conditions.emplace_back(text_of(*node, "where"), at(node->source()));
      return;
    }
    for (const toml::node& item : list_at("where", "a list of conditions")) {
      definition_.conditions.emplace_back(text_of(item, "where"), at(item.source()));
    }
  }

  void read_objective() {
    const toml::node* node = table_.get("objective");
    if (node == nullptr) {
      return;
    }
    const std::string text = text_of(*node, "objective");
    const std::string where = at(node->source());
    Objective objective{.metric = text, .goal = experiment::Goal::None};
    for (const auto& [word, goal] :
         {std::pair("more ", experiment::Goal::More), std::pair("less ", experiment::Goal::Less)}) {
      if (text.starts_with(word)) {
        objective = {.metric = text.substr(std::string_view(word).size()), .goal = goal};
      }
    }
    with_place("objective", [&objective] {
      const experiment::Goal own = experiment::find_metric(objective.metric).goal;
      objective.goal = objective.goal == experiment::Goal::None ? own : objective.goal;
    });
    if (objective.goal == experiment::Goal::None) {
      usage("the metric has no goal of its own", where, "'" + text + "'",
            fmt::format(R"("more {0}" or "less {0}")", text));
    }
    definition_.objective = objective;
  }

  void read_stop() {
    const toml::table* table = table_at("stop");
    if (table == nullptr) {
      return;
    }
    const std::vector<std::string> known = {"runs", "seconds"};
    for (const auto& [key, node] : *table) {
      const std::string name(key.str());
      const std::string where = at(key.source());
      const double value = node.is_number() ? node.value_or(0.0) : 0.0;
      if (name == "runs" && node.is_integer() && node.as_integer()->get() > 0) {
        definition_.most_runs = static_cast<std::uint64_t>(node.as_integer()->get());
      } else if (name == "seconds" && value > 0 && std::isfinite(value)) {
        definition_.most_seconds = value;
      } else if (name == "runs" || name == "seconds") {
        usage("the value has the wrong type or is out of range", where, fmt::format("stop.{}", name),
              name == "runs" ? "a whole number above 0" : "a number above 0");
      } else {
        check_key(name, at(key.source()), "stop");
        const std::string near = nearest(name, known);
        usage("unknown key", where, fmt::format("'stop.{}'", name), "runs or seconds",
              near.empty() ? "" : "did you mean '" + near + "'?");
      }
    }
  }

  std::string source_;
  std::string folder_;
  toml::table table_;
  Definition definition_;
  std::map<std::string, std::string> axis_lines_;
};

}  // namespace

Definition parse_sweep(std::string_view toml, const std::string& source, const std::string& folder) {
  return SweepReader(toml, source, folder).read();
}

void set_on_base(Definition& definition, std::string_view assignment, const std::string& where) {
  experiment::Settings scratch;
  scratch.set_text(assignment, where);
  for (const auto& [key, setting] : scratch.all()) {
    if (const Axis* axis = find_axis(definition, key).axis) {
      usage("the key is an axis of the sweep", where, "'" + key + "', " + axis->where, "a key that does not vary",
            "change the axis in the sweep file");
    }
    experiment::require_read_by_stage(key, where);
    definition.base.set(key, setting.value, where);
    note_absolute(definition, key, setting.value);
  }
}

std::vector<std::string> axis_keys(const Definition& definition) {
  std::vector<std::string> keys;
  for (const Factor& factor : definition.factors) {
    for (const Axis& axis : factor.axes) {
      keys.push_back(axis.key);
    }
  }
  return keys;
}

AxisPlace find_axis(const Definition& definition, std::string_view key) {
  for (std::size_t f = 0; f < definition.factors.size(); ++f) {
    for (const Axis& axis : definition.factors[f].axes) {
      if (axis.key == key) {
        return {&axis, f};
      }
    }
  }
  return {};
}

}  // namespace rayreplay::sweep
