// What the stages of an experiment are: what each takes, which keys it reads, which numbers it gives.
//
// Contract: a stage is one file of sim/engine/stages, which registers its description and its code
// (sim/engine/stage_registry.hpp); nothing else lists stages. A stage is named in text ("stream"); `Stage` is its place
// in `all_stages()`, by position and name, whatever the order of registration. Programs that link no engine have no
// stages: all masks are 0 there. Errors: Internal for a stage that is not registered, for two of one name, and for one
// that does not come after what it takes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rayreplay::experiment {

enum class Goal { Less, More, None };  ///< what is better

/// A number that an experiment can give (metrics.hpp).
struct Metric {
  std::string name;
  std::string output{};  ///< the stage that gives it: a word of the key `outputs`
  std::string unit;      ///< "", "share", "cycles", "bytes", …
  std::string text;
  Goal goal = Goal::None;
};

struct StageInfo {
  std::string name;                  ///< a stage with metrics is also a word of the key `outputs`
  std::string text;                  ///< one line: what it gives
  int position = 0;                  ///< in lists of stages: above those of the stages it takes
  std::vector<std::string> takes{};  ///< stages whose results it takes
  /// Keys that it reads, beside those whose entries in the table of keys name it; "machine.*": all of a table.
  std::vector<std::string> reads{};
  /// Goes up when the same settings give other numbers, or stored results another form.
  std::uint32_t format = 1;
  std::vector<Metric> metrics{};
  int rank = 0;  ///< place of its metrics in tables
  /// Keys that it reads and in which experiments may differ that are computed together; "*": all that it reads itself.
  std::vector<std::string> varies{};
  /// Runs of a sweep that want it form one unit if they share the result of this stage; "": its own, but for `varies`.
  std::string unit_shares{};
  /// Of the stages that a run wants, the one with the largest weight decides on its unit.
  int unit_weight = 0;
  std::string command{};     ///< that shows what the stage gives, where it has no metrics
  bool large_units = false;  ///< what runs of a unit share is worth more than many small units
};

enum class Stage : std::uint8_t {};
using StageMask = std::uint32_t;
inline constexpr std::size_t kMostStages = 32;

/// A stage's registration; `code` is the engine's (sim/engine/stage_registry.hpp).
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
/// Stages with metrics, in the order in which their metrics are listed.
[[nodiscard]] const std::vector<Stage>& output_stages();

[[nodiscard]] constexpr std::size_t index_of(Stage stage) {
  return static_cast<std::size_t>(stage);
}
[[nodiscard]] constexpr StageMask bit(Stage stage) {
  return StageMask{1} << index_of(stage);
}
/// "assignment, model"; "" has none. A stage that is not registered is left out where `strict` is false.
[[nodiscard]] StageMask stages_named(std::string_view list, bool strict = true);
[[nodiscard]] const char* to_string(Stage stage);
/// The stages that it names in `takes`.
[[nodiscard]] StageMask taken_by(Stage stage);
/// The stages whose results a stage takes, and those of these: without itself.
[[nodiscard]] StageMask inputs_of(Stage stage);
/// The command of a stage whose keys decide on no metric: "cache". "": they do, or no stage reads them.
[[nodiscard]] std::string command_of(StageMask readers);
/// `mask`, and every stage that takes a result of one of them.
[[nodiscard]] StageMask with_dependents(StageMask mask);

}  // namespace rayreplay::experiment
