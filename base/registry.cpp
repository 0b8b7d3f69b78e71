#include "base/registry.hpp"

#include <algorithm>
#include <tuple>

namespace rayreplay {
namespace {

std::vector<ModelDescription>& descriptions() {
  static std::vector<ModelDescription> list;
  return list;
}

}  // namespace

const std::vector<ModelDescription>& all_models() {
  return descriptions();
}

void register_description(const ModelDescription& description) {
  auto& list = descriptions();
  const auto place = std::upper_bound(list.begin(), list.end(), description, [](const auto& a, const auto& b) {
    return std::tie(a.kind, a.name) < std::tie(b.kind, b.name);
  });
  list.insert(place, description);
}

}  // namespace rayreplay
