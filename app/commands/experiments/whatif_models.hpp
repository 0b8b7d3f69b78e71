// rayreplay whatif --models: the options and the action of comparing scheduler models.
//
// Contract: `compare_models` is the whole action: it checks outputs before work starts, compares
// (sim/comparison/compare.hpp), writes all outputs and returns the exit code. Errors: Usage for options that do not
// fit; those of the comparison and of the outputs.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "app/commands/options/device_option.hpp"
#include "app/commands/options/options.hpp"
#include "app/commands/options/settings_options.hpp"

namespace rayreplay::app {

class ModelsOptions {
 public:
  void add_to(CLI::App& command);
  /// Specs of --models, split.
  [[nodiscard]] std::vector<std::string> listed() const;
  /// Usage for options that only apply to models.
  void require_none() const;

  std::string timeline;
  std::string timeline_model;
  std::string schedule;
  std::string schedule_model;
  bool no_break_even = false;
  bool no_sensitivity = false;

 private:
  std::vector<std::string> lists_;
};

/// Options of whatif that models and packings share.
struct WhatIfCommon {
  std::string path;
  SettingsOptions experiment;
  DeviceOption device;
  ResultOption output;
  std::string report;
  std::string image;
  std::string colormap = "viridis";
  bool print_config = false;
};

/// `named`: the specs that were asked for.
int compare_models(const WhatIfCommon& common, const ModelsOptions& options, experiment::Settings given,
                   const std::vector<std::string>& named);

/// Bytes of a picture file. Input unless it is a PNG file.
[[nodiscard]] std::string read_png(const std::string& path);

}  // namespace rayreplay::app
