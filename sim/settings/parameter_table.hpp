// The table of keys of experiments, from which files, `--set`, flags, sweep axes, database columns, checks and the
// reference are made.
//
// Contract: keys are dotted ("cache.l1.bytes"); in a file the parts before the last dot are tables. A key is declared
// once: type, unit, range and text (base/parameters.hpp), the stages that read it, and its default: a value; with
// `inherits` another key ("cache.l1.bytes" inherits "machine.l1_bytes") or the machine ("machine.…" keys). A key with a
// `model_kind` holds a spec of that registry. Open tables ("costs.*", "shader_costs.*") take any last part: names of
// shaders. Lists are texts with `separator` between items. The list's order is that of files and columns. Every command
// that reads a key has its `flag`; the flag of a truth value takes no value and sets the opposite of the default. A
// shorthand is a flag that sets several keys.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/parameters.hpp"
#include "sim/settings/stage.hpp"

namespace rayreplay::experiment {

struct ExperimentParameter {
  Parameter declared;      ///< name: the key
  std::string readers{};   ///< stages that read it: "assignment, stream"
  StageMask read_by = 0;   ///< the same, and stages whose description names the key
  std::string inherits{};  ///< "": the declared default; a key; or "machine": the machine's own value
  std::string model_kind{};
  bool is_path = false;   ///< relative paths in files are relative to the file
  bool is_open = false;   ///< an open table: "costs.*"; not a key by itself
  char separator = '\0';  ///< of the items of a list; 0: no list
  std::string flag{};     ///< "--packing"; "": only in files and after --set
  std::string group{};    ///< of the flag in a command's help
  std::string type{};     ///< name of the flag's value in the help: "SPEC"

  [[nodiscard]] bool is_switch() const {
    return std::holds_alternative<bool>(declared.default_value);
  }
};

/// A flag that sets several keys: "--l1 32KiB:ways=64".
struct Shorthand {
  std::string flag, group, type, text;
  std::vector<std::string> keys;
  std::string readers;
  StageMask read_by = 0;
};

[[nodiscard]] const std::vector<ExperimentParameter>& experiment_parameters();
/// Declared or of an open table; null otherwise. A final ":PARAM" is ignored.
[[nodiscard]] const ExperimentParameter* find_parameter(std::string_view key);
/// Flags that set several keys, in the order of the help; `set_shorthand` (settings.hpp) sets them.
[[nodiscard]] const std::vector<Shorthand>& shorthands();
[[nodiscard]] inline bool is_read(const ExperimentParameter& parameter, StageMask stages) {
  return (parameter.read_by & stages) != 0;
}
/// Throws Usage with the key that replaced `key`, or the nearest known one.
[[noreturn]] void unknown_key(std::string_view key, const std::string& where);
/// Throws Usage for an unknown key, and for one that only a command reads, not a stage of `run` and `sweep`.
void require_read_by_stage(std::string_view key, const std::string& where);

}  // namespace rayreplay::experiment
