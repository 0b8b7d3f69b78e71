#include "traversal/classification/test_kind.hpp"

namespace rayreplay::traversal {

const char* to_string(TestKind kind) {
  constexpr std::array<const char*, kTestKinds> kNames{"necessary", "box miss", "R1 overlap",  "R2 enlargement",
                                                       "R3 order",  "R2 or R3", "before t_min"};
  return kNames[static_cast<std::size_t>(kind)];
}

const char* to_key(TestKind kind) {
  constexpr std::array<const char*, kTestKinds> kKeys{
      "necessary", "box_miss", "overlap", "enlargement", "order", "enlargement_or_order", "before_t_min"};
  return kKeys[static_cast<std::size_t>(kind)];
}

}  // namespace rayreplay::traversal
