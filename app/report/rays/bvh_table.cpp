#include "app/report/rays/bvh_table.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/report/context/provenance.hpp"
#include "base/count_text.hpp"
#include "base/text.hpp"

namespace rayreplay::report {
namespace {

using bvh::LevelSummary;
using output::Cell;

constexpr std::size_t kShownBottoms = 10;

/// Highest SAH cost first.
std::vector<const LevelSummary*> worst_first(const bvh::BvhSummary& summary) {
  std::vector<const LevelSummary*> order;
  for (const LevelSummary& bottom : summary.bottoms) {
    order.push_back(&bottom);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const LevelSummary* a, const LevelSummary* b) { return a->quality.sah > b->quality.sah; });
  return order;
}

std::vector<Cell> row(const std::string& layout, const std::string& level, Cell blas, const LevelSummary& summary,
                      bool has_overlap) {
  const bvh::TreeQuality& quality = summary.quality;
  const bool has_lcv = has_overlap && quality.rays > 0;
  const auto if_known = [](bool known, double value) { return known ? Cell(value) : Cell(); };
  return {layout,
          level,
          std::move(blas),
          summary.instances,
          summary.primitives,
          quality.nodes,
          summary.records,
          summary.bytes,
          quality.leaves,
          quality.references,
          quality.references_per_item,
          std::uint64_t{summary.depth},
          quality.mean_children,
          summary.mean_leaf(),
          quality.sah,
          summary.layout_sah,
          if_known(has_overlap, quality.epo),
          if_known(has_lcv, quality.lcv),
          if_known(has_lcv, quality.mean_leaves)};
}

std::string lcv_source(const BvhReport& report) {
  if (report.lcv_rays == 0) {
    return "none";
  }
  return report.launch ? fmt::format("launch {}", *report.launch) : "random lines";
}

/// The text table: the first bottoms of one layout, or one row a layout.
output::Table shown(const output::Table& whole, const BvhReport& report) {
  constexpr std::size_t kLevel = 1;
  output::Table result{whole.columns, {}};
  std::size_t bottoms = 0;
  for (const auto& cells : whole.rows) {
    const auto& level = std::get<std::string>(cells[kLevel]);
    const bool keep = report.layouts.size() > 1 ? level == "all" : level != "bottom" || ++bottoms <= kShownBottoms;
    if (keep) {
      result.rows.push_back(cells);
    }
  }
  return result;
}

nlohmann::ordered_json ignored_json(const bvh::Ignored& ignored) {
  return {{"triangles_not_finite", ignored.triangles_not_finite},
          {"triangles_bad_index", ignored.triangles_bad_index},
          {"boxes_not_finite", ignored.boxes_not_finite},
          {"boxes_inverted", ignored.boxes_inverted},
          {"instances_singular", ignored.instances_singular},
          {"instances_out_of_range", ignored.instances_out_of_range},
          {"instances_masked", ignored.instances_masked},
          {"instances_empty", ignored.instances_empty}};
}

nlohmann::ordered_json layout_json(const BvhRows& rows) {
  nlohmann::ordered_json histograms = nlohmann::ordered_json::array();
  const auto add = [&histograms](const char* level, const nlohmann::ordered_json& blas, const LevelSummary& summary) {
    histograms.push_back({{"level", level},
                          {"blas", blas},
                          {"leaf_depths", summary.quality.leaf_depths},
                          {"leaf_sizes", summary.quality.leaf_sizes}});
  };
  add("top", nullptr, rows.summary.top);
  add("bottoms", nullptr, rows.summary.all_bottoms);
  for (const LevelSummary& bottom : rows.summary.bottoms) {
    add("bottom", bottom.blas, bottom);
  }
  return {{"layout", rows.layout},
          {"width", rows.traits.width},
          {"record_bytes", rows.traits.node_bytes},
          {"most_references_of_a_leaf", rows.traits.max_leaf},
          {"quantised", rows.traits.quantised},
          {"memory_bytes", rows.memory},
          {"histograms", std::move(histograms)}};
}

}  // namespace

output::Table bvh_table(const BvhReport& report) {
  const bool one = report.layouts.size() == 1;
  output::Table table;
  table.columns = {{"layout", "layout", output::Show::Plain, 2, one},
                   {"level", "level", output::Show::Plain, 2, !one},
                   {"blas", "structure", output::Show::Plain, 2, !one},
                   {"instances", "instances"},
                   {"primitives", "primitives"},
                   {"nodes", "nodes"},
                   {"records", "records", output::Show::Plain, 2, true},
                   {"bytes", "bytes"},
                   {"leaves", "leaves"},
                   {"references", "references"},
                   {"references_per_item", "references an item", output::Show::Plain, 3, true},
                   {"depth", "depth"},
                   {"mean_children", "children", output::Show::Plain, 2},
                   {"mean_leaf", "leaf size", output::Show::Plain, 2},
                   {"sah", "SAH", output::Show::Plain, 3},
                   {"layout_sah", "as laid out", output::Show::Plain, 3},
                   {"epo", "EPO", output::Show::Plain, 3, !one},
                   {"lcv", "LCV", output::Show::Plain, 3, !one},
                   {"mean_leaves", "leaves a ray", output::Show::Plain, 3, true}};
  for (const BvhRows& rows : report.layouts) {
    table.rows.push_back(row(rows.layout, "all", {}, rows.summary.all, false));
    table.rows.push_back(row(rows.layout, "top", {}, rows.summary.top, true));
    table.rows.push_back(row(rows.layout, "bottoms", {}, rows.summary.all_bottoms, true));
    for (const LevelSummary* bottom : worst_first(rows.summary)) {
      table.rows.push_back(row(rows.layout, "bottom", std::uint64_t{bottom->blas}, *bottom, true));
    }
  }
  return table;
}

std::string bvh_text(const BvhReport& report) {
  std::string text;
  const auto line = [&text](std::string_view name, const std::string& value) {
    text += fmt::format("{:<9}{}\n", name, text::printable(value));
  };
  const bvh::BvhSummary& first = report.layouts.front().summary;
  line("trace", fmt::format("{} ({})", report.trace_file, report.trace.header.application));
  line("scene",
       fmt::format("top-level structure {}: {}, {}, {}", report.tlas, counted(first.top.instances, "active instance"),
                   counted(first.bottoms.size(), "bottom-level structure"),
                   counted(first.all_bottoms.primitives, "active primitive")));
  line("builder", fmt::format("{}{}{}", report.builder,
                              report.leaf_size == 0 ? "" : fmt::format(", leaves of at most {}", report.leaf_size),
                              report.enlarge == 0 ? "" : fmt::format(", leaf boxes enlarged by {}", report.enlarge)));
  line("order", fmt::format("nodes {}, vertices {}", report.node_order, report.vertex_order));
  line("quality", fmt::format("a node costs {}, a reference {}; LCV with {}", report.costs.traversal,
                              report.costs.intersection, lcv_source(report)));
  for (const BvhRows& rows : report.layouts) {
    line("layout", fmt::format("{}: {}, {} a record, {} on a device", rows.layout,
                               counted(rows.traits.width, "child", "children"), counted(rows.traits.node_bytes, "byte"),
                               output::bytes_text(rows.memory)));
  }
  const output::Table table = bvh_table(report);
  text += '\n';
  text += output::to_text(shown(table, report));
  if (report.layouts.size() == 1 && first.bottoms.size() > kShownBottoms) {
    text +=
        fmt::format("… {} more with a lower SAH cost; JSON and CSV hold all\n", first.bottoms.size() - kShownBottoms);
  }
  return text;
}

output::Table bvh_rows(const BvhReport& report) {
  NamedCells cells = provenance_cells(report.trace);
  cells.insert(cells.end(), {{"tlas", std::uint64_t{report.tlas}},
                             {"launch", report.launch ? Cell(std::uint64_t{*report.launch}) : Cell()},
                             {"bvh.builder", report.builder},
                             {"bvh.node_order", report.node_order},
                             {"bvh.vertex_order", report.vertex_order},
                             {"bvh.leaf_size", std::uint64_t{report.leaf_size}},
                             {"bvh.enlarge", report.enlarge},
                             {"lcv_rays", report.lcv_rays},
                             {"lcv_source", lcv_source(report)},
                             {"ignored", report.ignored.total()}});
  return with_cells(bvh_table(report), cells);
}

nlohmann::ordered_json bvh_json(const BvhReport& report) {
  nlohmann::ordered_json document = provenance_json("rayreplay.bvh/1", report.trace_file, report.trace);
  nlohmann::ordered_json names = nlohmann::ordered_json::array();
  nlohmann::ordered_json layouts = nlohmann::ordered_json::array();
  for (const BvhRows& rows : report.layouts) {
    names.push_back(rows.layout);
    layouts.push_back(layout_json(rows));
  }
  const nlohmann::ordered_json launch = report.launch ? nlohmann::ordered_json(*report.launch) : nullptr;
  document["configuration"] = {
      {"tlas", report.tlas},
      {"launch", launch},
      {"bvh.builder", report.builder},
      {"layouts", names},
      {"bvh.node_order", report.node_order},
      {"bvh.vertex_order", report.vertex_order},
      {"bvh.leaf_size", report.leaf_size},
      {"bvh.enlarge", report.enlarge},
      {"lcv_rays", report.lcv_rays},
      {"lcv_source", lcv_source(report)},
      {"costs", {{"traversal", report.costs.traversal}, {"intersection", report.costs.intersection}}}};
  document["ignored"] = ignored_json(report.ignored);
  document["layouts"] = std::move(layouts);
  document["rows"] = to_json(bvh_table(report));
  return document;
}

}  // namespace rayreplay::report
