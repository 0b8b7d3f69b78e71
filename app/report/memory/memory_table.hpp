// Tables and sentences of variants in memory (sim/variants/memory_variants.hpp).
//
// Contract: `memory_rows` has the keys of JSON and CSV (docs/surfaces.md), one row a variant; the other tables are for
// text and pages. A metric that a row does not have is an empty cell. Names and sentences are safe to print
// (base/text.hpp).
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "app/report/export/table.hpp"
#include "sim/variants/memory_variants.hpp"

namespace rayreplay::report {

/// "ser", with the packing and the order of nodes where the rows differ in them: "ser, origin-morton".
[[nodiscard]] std::string variant_name(const experiment::MemoryResult& result, const experiment::MemoryRow& row);

[[nodiscard]] output::Table memory_rows(const experiment::MemoryResult& result);
/// Efficiency, times, and the split of memory time.
[[nodiscard]] output::Table memory_time_table(const experiment::MemoryResult& result);
/// Hit rates, bytes a ray, shares of DRAM, live state.
[[nodiscard]] output::Table memory_traffic_table(const experiment::MemoryResult& result);

/// A sentence for each row against the first: "ser: SM-cycles +90.1 % of plain's: idle +87.1 %, …; loads that missed
/// the L1: …"; without memory time the loads alone.
[[nodiscard]] std::vector<std::string> moved_sentences(const experiment::MemoryResult& result);
/// A sentence for each row whose verdict is over a part of the numbers: "ser: 2 uncertain numbers that would decide the
/// verdict too were not varied: machine.l2_latency_cycles, …".
[[nodiscard]] std::vector<std::string> not_varied_sentences(const experiment::MemoryResult& result);
/// The answer of each row with a verdict.
[[nodiscard]] std::vector<std::string> memory_verdicts(const experiment::MemoryResult& result);

/// A row for each number in use; where rows differ, one for each variant, else with an empty variant.
[[nodiscard]] output::Table number_rows(const experiment::MemoryResult& result);
[[nodiscard]] output::Table number_table(const experiment::MemoryResult& result);

/// A row for each variant and number that was varied.
[[nodiscard]] output::Table break_even_rows(const experiment::MemoryResult& result);
[[nodiscard]] output::Table break_even_table(const experiment::MemoryResult& result);
/// The timed points of `break_even_rows`, in its order.
[[nodiscard]] nlohmann::ordered_json break_even_json(const experiment::MemoryResult& result);

}  // namespace rayreplay::report
