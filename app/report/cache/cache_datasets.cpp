#include "app/report/cache/cache_datasets.hpp"

#include <string>

#include "app/report/export/hdf5_parts.hpp"

namespace rayreplay::report {
namespace {

constexpr const char* kRequests = "requests";
constexpr const char* kHits = "requests * hit_unit";
constexpr const char* kAccesses = "accesses";
constexpr const char* kAccessHits = "accesses * hit_unit";
constexpr const char* kSectors = "sectors";
constexpr const char* kBytes = "bytes";
constexpr const char* kCycles = "cycles";
constexpr const char* kWarpCycles = "warp-cycles";
constexpr const char* kNumber = "number";
constexpr const char* kOrder = "number of a request";
constexpr const char* kLength = "the scene's unit of length";
constexpr const char* kShare = "1";

/// Columns of the groups `kinds` and `sms`.
void add_levels(std::vector<CacheDataset>& list, const char* group) {
  list.insert(
      list.end(),
      {{group, "window", kNumber, "time window"},
       {group, "level", kNumber, "0: L1, 1: L2 (attribute level_names)"},
       {group, "accesses", kAccesses, "look-ups of the level"},
       {group, "hits", kAccessHits, "accesses that found their line and all sectors that they touch"},
       {group, "stores", kAccesses, "accesses that store"},
       {group, "sectors", kSectors, "sectors that accesses touched"},
       {group, "cold", kAccessHits,
        "misses of lines never touched before; of those sampled (attribute reuse_weight), 0 without distances"},
       {group, "stored_only", kAccessHits, "misses of lines that only stores touched, which this cache does not keep"},
       {group, "new_sectors", kAccessHits, "misses of sectors that no access before brought into this cache"},
       {group, "capacity", kAccessHits, "other misses that a fully associative LRU cache of the same size has too"},
       {group, "conflict", kAccessHits, "misses where a fully associative LRU cache of the same size hits"},
       {group, "beyond", kAccessHits, "hits where a fully associative LRU cache of the same size misses"},
       {group, "sector_misses", kAccesses, "misses that found the line but not all sectors"},
       {group, "load_sectors", kSectors, "sectors that loads touched"},
       {group, "filled", "sectors * fill_unit", "sectors that the level fetched from below"},
       {group, "written", kSectors, "sectors that the level wrote to below"}});
}

/// The columns of sums over requests.
void add_requests(std::vector<CacheDataset>& list, const char* group, const char* of) {
  list.insert(list.end(), {{group, "requests", kRequests, of},
                           {group, "l1_hits", kHits, "requests whose transaction hit in the L1"},
                           {group, "l2_requests", kRequests, "each request as often as its transaction went to the L2"},
                           {group, "l2_hits", kHits, "l2_requests that hit in the L2"},
                           {group, "first", kOrder, "order of the first request; 2^64 - 1: none"},
                           {group, "last", kOrder, "order of the last request; 0: none, or the very first"}});
}

/// Warp-cycles by state, of a row of the group.
void add_states(std::vector<CacheDataset>& list, const char* group) {
  list.insert(list.end(), {{group, "reorder", kWarpCycles, "the delay of an exchange"},
                           {group, "issue", kWarpCycles, "shader instructions"},
                           {group, "traversal", kWarpCycles, "tests, and waits for the ray-tracing unit"},
                           {group, "load_unit", kWarpCycles, "waits to issue an access"},
                           {group, "l1", kWarpCycles, "waits for L1 hits and stores"},
                           {group, "merged", kWarpCycles, "waits for misses of other warps"},
                           {group, "l2", kWarpCycles, "waits for the L2"},
                           {group, "dram", kWarpCycles, "waits for DRAM"}});
}

std::vector<CacheDataset> make_list() {
  std::vector<CacheDataset> list = {
      {"elements", "window", kNumber, "time window; rows ascend by window, then element"},
      {"elements", "element", kNumber,
       "element of the allocation table; elements that nobody touched have no row, nor have unallocated requests"},
      {"elements", "allocation", kNumber, "row of the group allocations"}};
  add_requests(list, "elements", "requests for the element in the window");
  list.insert(list.end(),
              {{"elements", "access_rate", kShare, "requests over all requests of the window"},
               {"elements", "access_order", kShare,
                "first, counted from the window's first request, over all requests of the window: 0 early, 1 late"},
               {"allocations", "name", "text", "what the array is"},
               {"allocations", "kind", kNumber, "kind of data (attribute kind_names)"},
               {"allocations", "start", "address", "of the first byte"},
               {"allocations", "bytes", kBytes, "of the array"},
               {"allocations", "element_bytes", kBytes, "of an element"},
               {"allocations", "first_element", kNumber, "number of its first element"},
               {"allocations", "elements", kNumber, "how many it has"},
               {"allocations", "subject", kNumber,
                "bottom-level structure of nodes, row of the trace's geometries of indices, vertices and boxes; "
                "2^32 - 1: nothing in particular"},
               {"boxes", "element", kNumber, "node or instance; ascending"},
               {"boxes", "blas", kNumber, "bottom-level structure whose space the box is in; 2^32 - 1: world space"},
               {"boxes", "depth", kNumber, "of a node below the root of its tree; of an instance 0"},
               {"boxes", "min_x", kLength, "lower corner"},
               {"boxes", "min_y", kLength, "lower corner"},
               {"boxes", "min_z", kLength, "lower corner"},
               {"boxes", "max_x", kLength, "upper corner"},
               {"boxes", "max_y", kLength, "upper corner"},
               {"boxes", "max_z", kLength, "upper corner"}});
  add_requests(list, "pixels", "requests of the pixel's thread");
  list.insert(
      list.end(),
      {{"pixels", "dram_bytes", kBytes,
        "the pixel's share in what was fetched from DRAM; shares are rounded down to 2^-14 bytes, their sum to bytes"},
       {"pixels", "written", kOrder, "order of its first frame-buffer store; 2^64 - 1: none"},
       {"windows", "first_request", kOrder, "with which the window begins"},
       {"windows", "requests", kRequests, "in the window"},
       {"windows", "first_cycle", kCycles, "of issue, of its first transaction; 0: not known"},
       {"windows", "last_cycle", kCycles, "of issue, of its last transaction; 0: not known"},
       {"windows", "dram_read_bytes", kBytes, "fetched from DRAM, estimated"},
       {"windows", "dram_write_bytes", kBytes, "written to DRAM, estimated"},
       {"kinds", "kind", kNumber, "kind of data (attribute kind_names)"},
       {"sms", "sm", kNumber, "SM that made the accesses"},
       {"distances", "element", kNumber, "element of the allocation table; 2^32 - 1: requests without one"},
       {"distances", "level", kNumber, "0: L1, 1: L2 (attribute level_names)"},
       {"distances", "octave", kNumber,
        "reuse distance: 0: 0, k: 2^(k-1) to 2^k - 1, 33: first touch, 34: not sampled"},
       {"distances", "requests", kRequests, "requests, each once for every access of its transaction at the level"}});
  add_levels(list, "kinds");
  add_levels(list, "sms");
  list.insert(list.end(), {{"time_sms", "sm", kNumber, "SM; memory time only, as the other columns of the group"},
                           {"time_sms", "busy", kCycles, "with at least one warp"},
                           {"time_sms", "barrier", kCycles, "without warps, before the end of its last one"},
                           {"time_sms", "idle", kCycles, "after that"}});
  add_states(list, "time_sms");
  list.push_back({"time_stages", "stage", kNumber, "stage of the pipeline (attribute stage_names); memory time only"});
  add_states(list, "time_stages");
  return list;
}

}  // namespace

const std::vector<CacheDataset>& cache_datasets() {
  static const std::vector<CacheDataset> list = make_list();
  return list;
}

void describe_datasets(hid_t root) {
  for (const CacheDataset& entry : cache_datasets()) {
    const std::string path = std::string(entry.group) + "/" + entry.name;
    if (H5Lexists(root, entry.group, H5P_DEFAULT) > 0 && H5Lexists(root, path.c_str(), H5P_DEFAULT) > 0) {
      const trace::hdf5::Handle dataset(hdf5::checked(H5Dopen2(root, path.c_str(), H5P_DEFAULT)));
      hdf5::write_text(dataset.get(), "unit", entry.unit);
      hdf5::write_text(dataset.get(), "meaning", entry.meaning);
    }
  }
}

}  // namespace rayreplay::report
