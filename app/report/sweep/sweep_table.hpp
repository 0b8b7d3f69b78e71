// Tables of `rayreplay results`: rows, the best, the front, two runs side by side.
//
// Contract: keys of columns are the database's names; docs/results.md explains them. Rows of one file are reproducible
// byte by byte: columns that differ between two runs of one sweep (device, host, started, seconds) are left out unless
// `times`.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/report/export/table.hpp"
#include "sim/sweep/analysis/best.hpp"
#include "sim/sweep/analysis/dataset.hpp"
#include "sim/sweep/results/reader.hpp"

namespace rayreplay::report {

[[nodiscard]] output::Table to_table(const sweep::ResultSet& rows);
/// For display: one line a cell, no control characters, whole numbers with separators.
[[nodiscard]] output::Table printable(output::Table table);
[[nodiscard]] std::string to_jsonl(const output::Table& table);
/// rayreplay.results/1
[[nodiscard]] std::string results_json(const sweep::ResultsReader& reader, const sweep::ResultSet& rows);

/// run, axes, existing metrics; status if a run failed.
[[nodiscard]] std::vector<std::string> default_columns(const sweep::ResultsReader& reader);
/// For the terminal: marks metrics as `detail`, except `asked` and the first few main metrics of each output (if there
/// is no main metric, the first others). Without `unchanging`, columns with one value are marked too. Returns the
/// number of marked columns.
std::size_t mark_details(output::Table& table, const sweep::ResultSet& rows, const std::vector<std::string>& asked,
                         bool unchanging);
/// The most informative metrics of an output.
[[nodiscard]] bool is_main_metric(const std::string& name);
/// All columns but irreproducible ones.
[[nodiscard]] std::vector<std::string> export_columns(const sweep::ResultsReader& reader, bool times);

struct MetricGoal {
  std::string metric;
  experiment::Goal goal = experiment::Goal::None;
};
/// "NAME", "less:NAME", "more:NAME".
[[nodiscard]] MetricGoal parse_metric(const sweep::ResultsReader& reader, const std::string& text);

[[nodiscard]] sweep::ResultSet best_rows(const sweep::ResultsReader& reader, const MetricGoal& metric, std::size_t most,
                                         const std::string& where);
/// Indices into `sweep::load_parameters(reader, where).runs`.
[[nodiscard]] std::vector<std::size_t> front_of(const sweep::ResultsReader& reader,
                                                const std::vector<MetricGoal>& metrics, const std::string& where);
[[nodiscard]] sweep::ResultSet front_rows(const sweep::ResultsReader& reader, const std::vector<MetricGoal>& metrics,
                                          const std::string& where);

/// Other columns of the same runs, in the same order. The first column of `rows` is the run.
[[nodiscard]] sweep::ResultSet with_columns(const sweep::ResultsReader& reader, const sweep::ResultSet& rows,
                                            std::vector<std::string> names);

[[nodiscard]] output::Table comparison_table(const sweep::RunComparison& comparison, std::uint64_t a, std::uint64_t b);
/// Errors by falling count, with the first run of each.
[[nodiscard]] output::Table failure_table(const sweep::ResultsReader& reader);

}  // namespace rayreplay::report
