// The keys of an experiment on a command's line: --config FILE, --set KEY=VALUE, and the flags of the command's keys.
// All of them come from the table of keys (sim/settings/parameter_table.hpp).
//
// Contract: the command line has precedence over --config, a later file over an earlier one. Usage for a key in both a
// flag and --set, and for a --set key that the command does not read. A file may have every key of an experiment; keys
// that the command does not read are ignored. The trace is the command's own: `trace` and `workload` of a file are
// ignored. Flags of `variants` may be repeated; their values are variants of the one experiment instead of settings.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "app/commands/options/options.hpp"
#include "sim/launch/resolve.hpp"
#include "sim/settings/settings.hpp"

namespace rayreplay::app {

/// Size limit of an experiment file.
inline constexpr std::uint64_t kMaxExperimentBytes = 16U << 20U;

/// The command's keys: those of its stages, and its own.
struct TakenKeys {
  std::string stages{};                ///< by name: "assignment, simt"
  std::vector<std::string> without{};  ///< keys of these stages that the command does not have
  std::vector<std::string> also{};     ///< keys of other stages that it has
  /// Keys whose flag may be repeated, with the help text for no value.
  std::vector<std::pair<std::string, std::string>> variants{};
  /// The command's own defaults: key and value.
  std::vector<std::pair<std::string, std::string>> defaults{};
};

class SettingsOptions {
 public:
  void add_to(CLI::App& command, TakenKeys taken);

  /// The given settings, not completed.
  [[nodiscard]] experiment::Settings asked(const std::string& trace_file) const;
  /// The completed settings.
  [[nodiscard]] experiment::Settings settings(const std::string& trace_file) const {
    return experiment::complete(asked(trace_file), experiment::NamedInput::Elsewhere);
  }
  /// Values of a repeated flag, as specs with every parameter, without duplicates, in order. `base`: the result of
  /// `asked`.
  [[nodiscard]] std::vector<std::string> variants(const std::string& key, const experiment::Settings& base) const;
  /// Values of the flag of `variants`, as given.
  [[nodiscard]] const std::vector<std::string>& given_variants(const std::string& key) const;

  /// Flags and --set keys on the command line, as given.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> given_keys() const;
  /// True for keys of the command, also those of stages that are taken only where a switch is on.
  [[nodiscard]] bool reads(const experiment::ExperimentParameter& parameter) const {
    return reads(parameter, stages_ | conditional_);
  }
  /// The command's part of `settings`, with values that the trace decided: a result's provenance. `stages`: those of
  /// this call, if not all of the command.
  [[nodiscard]] experiment::Settings read_of(const experiment::Settings& settings,
                                             const experiment::Resolved* resolved = nullptr,
                                             const std::string& stages = "") const;
  /// Input files: the trace, --config, and those that settings name. For `require_distinct`.
  [[nodiscard]] std::vector<NamedPath> inputs(const std::string& trace_file,
                                              const experiment::Settings& settings) const;

 private:
  struct Flag {
    const experiment::ExperimentParameter* parameter = nullptr;  ///< null: a shorthand
    const experiment::Shorthand* shorthand = nullptr;
    bool is_variant = false;
    bool on = false;                    ///< for truth values
    std::vector<std::string> values{};  ///< for all others
    CLI::Option* option = nullptr;
  };

  void add_flag(CLI::App& command, Flag& flag) const;
  [[nodiscard]] bool reads(const experiment::ExperimentParameter& parameter, experiment::StageMask stages) const;
  static void set(experiment::Settings& settings, const Flag& flag);

  std::string command_;
  TakenKeys taken_;
  experiment::StageMask stages_ = 0;
  experiment::StageMask conditional_ = 0;  ///< stages that one of them takes where a switch is on
  std::deque<Flag> flags_;                 ///< a deque, because CLI11 holds pointers to its elements
  std::vector<std::string> files_;
  std::vector<std::string> assignments_;
};

}  // namespace rayreplay::app
