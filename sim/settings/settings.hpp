// Settings of one experiment: what was asked for, and what that means in full.
//
// Contract: `Settings` holds the keys that were set, checked one by one when they are set (known key, type, range; a
// text where a number is declared is read as one; "64KiB", "4MiB", "2GiB" where the unit is bytes), with where they
// came from, for messages. `set("scheduler.model:pool_warps", …)` sets one parameter of the spec that the key holds (or
// will hold: settings of parameters are applied when the whole is completed, so that order does not matter). `complete`
// gives every declared key a value: inherited values are filled in, specs have all their parameters, the machine's own
// figures stand where they were not replaced. It is what a result says about itself and what hashes are made of;
// completing it again changes nothing. It needs no trace; what only the trace knows stays as asked ("auto", warp_size
// 0). Errors: Usage, with the place and the nearest known key or value.
//
// `set_shorthand` sets the keys of a flag such as "--l1"; what its text leaves out is as the settings so far say.
// `of_keys` keeps those of which `keep` says yes: what a result says about itself.
//
// `parse_experiment` reads a TOML file; relative paths in it are relative to `folder`. `to_toml` writes tables in the
// order of the list, each key with its unit as a comment where `commented`; reading it back gives the same settings.
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
  /// "KEY=VALUE", as after `--set`.
  void set_text(std::string_view assignment, const std::string& where);

  [[nodiscard]] bool has(std::string_view key) const;
  /// Of complete settings, or a declared default. Internal for undeclared keys.
  [[nodiscard]] const ParameterValue& at(std::string_view key) const;
  [[nodiscard]] std::int64_t integer(std::string_view key) const;
  [[nodiscard]] double real(std::string_view key) const;
  [[nodiscard]] bool flag(std::string_view key) const;
  [[nodiscard]] const std::string& text(std::string_view key) const;
  [[nodiscard]] const std::string& where(std::string_view key) const;

  [[nodiscard]] const std::map<std::string, Setting, std::less<>>& all() const {
    return values_;
  }
  /// Whether `outputs` names it.
  [[nodiscard]] bool wants(std::string_view output) const;

 private:
  friend class Completer;  // complete.cpp
  std::map<std::string, Setting, std::less<>> values_;
};

/// Whether an experiment must name a trace or a workload; a command has its own.
enum class NamedInput : std::uint8_t { Needed, Elsewhere };

[[nodiscard]] Settings complete(const Settings& settings, NamedInput input = NamedInput::Needed);

void set_shorthand(Settings& settings, const Shorthand& shorthand, const std::string& text);

[[nodiscard]] Settings of_keys(const Settings& settings, const std::function<bool(const ExperimentParameter&)>& keep);

/// "e.toml:3, cache.l1.bytes"; the key's own flag stands for itself: "--packing".
[[nodiscard]] std::string place_of(const std::string& where, std::string_view key);

/// What an open table holds, without its name: {"metal", 20} of "costs.metal". By name.
[[nodiscard]] std::vector<std::pair<std::string, ParameterValue>> open_table(const Settings& settings,
                                                                             std::string_view table);

[[nodiscard]] Settings parse_experiment(std::string_view toml, const std::string& source, const std::string& folder);
[[nodiscard]] std::string to_toml(const Settings& complete, bool commented);

}  // namespace rayreplay::experiment
