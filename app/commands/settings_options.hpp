// The keys of an experiment on a command's line: --config FILE, --set KEY=VALUE, and the flags of the keys that the
// command reads. All of them come from the table of keys (sim/settings/parameter_table.hpp).
//
// Contract: what the command line says wins over --config; of several files a later one wins; a key that a flag and
// --set both name is a Usage error, and so is a key after --set that the command does not read. A file may hold every
// key of an experiment: what the command does not read is not used. The trace is the command's own: `trace` and
// `workload` of a file are not used. Flags of `variants` may be repeated; their values are no settings, but variants of
// the one experiment.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "app/commands/options.hpp"
#include "sim/launch/resolve.hpp"
#include "sim/settings/settings.hpp"

namespace rayreplay::app {

/// What of the table a command takes: what its stages read, and what it reads itself.
struct TakenKeys {
  std::string stages{};                ///< by name: "assignment, simt"
  std::vector<std::string> without{};  ///< keys of these stages that it does not read
  std::vector<std::string> also{};     ///< keys of other stages that it reads
  /// Keys whose flag may be repeated, and what the help says of none.
  std::vector<std::pair<std::string, std::string>> variants{};
  /// Defaults of its own: key and value.
  std::vector<std::pair<std::string, std::string>> defaults{};
};

class SettingsOptions {
 public:
  void add_to(CLI::App& command, TakenKeys taken);

  /// What was asked for, not complete.
  [[nodiscard]] experiment::Settings asked(const std::string& trace_file) const;
  /// In full.
  [[nodiscard]] experiment::Settings settings(const std::string& trace_file) const {
    return experiment::complete(asked(trace_file), experiment::NamedInput::Elsewhere);
  }
  /// Values of a repeated flag, as specs with every parameter; each once, in the order given. `base`: as `asked` gave.
  [[nodiscard]] std::vector<std::string> variants(const std::string& key, const experiment::Settings& base) const;
  /// Of the flag of `variants`, as they were given.
  [[nodiscard]] const std::vector<std::string>& given_variants(const std::string& key) const;

  /// Flags and --set keys on the command line, as they were written.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> given_keys() const;
  [[nodiscard]] bool reads(const experiment::ExperimentParameter& parameter) const;
  /// Of `settings`, what the command reads, with what the trace decided: what a result says about itself.
  [[nodiscard]] experiment::Settings read_of(const experiment::Settings& settings,
                                             const experiment::Resolved* resolved = nullptr) const;
  /// Files that are read: the trace, --config, and those that settings name. For `require_distinct`.
  [[nodiscard]] std::vector<NamedPath> inputs(const std::string& trace_file,
                                              const experiment::Settings& settings) const;

 private:
  struct Flag {
    const experiment::ExperimentParameter* parameter = nullptr;  ///< or
    const experiment::Shorthand* shorthand = nullptr;
    bool is_variant = false;
    bool on = false;                    ///< of truth values
    std::vector<std::string> values{};  ///< of the others
    CLI::Option* option = nullptr;
  };

  void add_flag(CLI::App& command, Flag& flag) const;
  static void set(experiment::Settings& settings, const Flag& flag);

  std::string command_;
  TakenKeys taken_;
  experiment::StageMask stages_ = 0;
  std::deque<Flag> flags_;  ///< stay where they are: CLI11 writes to them
  std::vector<std::string> files_;
  std::vector<std::string> assignments_;
};

}  // namespace rayreplay::app
