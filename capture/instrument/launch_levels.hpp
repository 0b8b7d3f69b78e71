// Conditions, values and addresses that are proven to be the same in every thread of a launch.
//
// Contract: `value` and `address` are true if the analysis of uniformity (capture/spirv/divergence.hpp) gives the place
// level launch in every shader that reaches its function. They are false where the analysis leaves a shader alone, and
// beyond its limits. Takes any parsed module.
#pragma once

#include <map>

#include "capture/instrument/analysis.hpp"
#include "capture/spirv/uniformity.hpp"

namespace rayreplay::instrument {

class LaunchLevels {
 public:
  /// `analysis`: of this module.
  LaunchLevels(const Module& module, const Analysis& analysis);

  /// Of the condition or selector of a branch, or of the result of another instruction.
  [[nodiscard]] bool value(spirv::Place place) const {
    const auto known = known_.find(place);
    return known != known_.end() && known->second.value;
  }
  [[nodiscard]] bool address(spirv::Place place) const {
    const auto known = known_.find(place);
    return known != known_.end() && known->second.address;
  }

 private:
  struct Known {
    std::size_t shaders = 0;  ///< whose analysis has the place
    bool value = true, address = true;
  };
  std::map<spirv::Place, Known> known_;
};

}  // namespace rayreplay::instrument
