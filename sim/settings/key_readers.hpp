// The stages that read a key, as text for tables: "assignment, model".
#pragma once

#include <string>

#include "sim/settings/parameter_table.hpp"

namespace rayreplay::experiment {

[[nodiscard]] inline std::string readers_of(const ExperimentParameter& parameter) {
  std::string text;
  for (std::size_t i = 0; i < stage_count(); ++i) {
    const auto stage = static_cast<Stage>(i);
    if ((parameter.read_by & bit(stage)) != 0) {
      text += (text.empty() ? "" : ", ") + std::string(to_string(stage));
    }
  }
  return text;
}

}  // namespace rayreplay::experiment
