#include "sim/experiment/settings/metrics.hpp"

#include <unordered_map>

#include "base/error.hpp"
#include "base/parameters.hpp"

namespace rayreplay::experiment {
namespace {

constexpr const char* kShare = "share";
constexpr const char* kCycles = "cycles";
constexpr const char* kBytes = "bytes";

void add_simt(std::vector<Metric>& list) {
  constexpr const char* kOutput = "simt";
  list.push_back({"simt_efficiency", kOutput, kShare, "Active lanes of all lanes, over warp events", Goal::More});
  list.push_back({"simt_weighted_efficiency", kOutput, kShare,
                  "The same, each event weighted with the cycles of its shader (costs)", Goal::More});
  list.push_back({"simt_warp_events", kOutput, "events", "Calls that a warp runs at once", Goal::Less});
  list.push_back({"simt_active_lanes", kOutput, "lanes", "Sum of active lanes over warp events", Goal::None});
  list.push_back({"simt_bound_efficiency", kOutput, kShare, "SIMT efficiency that no packing exceeds", Goal::None});
}

void add_model(std::vector<Metric>& list) {
  constexpr const char* kOutput = "model";
  list.push_back({"model_cycles", kOutput, kCycles, "Time of the launch under the scheduler model", Goal::Less});
  list.push_back({"model_milliseconds", kOutput, "ms", "The same, by the machine's clock", Goal::Less});
  list.push_back({"model_speed_up", kOutput, "", "Time under the model plain divided by this one's", Goal::More});
  list.push_back({"model_efficiency", kOutput, kShare, "SIMT efficiency under the scheduler model", Goal::More});
  list.push_back({"model_warps", kOutput, "warps", "Warps of segments that ran", Goal::None});
  list.push_back({"model_segments", kOutput, "segments", "Parts of threads between exchanges", Goal::None});
  list.push_back(
      {"model_rounds", kOutput, "rounds", "Most rounds of a unit; timed models and bounds have none", Goal::None});
  list.push_back(
      {"model_moved_threads", kOutput, "threads", "Threads whose state moved, summed over exchanges", Goal::Less});
  list.push_back(
      {"model_busy_share", kOutput, kShare, "Running warps of resident warps, over time and shading SMs", Goal::More});
  list.push_back({"model_idle_share", kOutput, kShare, "SM-cycles in which an SM has nothing to run", Goal::Less});
  list.push_back({"model_reorder_share", kOutput, kShare, "SM-cycles spent on exchanging threads", Goal::Less});
  list.push_back({"model_traffic_bytes", kOutput, kBytes, "Memory traffic of exchanges", Goal::Less});
}

void add_traversal(std::vector<Metric>& list) {
  constexpr const char* kOutput = "traversal";
  list.push_back({"traversal_rays", kOutput, "rays", "Rays that were traced again", Goal::None});
  list.push_back({"traversal_nodes_per_ray", kOutput, "nodes", "Nodes visited, mean of a ray", Goal::Less});
  list.push_back({"traversal_boxes_per_ray", kOutput, "boxes", "Boxes tested, mean of a ray", Goal::Less});
  list.push_back({"traversal_triangles_per_ray", kOutput, "triangles", "Triangles tested, mean of a ray", Goal::Less});
  list.push_back(
      {"traversal_bytes_per_ray", kOutput, kBytes, "Bytes read from the structure, mean of a ray", Goal::Less});
  list.push_back({"traversal_hits", kOutput, "rays", "Rays that hit something", Goal::None});
  list.push_back({"traversal_unobserved", kOutput, "candidates",
                  "Candidates that shaders decide on and of which the trace has no record", Goal::Less});
  list.push_back({"traversal_warp_efficiency", kOutput, kShare,
                  "Active lanes of all lanes, over the steps of the warp traversal", Goal::More});
}

void add_cache(std::vector<Metric>& list) {
  constexpr const char* kOutput = "cache";
  list.push_back({"stream_transactions", kOutput, "transactions", "Transactions of the launch's accesses", Goal::Less});
  list.push_back({"stream_instructions", kOutput, "instructions", "Memory instructions of warps", Goal::None});
  list.push_back({"stream_cycles", kOutput, kCycles, "Cycles of the interleaving on the machine", Goal::Less});
  list.push_back({"l1_accesses", kOutput, "accesses", "Accesses to the L1s", Goal::None});
  list.push_back({"l1_hit_rate", kOutput, kShare, "Hits of the L1s' accesses", Goal::More});
  list.push_back(
      {"l1_sector_miss_rate", kOutput, kShare, "Accesses whose line was there and whose sector was not", Goal::Less});
  list.push_back({"l1_misses", kOutput, "accesses", "Accesses that are no hits, of lines and of sectors", Goal::Less});
  list.push_back({"l1_filled_bytes", kOutput, kBytes, "Bytes that the L1s asked for", Goal::Less});
  list.push_back({"l1_written_bytes", kOutput, kBytes, "Bytes that the L1s passed on or wrote back", Goal::Less});
  list.push_back({"l2_accesses", kOutput, "accesses", "Accesses to the L2", Goal::None});
  list.push_back({"l2_hit_rate", kOutput, kShare, "Hits of the L2's accesses", Goal::More});
  list.push_back({"l2_misses", kOutput, "accesses", "Accesses that are no hits, of lines and of sectors", Goal::Less});
  list.push_back({"l2_filled_bytes", kOutput, kBytes, "Bytes that the L2 asked for", Goal::Less});
  list.push_back({"l2_written_bytes", kOutput, kBytes, "Bytes that the L2 wrote back or passed on", Goal::Less});
  list.push_back({"dram_read_bytes", kOutput, kBytes, "Bytes read from memory", Goal::Less});
  list.push_back({"dram_written_bytes", kOutput, kBytes, "Bytes written to memory", Goal::Less});
  list.push_back({"dram_bytes", kOutput, kBytes, "Both", Goal::Less});
}

void add_structure(std::vector<Metric>& list) {
  constexpr const char* kOutput = "structure";
  list.push_back(
      {"structure_bytes", kOutput, kBytes, "Memory of the structure: nodes, instances, geometry", Goal::Less});
  list.push_back({"structure_nodes", kOutput, "nodes", "Inner nodes, each structure once", Goal::None});
  list.push_back({"structure_leaves", kOutput, "leaves", "Leaves, each structure once", Goal::None});
  list.push_back(
      {"structure_references", kOutput, "references", "References of leaves, each structure once", Goal::None});
  list.push_back(
      {"structure_depth", kOutput, "nodes", "Nodes above the deepest leaf, both levels together", Goal::None});
  list.push_back({"structure_sah_cost", kOutput, "", "Cost of a random line by the surface area heuristic, exact boxes",
                  Goal::Less});
  list.push_back(
      {"structure_layout_sah_cost", kOutput, "", "The same over the boxes that traversals test", Goal::Less});
}

}  // namespace

const std::vector<Metric>& all_metrics() {
  static const std::vector<Metric> list = [] {
    std::vector<Metric> made;
    add_simt(made);
    add_model(made);
    add_traversal(made);
    add_cache(made);
    add_structure(made);
    return made;
  }();
  return list;
}

const Metric& find_metric(std::string_view name) {
  static const std::unordered_map<std::string_view, const Metric*> known = [] {
    std::unordered_map<std::string_view, const Metric*> made;
    for (const Metric& metric : all_metrics()) {
      made.emplace(metric.name, &metric);
    }
    return made;
  }();
  if (const auto found = known.find(name); found != known.end()) {
    return *found->second;
  }
  std::vector<std::string> names;
  for (const Metric& metric : all_metrics()) {
    names.push_back(metric.name);
  }
  const std::string near = nearest(name, names);
  throw Error(ErrorKind::Usage, {"unknown metric", "", "'" + std::string(name) + "'", "",
                                 near.empty() ? "see rayreplay list metrics" : "did you mean '" + near + "'?"});
}

}  // namespace rayreplay::experiment
