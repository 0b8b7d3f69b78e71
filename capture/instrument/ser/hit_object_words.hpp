// The instructions on hit objects that inserted code uses, in the form of either extension.
//
// Contract: the two forms differ in these words alone: operands and meaning are the same. O(1).
#pragma once

#include "capture/instrument/module_names.hpp"
#include "capture/instrument/ser/insert.hpp"

namespace rayreplay::instrument {

struct HitObjectWords {
  Word capability = 0;
  const char* extension = "";
  Word type = 0, trace = 0, reorder = 0, execute = 0, is_hit = 0;
  Word instance = 0, primitive = 0, geometry = 0, record_index = 0, custom_index = 0, hit_kind = 0;
  Word t_max = 0, t_min = 0, origin = 0, direction = 0;
};

[[nodiscard]] const HitObjectWords& hit_object_words(HitObjectForm form);

}  // namespace rayreplay::instrument
