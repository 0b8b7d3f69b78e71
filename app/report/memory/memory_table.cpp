#include "app/report/memory/memory_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "app/report/models/models_table.hpp"
#include "app/report/models/verdict.hpp"
#include "base/count_text.hpp"
#include "base/text.hpp"
#include "sim/engine/stages/traffic.hpp"
#include "sim/machine/time_shares.hpp"
#include "sim/settings/metrics.hpp"
#include "sim/variants/number_rules.hpp"

namespace rayreplay::report {
namespace {

using experiment::Effect;
using experiment::MemoryResult;
using experiment::MemoryRow;
using experiment::Metrics;
using experiment::Quantity;
using experiment::Verdict;
using experiment::VerdictKind;
using output::Cell;
using output::Column;
using output::Show;

constexpr std::size_t kToldParts = 3, kToldKinds = 3;
constexpr double kToldShare = 0.0005;  // parts below it are rounding in text

/// Parts of the table, as keys and titles, in the order of machine::kTimePartNames.
constexpr std::array<std::string_view, machine::kTimeParts> kPartKeys = {
    "reorder", "issue", "traversal", "load_unit", "l1_wait", "merged", "l2_wait", "dram_wait", "barrier", "idle"};

/// Of the warp-cycles; the other parts are of the SM-cycles.
constexpr std::string_view kExchangeShare = "time_stage_exchange_share";

constexpr std::array<std::string_view, 10 + machine::kTimeParts> kTimeKeys = {"variant",         "efficiency",
                                                                              "path_efficiency", "model_milliseconds",
                                                                              "model_speed_up",  "time_efficiency",
                                                                              "milliseconds",    "speed_up",
                                                                              "issue",           "traversal",
                                                                              "load_unit",       "l1_wait",
                                                                              "merged",          "l2_wait",
                                                                              "dram_wait",       "reorder",
                                                                              "barrier",         "idle",
                                                                              kExchangeShare,    "resident_warps"};
constexpr std::array<std::string_view, 8> kTrafficKeys = {
    "variant",   "l1_hit_rate",         "l2_hit_rate",  "l2_bytes_per_ray", "dram_bytes_per_ray",
    "dram_busy", "dram_share_of_bytes", "state_sectors"};

/// Metrics of the SMs' cycles with warps.
constexpr std::array kSmKeys = {"time_sm_least_share", "time_sm_median_share", "time_sm_most_share",
                                "time_sm_with_most"};

bool differ(const MemoryResult& result, std::string MemoryRow::*member) {
  return std::ranges::any_of(result.rows,
                             [&](const MemoryRow& row) { return row.*member != result.rows.front().*member; });
}

/// Fails for a name that no stage declares, which would be an empty column.
Cell metric(const MemoryRow& row, std::string_view name) {
  static_cast<void>(experiment::find_metric(name));
  const auto found = row.metrics.find(name);
  return found == row.metrics.end() ? Cell() : Cell(found->second);
}

const double* find(const Metrics& metrics, std::string_view name) {
  const auto found = metrics.find(name);
  return found == metrics.end() ? nullptr : &found->second;
}

/// The first of the two that the row has: memory time's bytes, or those of the analysed caches.
Cell bytes_per_ray(const MemoryResult& result, const MemoryRow& row, std::string_view timed,
                   std::initializer_list<std::string_view> analysed) {
  if (result.rays == 0) {
    return {};
  }
  const auto rays = static_cast<double>(result.rays);
  if (const double* bytes = find(row.metrics, timed)) {
    return *bytes / rays;
  }
  double sum = 0;
  for (const std::string_view name : analysed) {
    const double* bytes = find(row.metrics, name);
    if (bytes == nullptr) {
      return {};
    }
    sum += *bytes;
  }
  return sum / rays;
}

std::vector<Column> memory_columns() {
  std::vector<Column> list = {{"variant", "variant"},
                              {"model", "", Show::Plain, 0, true},
                              {"packing", "", Show::Plain, 0, true},
                              {"node_order", "", Show::Plain, 0, true},
                              {"efficiency", "SIMT (fluid)", Show::Percent},
                              {"model_milliseconds", "fluid (ms)", Show::Plain, 3},
                              {"model_speed_up", "speed-up", Show::Plain, 3},
                              {"cycles", "", Show::Plain, 0, true},
                              {"time_efficiency", "SIMT", Show::Percent},
                              {"milliseconds", "memory time (ms)", Show::Plain, 3},
                              {"speed_up", "speed-up", Show::Plain, 3}};
  for (std::size_t part = 0; part < machine::kTimeParts; ++part) {
    list.push_back({std::string(kPartKeys[part]), machine::kTimePartNames[part], Show::Percent, 1});
  }
  const std::vector<Column> rest = {{"resident_warps", "warps", Show::Plain, 1},
                                    {"l1_hit_rate", "L1 hits", Show::Percent, 1},
                                    {"l2_hit_rate", "L2 hits", Show::Percent, 1},
                                    {"l2_bytes_per_ray", "L2 (bytes a ray)", Show::Plain, 1},
                                    {"dram_bytes_per_ray", "DRAM (bytes a ray)", Show::Plain, 1},
                                    {"dram_busy", "DRAM bandwidth", Show::Percent, 1},
                                    {"dram_share_of_bytes", "DRAM of the L2's bytes", Show::Percent, 1},
                                    {"state_sector_bytes", "", Show::Plain, 0, true},
                                    {"state_sectors", "sectors of live state (bytes)"}};
  list.insert(list.end(), rest.begin(), rest.end());
  for (const memory::DataKind kind : experiment::traffic_kinds()) {
    for (const auto part :
         {experiment::TrafficPart::L2, experiment::TrafficPart::Dram, experiment::TrafficPart::Bytes}) {
      list.push_back({experiment::traffic_metric(kind, part), "", Show::Plain, 0, true});
    }
  }
  for (const std::string& key : experiment::stage_metrics()) {
    list.push_back(key == kExchangeShare ? Column{key, "exchange (of warp-cycles)", Show::Percent, 1}
                                         : Column{key, "", Show::Plain, 0, true});
  }
  for (const char* key : kSmKeys) {
    list.push_back({key, "", Show::Plain, 0, true});
  }
  for (const char* key : {"verdict", "hangs_on", "least_speed_up", "most_speed_up", "numbers_not_varied"}) {
    list.push_back({key, "", Show::Plain, 0, true});
  }
  return list;
}

std::vector<Cell> cells_of(const MemoryResult& result, const MemoryRow& row) {
  const bool timed = row.metrics.contains("time_cycles");
  const double* state =
      find(row.metrics, experiment::traffic_metric(memory::DataKind::State, experiment::TrafficPart::Bytes));
  std::vector<Cell> cells = {variant_name(result, row),
                             row.model,
                             row.packing,
                             row.node_order,
                             metric(row, "model_efficiency"),
                             result.outputs.model ? metric(row, "model_milliseconds") : Cell(),
                             result.outputs.model ? Cell(row.model_speed_up) : Cell(),
                             metric(row, "time_cycles"),
                             metric(row, "time_efficiency"),
                             metric(row, "time_milliseconds"),
                             timed ? Cell(row.speed_up) : Cell()};
  for (const std::string& name : experiment::part_metrics()) {
    cells.push_back(metric(row, name));
  }
  cells.push_back(metric(row, "time_resident_warps"));
  cells.push_back(metric(row, "l1_hit_rate"));
  cells.push_back(metric(row, "l2_hit_rate"));
  cells.push_back(bytes_per_ray(result, row, "time_l2_bytes", {"l1_filled_bytes", "l1_written_bytes"}));
  cells.push_back(bytes_per_ray(result, row, "time_dram_bytes", {"dram_bytes"}));
  cells.push_back(metric(row, "time_dram_bandwidth_busy"));
  const double* l2_bytes = find(row.metrics, "time_l2_bytes");
  cells.push_back(l2_bytes != nullptr && *l2_bytes > 0 ? Cell(row.metrics.at("time_dram_bytes") / *l2_bytes) : Cell());
  cells.push_back(state == nullptr ? Cell() : Cell(static_cast<std::uint64_t>(*state)));
  cells.push_back(state == nullptr ? std::string("-") : output::bytes_text(static_cast<std::uint64_t>(*state)));
  for (const memory::DataKind kind : experiment::traffic_kinds()) {
    for (const auto part :
         {experiment::TrafficPart::L2, experiment::TrafficPart::Dram, experiment::TrafficPart::Bytes}) {
      cells.push_back(metric(row, experiment::traffic_metric(kind, part)));
    }
  }
  for (const std::string& name : experiment::stage_metrics()) {
    cells.push_back(metric(row, name));
  }
  for (const char* name : kSmKeys) {
    cells.push_back(metric(row, name));
  }
  const Verdict& verdict = row.verdict;
  const bool judged = verdict.kind != VerdictKind::NotAsked;
  cells.emplace_back(std::string(to_string(verdict.kind)));
  cells.push_back(verdict.decisive ? Cell(label_of(verdict.quantities,
                                                   verdict.quantities[verdict.effects[*verdict.decisive].quantity]))
                                   : Cell());
  cells.push_back(judged ? Cell(verdict.least) : Cell());
  cells.push_back(judged ? Cell(verdict.most) : Cell());
  cells.push_back(judged ? Cell(std::uint64_t{row.not_varied.size()}) : Cell());
  return cells;
}

/// The named columns that some row has.
output::Table present(const output::Table& table, std::span<const std::string_view> keys) {
  std::vector<std::string_view> kept;
  for (const std::string_view key : keys) {
    const auto place =
        static_cast<std::size_t>(std::ranges::find(table.columns, key, &Column::key) - table.columns.begin());
    const auto has_value = [place](const auto& row) { return !std::holds_alternative<std::monostate>(row[place]); };
    if (place < table.columns.size() && std::ranges::any_of(table.rows, has_value)) {
      kept.push_back(key);
    }
  }
  return output::only(table, kept);
}

std::string moved_parts(const MemoryRow& baseline, const MemoryRow& row) {
  std::string text;
  std::size_t told = 0;
  for (const experiment::PartChange& change : experiment::part_changes(baseline.metrics, row.metrics)) {
    if (told == kToldParts || std::abs(change.share) < kToldShare) {
      break;
    }
    text += fmt::format("{}{} {:+.1f} %", told++ == 0 ? "" : ", ", machine::kTimePartNames[change.part],
                        100 * change.share);
  }
  return text.empty() ? "no part by more than rounding" : text;
}

std::string moved_kinds(const MemoryRow& baseline, const MemoryRow& row) {
  std::string text;
  std::size_t told = 0;
  for (const experiment::KindChange& change : experiment::kind_changes(baseline.metrics, row.metrics)) {
    if (told == kToldKinds) {
      break;
    }
    text +=
        fmt::format("{}{} {}{}", told++ == 0 ? "" : ", ", memory::to_string(change.kind), change.loads < 0 ? "-" : "+",
                    with_separators(static_cast<std::uint64_t>(std::llround(std::abs(change.loads)))));
  }
  return text.empty() ? "none" : text;
}

template <class Visit>
void each_effect(const MemoryResult& result, const Visit& visit) {
  for (const MemoryRow& row : result.rows) {
    for (const Verdict* verdict : {&row.verdict, &row.explored}) {
      for (const Effect& effect : verdict->effects) {
        visit(row, *verdict, effect);
      }
    }
  }
}

/// Calls visit(variant, number): the numbers that all rows have alike, without a variant, and then the others by row.
template <class Visit>
void each_number(const MemoryResult& result, const Visit& visit) {
  const auto is_common = [&result](const Quantity& quantity) {
    return std::ranges::all_of(result.rows, [&](const MemoryRow& row) {
      const auto found = std::ranges::find_if(row.numbers, [&](const Quantity& one) { return one.is(quantity); });
      return row.bound || (found != row.numbers.end() && found->value == quantity.value && found->low == quantity.low &&
                           found->high == quantity.high);
    });
  };
  for (const Quantity& quantity : result.rows.front().numbers) {
    if (is_common(quantity)) {
      visit(Cell(), quantity);
    }
  }
  for (const MemoryRow& row : result.rows) {
    for (const Quantity& quantity : row.numbers) {
      if (!is_common(quantity)) {
        visit(Cell(variant_name(result, row)), quantity);
      }
    }
  }
}

/// "pays below 96 to 112 KiB, and above …"; where the sign holds: "pays over the whole range".
std::string where_it_changes(const Verdict& verdict, const Effect& effect) {
  const bool pays = verdict.pays_now();
  const char* now = pays ? "pays" : extremes_of(effect) == std::pair(1.0, 1.0) ? "changes nothing" : "loses";
  if (!effect.changes()) {
    return fmt::format("{} over the whole range", now);
  }
  std::string text = fmt::format("{}", pays ? "loses" : "pays");
  if (effect.changes_below) {
    text += " below " + threshold(verdict, effect, true);
  }
  if (effect.changes_above) {
    text += fmt::format("{} above {}", effect.changes_below ? " and" : "", threshold(verdict, effect, false));
  }
  return text;
}

}  // namespace

std::string variant_name(const MemoryResult& result, const MemoryRow& row) {
  std::string name = short_spec(row.model);
  if (differ(result, &MemoryRow::packing)) {
    name += ", " + row.packing;
  }
  if (differ(result, &MemoryRow::node_order)) {
    name += ", " + row.node_order;
  }
  return text::printable(name);
}

output::Table memory_rows(const MemoryResult& result) {
  output::Table table;
  table.columns = memory_columns();
  for (const MemoryRow& row : result.rows) {
    table.rows.push_back(cells_of(result, row));
  }
  // As of the fluid model's warps, like `efficiency`; only for traces with paths of calls.
  if (std::ranges::any_of(result.rows,
                          [](const MemoryRow& row) { return row.metrics.contains("model_path_efficiency"); })) {
    table.columns.push_back({"path_efficiency", "by path (fluid)", Show::Percent});
    table.columns.push_back({"path_share", "", Show::Percent, 1, true});
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      table.rows[i].push_back(metric(result.rows[i], "model_path_efficiency"));
      table.rows[i].push_back(metric(result.rows[i], "model_path_share"));
    }
  }
  return table;
}

output::Table memory_time_table(const MemoryResult& result) {
  return present(memory_rows(result), kTimeKeys);
}

output::Table memory_traffic_table(const MemoryResult& result) {
  return present(memory_rows(result), kTrafficKeys);
}

std::vector<std::string> moved_sentences(const MemoryResult& result) {
  std::vector<std::string> sentences;
  const MemoryRow& baseline = result.rows.front();
  for (const MemoryRow& row : result.rows) {
    if (row.bound) {
      sentences.push_back(variant_name(result, row) +
                          ": a bound without warps, so it has no memory time and no caches");
      continue;
    }
    if (&row == &baseline) {
      continue;
    }
    std::string text = variant_name(result, row) + ": ";
    if (row.metrics.contains("time_cycles")) {
      text += fmt::format("SM-cycles {:+.1f} % of {}'s: {}; ", 100 * (1 / row.speed_up - 1),
                          variant_name(result, baseline), moved_parts(baseline, row));
    }
    sentences.push_back(text + "loads that missed the L1: " + moved_kinds(baseline, row));
  }
  return sentences;
}

std::vector<std::string> memory_verdicts(const MemoryResult& result) {
  std::vector<std::string> sentences;
  const std::string baseline = variant_name(result, result.rows.front());
  const std::string machine = text::printable(result.machine.name);
  for (const MemoryRow& row : result.rows) {
    if (row.verdict.kind != VerdictKind::NotAsked) {
      sentences.push_back(verdict_sentence(row.verdict, {.who = variant_name(result, row),
                                                         .baseline = baseline,
                                                         .machine = machine,
                                                         .partly = !row.not_varied.empty()}));
    } else if (&row != &result.rows.front() && row.metrics.contains("time_cycles")) {
      sentences.push_back(
          fmt::format("{} {} on {}", variant_name(result, row), time_against(row.speed_up, baseline), machine));
    }
  }
  return sentences;
}

std::vector<std::string> not_varied_sentences(const MemoryResult& result) {
  std::vector<std::string> sentences;
  for (const MemoryRow& row : result.rows) {
    if (!row.not_varied.empty()) {
      sentences.push_back(fmt::format("{}: {} that could decide the verdict too {} not varied: {}",
                                      variant_name(result, row), counted(row.not_varied.size(), "uncertain number"),
                                      row.not_varied.size() == 1 ? "was" : "were", fmt::join(row.not_varied, ", ")));
    }
  }
  return sentences;
}

namespace {

/// Meaning of the key's value where it is no amount; "": an amount.
std::string meaning_of(const Quantity& quantity) {
  return quantity.meaning.empty() ? std::string(experiment::meaning_beside(quantity.key, quantity.value))
                                  : quantity.meaning;
}

}  // namespace

output::Table number_rows(const MemoryResult& result) {
  output::Table table;
  table.columns = {{"variant", ""}, {"quantity", ""}, {"name", ""}, {"value", ""}, {"unit", ""},
                   {"meaning", ""}, {"origin", ""},   {"low", ""},  {"high", ""}};
  each_number(result, [&table](const Cell& variant, const Quantity& quantity) {
    const std::string meaning = meaning_of(quantity);
    table.rows.push_back({variant, quantity.key, quantity.name, quantity.value, quantity.unit,
                          meaning.empty() ? Cell() : Cell(meaning), std::string(to_string(quantity.origin)),
                          quantity.low, quantity.high});
  });
  return table;
}

output::Table number_table(const MemoryResult& result) {
  output::Table table;
  table.columns = {{"name", "number"}, {"value", "value"}, {"unit", "unit"}, {"origin", "origin"}, {"range", "range"}};
  each_number(result, [&table](const Cell& variant, const Quantity& quantity) {
    const auto* const of_variant = std::get_if<std::string>(&variant);
    const std::string meaning = meaning_of(quantity);
    table.rows.push_back({of_variant == nullptr ? quantity.name : fmt::format("{}: {}", *of_variant, quantity.name),
                          meaning.empty() ? amount(quantity, quantity.value, false) : meaning,
                          meaning.empty() ? quantity.unit : std::string(), std::string(to_string(quantity.origin)),
                          range_of(quantity)});
  });
  return table;
}

output::Table break_even_rows(const MemoryResult& result) {
  output::Table table;
  table.columns = {{"variant", ""},    {"model", ""},    {"packing", ""},        {"node_order", ""},
                   {"quantity", ""},   {"value", ""},    {"unit", ""},           {"origin", ""},
                   {"low", ""},        {"high", ""},     {"least_speed_up", ""}, {"most_speed_up", ""},
                   {"holds_from", ""}, {"holds_to", ""}, {"changes_below", ""},  {"changes_above", ""}};
  each_effect(result, [&](const MemoryRow& row, const Verdict& verdict, const Effect& effect) {
    const Quantity& quantity = verdict.quantities[effect.quantity];
    const auto [least, most] = extremes_of(effect);
    table.rows.push_back({variant_name(result, row), row.model, row.packing, row.node_order, quantity.key,
                          quantity.value, quantity.unit, std::string(to_string(quantity.origin)), quantity.low,
                          quantity.high, least, most, effect.from, effect.to, effect.changes_below,
                          effect.changes_above});
  });
  return table;
}

output::Table break_even_table(const MemoryResult& result) {
  output::Table table;
  table.columns = {{"variant", "variant"},
                   {"name", "number"},
                   {"value", "value"},
                   {"unit", "unit"},
                   {"origin", "origin"},
                   {"range", "range"},
                   {"least_speed_up", "least speed-up", Show::Plain, 3},
                   {"most_speed_up", "most", Show::Plain, 3},
                   {"changes", "break-even"}};
  each_effect(result, [&](const MemoryRow& row, const Verdict& verdict, const Effect& effect) {
    const Quantity& quantity = verdict.quantities[effect.quantity];
    const auto [least, most] = extremes_of(effect);
    table.rows.push_back({variant_name(result, row), quantity.name, amount(quantity, quantity.value, false),
                          quantity.unit, std::string(to_string(quantity.origin)), range_of(quantity), least, most,
                          where_it_changes(verdict, effect)});
  });
  return table;
}

nlohmann::ordered_json break_even_json(const MemoryResult& result) {
  nlohmann::ordered_json rows = output::to_json(break_even_rows(result));
  std::size_t place = 0;
  each_effect(result, [&](const MemoryRow& /*row*/, const Verdict& /*verdict*/, const Effect& effect) {
    nlohmann::ordered_json& points = rows[place++]["points"] = nlohmann::ordered_json::array();
    for (const experiment::QuantityPoint& point : effect.points) {
      points.push_back({{"value", point.value}, {"speed_up", point.speed_up}});
    }
  });
  return rows;
}

}  // namespace rayreplay::report
