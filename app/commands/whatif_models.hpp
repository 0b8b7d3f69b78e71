// rayreplay whatif --models: the options and the action of comparing scheduler models.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "app/commands/device_option.hpp"
#include "app/commands/options.hpp"

namespace rayreplay::app {

class ModelsOptions {
 public:
  void add_to(CLI::App& command);
  /// What the command line says wins over what a configuration file said.
  void apply_to(experiment::ModelsConfiguration& configuration) const;
  /// Whether the command line asks for models.
  [[nodiscard]] bool asked() const {
    return !models_.empty();
  }
  /// Throws Usage if an option is given that says nothing without models.
  void require_none() const;

  std::string timeline;
  std::string timeline_model;
  std::string schedule;
  std::string schedule_model;
  bool no_break_even = false;

 private:
  std::vector<std::string> models_;
  std::optional<std::string> machine_;
  std::vector<std::string> hints_;
  std::vector<std::string> hint_files_;
  std::vector<std::string> shader_costs_;
  std::string shader_costs_file_;
  std::optional<std::string> cost_source_;
  std::optional<std::uint32_t> registers_;
  std::optional<double> steps_;
  std::optional<std::string> start_packing_;
  std::optional<double> cycles_per_instruction_;
  bool replay_steps_ = false;
};

/// What models and packings have in common on the command line of whatif.
struct WhatIfCommon {
  std::string path;
  ExperimentOptions experiment;
  DeviceOption device;
  FormatOption format;
  OutputOption output;
  std::string report;
  std::string image;
  std::string colormap = "viridis";
  bool print_config = false;
};

/// `configuration`: with the models' part.
int compare_models(const WhatIfCommon& common, const ModelsOptions& options, experiment::Configuration configuration);

/// Bytes of a picture that the user names. Input unless it is a PNG file.
[[nodiscard]] std::string read_png(const std::string& path);

}  // namespace rayreplay::app
