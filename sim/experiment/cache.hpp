// Where the bytes come from: a launch, or an imported memory trace, through a machine's caches.
//
// Contract: a pure function of trace and options; deterministic but for `seconds`. A launch: work distribution → warps'
// streams from replayed traversals → interleaving on the machine's SMs → analysis. An imported memory trace: its
// records in the order of the file, SM by SM as recorded → coalescing → analysis; machine and schedule say nothing but
// caches there. Windows: `windows` equal parts by requests need the number of requests, which an extra pass counts
// before; `window_requests` needs none. Memory: trace, structure, resident warps' streams, and what analysis.hpp says.
// Errors: those of the parts; Usage for options that do not go together.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bvh/bvh.hpp"
#include "sim/experiment/configuration.hpp"
#include "sim/machine/interleave.hpp"
#include "sim/memory/results/analysis.hpp"
#include "sim/memory/streams/launch_source.hpp"

namespace rayreplay::experiment {

struct CacheOptions {
  std::string machine = "rtx4090";  ///< name or path
  std::string l1, l2;               ///< geometry that replaces parts of the machine's (parse_geometry); "": as it is
  std::string schedule = "launch";  ///< work distribution spec
  std::string warp_scheduler = "loose-round-robin";
  std::uint32_t sms = 0;             ///< 0: the machine's
  std::uint32_t resident_warps = 0;  ///< 0: the machine's, by registers_per_thread
  std::uint32_t registers_per_thread = 64;
  std::uint32_t compute_cycles = 0;
  std::string packing = "identity";
  bvh::BvhOptions structure{};
  memory::StreamOptions stream{};  ///< coalescing's sizes come from the machine, its switches from here
  std::string l1_model = "lru", l2_model = "lru";
  memory::L2Feed l2_feed = memory::L2Feed::Misses;
  std::string reuse_engine = "bitmap";
  bool distances = true;
  std::uint32_t windows = 1;
  std::uint64_t window_requests = 0;  ///< 0: by `windows`
  bool elements = false;              ///< sums by element, handed to take_elements
  bool pixels = false;                ///< sums by pixel
  std::function<void(std::uint32_t window, const std::vector<memory::ElementRow>& rows)> take_elements{};
  memory::InstructionSink* raw = nullptr;  ///< gets every instruction as it is issued; may be null
  Progress* progress = nullptr;
};

struct CacheResult {
  machine::Machine machine;                               ///< with what options replaced
  CacheOptions options;                                   ///< resolved
  std::string builder, layout, node_order, vertex_order;  ///< resolved specs; "" of imported traces
  std::string schedule, warp_traversal, packing;          ///< resolved specs
  bool scheduled = true;                                  ///< false: imported, the order is the file's
  bool captured_sms = false;                              ///< SMs are those that the capture saw
  std::uint64_t structure_bytes = 0;
  bvh::Ignored ignored;
  memory::SourceTally tally;
  memory::Allocations allocations;
  machine::InterleaveResult interleaved;  ///< zeros of imported traces
  memory::AnalysisResult analysis;
  double stream_s = 0, analysis_s = 0;  ///< wall clock
};

[[nodiscard]] CacheResult run_cache(const trace::Trace& trace, const std::string& name, const Resolved& configuration,
                                    const CacheOptions& options);

/// An imported memory trace (capture/import/memory_trace.hpp).
[[nodiscard]] CacheResult run_cache_imported(const std::string& path, const CacheOptions& options);

}  // namespace rayreplay::experiment
