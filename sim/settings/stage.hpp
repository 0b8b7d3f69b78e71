// Stages of an experiment: the results each takes, the keys it reads, the metrics it gives.
//
// Contract: a stage is one file of sim/engine/stages, which registers its description and code
// (sim/engine/stage_registry.hpp); no other list exists. In text a stage is its name ("stream"); `Stage` is its
// position in `all_stages()`, which does not depend on the order of registration. A program without the engine has no
// stages: all masks are 0. Errors: Internal for an unregistered stage, a doubled name, or a stage before one that it
// takes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rayreplay::experiment {

enum class Goal { Less, More, None };  ///< whether less or more is better

/// One metric of experiments (metrics.hpp).
struct Metric {
  std::string name;
  std::string output{};  ///< the stage that gives it: a word of the key `outputs`
  std::string unit;      ///< "", "share", "cycles", "bytes", …
  std::string text;
  Goal goal = Goal::None;
};

struct StageInfo {
  std::string name;                  ///< a stage with metrics is also a word of the key `outputs`
  std::string text;                  ///< one line: the stage's result
  int position = 0;                  ///< in lists of stages: above those of the stages it takes
  std::vector<std::string> takes{};  ///< stages whose results it takes
  /// Stages whose results it takes only where a switch is on: stage and key (is_switched_on, settings.hpp).
  std::vector<std::pair<std::string, std::string>> takes_if{};
  /// Keys read in addition to those whose entries in the table of keys name this stage; "machine.*": a whole table.
  std::vector<std::string> reads{};
  /// Increased when the same settings give other numbers, or stored results change their form.
  std::uint32_t format = 1;
  std::vector<Metric> metrics{};
  int rank = 0;  ///< place of its metrics in tables
  /// Keys in which experiments computed together may differ; "*": all keys that this stage reads itself.
  std::vector<std::string> varies{};
  /// The stage whose result all runs of one unit of a sweep share; "": this stage, with the keys of `varies` ignored.
  std::string unit_shares{};
  /// Of the stages that a run needs, the one with the largest weight decides the run's unit.
  int unit_weight = 0;
  std::string command{};     ///< the command that shows the result of a stage without metrics
  bool large_units = false;  ///< the shared part costs more than small units would gain
};

enum class Stage : std::uint8_t {};
using StageMask = std::uint32_t;
inline constexpr std::size_t kMaxStages = 32;

/// Registers a stage; `code` belongs to the engine (sim/engine/stage_registry.hpp).
class StageRegistrar {
 public:
  StageRegistrar(StageInfo info, const void* code);
};

[[nodiscard]] const std::vector<StageInfo>& all_stages();
[[nodiscard]] inline std::size_t stage_count() {
  return all_stages().size();
}
[[nodiscard]] Stage stage(std::string_view name);
[[nodiscard]] const StageInfo& info_of(Stage stage);
[[nodiscard]] const void* code_of(Stage stage);
/// Stages with metrics, in the listed order of metrics.
[[nodiscard]] const std::vector<Stage>& output_stages();

[[nodiscard]] constexpr std::size_t index_of(Stage stage) {
  return static_cast<std::size_t>(stage);
}
[[nodiscard]] constexpr StageMask bit(Stage stage) {
  return StageMask{1} << index_of(stage);
}
/// Mask of "assignment, model"; 0 for "". Unregistered names are ignored if `strict` is false.
[[nodiscard]] StageMask stages_named(std::string_view list, bool strict = true);
[[nodiscard]] const char* to_string(Stage stage);
/// True for a key of `takes_if` whose switch is on, or may be.
using IsOn = std::function<bool(const std::string& key)>;
/// The stages in `takes`, and those in `takes_if` whose switch is on.
[[nodiscard]] StageMask taken_by(Stage stage, const IsOn& is_on);
/// All stages whose results a stage takes or may take, directly or not; without itself.
[[nodiscard]] StageMask inputs_of(Stage stage);
[[nodiscard]] StageMask inputs_of(Stage stage, const IsOn& is_on);
/// The command ("cache") of a stage whose keys affect no metric; "" where they do, or no stage reads them.
[[nodiscard]] std::string command_of(StageMask readers);
/// `mask` and all stages that take, or may take, a result of one of them, directly or not.
[[nodiscard]] StageMask with_dependents(StageMask mask);
[[nodiscard]] StageMask with_dependents(StageMask mask, const IsOn& is_on);

}  // namespace rayreplay::experiment
