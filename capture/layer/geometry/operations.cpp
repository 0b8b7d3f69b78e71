#include "capture/layer/geometry/operations.hpp"

#include <utility>

#include "capture/layer/process.hpp"

namespace rayreplay::layer::geometry {
namespace {

/// Larger serialised structures are not recognised when deserialised.
constexpr std::uint64_t kSerializedMost = std::uint64_t{1} << 30U;

/// An operation that gives structures new contents; the structures are pending during a submission.
class ContentOperation : public Operation {
 public:
  explicit ContentOperation(State& state) : state_(state) {}

  void submit(Device&) override {
    const std::scoped_lock lock(state_.mutex);
    for_each_target([](StructureObject& target) { ++target.pending; });
  }
  void complete(Drain&) override {
    const bool taken = attempt("keeping the content of acceleration structures", [&] {
      const std::scoped_lock lock(state_.mutex);
      take();
    });
    const std::scoped_lock lock(state_.mutex);
    if (!taken) {
      for_each_target([](StructureObject& target) { target.content = nullptr; });  // unknown is better than outdated
    }
    for_each_target([](StructureObject& target) { target.pending -= target.pending != 0 ? 1 : 0; });
  }

 protected:
  virtual void for_each_target(void (*visit)(StructureObject&)) = 0;
  /// The mutex is held.
  virtual void take() = 0;

  State& state_;
};

class BuildOperation final : public ContentOperation {
 public:
  BuildOperation(State& state, std::vector<BuildPlan> plans, std::unique_ptr<CopyBatch> batch)
      : ContentOperation(state), plans_(std::move(plans)), batch_(std::move(batch)) {}

 private:
  void for_each_target(void (*visit)(StructureObject&)) override {
    for (const BuildPlan& plan : plans_) {
      visit(*plan.target);
    }
  }
  void take() override {
    batch_->invalidate();
    for (const BuildPlan& plan : plans_) {
      state_.set_content(*plan.target, content_of(plan, *batch_, state_.structures));
    }
  }

  std::vector<BuildPlan> plans_;
  std::unique_ptr<CopyBatch> batch_;
};

class CopyOperation final : public ContentOperation {
 public:
  CopyOperation(State& state, StructurePointer from, StructurePointer to)
      : ContentOperation(state), from_(std::move(from)), to_(std::move(to)) {}

 private:
  void for_each_target(void (*visit)(StructureObject&)) override {
    visit(*to_);
  }
  void take() override {
    set_copied(state_, *from_, *to_);
  }

  StructurePointer from_, to_;
};

class SerializeOperation final : public ContentOperation {
 public:
  SerializeOperation(State& state, StructurePointer from, std::unique_ptr<CopyBatch> batch)
      : ContentOperation(state), from_(std::move(from)), batch_(std::move(batch)) {}

 private:
  void for_each_target(void (*)(StructureObject&)) override {}
  void take() override {
    batch_->invalidate();
    const Window window = batch_->window(0);
    const auto view = window.data == nullptr ? std::nullopt : view_serialized({window.data, window.bytes});
    if (view) {
      state_.serialized.put(*view, from_->content);
    } else {
      note(state_.describe(*from_) + " was serialised to memory that could not be read (" + window.missing +
           "): structures deserialised from it will be unknown");
    }
  }

  StructurePointer from_;
  std::unique_ptr<CopyBatch> batch_;
};

class DeserializeOperation final : public ContentOperation {
 public:
  DeserializeOperation(State& state, StructurePointer to, std::unique_ptr<CopyBatch> batch)
      : ContentOperation(state), to_(std::move(to)), batch_(std::move(batch)) {}

 private:
  void for_each_target(void (*visit)(StructureObject&)) override {
    visit(*to_);
  }
  void take() override {
    batch_->invalidate();
    set_deserialized(state_, *to_, batch_->window(0));
  }

  StructurePointer to_;
  std::unique_ptr<CopyBatch> batch_;
};

}  // namespace

void set_copied(State& state, const StructureObject& from, StructureObject& to) {
  if (from.content != nullptr) {
    state.structures.set_content(to, from.content);
    return;
  }
  Content unknown;
  unknown.top_level = from.top_level;
  unknown.missing = "it was copied from a structure whose build was not seen";
  state.set_content(to, std::move(unknown));
}

void set_deserialized(State& state, StructureObject& to, const Window& window) {
  const auto view = window.data == nullptr ? std::nullopt : view_serialized({window.data, window.bytes});
  std::shared_ptr<Content> content = view ? state.serialized.get(*view, state.structures, state.contents) : nullptr;
  if (content != nullptr) {
    state.structures.set_content(to, std::move(content));
    return;
  }
  Content unknown;
  unknown.top_level = to.top_level;
  unknown.missing = view ? "it was deserialised from data that was not serialised in this process"
                         : "it was deserialised from memory that could not be read: " + window.missing;
  state.set_content(to, std::move(unknown));
}

bool still_wanted(const State& state) {
  const Options& wanted = options();
  if (wanted.observe_all) {
    return true;  // the opacity table follows what is built
  }
  return !state.device.lost.load() && (!wanted.frames || state.device.frame.load() <= wanted.frames->last) &&
         (!wanted.launch || process().next_launch.load() <= wanted.launch->last);
}

void record_builds(State& state, CommandRecording& recording, std::vector<BuildPlan> plans) {
  if (!still_wanted(state)) {
    return;
  }
  attempt("copying what acceleration structures are built from", [&] {
    auto batch = std::make_unique<CopyBatch>(state.budget);
    {
      const std::scoped_lock lock(state.mutex);
      for (BuildPlan& plan : plans) {
        add_copies(plan, state.buffers, *batch);
      }
    }
    auto& copies = *batch;
    recording.add(std::make_shared<BuildOperation>(state, std::move(plans), std::move(batch)));
    copies.record(recording);
  });
}

void record_copy(State& state, CommandRecording& recording, StructurePointer from, StructurePointer to) {
  attempt("following a copied acceleration structure",
          [&] { recording.add(std::make_shared<CopyOperation>(state, std::move(from), std::move(to))); });
}

void record_serialize(State& state, CommandRecording& recording, StructurePointer from, VkDeviceAddress to) {
  if (!still_wanted(state)) {
    return;
  }
  attempt("following a serialised acceleration structure", [&] {
    auto batch = std::make_unique<CopyBatch>(state.budget);
    {
      const std::scoped_lock lock(state.mutex);
      batch->add_rest(state.buffers, to, kSerializedMost);
    }
    auto& copies = *batch;
    recording.add(std::make_shared<SerializeOperation>(state, std::move(from), std::move(batch)));
    copies.record(recording);
  });
}

void record_deserialize(State& state, CommandRecording& recording, VkDeviceAddress from, StructurePointer to) {
  if (!still_wanted(state)) {
    return;
  }
  attempt("following a deserialised acceleration structure", [&] {
    auto batch = std::make_unique<CopyBatch>(state.budget);
    {
      const std::scoped_lock lock(state.mutex);
      batch->add_rest(state.buffers, from, kSerializedMost);
    }
    auto& copies = *batch;
    recording.add(std::make_shared<DeserializeOperation>(state, std::move(to), std::move(batch)));
    copies.record(recording);
  });
}

}  // namespace rayreplay::layer::geometry
