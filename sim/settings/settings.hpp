// Settings of one experiment, as set and completed.
//
// Contract: `Settings` holds the keys that were set and their places for messages. A key is checked when it is set:
// known name, type, range; texts are read as numbers where numbers are declared, "64KiB", "4MiB", "2GiB" where the unit
// is bytes. `set("scheduler.model:pool_warps", …)` sets one parameter of the key's spec, before or after the spec
// itself. `complete` gives every declared key a value: inherited values, specs with all parameters, the machine's
// figures. A complete experiment is the provenance of a result and the base of its hashes; completing it again changes
// nothing. No trace is needed: values that the trace decides stay as set ("auto", warp_size 0). Errors: Usage, with the
// place and the nearest known key or value.
//
// `set_shorthand` sets the keys of a flag such as "--l1"; parts that its text leaves out keep their values. `of_keys`
// keeps the keys that `keep` accepts.
//
// `parse_experiment` reads a TOML file; relative paths are relative to `folder`. `to_toml` writes tables in the order
// of the list, with units as comments where `commented`; reading its text gives the same settings.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/parameters.hpp"
#include "sim/settings/parameter_table.hpp"

namespace rayreplay::experiment {

struct Setting {
  ParameterValue value;
  std::string where;  ///< "e.toml:3", "--set", "" where it is a default
};

class Settings {
 public:
  /// Checks, converts, replaces. Usage names `where`.
  void set(std::string_view key, const ParameterValue& value, const std::string& where);
  /// "KEY=VALUE", the form of `--set`.
  void set_text(std::string_view assignment, const std::string& where);

  [[nodiscard]] bool has(std::string_view key) const;
  /// The value in complete settings, or the declared default. Internal for undeclared keys.
  [[nodiscard]] const ParameterValue& at(std::string_view key) const;
  [[nodiscard]] std::int64_t integer(std::string_view key) const;
  [[nodiscard]] double real(std::string_view key) const;
  [[nodiscard]] bool flag(std::string_view key) const;
  [[nodiscard]] const std::string& text(std::string_view key) const;
  [[nodiscard]] const std::string& where(std::string_view key) const;

  [[nodiscard]] const std::map<std::string, Setting, std::less<>>& all() const {
    return values_;
  }
  /// Whether `outputs` holds the word.
  [[nodiscard]] bool wants(std::string_view output) const;

 private:
  friend class Completer;  // complete.cpp
  std::map<std::string, Setting, std::less<>> values_;
};

/// For keys of StageInfo::takes_if: a truth value that is true, the spec of another model than the default's, or any
/// other text that is not empty.
[[nodiscard]] bool is_switched_on(const Settings& settings, const std::string& key);

/// Whether settings must name a trace or a workload, or the caller provides the input.
enum class NamedInput : std::uint8_t { Needed, Elsewhere };

[[nodiscard]] Settings complete(const Settings& settings, NamedInput input = NamedInput::Needed);

/// The errors that `complete` has for one key with a text: its model with the parameters that are set, or its machine.
void check_text(const Settings& settings, const std::string& key);

void set_shorthand(Settings& settings, const Shorthand& shorthand, const std::string& text);

[[nodiscard]] Settings of_keys(const Settings& settings, const std::function<bool(const ExperimentParameter&)>& keep);

/// True if the command line sets the key, or its value is not the usual one. A file that sets the usual value may be a
/// printed configuration, which has every key.
[[nodiscard]] bool is_by_hand(const Settings& complete, std::string_view key, const ParameterValue& usual);

/// "e.toml:3, cache.l1.bytes"; for the key's own flag the flag alone: "--packing".
[[nodiscard]] std::string place_of(const std::string& where, std::string_view key);

/// Entries of an open table without its name ({"metal", 20} for "costs.metal"), sorted by name.
[[nodiscard]] std::vector<std::pair<std::string, ParameterValue>> open_table(const Settings& settings,
                                                                             std::string_view table);

[[nodiscard]] Settings parse_experiment(std::string_view toml, const std::string& source, const std::string& folder);
[[nodiscard]] std::string to_toml(const Settings& complete, bool commented);

}  // namespace rayreplay::experiment
