// The probe modules (probes/*.comp), compiled at build time and parsed once.
#pragma once

#include "capture/instrument/link.hpp"

namespace rayreplay::instrument {

[[nodiscard]] const Library& events_library(bool clock, bool ballot_extension);
[[nodiscard]] const Library& lookups_library();
[[nodiscard]] const Library& counts_library(bool ballot_extension);
[[nodiscard]] const Library& accesses_library(bool ballot_extension);
/// Operations of hint formulas.
[[nodiscard]] const Library& formulas_library();
/// An any-hit shader that does nothing.
[[nodiscard]] std::span<const Word> empty_any_hit();

}  // namespace rayreplay::instrument
