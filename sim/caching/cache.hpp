// Cache analysis: a launch, or an imported memory trace, through a machine's caches.
//
// Contract: a pure function of its inputs; deterministic except for `seconds`. A launch: scheduled warps' streams from
// replayed traversals → interleaving on the machine's SMs → analysis. An imported memory trace: its records in the
// order of the file, SM by SM as recorded → coalescing → analysis; of machine and schedule only the caches apply.
// Windows: `windows` equal parts by requests (part i begins with request floor(i·N / windows)) require the number N of
// requests, which an extra pass counts; `window_requests` requires none. Guessed labels replace the header's kinds (and
// element sizes of 1) in the whole result, which says which they are. Stream generation and analysis run in
// parallel. Memory: trace, structure, resident warps' streams, two blocks, and the memory of analysis.hpp. Errors:
// those of the parts; Usage as soon as `window_requests` makes too many windows.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/accelerator.hpp"
#include "bvh/bvh.hpp"
#include "capture/import/wait_notice.hpp"
#include "sim/caching/hierarchy.hpp"
#include "sim/caching/label_guess.hpp"
#include "sim/launch/launch_schedule.hpp"
#include "sim/launch/regrouped_launch.hpp"
#include "sim/machine/interleave.hpp"
#include "sim/memory/results/analysis.hpp"
#include "sim/memory/streams/launch_source.hpp"

namespace rayreplay::experiment {

inline constexpr std::uint32_t kMaxWindows = 65536;

struct CacheResult;

/// Made by `cache_of` (sim/engine/stage_settings.hpp) from an experiment's settings.
struct CacheOptions {
  machine::Machine machine;  ///< schedules the accesses: its caches decide how long warps wait
  Hierarchy caches;          ///< the caches under analysis
  memory::StreamOptions stream{};
  machine::InterleaveOptions interleaving{};
  std::string reuse_engine = "bitmap";
  bool distances = true;
  std::uint32_t windows = 1;
  std::uint64_t window_requests = 0;  ///< 0: by `windows`
  bool elements = false;              ///< sums by element, handed to take_elements
  bool pixels = false;                ///< sums by pixel; for imported traces only if their header has the frame size
  bool request_sums = false;          ///< CacheResult::requests
  std::function<void(std::uint32_t window, const std::vector<memory::ElementRow>& rows)> take_elements{};
  memory::HistogramParts histograms{};  ///< reuse distances of parts; by element handed to take_element_distances
  std::function<void(const std::vector<memory::ElementDistances>& rows)> take_element_distances{};
  bool evictions = false;     ///< reasons of misses that are no first accesses
  bool guess_labels = false;  ///< imported traces: allocations of kind `other` get suggested kinds, by an extra pass
  /// Called once when allocations and machine are known, before the run. The sink gets every instruction at issue (it
  /// may be null, and must outlive the run). May be null. Unused for imported traces.
  std::function<memory::InstructionSink*(const CacheResult& result)> make_raw{};
  Progress* progress = nullptr;
  Accelerator* accelerator = nullptr;  ///< for reuse distances and traversals; null: the processor
};

struct CacheResult {
  machine::Machine machine;  ///< of the schedule; for imported traces with the recorded SMs
  CacheOptions options;      ///< resolved: specs with every parameter
  std::string trace_hash;
  std::string application, device;  ///< origin of the trace
  trace::LaunchSize size;           ///< of the frame buffer; 0 × 0: unknown
  std::uint32_t warp_size = 32;
  std::string builder, layout, node_order, vertex_order;  ///< resolved specs; "" for imported traces
  std::string schedule, warp_traversal;                   ///< resolved specs
  std::string packing;                                    ///< resolved spec, completed by the packing stage
  std::string model = "plain";                            ///< resolved spec of the scheduler model
  bool scheduled = true;                                  ///< false: an imported trace, in the order of the file
  bool captured_sms = false;                              ///< SMs are the captured ones
  std::string schedule_note;  ///< assumptions of the schedule, why `auto` did not take the captured one, keys of the
                              ///< packing without effect; "": none
  std::vector<std::string> shader_notes;  ///< of which threads accesses of shaders are there, and what else they change
  std::uint64_t structure_bytes = 0;
  bvh::Ignored ignored;
  memory::SourceTally tally;
  memory::Allocations allocations;
  std::vector<LabelGuess> guesses;  ///< of the allocations whose kind, here and in all sums, is a guess
  std::uint64_t beyond_frame = 0;   ///< imported traces: accesses of lanes to elements of a frame buffer after the
                                    ///< frame's last pixel; not in sums by pixel
  machine::InterleaveResult interleaved;  ///< zeros for imported traces
  /// A launch: all requests. An imported trace: requests to allocations. Empty unless wanted.
  memory::RequestSums requests;
  memory::AnalysisResult analysis;
  double stream_s = 0, analysis_s = 0;  ///< wall clock
};

/// `structure`: the launch's. `schedule`: its warps by SM; with `regrouped`, these are the threads' places at launch,
/// and the warps are those of the scheduler model.
[[nodiscard]] CacheResult run_cache(const trace::Trace& trace, const trace::Launch& launch, const bvh::Bvh& structure,
                                    const LaunchSchedule& schedule, const CacheOptions& options,
                                    const RegroupedLaunch* regrouped = nullptr);

/// An imported memory trace, possibly from a named pipe; `on_wait` as for import::open_memory_trace.
[[nodiscard]] CacheResult run_cache_imported(const std::string& path, const CacheOptions& options,
                                             const import::WaitNotice& on_wait = {});

}  // namespace rayreplay::experiment
