// Where the bytes come from: a launch, or an imported memory trace, through a machine's caches.
//
// Contract: a pure function of trace and options; deterministic but for `seconds`. A launch: work distribution → warps'
// streams from replayed traversals → interleaving on the machine's SMs → analysis. An imported memory trace: its
// records in the order of the file, SM by SM as recorded → coalescing → analysis; machine and schedule say nothing but
// caches there. Windows: `windows` equal parts by requests (part i begins with request floor(i·N / windows)) need the
// number N of requests, which an extra pass counts before; `window_requests` needs none. Making of the stream and
// analysis run side by side. Memory: trace, structure, resident warps' streams, two blocks, and what analysis.hpp says.
// Errors: those of the parts; Usage for `window_requests` that make too many windows, when they do.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/accelerator.hpp"
#include "bvh/bvh.hpp"
#include "sim/experiment/hierarchy.hpp"
#include "sim/experiment/resolve.hpp"
#include "sim/machine/interleave.hpp"
#include "sim/memory/results/analysis.hpp"
#include "sim/memory/streams/launch_source.hpp"

namespace rayreplay::experiment {

inline constexpr std::uint32_t kMostWindows = 65536;

struct CacheResult;

/// As `cache_of` (stages/stage_settings.hpp) makes it of an experiment's settings.
struct CacheOptions {
  machine::Machine machine;       ///< schedules the accesses: its caches decide how long a warp waits
  Hierarchy caches;               ///< are asked about
  std::string schedule = "auto";  ///< work distribution spec; auto: captured where the trace has warps on several SMs
                                  ///< and neither order nor packing is another one, else launch
  std::string warp_scheduler = "loose-round-robin";
  std::uint32_t resident_warps = 0;  ///< 0: the machine's, by registers_per_thread
  std::uint32_t registers_per_thread = 64;
  std::uint32_t compute_cycles = 0;
  std::string packing = "identity";
  bvh::BvhOptions structure{};
  memory::StreamOptions stream{};
  std::string reuse_engine = "bitmap";
  bool distances = true;
  std::uint32_t windows = 1;
  std::uint64_t window_requests = 0;  ///< 0: by `windows`
  bool elements = false;              ///< sums by element, handed to take_elements
  bool pixels = false;                ///< sums by pixel; of imported traces only where they say how large the frame is
  bool request_sums = false;          ///< CacheResult::requests
  std::function<void(std::uint32_t window, const std::vector<memory::ElementRow>& rows)> take_elements{};
  /// Called once when allocations and machine are known and nothing has run: the sink gets every instruction as it is
  /// issued (it may be null, and must outlive the run). May be null. Not of imported traces.
  std::function<memory::InstructionSink*(const CacheResult& result)> make_raw{};
  /// Called with the structure when it is built. May be null. Not of imported traces.
  std::function<void(const bvh::Bvh& structure)> take_structure{};
  Progress* progress = nullptr;
  Accelerator* accelerator = nullptr;  ///< where reuse distances and traversals run; null: on the processor
};

struct CacheResult {
  machine::Machine machine;  ///< that scheduled; of imported traces with the SMs recorded
  CacheOptions options;      ///< resolved: specs with every parameter
  std::string trace_hash;
  std::string application, device;  ///< what was traced, and where
  trace::LaunchSize size;           ///< of the frame buffer; 0 × 0: unknown
  std::uint32_t warp_size = 32;
  std::string builder, layout, node_order, vertex_order;  ///< resolved specs; "" of imported traces
  std::string schedule, warp_traversal, packing;          ///< resolved specs
  bool scheduled = true;                                  ///< false: imported, the order is the file's
  bool captured_sms = false;                              ///< SMs are those that the capture saw
  std::string schedule_note;  ///< what the schedule assumed, why `auto` did not take the captured one, what the packing
                              ///< does not change; "": nothing of that
  std::uint64_t structure_bytes = 0;
  bvh::Ignored ignored;
  memory::SourceTally tally;
  memory::Allocations allocations;
  std::uint64_t beyond_frame = 0;  ///< of imported traces: accesses of lanes to elements of a frame buffer behind the
                                   ///< frame's last pixel; they are in no sum by pixel
  machine::InterleaveResult interleaved;  ///< zeros of imported traces
  /// Of a launch: all requests. Of an imported trace: those that lie in an allocation. None unless asked for.
  memory::RequestSums requests;
  memory::AnalysisResult analysis;
  double stream_s = 0, analysis_s = 0;  ///< wall clock
};

[[nodiscard]] CacheResult run_cache(const trace::Trace& trace, const std::string& name, const Resolved& configuration,
                                    const CacheOptions& options);

/// An imported memory trace (capture/import/memory_trace.hpp).
[[nodiscard]] CacheResult run_cache_imported(const std::string& path, const CacheOptions& options);

}  // namespace rayreplay::experiment
