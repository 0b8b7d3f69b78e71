// The tables of `rayreplay bvh`: acceleration structures over a traced scene, one for each requested layout.
//
// Contract: rows of one layout: `all`, `top`, `bottoms` (together), then a row `bottom` for each bottom-level
// structure, by falling SAH cost (ties: lower number first). Text shows only the first few of these for a single
// layout, and only the row `all` for several; JSON and CSV have every row. bvh/reports/summary.hpp explains the rows.
// Keys are listed in docs/surfaces.md. Independent of time and machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "app/report/export/table.hpp"
#include "bvh/reports/summary.hpp"

namespace rayreplay::report {

/// One layout's structure, reduced to what is printed.
struct BvhRows {
  std::string layout;  ///< resolved spec
  bvh::LayoutTraits traits;
  std::uint64_t memory = 0;  ///< bytes of all arrays on a device
  bvh::BvhSummary summary;
};

struct BvhReport {
  std::string trace_file;
  const trace::Trace& trace;
  std::uint32_t tlas = 0;
  std::optional<std::uint32_t> launch;            ///< source of the rays for LCV
  std::string builder, node_order, vertex_order;  ///< resolved specs
  std::uint32_t leaf_size = 0;
  double enlarge = 0;
  std::uint64_t lcv_rays = 0;  ///< requested number
  bvh::QualityCosts costs;
  bvh::Ignored ignored;
  std::vector<BvhRows> layouts;
};

[[nodiscard]] output::Table bvh_table(const BvhReport& report);

[[nodiscard]] std::string bvh_text(const BvhReport& report);
/// Of the CSV: `bvh_table` with its provenance.
[[nodiscard]] output::Table bvh_rows(const BvhReport& report);
[[nodiscard]] nlohmann::ordered_json bvh_json(const BvhReport& report);

}  // namespace rayreplay::report
