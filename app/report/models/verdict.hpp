// The verdict on each scheduler model, the numbers that it takes, and those on which it hangs.
//
// Contract: `quantity_rows` and `verdict_rows` have the keys of JSON and CSV (docs/surfaces.md); the other tables are
// for text and pages. Names are safe to print (base/text.hpp).
#pragma once

#include <string>
#include <utility>

#include <nlohmann/json_fwd.hpp>

#include "app/report/export/table.hpp"
#include "sim/comparison/compare.hpp"

namespace rayreplay::report {

/// "ser: pays on rtx4090: …". The row has a verdict.
[[nodiscard]] std::string verdict_sentence(const experiment::CompareResult& result, const experiment::CompareRow& row);

/// The names in a sentence about a verdict; all are safe to print.
struct VerdictSubject {
  std::string who, baseline, machine;
  bool bound = false;
  bool partly = false;  ///< numbers that would decide too were not varied
};
/// The sentence of the verdict, which must not be NotAsked.
[[nodiscard]] std::string verdict_sentence(const experiment::Verdict& verdict, const VerdictSubject& subject);

/// "is 1.250 times as fast as plain", "takes 1.250 times as long as plain"; for equal times "takes as long as plain".
[[nodiscard]] std::string time_against(double speed_up, const std::string& baseline);

/// "1,008 GB/s", "200 instructions", "1.52 visits".
[[nodiscard]] std::string amount(const experiment::Quantity& quantity, double value, bool with_unit);
/// "25 to 2,500"; "-" without a range.
[[nodiscard]] std::string range_of(const experiment::Quantity& quantity);
/// The value at which the sign changes: "150"; of a curve that scatters the timed values around it: "about 1,406
/// to 2,500".
[[nodiscard]] std::string threshold(const experiment::Verdict& verdict, const experiment::Effect& effect, bool below);

/// The least and the largest speed-up of its points.
[[nodiscard]] std::pair<double, double> extremes_of(const experiment::Effect& effect);

/// Every number of the time model with its origin and range; `model` is empty for those of all models.
[[nodiscard]] output::Table quantity_rows(const experiment::CompareResult& result);
[[nodiscard]] output::Table quantity_table(const experiment::CompareResult& result);

/// A row for each model and quantity that was varied, by falling swing.
[[nodiscard]] output::Table verdict_rows(const experiment::CompareResult& result);
/// `brief`: only the numbers that change the sign and the kMaxShown with the largest swing.
[[nodiscard]] output::Table verdict_table(const experiment::CompareResult& result, bool brief);
/// Null without a verdict.
[[nodiscard]] nlohmann::ordered_json verdict_json(const experiment::Verdict& verdict);
/// Columns `verdict`, `hangs_on`, … for `models_table`.
[[nodiscard]] output::Table with_verdicts(output::Table models, const experiment::CompareResult& result);

inline constexpr std::size_t kMaxShown = 3;

}  // namespace rayreplay::report
