// Observations of a captured run at places of shader modules, for guarded copies of their code.
//
// Contract: by hash of the module (layer::module_hash), because several shaders of several pipelines may be one module.
// Uniform: places that all lanes agreed on in every execution, and that are not proven to be so; only if `agreement` is
// wanted, which the trace must then have. Constants: loads of a number of 32 bits, or components of a vector of them,
// that gave one value in every execution; empty without values in the trace. A place counts as seen where any shader
// executed it, and is left out if any shader saw something else. Errors: those of agreement_profile and value_profile.
// O(rows log rows).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "capture/optimise/optimise.hpp"
#include "capture/trace/reader.hpp"

namespace rayreplay::app {

struct ObservedPlaces {
  std::vector<optimise::UniformPlace> uniform;
  std::vector<optimise::ConstantLoad> constants;
};

[[nodiscard]] std::map<std::string, ObservedPlaces> observed_places(const trace::Profile& trace,
                                                                    const std::string& path, bool agreement);

}  // namespace rayreplay::app
