#include "app/commands/capture/observed_places.hpp"

#include <cstdint>
#include <set>
#include <tuple>
#include <utility>

#include "app/commands/capture/shader_folder.hpp"
#include "capture/profile/agreement_profile.hpp"
#include "capture/profile/value_profile.hpp"

namespace rayreplay::app {
namespace {

class Places {
 public:
  Places(const trace::Profile& trace, const std::string& path) : trace_(trace), path_(path) {}

  void add_agreement() {
    using profile::Agreement;
    struct Seen {
      bool agreed = false, differed = false;
    };
    // Function, instruction, and whether it is about a load's address.
    std::map<std::string, std::map<std::tuple<std::uint32_t, std::uint32_t, bool>, Seen>> seen;
    const profile::AgreementProfile agreement = profile::agreement_profile(trace_, path_);
    for (const auto* rows : {&agreement.branches, &agreement.loads}) {
      for (const profile::InstructionProfile& row : *rows) {
        const auto add = [&](const profile::AgreementOf& of, bool is_address) {
          Seen& place = seen[hash_of(row.shader)][{row.function, row.instruction, is_address}];
          place.agreed = place.agreed || of.agreement == Agreement::Observed;
          place.differed =
              place.differed || (of.agreement != Agreement::Observed && of.agreement != Agreement::NotExecuted);
        };
        add(row.value, false);
        if (row.kind == "load") {
          add(row.address, true);
        }
      }
    }
    for (const auto& [module, places] : seen) {
      for (const auto& [place, of] : places) {
        if (of.agreed && !of.differed) {
          result_[module].uniform.push_back({std::get<0>(place), std::get<1>(place), std::get<2>(place)});
        }
      }
    }
  }

  void add_constants() {
    using Load = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // function, instruction, component
    std::map<std::string, std::map<Load, std::set<std::uint32_t>>> seen;
    std::map<std::string, std::set<Load>> others;  // with values that are not known, and what is no load
    for (const profile::ValuePlace& place : profile::value_profile(trace_, path_)) {
      const std::string& module = hash_of(place.shader);
      const Load load{place.function, place.instruction, place.component};
      if (place.kind != "load" || place.untabled > 0) {
        others[module].insert(load);
      }
      for (const profile::LoadedValue& value : place.values) {
        if (value.most_lanes > 0) {
          seen[module][load].insert(value.bits);
        }
      }
    }
    for (const auto& [module, loads] : seen) {
      for (const auto& [load, values] : loads) {
        if (values.size() == 1 && !others[module].contains(load)) {
          const auto& [function, instruction, component] = load;
          result_[module].constants.push_back({function, instruction, *values.begin(), component});
        }
      }
    }
  }

  std::map<std::string, ObservedPlaces> take() {
    return std::move(result_);
  }

 private:
  const std::string& hash_of(std::uint16_t shader) {
    const auto [hash, fresh] = hashes_.try_emplace(shader);
    if (fresh) {
      hash->second = layer::module_hash(trace_.shaders[shader].spirv);
    }
    return hash->second;
  }

  const trace::Profile& trace_;
  const std::string& path_;
  std::map<std::uint16_t, std::string> hashes_;
  std::map<std::string, ObservedPlaces> result_;
};

}  // namespace

std::map<std::string, ObservedPlaces> observed_places(const trace::Profile& trace, const std::string& path,
                                                      bool agreement) {
  Places places(trace, path);
  if (agreement) {
    places.add_agreement();
  }
  places.add_constants();
  return places.take();
}

}  // namespace rayreplay::app
