// The top-level structures of a launch.
#include <algorithm>

#include "capture/layer/geometry/state.hpp"
#include "capture/layer/pipelines/pipelines.hpp"
#include "capture/layer/process.hpp"

namespace rayreplay::layer::geometry {
namespace {

void add_unique(std::vector<StructurePointer>& to, const StructurePointer& structure) {
  if (structure != nullptr && std::find(to.begin(), to.end(), structure) == to.end()) {
    to.push_back(structure);
  }
}

/// Reads the descriptors when the launch is submitted.
class SceneOperation final : public Operation {
 public:
  SceneOperation(State& state, std::shared_ptr<LaunchScene> scene) : state_(state), scene_(std::move(scene)) {}

  void submit(Device&) override {
    attempt("finding the structures of a launch", [&] {
      const std::scoped_lock lock(state_.mutex);
      state_.evaluate(*scene_);
    });
  }
  [[nodiscard]] bool prompt() const override {
    return false;
  }
  void complete(Drain&) override {}  // done by StructureChoice::resolve for captured launches

 private:
  State& state_;
  std::shared_ptr<LaunchScene> scene_;
};

class Choice final : public StructureChoice {
 public:
  Choice(State& state, std::shared_ptr<LaunchScene> scene) : state_(state), scene_(std::move(scene)) {}

  std::vector<std::uint32_t> resolve() override {
    std::vector<std::uint32_t> numbers;
    if (scene_ == nullptr) {
      return numbers;  // no memory when the launch was recorded (noted)
    }
    attempt("writing the structures of a launch", [&] {
      const std::scoped_lock lock(state_.mutex);
      std::vector<StructurePointer> used = scene_->candidates;
      if (!scene_->exact) {
        for (const StructurePointer& structure : state_.structures.top_levels()) {
          add_unique(used, structure);
        }
      }
      for (const StructurePointer& structure : used) {
        const std::uint32_t number = state_.write(*structure);
        if (number != spool::kNone && std::find(numbers.begin(), numbers.end(), number) == numbers.end()) {
          numbers.push_back(number);
        }
      }
    });
    return numbers;
  }

 private:
  State& state_;
  std::shared_ptr<LaunchScene> scene_;
};

}  // namespace

LaunchScene State::scene_of(const CommandRecording& recording, const PipelineRecord* pipeline) {
  LaunchScene scene;
  if (pipeline != nullptr) {
    scene.sites = pipeline->sites;
    scene.sites_known = !pipeline->sites.empty();
  }
  if (recording.descriptors != nullptr) {
    scene.bound = *std::static_pointer_cast<const BoundSets>(recording.descriptors);
  }
  return scene;
}

void State::evaluate(LaunchScene& scene) {
  scene.candidates.clear();
  scene.exact = scene.sites_known;
  const auto structures_in = [&](const BoundSets::Slot& slot) -> const SetStructures* {
    return slot.unknown ? nullptr : slot.set == VK_NULL_HANDLE ? &slot.pushed : descriptors.get(slot.set);
  };
  for (const instrument::TraceSite& site : scene.sites) {
    const auto slot = scene.bound.slots.find(site.set);
    const SetStructures* held = !site.bound || slot == scene.bound.slots.end() ? nullptr : structures_in(slot->second);
    bool found = false;
    if (held != nullptr) {
      for (auto at = held->lower_bound({site.binding, 0}); at != held->end() && at->first.first == site.binding; ++at) {
        const StructurePointer structure = structures.get(at->second);
        add_unique(scene.candidates, structure);
        found = found || structure != nullptr;
      }
    }
    scene.exact = scene.exact && found;
  }
  if (!scene.exact) {
    // Unknown shader or address: any bound structure is likelier than an unbound one.
    for (const auto& [number, slot] : scene.bound.slots) {
      if (const SetStructures* held = structures_in(slot)) {
        for (const auto& [place, handle] : *held) {
          add_unique(scene.candidates, structures.get(handle));
        }
      }
    }
  }
}

std::unique_ptr<StructureChoice> State::launch_structures(CommandRecording& recording, const PipelineRecord* pipeline) {
  std::shared_ptr<LaunchScene> scene;
  attempt("finding the structures of a launch", [&] {
    auto made = std::make_shared<LaunchScene>(scene_of(recording, pipeline));
    recording.add(std::make_shared<SceneOperation>(*this, made));
    scene = std::move(made);
  });
  return std::make_unique<Choice>(*this, std::move(scene));
}

}  // namespace rayreplay::layer::geometry
