// The parts of the viewer's content, one function each; content.hpp says what they answer.
//
// Contract: pure functions of their arguments. Errors: Usage for numbers outside of the trace and unknown names, with
// the nearest known one; those of the stages.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "capture/trace/trace.hpp"
#include "scheduler-models/warp_assignment.hpp"
#include "sim/engine/workbench.hpp"
#include "sim/launch/resolve.hpp"

namespace rayreplay::viewer {

/// A kind of map or metric that the page offers.
struct Choice {
  const char* name;
  const char* title;  ///< with its unit
  const char* text;   ///< its definition, in one sentence
  bool of_settings;   ///< it changes with packing, order and policy
  bool is_nominal;    ///< numbers are names (an SM), not amounts
};

[[nodiscard]] std::span<const Choice> pixel_maps();
[[nodiscard]] std::span<const Choice> face_metrics();
/// The choices whose data the launch has.
[[nodiscard]] std::vector<Choice> known_maps(const trace::Launch& launch);

[[nodiscard]] nlohmann::ordered_json trace_facts(const trace::Trace& trace, const std::string& file,
                                                 const experiment::Settings& asked);
/// `value`: the command line's, else the default.
[[nodiscard]] nlohmann::ordered_json key_facts(const experiment::Settings& asked);

/// Slice with `values` (f32, row-major; NaN: nothing there), and the facts `width`, `height`, `title`, `least`, `most`.
[[nodiscard]] std::string pixel_slice(const std::string& map, experiment::Workbench& bench,
                                      const experiment::Experiment& experiment, const experiment::Resolved& resolved,
                                      const trace::Trace& trace);

[[nodiscard]] std::string geometry_slice(const trace::Trace& trace, std::uint64_t geometry);
/// Slice with `first` (u32, by instance: its first row), and `values` (f32, by instance, geometry of its structure, and
/// primitive).
[[nodiscard]] std::string face_slice(const trace::Trace& trace, const trace::Launch& launch, const std::string& metric);

[[nodiscard]] nlohmann::ordered_json camera_facts(const trace::Launch& launch);
[[nodiscard]] nlohmann::ordered_json thread_facts(const trace::Trace& trace, const trace::Launch& launch,
                                                  std::uint64_t thread);
[[nodiscard]] nlohmann::ordered_json warp_facts(const trace::Trace& trace, const trace::Launch& launch,
                                                const experiment::Resolved& resolved,
                                                const scheduler::WarpAssignment& packed, std::uint64_t thread);

/// The warp of hardware in which the thread ran, from the captured groups of its threads: as warp_facts, in the order
/// in which they ran; groups whose lanes came from several warps are counted (`repacked`) and not listed. Missing
/// without groups or warps.
[[nodiscard]] nlohmann::ordered_json captured_warp_facts(const trace::Trace& trace, const trace::Launch& launch,
                                                         std::uint64_t thread);

/// Where lanes idle: the warps and the calls that lose the most lane slots, and the pixels with the most shader calls;
/// each with its share of all, and of warps and pixels a thread to look at.
[[nodiscard]] nlohmann::ordered_json ranking_facts(experiment::Workbench& bench,
                                                   const experiment::Experiment& experiment,
                                                   const experiment::Resolved& resolved, const trace::Trace& trace);

/// The rows of `rayreplay whatif` for the experiment's packing, and the command that prints them.
[[nodiscard]] nlohmann::ordered_json what_if_facts(experiment::Workbench& bench,
                                                   const experiment::Experiment& experiment,
                                                   const std::string& trace_file, const experiment::Settings& asked);

}  // namespace rayreplay::viewer
