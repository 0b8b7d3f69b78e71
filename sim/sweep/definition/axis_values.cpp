#include "sim/sweep/definition/axis_values.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "sim/settings/toml_value.hpp"
#include "sim/settings/value.hpp"
#include "sim/sweep/definition/toml_leaves.hpp"

namespace rayreplay::sweep {
namespace {

constexpr std::array<std::string_view, 6> kRangeWords = {"from", "to", "step", "count", "scale", "powers_of_two"};
constexpr const char* kForms =
    "a list, { from, to, step }, { from, to, count }, { powers_of_two = [A, B] } or a continuous { from, to }";
/// Largest range of integers that doubles represent exactly.

class RangeReader {
 public:
  RangeReader(std::string key, const toml::table& table, std::string where)
      : key_(std::move(key)), table_(&table), where_(std::move(where)) {}

  Axis read() {
    for (const auto& [name, node] : *table_) {
      if (std::find(kRangeWords.begin(), kRangeWords.end(), name.str()) == kRangeWords.end()) {
        const std::vector<std::string> words(kRangeWords.begin(), kRangeWords.end());
        const std::string near = nearest(name.str(), words);
        usage("unknown key of a range", where_, "'" + std::string(name.str()) + "'", kForms,
              near.empty() ? "" : "did you mean '" + near + "'?");
      }
    }
    if (table_->contains("powers_of_two")) {
      return powers();
    }
    low_ = end("from");
    high_ = end("to");
    if (low_ > high_) {
      usage("the range is empty", where_, fmt::format("{} from {} to {}", key_, low_, high_), "from below to");
    }
    logarithmic_ = read_scale();
    const bool step = table_->contains("step");
    const bool count = table_->contains("count");
    if (step && (count || logarithmic_)) {
      usage("a range has both a step and a count or scale", where_, key_, "one of them",
            "a logarithmic range takes `count`");
    }
    return step ? stepped() : count ? counted() : continuous();
  }

 private:
  [[noreturn]] void wrong(const char* word, const toml::node* node, const char* expected) const {
    usage("the range is incomplete", where_,
          fmt::format("{}: {} is {}", key_, word, node == nullptr ? "not there" : type_of(*node)), expected);
  }

  /// A number as the file has it, or a size with its unit. The key's own range check comes later.
  [[nodiscard]] double number(const toml::node* node, const char* word) {
    if (node != nullptr && node->is_integer()) {
      return static_cast<double>(node->as_integer()->get());
    }
    if (node != nullptr && node->is_floating_point() && std::isfinite(node->as_floating_point()->get())) {
      whole_ = false;
      return node->as_floating_point()->get();
    }
    if (node != nullptr && node->is_string()) {
      if (const std::optional<double> size = size_of(node->as_string()->get())) {
        return *size;
      }
      usage("a range is of numbers", where_, fmt::format("{}: {} = '{}'", key_, word, node->as_string()->get()),
            "a number, or a size as 64KiB");
    }
    wrong(word, node, "a number");
  }

  static std::optional<double> size_of(const std::string& text) {
    const std::string digits = experiment::without_unit(text);
    std::int64_t value = 0;
    const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc() && stop == digits.data() + digits.size() ? std::optional<double>(value) : std::nullopt;
  }

  /// The key's answer to one end decides whether the axis has whole numbers.
  double end(const char* word) {
    const toml::node* node = table_->get(word);
    const double value = number(node, word);
    note_type(checked(
        key_, node->is_string() ? ParameterValue(as_whole(value)) : experiment::value_of(*node, key_, "", where_),
        where_));
    return value;
  }

  [[nodiscard]] static std::int64_t as_whole(double value) {
    return static_cast<std::int64_t>(std::clamp(value, -kMaxExact, kMaxExact));
  }

  void note_type(const ParameterValue& value) {
    whole_ = whole_ && !std::holds_alternative<double>(value);
  }

  [[nodiscard]] bool read_scale() const {
    const toml::node* node = table_->get("scale");
    if (node == nullptr) {
      return false;
    }
    const std::string scale = node->value_or(std::string());
    if (scale != "log" && scale != "linear") {
      usage("unknown scale", where_, "'" + scale + "'", "linear or log");
    }
    if (scale == "log" && low_ <= 0) {
      usage("a logarithmic range begins above 0", where_, fmt::format("{}: from = {}", key_, low_), "from > 0");
    }
    return scale == "log";
  }

  /// More values than a sweep can use. The limit also keeps a tiny step from filling the memory.
  void require_few(double values) const {
    if (values > static_cast<double>(kMaxValues)) {
      usage("the axis has too many values", where_, fmt::format("{}: {:.0f}", key_, values),
            fmt::format("at most {}", kMaxValues), "a larger step, or a continuous range with a sampler that draws");
    }
  }

  void add(Axis& axis, double value) const {
    const ParameterValue typed =
        whole_ ? ParameterValue(as_whole(std::nearbyint(value))) : ParameterValue(rounded(value));
    ParameterValue taken = checked(key_, typed, where_);
    if (axis.values.empty() || !same_value(axis.values.back(), taken)) {
      axis.values.push_back(std::move(taken));
    }
  }

  Axis stepped() {
    const double step = number(table_->get("step"), "step");
    if (!(step > 0)) {
      usage("the step is not above 0", where_, fmt::format("{}: step = {}", key_, step), "more than 0");
    }
    Axis axis{.key = key_, .values = {}, .where = where_};
    // The end belongs to the range if only rounding keeps it out.
    constexpr double kSlack = 1e-9;
    const double steps = std::floor((high_ - low_) / step + kSlack);
    require_few(steps + 1);
    const auto last = static_cast<std::uint64_t>(steps);
    for (std::uint64_t i = 0; i <= last; ++i) {
      add(axis, low_ + static_cast<double>(i) * step);
    }
    return axis;
  }

  Axis counted() {
    const toml::node* node = table_->get("count");
    const auto* given = node->as_integer();
    if (given == nullptr || given->get() < 1 || static_cast<std::uint64_t>(given->get()) > kMaxValues) {
      usage("the count is out of range", where_, key_, fmt::format("a whole number from 1 to {}", kMaxValues));
    }
    const std::int64_t count = given->get();
    Axis axis{.key = key_, .values = {}, .where = where_};
    for (std::int64_t i = 0; i < count; ++i) {
      const double share = count == 1 ? 0 : static_cast<double>(i) / static_cast<double>(count - 1);
      const bool last = i + 1 == count && count > 1;
      add(axis, last ? high_ : between(share));
    }
    return axis;
  }

  [[nodiscard]] double between(double share) const {
    return logarithmic_ ? low_ * std::pow(high_ / low_, share) : low_ + share * (high_ - low_);
  }

  Axis powers() {
    if (table_->size() != 1) {
      usage("powers of two take nothing else", where_, key_, "{ powers_of_two = [A, B] }");
    }
    const toml::array* ends = table_->get("powers_of_two")->as_array();
    if (ends == nullptr || ends->size() != 2) {
      usage("powers of two need two ends", where_, key_, "{ powers_of_two = [A, B] }");
    }
    std::array<double, 2> bounds{};
    for (std::size_t i = 0; i < 2; ++i) {
      bounds.at(i) = number(ends->get(i), "powers_of_two");
      int exponent = 0;
      if (!(bounds.at(i) >= 1) || std::frexp(bounds.at(i), &exponent) != 0.5) {
        usage("an end of the range is no power of two", where_, fmt::format("{}: {}", key_, bounds.at(i)),
              "1, 2, 4, 8, …");
      }
    }
    if (bounds.at(0) > bounds.at(1)) {
      usage("the range is empty", where_, fmt::format("{} from {} to {}", key_, bounds.at(0), bounds.at(1)),
            "the smaller one first");
    }
    Axis axis{.key = key_, .values = {}, .where = where_};
    whole_ = true;
    note_type(checked(key_, as_whole(bounds.at(0)), where_));
    const int doublings = std::ilogb(bounds.at(1)) - std::ilogb(bounds.at(0));
    for (int i = 0; i <= doublings; ++i) {
      add(axis, std::ldexp(bounds.at(0), i));
    }
    return axis;
  }

  Axis continuous() const {
    if (!(low_ < high_)) {
      usage("the range is empty", where_, fmt::format("{} from {} to {}", key_, low_, high_), "from below to");
    }
    return {.key = key_, .values = {}, .range = Range{low_, high_, logarithmic_, whole_}, .where = where_};
  }

  std::string key_;
  const toml::table* table_;
  std::string where_;
  double low_ = 0;
  double high_ = 0;
  bool logarithmic_ = false;
  bool whole_ = true;
};

}  // namespace

double rounded(double value) {
  const std::string text = fmt::format("{:.12g}", value);
  double result = value;
  std::from_chars(text.data(), text.data() + text.size(), result);
  return result;
}

bool is_range(const toml::table& table) {
  return std::any_of(kRangeWords.begin(), kRangeWords.end(),
                     [&table](std::string_view word) { return table.contains(word); });
}

ParameterValue checked(const std::string& key, const ParameterValue& value, const std::string& where) {
  experiment::Settings scratch;
  scratch.set(key, value, where);
  const auto found = scratch.all().find(key);
  return found == scratch.all().end() ? value : found->second.value;
}

ParameterValue resolved_spec(const std::string& key, const ParameterValue& value, const std::string& where) {
  const experiment::ExperimentParameter* parameter = experiment::find_parameter(key);
  if (parameter->model_kind.empty() || parameter->declared.name != key || to_text(value).empty()) {
    return value;
  }
  experiment::Settings scratch;
  scratch.set(key, value, where);
  if (key != "workload") {
    scratch.set("trace", std::string("any"), "");  // an input is required to complete settings
  }
  return experiment::complete(scratch).text(key);
}

ParameterValue known_spec(const std::string& key, const ParameterValue& value) {
  try {
    return resolved_spec(key, value, "");
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::Internal) {
      throw;
    }
    return value;
  }
}

bool same_value(const ParameterValue& left, const ParameterValue& right) {
  const auto number = [](const ParameterValue& value) -> std::optional<double> {
    if (const auto* whole = std::get_if<std::int64_t>(&value)) {
      return static_cast<double>(*whole);
    }
    const auto* real = std::get_if<double>(&value);
    return real == nullptr ? std::nullopt : std::optional(*real);
  };
  const std::optional<double> a = number(left);
  const std::optional<double> b = number(right);
  return a && b ? *a == *b : left == right;
}

Axis read_axis(const std::string& key, const toml::node& node, const std::string& folder, const std::string& source,
               const std::string& where) {
  experiment::require_read_by_stage(key, where);
  if (const toml::table* table = node.as_table()) {
    return RangeReader(key, *table, where).read();
  }
  const toml::array* array = node.as_array();
  if (array == nullptr) {
    usage("an axis has several values", where, fmt::format("{}: {}", key, type_of(node)), kForms,
          "a key with one value belongs to [experiment]");
  }
  if (array->empty()) {
    usage("the axis is empty", where, key, "at least one value", "without a value there is no configuration");
  }
  Axis axis{.key = key, .values = {}, .where = where};
  axis.values.reserve(array->size());
  axis.places.reserve(array->size());
  for (const toml::node& item : *array) {
    const std::string here = item.source().begin.line == 0 ? where : place(source, item.source().begin);
    axis.places.push_back(here);
    axis.values.push_back(checked(key, experiment::value_of(item, key, folder, here), here));
  }
  return axis;
}

}  // namespace rayreplay::sweep
