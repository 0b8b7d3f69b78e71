#include "sim/machine/origin.hpp"

#include <array>

namespace rayreplay::machine {
namespace {

constexpr std::array kOfMachines = {Origin::Published, Origin::Measured, Origin::Derived,
                                    Origin::Fitted,    Origin::Given,    Origin::Assumed};

}  // namespace

const char* to_string(Origin origin) {
  constexpr std::array kNames = {"assumed", "published", "measured", "derived",
                                 "fitted",  "given",     "captured", "counted"};
  return kNames.at(static_cast<std::size_t>(origin));
}

std::span<const Origin> machine_origins() {
  return kOfMachines;
}

std::vector<std::string> machine_origin_names() {
  std::vector<std::string> names;
  for (const Origin origin : kOfMachines) {
    names.emplace_back(to_string(origin));
  }
  return names;
}

}  // namespace rayreplay::machine
