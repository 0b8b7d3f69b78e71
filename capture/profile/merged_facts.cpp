#include "capture/profile/merged_facts.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace rayreplay::profile {
namespace {

std::string difference_of(const trace::Executable& a, const trace::Executable& b) {
  for (std::size_t i = 0; i < std::min(a.statistics.size(), b.statistics.size()); ++i) {
    const trace::Statistic& x = a.statistics[i];
    const trace::Statistic& y = b.statistics[i];
    if (x.name == y.name && x.format == y.format && x.value != y.value) {
      return x.format == trace::StatisticFormat::Uint64
                 ? fmt::format("'{}' of executable '{}' is {} and {}", x.name, a.name, x.value, y.value)
                 : fmt::format("'{}' of executable '{}' differs", x.name, a.name);
    }
  }
  return fmt::format("executable '{}' differs", a.name);
}

/// The first of two facts that are not equal, apart from the stack sizes that were set.
std::string difference_of(const trace::PipelineFacts& a, const trace::PipelineFacts& b) {
  if (a.recursion_depth != b.recursion_depth) {
    return fmt::format("the recursion depth is {} and {}", a.recursion_depth, b.recursion_depth);
  }
  if (a.dynamic_stack != b.dynamic_stack) {
    return "the stack size is dynamic in one of them";
  }
  if (a.groups.size() != b.groups.size()) {
    return fmt::format("it has {} and {} shader groups", a.groups.size(), b.groups.size());
  }
  for (std::size_t i = 0; i < a.groups.size(); ++i) {
    if (a.groups[i] != b.groups[i]) {
      return fmt::format("shaders or stack sizes of group {} differ", i);
    }
  }
  if (a.executables.size() != b.executables.size()) {
    return fmt::format("the driver names {} and {} executables", a.executables.size(), b.executables.size());
  }
  for (std::size_t i = 0; i < a.executables.size(); ++i) {
    if (a.executables[i] != b.executables[i]) {
      return difference_of(a.executables[i], b.executables[i]);
    }
  }
  return "";
}

}  // namespace

void MergedFacts::add(trace::PipelineFacts facts, const std::string& run) {
  const auto found = known_.find(facts.pipeline);
  if (found == known_.end()) {
    const std::uint32_t pipeline = facts.pipeline;
    known_.emplace(pipeline, Known{std::move(facts), run, ""});
    return;
  }
  Known& known = found->second;
  if (!known.contradiction.empty()) {
    return;
  }
  if (const std::string difference = difference_of(known.facts, facts); !difference.empty()) {
    known.contradiction = fmt::format("runs {} and {} disagree: {}", known.run, run, difference);
  }
  known.facts.set_stack = std::max(known.facts.set_stack, facts.set_stack);
}

std::vector<trace::PipelineFacts> MergedFacts::facts() const {
  std::vector<trace::PipelineFacts> list;
  for (const auto& [pipeline, known] : known_) {
    if (known.contradiction.empty()) {
      list.push_back(known.facts);
    }
  }
  return list;
}

std::map<std::uint32_t, std::string> MergedFacts::contradictions() const {
  std::map<std::uint32_t, std::string> reasons;
  for (const auto& [pipeline, known] : known_) {
    if (!known.contradiction.empty()) {
      reasons.emplace(pipeline, known.contradiction);
    }
  }
  return reasons;
}

}  // namespace rayreplay::profile
