// Stage "stream": the memory accesses of a launch as the machine issues them, or those of a memory trace.
//
// Contract: `prepare_stream` gives the parts of a launch's stream: structure, warps by SM or under the scheduler model,
// accesses of lanes, and the interleaving of warps. `stream` runs it once and records every transaction. Errors: those
// of the parts.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/caching/grid/recorded_stream.hpp"
#include "sim/engine/stages/structure.hpp"
#include "sim/engine/workbench.hpp"
#include "sim/launch/launch_schedule.hpp"
#include "sim/launch/regrouped_launch.hpp"
#include "sim/machine/interleave.hpp"
#include "sim/memory/streams/launch_source.hpp"

namespace rayreplay::experiment {

struct PreparedStream {
  std::shared_ptr<const InputData> data;
  std::shared_ptr<const Structure> built;
  const trace::Launch* launch = nullptr;
  machine::Machine machine;
  LaunchSchedule schedule;
  std::shared_ptr<const RegroupedLaunch> regrouped;  ///< null: whole threads
  memory::StreamOptions options;
  std::vector<std::string> shader_notes{};  ///< what the result has to say about accesses of shaders
  std::vector<std::uint32_t> start_delay;   ///< memory time: that of the interleaving, which refers to it
  machine::InterleaveOptions interleaving;
};

/// The key of memory time, and whether it is switched on (docs/memory-time.md).
inline constexpr const char* kTimeKey = "schedule.time";
[[nodiscard]] bool has_memory_time(const Settings& complete);

/// False for keys that the stream does not depend on: without memory time, costs of calls and rates of the machine;
/// without accesses of shaders, the layout of images.
[[nodiscard]] bool stream_uses_key(const Settings& complete, std::string_view key);

[[nodiscard]] PreparedStream prepare_stream(Workbench& bench, const Experiment& experiment);

[[nodiscard]] std::shared_ptr<const RecordedStream> stream(Workbench& bench, const Experiment& experiment);

/// The launch's interleaving alone, without recording: memory of the resident warps. With memory time `history`
/// gets the events and their cycles; null: no history. `sink` gets the transactions with requests and cycles; null: no
/// sink.
[[nodiscard]] machine::InterleaveResult interleave_launch(Workbench& bench, const Experiment& experiment,
                                                          machine::TimeHistory* history = nullptr,
                                                          memory::TransactionSink* sink = nullptr);

/// Expected transactions: 12 a ray, one a recorded access, 8 a record of a memory trace. Overlapping boxes can make a
/// hundred times as many.
[[nodiscard]] std::uint64_t likely_transactions(const Experiment& experiment);

}  // namespace rayreplay::experiment
