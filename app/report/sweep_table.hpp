// Tables of `rayreplay results`: rows, the best, the front, two runs side by side.
//
// Contract: keys of columns are the names of the database's; what they hold is docs/results.md's. Rows of one file are
// the same bytes every time: what differs between two runs of one sweep (device, host, started, seconds) is left out
// unless `times`.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/output/table.hpp"
#include "sim/sweep/analysis/best.hpp"
#include "sim/sweep/analysis/dataset.hpp"
#include "sim/sweep/results/reader.hpp"

namespace rayreplay::report {

[[nodiscard]] output::Table to_table(const sweep::ResultSet& rows);
/// For people: one line a cell, no control characters, whole numbers with separators.
[[nodiscard]] output::Table printable(output::Table table);
[[nodiscard]] std::string to_jsonl(const output::Table& table);
/// rayreplay.results/1
[[nodiscard]] std::string results_json(const sweep::ResultsReader& reader, const sweep::ResultSet& rows);

/// run, axes, metrics that exist; status where something failed.
[[nodiscard]] std::vector<std::string> default_columns(const sweep::ResultsReader& reader);
/// For people, who have a screen: marks as `detail` all metrics but those of `asked` and, of the main ones of each
/// output, the first few; where none is main, the first others. `unchanging` off: those that are the same in all rows
/// go as well. Returns how many it marked.
std::size_t mark_details(output::Table& table, const sweep::ResultSet& rows, const std::vector<std::string>& asked,
                         bool unchanging);
/// Metrics that say most about an output.
[[nodiscard]] bool is_main_metric(const std::string& name);
/// Everything but what is not reproducible.
[[nodiscard]] std::vector<std::string> export_columns(const sweep::ResultsReader& reader, bool times);

struct MetricGoal {
  std::string metric;
  experiment::Goal goal = experiment::Goal::None;
};
/// "NAME", "less:NAME", "more:NAME".
[[nodiscard]] MetricGoal parse_metric(const sweep::ResultsReader& reader, const std::string& text);

[[nodiscard]] sweep::ResultSet best_rows(const sweep::ResultsReader& reader, const MetricGoal& metric, std::size_t most,
                                         const std::string& where);
/// Indices are into `sweep::load_parameters(reader, where).runs`.
[[nodiscard]] std::vector<std::size_t> front_of(const sweep::ResultsReader& reader,
                                                const std::vector<MetricGoal>& metrics, const std::string& where);
[[nodiscard]] sweep::ResultSet front_rows(const sweep::ResultsReader& reader, const std::vector<MetricGoal>& metrics,
                                          const std::string& where);

/// Other columns of the same runs, in the same order. The first column of `rows` is the run.
[[nodiscard]] sweep::ResultSet with_columns(const sweep::ResultsReader& reader, const sweep::ResultSet& rows,
                                            std::vector<std::string> names);

[[nodiscard]] output::Table comparison_table(const sweep::RunComparison& comparison, std::uint64_t a, std::uint64_t b);
/// Errors by how often they occur, with the first run of each.
[[nodiscard]] output::Table failure_table(const sweep::ResultsReader& reader);

}  // namespace rayreplay::report
