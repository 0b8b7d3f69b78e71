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
#include "sim/comparison/compare.hpp"
#include "sim/variants/memory_variants.hpp"

namespace rayreplay::app {

/// Stages that the comparison of models reads.
inline constexpr const char* kModelStages = "assignment, simt, model";

class ModelsOptions {
 public:
  void add_to(CLI::App& command);
  /// Specs of --models, split.
  [[nodiscard]] std::vector<std::string> listed() const;
  /// Usage for options that only apply to models.
  void require_none() const;
  /// The words of --outputs; without the option, `model`. Usage for unknown words.
  [[nodiscard]] experiment::MemoryOutputs memory_outputs() const;

  std::string outputs;
  std::vector<std::string> break_even;
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

/// Usage for --timeline-model without --timeline, and --segments-model without --segments.
void require_owners(const ModelsOptions& options);

/// True for a scheduler model that has no warps.
[[nodiscard]] bool is_bound(const std::string& spec);

/// A file about the warps of one model; the options that name the file and the model.
struct ModelFile {
  const char* option;
  const std::string* path;
  const char* model_option;
  const std::string* model;  ///< "": the last one that was asked for and has warps
};

/// The resolved spec of the model whose warps the file gets; "": there is no file. Usage for a model that is not among
/// `models`, or is a bound. `named`: the specs that were asked for.
[[nodiscard]] std::string detailed_model(const ModelFile& file, const std::vector<std::string>& named,
                                         const std::vector<std::string>& models);

/// Notes on warps of another size than the machine's, hardware that it lacks, withheld SMs beyond --sms, and hints that
/// no model names.
void note_machine(const trace::Trace& trace, const experiment::Resolved& resolved, const experiment::Settings& settings,
                  const std::vector<std::string>& models);

/// Bytes of a picture file. Input unless it is a PNG file.
[[nodiscard]] std::string read_png(const std::string& path);

}  // namespace rayreplay::app
