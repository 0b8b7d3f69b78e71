#include "sim/settings/stage.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/error.hpp"

namespace rayreplay::experiment {
namespace {

struct Entry {
  StageInfo info;
  const void* code = nullptr;
};

std::vector<Entry>& registered() {
  static std::vector<Entry> list;
  return list;
}

[[noreturn]] void wrong(const char* what, const std::string& name) {
  throw Error(ErrorKind::Internal, {what, name, "", "", ""});
}

/// Registered stages in the order of all_stages(), and derived tables.
struct Stages {
  std::vector<StageInfo> infos;
  std::vector<const void*> codes;
  std::vector<StageMask> taken, inputs;
  std::vector<std::vector<std::pair<StageMask, std::string>>> taken_if;  ///< by stage: a stage's bit, and the switch
  std::vector<Stage> outputs;

  [[nodiscard]] std::size_t find(std::string_view name) const {
    return static_cast<std::size_t>(std::ranges::find(infos, name, &StageInfo::name) - infos.begin());
  }

  Stages() {
    std::vector<Entry> left = registered();
    if (left.size() > kMaxStages) {
      wrong("there are too many stages", std::to_string(left.size()));
    }
    std::ranges::sort(left, {}, [](const Entry& entry) { return std::tie(entry.info.position, entry.info.name); });
    for (Entry& entry : left) {
      if (find(entry.info.name) < infos.size()) {
        wrong("two stages have one name", entry.info.name);
      }
      const auto place_of = [&](const std::string& name) {
        const std::size_t place = find(name);
        if (place == infos.size()) {
          wrong("a stage takes the result of a stage that does not come before it", entry.info.name + ": " + name);
        }
        return place;
      };
      StageMask direct = 0;
      StageMask mask = 0;
      for (const std::string& name : entry.info.takes) {
        const std::size_t place = place_of(name);
        direct |= StageMask{1} << place;
        mask |= StageMask{1} << place | inputs[place];
      }
      auto& conditional = taken_if.emplace_back();
      for (const auto& [name, key] : entry.info.takes_if) {
        const std::size_t place = place_of(name);
        conditional.emplace_back(StageMask{1} << place, key);
        mask |= StageMask{1} << place | inputs[place];
      }
      for (Metric& metric : entry.info.metrics) {
        metric.output = entry.info.name;
      }
      taken.push_back(direct);
      inputs.push_back(mask);
      codes.push_back(entry.code);
      infos.push_back(std::move(entry.info));
    }
    for (std::size_t i = 0; i < infos.size(); ++i) {
      if (!infos[i].metrics.empty()) {
        outputs.push_back(static_cast<Stage>(i));
      }
    }
    std::ranges::stable_sort(outputs, {}, [this](Stage one) { return infos[index_of(one)].rank; });
  }
};

const Stages& stages() {
  static const Stages made;
  return made;
}

}  // namespace

StageRegistrar::StageRegistrar(StageInfo info, const void* code) {
  registered().push_back({std::move(info), code});
}

const std::vector<StageInfo>& all_stages() {
  return stages().infos;
}

Stage stage(std::string_view name) {
  const std::size_t found = stages().find(name);
  if (found == stage_count()) {
    wrong("a stage is not registered", std::string(name));
  }
  return static_cast<Stage>(found);
}

const StageInfo& info_of(Stage stage) {
  return stages().infos.at(index_of(stage));
}

const void* code_of(Stage stage) {
  return stages().codes.at(index_of(stage));
}

const std::vector<Stage>& output_stages() {
  return stages().outputs;
}

StageMask stages_named(std::string_view list, bool strict) {
  constexpr std::string_view kBetween = ", ";
  StageMask mask = 0;
  while (!list.empty()) {
    const auto end = list.find_first_of(kBetween);
    const std::string_view name = list.substr(0, end);
    if (strict || stages().find(name) < stage_count()) {
      mask |= bit(stage(name));
    }
    const auto next = end == std::string_view::npos ? end : list.find_first_not_of(kBetween, end);
    list = next == std::string_view::npos ? std::string_view() : list.substr(next);
  }
  return mask;
}

const char* to_string(Stage stage) {
  return info_of(stage).name.c_str();
}

StageMask taken_by(Stage stage, const IsOn& is_on) {
  StageMask mask = stages().taken.at(index_of(stage));
  for (const auto& [one, key] : stages().taken_if.at(index_of(stage))) {
    mask |= is_on(key) ? one : 0;
  }
  return mask;
}

StageMask inputs_of(Stage stage) {
  return stages().inputs.at(index_of(stage));
}

StageMask inputs_of(Stage stage, const IsOn& is_on) {
  const StageMask direct = taken_by(stage, is_on);
  StageMask mask = direct;
  for (std::size_t i = 0; i < index_of(stage); ++i) {
    if ((direct & bit(static_cast<Stage>(i))) != 0) {
      mask |= inputs_of(static_cast<Stage>(i), is_on);
    }
  }
  return mask;
}

std::string command_of(StageMask readers) {
  const StageMask decided = with_dependents(readers);
  std::string command;
  for (std::size_t i = 0; i < stage_count(); ++i) {
    if ((decided & bit(static_cast<Stage>(i))) == 0) {
      continue;
    }
    if (!stages().infos[i].metrics.empty()) {
      return "";
    }
    if (command.empty()) {
      command = stages().infos[i].command;
    }
  }
  return command;
}

StageMask with_dependents(StageMask mask) {
  return with_dependents(mask, [](const std::string&) { return true; });
}

StageMask with_dependents(StageMask mask, const IsOn& is_on) {
  StageMask result = mask;
  for (std::size_t i = 0; i < stage_count(); ++i) {  // stages come after those they take
    const auto one = static_cast<Stage>(i);
    if ((taken_by(one, is_on) & result) != 0) {
      result |= bit(one);
    }
  }
  return result;
}

}  // namespace rayreplay::experiment
