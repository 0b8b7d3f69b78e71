#include "sim/engine/stages/assignment.hpp"

#include <optional>
#include <string>
#include <utility>

#include "sim/engine/stage_registry.hpp"
#include "sim/engine/stage_settings.hpp"
#include "sim/engine/stages/input.hpp"
#include "sim/engine/stored_packing.hpp"
#include "sim/launch/warps.hpp"

namespace rayreplay::experiment {
namespace {

using scheduler::WarpAssignment;

constexpr const char* kStoredPacking = "packing";
constexpr const char* kIdentity = "identity";
constexpr std::uint64_t kThreadBytes = 16;

std::uint64_t bytes_of(const WarpAssignment& assignment) {
  return (assignment.thread_at.size() + 2 * assignment.warps()) * sizeof(std::uint32_t);
}

Key by_product(const char* name, const Experiment& experiment, bool ordered) {
  static const Stage kInput = stage("input");
  const TraceDecisions decided = decisions(*experiment.settings, *experiment.facts);
  KeyMaker key;
  key.add(name).add(experiment.key(kInput)).add(std::to_string(experiment.settings->integer("launch")));
  key.add(std::to_string(decided.warp_size));
  return ordered ? key.add(decided.order).key() : key.key();
}

Key order_key(const Experiment& experiment) {
  return by_product("launch order", experiment, true);
}

Key bound_key(const Experiment& experiment) {
  return by_product("bound", experiment, false);
}

}  // namespace

std::shared_ptr<const WarpAssignment> launch_order(Workbench& bench, const Experiment& experiment) {
  return bench.shared<WarpAssignment>(order_key(experiment), [&] {
    const auto data = input(bench, experiment);
    const Resolved resolved = resolved_of(*experiment.settings, data->trace, false);
    auto order = std::make_shared<const WarpAssignment>(
        in_order(data->trace.launches[resolved.launch], resolved.order, resolved.warp_size));
    const std::uint64_t bytes = bytes_of(*order);
    return std::pair(std::move(order), bytes);
  });
}

std::shared_ptr<const WarpAssignment> assignment(Workbench& bench, const Experiment& experiment) {
  static const Stage self = stage("assignment");
  const Key& key = experiment.key(self);
  return bench.shared<WarpAssignment>(key, [&] {
    // Identity is cheaper to compute than to read from the store.
    const std::string& packing = experiment.settings->text("packing");
    Store* const store = packing == kIdentity ? nullptr : bench.store();
    std::optional<WarpAssignment> packed;
    if (store != nullptr) {
      if (const auto bytes = store->get(kStoredPacking, hex(key))) {
        packed = read_packing(*bytes, experiment.launch().size.threads());
      }
    }
    if (!packed) {
      const auto data = input(bench, experiment);
      const Resolved resolved = resolved_of(*experiment.settings, data->trace, false);
      const auto order = launch_order(bench, experiment);
      packed = pack(data->trace.launches[resolved.launch], *order, resolved.packings.back(),
                    bench.on_device(data, resolved.launch));
      if (store != nullptr) {
        store->put(kStoredPacking, hex(key), write_packing(*packed));
      }
    }
    const std::uint64_t bytes = bytes_of(*packed);
    return std::pair(std::make_shared<const WarpAssignment>(std::move(*packed)), bytes);
  });
}

std::shared_ptr<const scheduler::Bound> bound(Workbench& bench, const Experiment& experiment) {
  return bench.shared<scheduler::Bound>(bound_key(experiment), [&] {
    const auto data = input(bench, experiment);
    const Resolved resolved = resolved_of(*experiment.settings, data->trace, false);
    return std::pair(
        std::make_shared<const scheduler::Bound>(scheduler::lower_bound(
            data->trace.launches[resolved.launch], resolved.warp_size, bench.on_device(data, resolved.launch))),
        std::uint64_t{sizeof(scheduler::Bound)});
  });
}

scheduler::Swizzle swizzle_of(Workbench& bench, const Experiment& experiment) {
  const auto data = input(bench, experiment);
  const auto order = launch_order(bench, experiment);
  const auto launch = static_cast<std::uint32_t>(experiment.settings->integer("launch"));
  return scheduler::Packings::create(experiment.settings->text("packing"))
      .model->compute_on(launch_of(*data, experiment), *order, bench.on_device(data, launch));
}

namespace {

constexpr StageCode kCode = {
    .estimate_bytes = [](const Experiment& experiment) { return experiment.launch().size.threads() * kThreadBytes; },
    .gives_result = true,
    .stored = kStoredPacking,
};

const StageRegistrar kRegistrar({.name = "assignment",
                                 .text = "Which thread runs in which lane: launch order and packing",
                                 .position = 20,
                                 .takes = {"input"}},
                                &kCode);

}  // namespace
}  // namespace rayreplay::experiment
