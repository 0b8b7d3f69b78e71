// The inverse of inserted reordering, by itself: the module as it runs where there are no hit objects.
//
// Trace calls of the inserted hit object are OpTraceRayKHR again, reorder and execute calls are gone, and no hit is
// known: where the code asks a hit object, it hears of a miss. Everything that declares hit objects is gone. Only for
// modules in which all hit objects are inserted.
#pragma once

#include "tests/instrument/support/corpus.hpp"

namespace rayreplay::test {

[[nodiscard]] Words undone_reordering(const Words& words);

/// A module with SPV_EXT_shader_invocation_reorder, whose instructions the validator at hand does not know, with
/// NVIDIA's numbers and names for what both extensions have.
[[nodiscard]] Words with_nv_hit_objects(const Words& words);

}  // namespace rayreplay::test
