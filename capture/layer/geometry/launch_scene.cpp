// The top-level structures and the images of a launch.
#include <algorithm>
#include <string>
#include <unordered_map>

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
    attempt("finding what a launch is bound to", [&] {
      const std::scoped_lock lock(state_.mutex);
      state_.evaluate(*scene_);
    });
  }
  [[nodiscard]] bool prompt() const override {
    return false;
  }
  void complete(Drain&) override {}  // done by LaunchBindings for captured launches

 private:
  State& state_;
  std::shared_ptr<LaunchScene> scene_;
};

class Bindings final : public LaunchBindings {
 public:
  Bindings(State& state, std::shared_ptr<LaunchScene> scene) : state_(state), scene_(std::move(scene)) {}

  std::vector<std::uint32_t> structures() override {
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

  spool::Images images(std::uint32_t launch) override {
    spool::Images block;
    if (scene_ == nullptr || !state_.descriptors.follows_images()) {
      return block;
    }
    const bool done = attempt("listing the images of a launch", [&] {
      if (!scene_->images_known) {
        note("the images in descriptor buffers are not known", launch);
      }
      block.launch = launch;
      std::unordered_map<const spool::Image*, std::uint32_t> places;
      for (const LaunchImage& held : scene_->images) {
        if (held.view->image == nullptr) {
          note("the image of set " + std::to_string(held.set) + ", binding " + std::to_string(held.binding) +
                   " is not known: " + held.view->missing,
               launch);
          continue;
        }
        const auto [place, fresh] =
            places.emplace(held.view->image.get(), static_cast<std::uint32_t>(block.images.size()));
        if (fresh) {
          block.images.push_back(*held.view->image);
        }
        block.descriptors.push_back({held.set, held.binding, held.element, place->second, held.view->format,
                                     held.view->base_layer, held.view->base_level, held.filter});
      }
    });
    return done ? block : spool::Images{};
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

const SetContents* State::contents_of(const BoundSets::Slot& slot) const {
  return slot.unknown ? nullptr : slot.set == VK_NULL_HANDLE ? &slot.pushed : descriptors.get(slot.set);
}

void State::evaluate(LaunchScene& scene) {
  scene.candidates.clear();
  scene.exact = scene.sites_known;
  for (const instrument::TraceSite& site : scene.sites) {
    const auto slot = scene.bound.slots.find(site.set);
    const SetContents* held = !site.bound || slot == scene.bound.slots.end() ? nullptr : contents_of(slot->second);
    bool found = false;
    if (held != nullptr) {
      for (auto at = held->lower_bound({site.binding, 0}); at != held->end() && at->first.first == site.binding; ++at) {
        const StructurePointer structure = structures.get(at->second.structure);
        add_unique(scene.candidates, structure);
        found = found || structure != nullptr;
      }
    }
    scene.exact = scene.exact && found;
  }
  if (!scene.exact) {
    // Unknown shader or address: any bound structure is likelier than an unbound one.
    for (const auto& [number, slot] : scene.bound.slots) {
      if (const SetContents* held = contents_of(slot)) {
        for (const auto& [place, descriptor] : *held) {
          add_unique(scene.candidates, structures.get(descriptor.structure));
        }
      }
    }
  }
  if (descriptors.follows_images()) {
    find_images(scene);
  }
}

void State::find_images(LaunchScene& scene) const {
  scene.images.clear();
  scene.images_known = true;
  for (const auto& [set, slot] : scene.bound.slots) {
    const SetContents* held = contents_of(slot);
    scene.images_known = scene.images_known && !slot.unknown;
    if (held == nullptr) {
      continue;
    }
    for (const auto& [place, descriptor] : *held) {
      // A destroyed view stands in a descriptor that no shader may use any more.
      if (descriptor.view != nullptr && descriptor.view->alive) {
        scene.images.push_back({set, place.first, place.second, descriptor.view, descriptor.filter});
      }
    }
  }
}

std::unique_ptr<LaunchBindings> State::launch_bindings(CommandRecording& recording, const PipelineRecord* pipeline) {
  std::shared_ptr<LaunchScene> scene;
  attempt("finding what a launch is bound to", [&] {
    auto made = std::make_shared<LaunchScene>(scene_of(recording, pipeline));
    recording.add(std::make_shared<SceneOperation>(*this, made));
    scene = std::move(made);
  });
  return std::make_unique<Bindings>(*this, std::move(scene));
}

}  // namespace rayreplay::layer::geometry
