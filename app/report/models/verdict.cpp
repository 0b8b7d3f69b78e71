#include "app/report/models/verdict.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "app/report/models/models_table.hpp"
#include "base/count_text.hpp"
#include "base/text.hpp"
#include "sim/comparison/ranges.hpp"

namespace rayreplay::report {
namespace {

using experiment::CompareResult;
using experiment::CompareRow;
using experiment::Effect;
using experiment::Quantity;
using experiment::QuantityKind;
using experiment::Verdict;
using experiment::VerdictKind;
using output::Cell;
using output::Show;

constexpr double kGiga = 1e9;

}  // namespace

std::string time_against(double speed_up, const std::string& baseline) {
  if (speed_up == 1) {
    return "takes as long as " + baseline;
  }
  return speed_up >= 1 ? fmt::format("is {:.3f} times as fast as {}", speed_up, baseline)
                       : fmt::format("takes {:.3f} times as long as {}", 1 / speed_up, baseline);
}

std::string amount(const Quantity& quantity, double value, bool with_unit) {
  if (!quantity.meaning.empty() && value == quantity.value) {
    return quantity.meaning;
  }
  std::string unit = quantity.unit;
  if (unit == "bytes/s") {
    value /= kGiga;
    unit = "GB/s";
    with_unit = true;
  }
  constexpr double kManyDigits = 100;
  const double size = std::abs(value);
  std::string text = size >= kManyDigits || value == std::round(value)
                         ? with_separators(static_cast<std::uint64_t>(std::llround(size)))
                         : fmt::format("{:.3g}", size);
  return with_unit && !unit.empty() ? text + " " + unit : text;
}

std::string range_of(const Quantity& quantity) {
  return quantity.varied()
             ? fmt::format("{} to {}", amount(quantity, quantity.low, false), amount(quantity, quantity.high, false))
             : "-";
}

std::string threshold(const Verdict& verdict, const Effect& effect, bool below) {
  const Quantity& quantity = verdict.quantities[effect.quantity];
  const double held = below ? effect.from : effect.to;
  const std::string text = amount(quantity, held, false);
  const auto at = std::find_if(effect.points.begin(), effect.points.end(),
                               [held](const experiment::QuantityPoint& point) { return point.value == held; });
  if (!verdict.noisy || at == effect.points.end()) {
    return text;
  }
  if (below) {
    return at == effect.points.begin() ? text
                                       : fmt::format("about {} to {}", amount(quantity, (at - 1)->value, false), text);
  }
  return at + 1 == effect.points.end() ? text
                                       : fmt::format("about {} to {}", text, amount(quantity, (at + 1)->value, false));
}

namespace {

/// "at the 74 points tried within the ranges of the uncertain numbers"
std::string at_points(const Verdict& verdict, const VerdictSubject& subject) {
  return fmt::format("at the {} tried within the ranges of the uncertain numbers{}", counted(verdict.points, "point"),
                     subject.partly ? " varied" : "");
}

/// Where the nearest point to the other sign may have it in a run with almost the same numbers.
std::string scatter_note(const Verdict& verdict) {
  constexpr double kScatter = 0.05;
  const double nearest = verdict.pays_now() ? verdict.least : 1 / verdict.most;
  return verdict.noisy && nearest < 1 + kScatter
             ? std::string("; the nearest is within 5 % of the other answer, as much as such times scatter")
             : std::string();
}

/// "an any-hit call (assumed 200 instructions) costs less than 150"
std::string condition(const Verdict& verdict, const Effect& effect) {
  const Quantity& quantity = verdict.quantities[effect.quantity];
  const bool costs = quantity.kind == QuantityKind::Call;
  std::string where;
  if (effect.changes_below) {
    where = fmt::format("{} {}", costs ? "costs less than" : "is below", threshold(verdict, effect, true));
  }
  if (effect.changes_above) {
    where += fmt::format("{}{} {}", where.empty() ? "" : ", or ", costs ? "costs more than" : "is above",
                         threshold(verdict, effect, false));
  }
  return fmt::format("{} ({} {}) {}", quantity.name, to_string(quantity.origin), amount(quantity, quantity.value, true),
                     where);
}

/// "a closest-hit call (assumed 200 instructions) at 2500, withheld SMs (assumed 8) at 0 and … together"
std::string together_of(const Verdict& verdict) {
  std::vector<std::string> numbers;
  for (const Effect& effect : verdict.effects) {
    const Quantity& quantity = verdict.quantities[effect.quantity];
    if (const double value = verdict.together->values[effect.quantity]; value != quantity.value) {
      numbers.push_back(fmt::format("{} ({} {}) at {}", quantity.name, to_string(quantity.origin),
                                    amount(quantity, quantity.value, true), amount(quantity, value, false)));
    }
  }
  if (numbers.size() == 1) {
    return numbers.front();
  }
  return fmt::format("{} and {} together; none of these alone changes the answer",
                     fmt::join(numbers.begin(), numbers.end() - 1, ", "), numbers.back());
}

template <class Visit>
void for_each_judged(const CompareResult& result, const Visit& visit) {
  for (const CompareRow& row : result.rows) {
    if (row.verdict.kind != VerdictKind::NotAsked) {
      visit(row);
    }
  }
}

const Effect* decisive_of(const Verdict& verdict) {
  return verdict.decisive ? &verdict.effects[*verdict.decisive] : nullptr;
}

}  // namespace

std::pair<double, double> extremes_of(const Effect& effect) {
  const auto [least, most] = std::minmax_element(
      effect.points.begin(), effect.points.end(),
      [](const experiment::QuantityPoint& a, const experiment::QuantityPoint& b) { return a.speed_up < b.speed_up; });
  return {least->speed_up, most->speed_up};
}

std::string verdict_sentence(const CompareResult& result, const CompareRow& row) {
  return verdict_sentence(row.verdict,
                          {text::printable(short_spec(row.model)), "plain", text::printable(result.machine.name),
                           row.grouping == scheduler::Grouping::Bound});
}

std::string verdict_sentence(const Verdict& verdict, const VerdictSubject& subject) {
  const bool bound = subject.bound;
  const std::string who = subject.who + (bound ? ", a bound" : "");
  const std::string& machine = subject.machine;
  const std::string time = time_against(verdict.same_now() ? 1 : verdict.speed_up, subject.baseline);
  const char* over = subject.partly ? ", over the numbers varied," : "";
  switch (verdict.kind) {
    case VerdictKind::NotAsked:
      return "";
    case VerdictKind::Pays:
    case VerdictKind::DoesNotPay: {
      const bool pays = verdict.kind == VerdictKind::Pays;
      std::string span;
      if (!verdict.samples.empty()) {
        span = pays ? fmt::format(", {:.3f} to {:.3f} times", verdict.least, verdict.most)
                    : fmt::format(", {:.3f} to {:.3f} times", 1 / verdict.most, 1 / verdict.least);
        span += verdict.same_now() ? " as long " : " ";
        span += at_points(verdict, subject) + scatter_note(verdict);
      }
      const char* answer = bound ? (pays ? "could pay" : "cannot pay") : (pays ? "pays" : "does not pay");
      return fmt::format("{}: {}{} on {}. It {}{}", who, answer, over, machine, time, span);
    }
    case VerdictKind::ChangesNothing:
      return fmt::format("{}: {}{} on {}. It {}{}", who, bound ? "cannot pay" : "changes nothing", over, machine, time,
                         verdict.samples.empty() ? "" : ", also " + at_points(verdict, subject));
    case VerdictKind::CannotTell:
      break;
  }
  const Effect& decisive = *decisive_of(verdict);
  const std::string why =
      decisive.changes()
          ? fmt::format("it {} when {}; {} it is {:.3f} to {:.3f} times as fast", verdict.pays_now() ? "loses" : "pays",
                        condition(verdict, decisive), at_points(verdict, subject), verdict.least, verdict.most)
          : fmt::format("it {} with {}", time_against(verdict.together->speed_up, subject.baseline),
                        together_of(verdict));
  return fmt::format("{}: cannot tell on {}. At the present values it {}; {}", who, machine, time, why);
}

output::Table quantity_rows(const CompareResult& result) {
  output::Table table;
  table.columns = {{"model", ""}, {"quantity", ""}, {"name", ""}, {"value", ""},
                   {"unit", ""},  {"origin", ""},   {"low", ""},  {"high", ""}};
  const auto add = [&table](const Cell& model, const Quantity& quantity) {
    table.rows.push_back({model, quantity.key, quantity.name, quantity.value, quantity.unit,
                          std::string(to_string(quantity.origin)), quantity.low, quantity.high});
  };
  for (const Quantity& quantity : result.quantities) {
    add(Cell(), quantity);
  }
  for (const CompareRow& row : result.rows) {
    for (const Quantity& quantity : row.parameters) {
      add(row.model, quantity);
    }
  }
  return table;
}

output::Table quantity_table(const CompareResult& result) {
  output::Table table;
  table.columns = {{"name", "number"}, {"value", "value"}, {"unit", "unit"}, {"origin", "origin"}, {"range", "range"}};
  const auto add = [&table](const std::string& name, const Quantity& quantity) {
    table.rows.push_back({name, amount(quantity, quantity.value, false), quantity.unit,
                          std::string(to_string(quantity.origin)), range_of(quantity)});
  };
  for (const Quantity& quantity : result.quantities) {
    add(quantity.name, quantity);
  }
  for (const CompareRow& row : result.rows) {
    for (const Quantity& quantity : row.parameters) {
      add(fmt::format("{}: {}", short_spec(row.model), quantity.name), quantity);
    }
  }
  return table;
}

output::Table verdict_rows(const CompareResult& result) {
  output::Table table;
  table.columns = {{"model", ""},      {"quantity", ""}, {"value", ""},          {"unit", ""},          {"origin", ""},
                   {"low", ""},        {"high", ""},     {"least_speed_up", ""}, {"most_speed_up", ""}, {"swing", ""},
                   {"holds_from", ""}, {"holds_to", ""}, {"changes_below", ""},  {"changes_above", ""}};
  for_each_judged(result, [&table](const CompareRow& row) {
    for (const Effect& effect : row.verdict.effects) {
      const Quantity& quantity = row.verdict.quantities[effect.quantity];
      const auto [least, most] = extremes_of(effect);
      table.rows.push_back({row.model, quantity.key, quantity.value, quantity.unit,
                            std::string(to_string(quantity.origin)), quantity.low, quantity.high, least, most,
                            effect.swing, effect.from, effect.to, effect.changes_below, effect.changes_above});
    }
  });
  return table;
}

output::Table verdict_table(const CompareResult& result, bool brief) {
  output::Table table;
  table.columns = {{"model", "model"},
                   {"name", "what the verdict hangs on"},
                   {"value", "value"},
                   {"unit", "unit"},
                   {"origin", "origin"},
                   {"range", "range"},
                   {"least_speed_up", "least speed-up", Show::Plain, 3},
                   {"most_speed_up", "most", Show::Plain, 3},
                   {"holds", "sign holds"}};
  for_each_judged(result, [&](const CompareRow& row) {
    std::size_t shown = 0;
    for (const Effect& effect : row.verdict.effects) {
      if (brief && shown >= kMaxShown && !effect.changes()) {
        continue;
      }
      ++shown;
      const Quantity& quantity = row.verdict.quantities[effect.quantity];
      const auto [least, most] = extremes_of(effect);
      const std::string holds = !effect.changes() ? "everywhere"
                                                  : fmt::format("{} to {}", amount(quantity, effect.from, false),
                                                                amount(quantity, effect.to, false));
      table.rows.push_back({short_spec(row.model), quantity.name, amount(quantity, quantity.value, false),
                            quantity.unit, std::string(to_string(quantity.origin)), range_of(quantity), least, most,
                            holds});
    }
  });
  return table;
}

nlohmann::ordered_json verdict_json(const Verdict& verdict) {
  if (verdict.kind == VerdictKind::NotAsked) {
    return nullptr;
  }
  const auto key = [&verdict](const Effect& effect) {
    return label_of(verdict.quantities, verdict.quantities[effect.quantity]);
  };
  nlohmann::ordered_json object = {{"answer", to_string(verdict.kind)},
                                   {"sign", verdict.pays_now()   ? "pays"
                                            : verdict.same_now() ? "same"
                                                                 : "loses"},
                                   {"dominating", nullptr},
                                   {"hangs_on", nullptr},
                                   {"least_speed_up", verdict.least},
                                   {"most_speed_up", verdict.most},
                                   {"points", verdict.points},
                                   {"together", nullptr},
                                   {"ranges", nlohmann::ordered_json::array()},
                                   {"samples", nlohmann::ordered_json::array()}};
  if (!verdict.effects.empty()) {
    object["dominating"] = key(verdict.effects.front());
  }
  if (const Effect* decisive = decisive_of(verdict)) {
    object["hangs_on"] = key(*decisive);
  }
  for (const Effect& effect : verdict.effects) {
    const Quantity& quantity = verdict.quantities[effect.quantity];
    nlohmann::ordered_json points = nlohmann::ordered_json::array();
    for (const experiment::QuantityPoint& point : effect.points) {
      points.push_back({{"value", point.value}, {"speed_up", point.speed_up}});
    }
    object["ranges"].push_back({{"quantity", key(effect)},
                                {"low", quantity.low},
                                {"high", quantity.high},
                                {"swing", effect.swing},
                                {"holds_from", effect.from},
                                {"holds_to", effect.to},
                                {"changes_below", effect.changes_below},
                                {"changes_above", effect.changes_above},
                                {"points", std::move(points)}});
  }
  const auto point = [&](const experiment::JointSample& sample, bool changed_alone) {
    nlohmann::ordered_json values = nlohmann::ordered_json::object();
    for (const Effect& effect : verdict.effects) {
      const Quantity& quantity = verdict.quantities[effect.quantity];
      const double value = sample.values[effect.quantity];
      if (experiment::is_uncertain(quantity.origin) && (!changed_alone || value != quantity.value)) {
        values[key(effect)] = value;
      }
    }
    return nlohmann::ordered_json{{"values", std::move(values)}, {"speed_up", sample.speed_up}};
  };
  if (verdict.together) {
    object["together"] = point(*verdict.together, true);
  }
  for (const experiment::JointSample& sample : verdict.samples) {
    object["samples"].push_back(point(sample, false));
  }
  return object;
}

output::Table with_verdicts(output::Table models, const CompareResult& result) {
  for (const char* key : {"verdict", "hangs_on", "holds_from", "holds_to", "least_speed_up", "most_speed_up"}) {
    models.columns.push_back({key, "", Show::Plain, 0, true});
  }
  for (std::size_t i = 0; i < result.rows.size(); ++i) {
    const Verdict& verdict = result.rows[i].verdict;
    const bool judged = verdict.kind != VerdictKind::NotAsked;
    const Effect* decisive = decisive_of(verdict);
    std::vector<Cell>& cells = models.rows[i];
    cells.emplace_back(std::string(to_string(verdict.kind)));
    cells.push_back(decisive == nullptr ? Cell()
                                        : Cell(label_of(verdict.quantities, verdict.quantities[decisive->quantity])));
    cells.push_back(decisive == nullptr ? Cell() : Cell(decisive->from));
    cells.push_back(decisive == nullptr ? Cell() : Cell(decisive->to));
    cells.push_back(judged ? Cell(verdict.least) : Cell());
    cells.push_back(judged ? Cell(verdict.most) : Cell());
  }
  return models;
}

}  // namespace rayreplay::report
