// How a number is known: from a publication, a measurement, a count, a guess.
//
// Contract: one word per origin, in the table [origins] of machine files (docs/machines.md) and in results. O(1).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rayreplay::machine {

enum class Origin : std::uint8_t {
  Assumed,    ///< a default or a guess
  Published,  ///< by the vendor, or in a paper
  Measured,   ///< on the hardware, by others or by us
  Derived,    ///< calculated from published or measured figures of something else
  Fitted,     ///< chosen so that a model's result is a published one
  Given,      ///< by the user
  Captured,   ///< by the capture: with the device's clock, or by its counts of executions
  Counted,    ///< in the shader's SPIR-V
};

[[nodiscard]] const char* to_string(Origin origin);  ///< "assumed", …

/// Origins of a figure in a machine file.
[[nodiscard]] std::span<const Origin> machine_origins();
[[nodiscard]] std::vector<std::string> machine_origin_names();

}  // namespace rayreplay::machine
