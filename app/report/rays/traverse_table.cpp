#include "app/report/rays/traverse_table.hpp"

#include <algorithm>
#include <array>

namespace rayreplay::report {
namespace {

using experiment::TraverseKind;
using experiment::TraverseRow;
using output::Cell;

const char* kind_of(TraverseKind kind) {
  switch (kind) {
    case TraverseKind::Observed:
      return "observed";
    case TraverseKind::Scalar:
      return "rays";
    case TraverseKind::Warp:
      return "warps";
  }
  return "";
}

Cell per_ray(const TraverseRow& row, std::uint64_t sum) {
  return row.rays == 0 ? Cell{} : Cell{static_cast<double>(sum) / static_cast<double>(row.rays)};
}

/// The columns with one of `keys`, in that order.
output::Table columns_of(const output::Table& table, const std::vector<std::string>& keys) {
  output::Table result;
  result.rows.resize(table.rows.size());
  for (const std::string& key : keys) {
    const auto found = std::ranges::find(table.columns, key, &output::Column::key);
    const auto at = static_cast<std::size_t>(found - table.columns.begin());
    result.columns.push_back(*found);
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      result.rows[row].push_back(table.rows[row][at]);
    }
  }
  return result;
}

}  // namespace

output::Table traverse_table(const experiment::TraverseResult& result, std::uint32_t warp_size) {
  using output::Show;
  output::Table table;
  table.columns = {{"model", "traversal"},
                   {"traversal", "resolved"},
                   {"kind", "kind"},
                   {"rays", "rays"},
                   {"ignored_rays", "ignored"},
                   {"hits", "hits"},
                   {"compared", "compared"},
                   {"agreement", "agreement", Show::Percent, 3},
                   {"nodes", "nodes/ray"},
                   {"boxes", "boxes/ray"},
                   {"leaves", "leaves/ray"},
                   {"triangles", "triangles/ray"},
                   {"procedurals", "procedurals/ray"},
                   {"any_hits", "any-hits/ray", Show::Plain, 3},
                   {"instances", "instances/ray"},
                   {"stack_mean", "mean stack"},
                   {"stack_max", "max stack"},
                   {"restarts", "restarts/ray", Show::Plain, 3},
                   {"unobserved", "unobserved"},
                   {"node_bytes", "node B/ray", Show::Plain, 0},
                   {"index_bytes", "index B/ray", Show::Plain, 0},
                   {"vertex_bytes", "vertex B/ray", Show::Plain, 0},
                   {"instance_bytes", "instance B/ray", Show::Plain, 0},
                   {"box_bytes", "box B/ray", Show::Plain, 0},
                   {"node_steps", "node steps"},
                   {"node_efficiency", "node lanes", Show::Percent},
                   {"leaf_steps", "leaf steps"},
                   {"leaf_efficiency", "leaf lanes", Show::Percent},
                   {"fetch_steps", "fetches"},
                   {"fetch_efficiency", "fetch lanes", Show::Percent},
                   {"efficiency", "SIMT efficiency", Show::Percent}};
  for (const TraverseRow& row : result.rows) {
    const bool replayed = row.kind != TraverseKind::Observed;
    std::vector<Cell> cells{row.asked, row.traversal, std::string(kind_of(row.kind)), row.rays, row.ignored, row.hits};
    const auto add = [&](bool known, const Cell& cell) {
      cells.emplace_back();
      if (known) {
        cells.back() = cell;
      }
    };
    add(replayed, row.compared);
    add(replayed && row.compared > 0,
        row.compared == 0 ? 0.0 : static_cast<double>(row.agreed) / static_cast<double>(row.compared));
    for (const std::uint64_t sum : {row.nodes, row.boxes, row.leaves, row.triangles}) {
      add(replayed, per_ray(row, sum));
    }
    add(true, per_ray(row, row.procedurals));
    add(true, per_ray(row, row.any_hits));
    add(replayed, per_ray(row, row.instances));
    add(replayed, per_ray(row, row.stack_sum));
    add(replayed, std::uint64_t{row.stack_max});
    add(replayed, per_ray(row, row.restarts));
    add(replayed, row.unobserved);
    for (const std::uint64_t bytes : row.bytes) {
      add(replayed, per_ray(row, bytes));
    }
    traversal::StepTally all;
    const bool warps = row.kind == TraverseKind::Warp;
    for (std::size_t kind = 0; kind < traversal::kStepKinds; ++kind) {
      const traversal::StepTally& steps = row.steps[kind];
      add(warps, steps.steps);
      add(warps && steps.steps > 0, steps.efficiency(warp_size));
      all.steps += steps.steps;
      all.lanes += steps.lanes;
    }
    add(warps && all.steps > 0, all.efficiency(warp_size));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

std::string traverse_text(const experiment::TraverseResult& result, std::uint32_t warp_size) {
  const output::Table table = traverse_table(result, warp_size);
  std::string text = output::to_text(
      columns_of(table, {"model", "rays", "hits", "agreement", "nodes", "boxes", "triangles", "procedurals", "any_hits",
                         "instances", "stack_mean", "stack_max", "restarts"}));
  text += '\n';
  text += output::to_text(columns_of(
      table, {"model", "node_bytes", "index_bytes", "vertex_bytes", "instance_bytes", "box_bytes", "unobserved"}));
  output::Table warps = columns_of(table, {"model", "node_steps", "node_efficiency", "leaf_steps", "leaf_efficiency",
                                           "fetch_steps", "fetch_efficiency", "efficiency"});
  std::erase_if(warps.rows,
                [](const std::vector<Cell>& row) { return std::holds_alternative<std::monostate>(row[1]); });
  if (!warps.rows.empty()) {
    text += '\n';
    text += output::to_text(warps);
  }
  return text;
}

std::vector<std::pair<std::string, std::string>> traverse_context(const experiment::TraverseResult& result) {
  return {{"packing", result.packing},       {"builder", result.builder},
          {"layout", result.layout},         {"nodes", result.node_order},
          {"vertices", result.vertex_order}, {"memory", output::bytes_text(result.structure_bytes)}};
}

}  // namespace rayreplay::report
