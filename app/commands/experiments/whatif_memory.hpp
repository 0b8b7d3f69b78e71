// rayreplay whatif --outputs: variants of a launch in caches and in memory time.
//
// Contract: `compare_in_memory` is the whole action: it checks outputs before work starts, compares
// (sim/variants/memory_variants.hpp), writes all outputs and returns the exit code. Errors: Usage for options that do
// not fit; those of the comparison and of the outputs.
#pragma once

#include <string>
#include <vector>

#include "app/commands/experiments/whatif_models.hpp"

namespace rayreplay::app {

/// The variants of the rows: resolved specs, at least one of each.
struct MemoryVariants {
  std::vector<std::string> models, packings, node_orders;
  experiment::GivenParameters given;  ///< of the models
};

/// `asked`: the settings of all rows, not completed.
int compare_in_memory(const WhatIfCommon& common, const ModelsOptions& options, experiment::Settings asked,
                      const MemoryVariants& variants);

}  // namespace rayreplay::app
