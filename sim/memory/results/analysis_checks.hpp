// Checks of an analysis' options, and the models of its levels. Internal to this folder.
//
// Contract: the errors of analysis.hpp; no other effect.
#pragma once

#include <cstdint>
#include <string>

#include "sim/memory/results/analysis.hpp"
#include "sim/memory/results/cache_unit.hpp"

namespace rayreplay::memory {

/// The models of a level; none if the geometry has no bytes. `engine` computes reuse distances if `distances` or the
/// model needs them, and must outlive the result. Usage if model, geometry and engine do not fit.
[[nodiscard]] LevelModels make_level(const CacheGeometry& geometry, const std::string& spec, const std::string& where,
                                     const ReuseEngine* engine, bool distances);

/// Usage or Resource, as analysis.hpp says.
void check_options(const AnalysisOptions& options, const LevelModels& l1, const LevelModels& l2);
void check_windows(std::uint64_t windows, const AnalysisOptions& options);
void check_accesses(std::uint64_t accesses, const AnalysisOptions& options);

}  // namespace rayreplay::memory
