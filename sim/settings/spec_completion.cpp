#include "sim/settings/spec_completion.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <unordered_map>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/list_items.hpp"
#include "base/registry.hpp"
#include "bvh/builder.hpp"
#include "bvh/layout.hpp"
#include "bvh/node_order.hpp"
#include "bvh/vertex_order.hpp"
#include "scheduler-models/launch_order.hpp"
#include "scheduler-models/packing.hpp"
#include "scheduler-models/regrouping/hints.hpp"
#include "scheduler-models/regrouping/scheduler_model.hpp"
#include "sim/caching/cache_parts.hpp"
#include "sim/machine/warp_scheduler.hpp"
#include "sim/machine/work_distribution.hpp"
#include "sim/memory/images/image_layout.hpp"
#include "sim/memory/results/sums.hpp"
#include "sim/memory/reuse/reuse_engine.hpp"
#include "sim/settings/defaults.hpp"
#include "sim/simt/policies/replay_policy.hpp"
#include "sim/workloads/workload.hpp"
#include "traversal/traversal.hpp"
#include "traversal/warp_traversal.hpp"

namespace rayreplay::experiment {
namespace {

constexpr std::string_view kNone = "none";

using Completion = std::function<std::string(const std::string&)>;

template <class Interface>
std::string of_registry(const std::string& text) {
  return Registry<Interface>::create(text).spec;
}

/// Checks the spec and returns it as written. Specs in lists stay so, like the defaults of lists; the classification,
/// not the registry, decides a missing leaf_size.
template <class Interface>
std::string checked_spec(const std::string& text) {
  static_cast<void>(of_registry<Interface>(text));
  return text;
}

/// Specs separated by ';', without repetitions.
std::string spec_list(const std::string& text, const Completion& complete) {
  std::vector<std::string> specs;
  for (const std::string& item : list_items(text, ';')) {
    std::string spec = complete(item);
    if (std::ranges::find(specs, spec) == specs.end()) {
      specs.push_back(std::move(spec));
    }
  }
  return fmt::format("{}", fmt::join(specs, ";"));
}

template <class Interface>
std::string auto_or_registry(const std::string& text) {
  return text == kAuto ? text : of_registry<Interface>(text);
}

/// Completed by the descriptions of workloads, without creating one. If none is linked, the text is unchanged.
std::string of_workload(const std::string& text) {
  std::vector<std::string> names;
  for (const ModelDescription& model : all_models()) {
    if (model.kind == workloads::Workload::kModelKind) {
      names.push_back(model.name);
    }
  }
  if (names.empty() || text.empty()) {
    return text;
  }
  const ModelSpec spec = parse_spec(text);
  for (const ModelDescription& model : all_models()) {
    if (model.kind == workloads::Workload::kModelKind && model.name == spec.name) {
      return to_spec(spec.name, resolve(model.parameters, spec.settings, "workload '" + spec.name + "'"));
    }
  }
  const std::string near = nearest(spec.name, names);
  throw Error(ErrorKind::Usage,
              {"unknown workload", "", "'" + spec.name + "'", fmt::format("one of {}", fmt::join(names, ", ")),
               near.empty() ? "" : "did you mean '" + near + "'?"});
}

/// Items without surrounding blanks; a repeated name is an error.
template <class Parse>
std::string checked_hints(const std::string& text, Parse parse) {
  std::set<std::string> names;
  std::string result;
  for (const std::string& written : list_items(text, ';')) {
    const std::string item = trimmed(written);
    if (item.empty()) {
      continue;
    }
    const std::string name = parse(item).first;
    if (!names.insert(name).second) {
      throw Error(ErrorKind::Usage,
                  {"two hints have one name", "", "'" + name + "'", "a name of its own for each", ""});
    }
    result += (result.empty() ? "" : ";") + item;
  }
  return result;
}

const std::map<std::string, Completion, std::less<>>& completions() {
  static const std::map<std::string, Completion, std::less<>> list = {
      {"workload", of_workload},
      {"order", auto_or_registry<scheduler::LaunchOrder>},
      {"packing", of_registry<scheduler::Packing>},
      {"policy", of_registry<simt::ReplayPolicy>},
      {"bvh.builder", of_registry<bvh::Builder>},
      {"bvh.layout", of_registry<bvh::Layout>},
      {"bvh.node_order", of_registry<bvh::NodeOrder>},
      {"bvh.vertex_order", of_registry<bvh::VertexOrder>},
      {"traversal.ray", of_registry<traversal::Traversal>},
      {"traversal.warp", of_registry<traversal::WarpTraversal>},
      {"scheduler.model", of_registry<scheduler::SchedulerModel>},
      {"scheduler.hints",
       [](const std::string& text) {
         return checked_hints(text, [](std::string_view item) { return scheduler::parse_hint(item); });
       }},
      {"scheduler.hint_files",
       [](const std::string& text) {
         return checked_hints(text, [](std::string_view item) { return scheduler::parse_hint_file(item); });
       }},
      {"schedule.distribution", auto_or_registry<machine::WorkDistribution>},
      {"schedule.warp_scheduler", of_registry<machine::WarpScheduler>},
      {"stream.image_layout", of_registry<memory::ImageLayout>},
      {"cache.l1.model", [](const std::string& text) { return resolved_model(text, memory::kL1); }},
      {"cache.l2.model", [](const std::string& text) { return resolved_model(text, memory::kL2); }},
      {"cache.reuse_engine", of_registry<memory::ReuseEngine>},
      {"explain.enlarged_layouts",
       [](const std::string& text) { return text == kNone ? text : spec_list(text, checked_spec<bvh::Layout>); }},
      // These builders' leaves hold one primitive unless the spec sets leaf_size.
      {"explain.enlarged_builders",
       [](const std::string& text) { return spec_list(text, checked_spec<bvh::Builder>); }},
      {"explain.hardware_builder", checked_spec<bvh::Builder>},
      {"explain.hardware",
       [](const std::string& text) { return text.empty() ? text : of_registry<traversal::Traversal>(text); }},
      {"explain.hardware_layout", of_registry<bvh::Layout>},
  };
  return list;
}

/// Completed texts by key. Emptied when full: a sweep may sample numbers without end.
class Remembered {
 public:
  std::string get(const std::string& key, const std::string& text, const Completion& complete) {
    {
      const std::shared_lock lock(mutex_);
      if (const auto of_key = known_.find(key); of_key != known_.end()) {
        if (const auto found = of_key->second.find(text); found != of_key->second.end()) {
          return found->second;
        }
      }
    }
    std::string completed = complete(text);
    const std::unique_lock lock(mutex_);
    auto& of_key = known_[key];
    if (of_key.size() >= kMax) {
      of_key.clear();
    }
    of_key.emplace(text, completed);
    return completed;
  }

 private:
  static constexpr std::size_t kMax = 65536;
  std::shared_mutex mutex_;
  std::unordered_map<std::string, std::unordered_map<std::string, std::string>> known_;
};

}  // namespace

std::string completed_text(const ExperimentParameter& parameter, const std::string& text) {
  static Remembered remembered;
  const auto completion = completions().find(parameter.declared.name);
  return completion == completions().end() ? text : remembered.get(parameter.declared.name, text, completion->second);
}

}  // namespace rayreplay::experiment
