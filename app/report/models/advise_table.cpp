#include "app/report/models/advise_table.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/report/context/answers.hpp"
#include "base/count_text.hpp"
#include "base/text.hpp"

namespace rayreplay::report {
namespace {

using output::Cell;
using output::Show;

constexpr std::size_t kAddressColumns = 8;

std::vector<Cell> row_of(const experiment::AdviseResult& result, std::uint64_t rank, const std::string& kind,
                         const experiment::Advice& advice) {
  Cell place;
  if (rank > 0) {
    place = rank;
  }
  std::vector<Cell> row = {place,
                           kind,
                           std::uint64_t{advice.bits},
                           advice.efficiency,
                           advice.weighted_efficiency,
                           advice.gain,
                           advice.warp_events};
  if (result.by_address) {
    const experiment::AddressCounts& counts = advice.addresses;
    const auto transactions = static_cast<double>(counts.transactions);
    const auto share = [transactions](std::uint64_t of) {
      return of == 0 ? Cell() : Cell(transactions / static_cast<double>(of));
    };
    row.insert(row.end(), {share(counts.instructions), share(result.rays), advice.cycles(), advice.issue_cycles,
                           advice.transaction_cycles, counts.instructions, counts.transactions, counts.sectors});
  } else {
    row.resize(row.size() + kAddressColumns);
  }
  row.emplace_back(advice.name);
  row.emplace_back(advice.formula);
  return row;
}

/// "`material % 4` (2 bits)", or by its name.
std::string called(const experiment::Advice& advice) {
  return fmt::format("{} ({})", text::printable(advice.name.empty() ? advice.formula : advice.name),
                     counted(advice.bits, "bit"));
}

std::string change(double share) {
  return fmt::format("{:+.1f} %", share * 100);
}

/// The relative change of a count or of a part of the cycles.
double change_of(double now, double before) {
  return before > 0 ? now / before - 1 : 0;
}

/// The part of the score that the gain rests on, as text.
std::string basis(const experiment::AdviseResult& result, const experiment::Advice& best) {
  const experiment::RestsOn part = result.rests_on(best);
  if (part == experiment::RestsOn::Calls) {
    return "it rests on calls alone: neither what they cost nor memory is counted";
  }
  if (!result.by_address) {
    return fmt::format("it rests on instructions (weights: {}): memory is not counted", result.weights());
  }
  const auto rays = static_cast<double>(std::max<std::uint64_t>(result.rays, 1));
  // Counts: their cycles are 0 where a transaction costs nothing.
  const auto transactions = static_cast<double>(best.addresses.transactions);
  const auto before = static_cast<double>(result.baseline.addresses.transactions);
  return fmt::format("it rests on {}: issue slots {}, transactions {} ({:.2f} instead of {:.2f} a ray)",
                     experiment::to_string(part), change(change_of(best.issue_cycles, result.baseline.issue_cycles)),
                     change(change_of(transactions, before)), transactions / rays, before / rays);
}

}  // namespace

output::Table advise_table(const experiment::AdviseResult& result, std::size_t rows) {
  const bool weighted = !result.configuration.costs.empty() || result.by_path;
  output::Table table;
  table.columns = {
      {"rank", "rank"},
      {"kind", "kind"},
      {"bits", "bits"},
      {"efficiency", "SIMT efficiency", Show::Percent},
      {"weighted_efficiency", "weighted", Show::Percent, 2, !weighted},
      {"gain", "gain", Show::Change},
      {"warp_events", "warp events"},
      {"transactions_per_instruction", "transactions (lines) an instruction", Show::Plain, 2, !result.by_address},
      {"transactions_per_ray", "transactions (lines) a ray", Show::Plain, 2, !result.by_address},
      {"cycles", "cycles", Show::Plain, 0, true},
      {"issue_cycles", "of issue slots", Show::Plain, 0, true},
      {"transaction_cycles", "of transactions", Show::Plain, 0, true},
      {"memory_instructions", "memory instructions", Show::Plain, 0, true},
      {"transactions", "transactions", Show::Plain, 0, true},
      {"sectors", "sectors", Show::Plain, 0, true},
      {"name", "name"},
      {"formula", "formula"}};
  const std::size_t shown = rows == 0 ? result.ranking.size() : std::min(rows, result.ranking.size());
  for (std::size_t i = 0; i < shown; ++i) {
    table.rows.push_back(row_of(result, i + 1, "hint", result.ranking[i]));
  }
  table.rows.push_back(row_of(result, 0, "shader id alone", result.baseline));
  table.rows.push_back(row_of(result, 0, "plain", result.plain));
  return table;
}

std::string advise_answer(const experiment::AdviseResult& result) {
  const experiment::Advice* const best = result.best();
  std::string still;
  const double least = best == nullptr ? experiment::kLeastGain : best->gain;
  if (result.plain.gain > least || (best == nullptr && result.plain.gain >= least)) {
    still = fmt::format("; threads that are not reordered do better{}: {}", best == nullptr ? "" : " still",
                        change(result.plain.gain));
  }
  if (best == nullptr) {
    const std::string tried = result.ranking.empty()
                                  ? "there is no hint to try"
                                  : fmt::format(
                                        "of {} the best, {}, gains {:+.2f} % over shader id alone, which is "
                                        "noise (below {:.1f} %)",
                                        counted(result.ranking.size(), "hint"), called(result.ranking.front()),
                                        result.ranking.front().gain * 100, experiment::kLeastGain * 100);
    return answer_line(fmt::format("nothing here helps: {}{}", tried, still));
  }
  return answer_line(fmt::format("{} pays: {} over shader id alone; {}{}", called(*best), change(best->gain),
                                 basis(result, *best), still));
}

nlohmann::ordered_json advise_verdict(const experiment::AdviseResult& result) {
  const experiment::Advice* const best = result.best();
  nlohmann::ordered_json verdict = {{"helps", best != nullptr}};
  for (const char* const key : {"formula", "name", "bits", "gain", "rests_on"}) {
    verdict[key] = nullptr;
  }
  if (best != nullptr) {
    verdict["formula"] = best->formula;
    verdict["name"] = best->name;
    verdict["bits"] = best->bits;
    verdict["gain"] = best->gain;
    verdict["rests_on"] = experiment::to_string(result.rests_on(*best));
  }
  verdict["least_gain"] = experiment::kLeastGain;
  return verdict;
}

std::string score_text(const experiment::AdviseResult& result) {
  if (!result.by_address) {
    return "";
  }
  const experiment::AddressCosts& costs = result.address_costs;
  std::string sources;
  for (const std::string& source : result.cost_sources) {
    sources += (sources.empty() ? "" : ", ") + source;
  }
  return fmt::format(
      "cycles of an SM = issue slots ({}) / {:g} (machine.issue_per_cycle, {}) + transactions of {} "
      "(machine.l1_line_bytes) * {:g} ({}; --transaction-cycles)",
      sources, costs.issue_per_cycle, machine::to_string(costs.issue_origin), counted(costs.units.line_bytes, "byte"),
      costs.transaction_cycles,
      costs.transaction_origin == machine::Origin::Given ? "given" : "assumed: a load unit serves one line a cycle");
}

nlohmann::ordered_json score_json(const experiment::AdviseResult& result) {
  if (!result.by_address) {
    return nullptr;
  }
  const experiment::AddressCosts& costs = result.address_costs;
  return {{"issue_slots_from", result.cost_sources},
          {"issue_per_cycle", costs.issue_per_cycle},
          {"issue_per_cycle_origin", machine::to_string(costs.issue_origin)},
          {"transaction_cycles", costs.transaction_cycles},
          {"transaction_cycles_origin", machine::to_string(costs.transaction_origin)},
          {"line_bytes", costs.units.line_bytes},
          {"sector_bytes", costs.units.sector_bytes}};
}

std::string advise_notes(const experiment::AdviseResult& result) {
  std::string notes =
      fmt::format("\n{} evaluated under {}; {} rejected: values that are no numbers, too large, or all equal.\n",
                  counted(result.evaluated, "hint"), text::printable(result.model), result.rejected);
  const std::string calls = result.by_path
                                ? "Efficiency counts calls at the issue slots of their paths, so divergence inside a "
                                  "shader is in it"
                            : result.configuration.costs.empty()
                                ? "Efficiency counts shader calls alike: what shaders cost is not in it (--cost), nor "
                                  "is divergence inside a shader"
                                : "Efficiency counts shader calls at their costs: divergence inside a shader is not "
                                  "in it";
  notes += result.by_address ? calls +
                                   ". The gain is of cycles: issue slots and transactions one after the other. "
                                   "Caches are not in it.\n"
                             : calls + (result.by_path ? "; caches are not.\n" : ", nor are caches.\n");
  return notes;
}

}  // namespace rayreplay::report
