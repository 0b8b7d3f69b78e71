// The opacity table of a launch (observe_all): the host writes it at submission if it knows the structure's content
// then, and compares it with the actual content afterwards.
#include <algorithm>
#include <cstring>

#include "capture/instrument/probes/record.h"
#include "capture/layer/geometry/opacity.hpp"
#include "capture/layer/geometry/state.hpp"
#include "capture/layer/process.hpp"

namespace rayreplay::layer::geometry {
namespace {

constexpr VkDeviceSize kTableOffset = 16;       // in the host's copy: the flag, then the table
constexpr std::uint64_t kMinTableBytes = 4096;  // a scene may grow between recording and submission

class OpacityOperation final : public Operation {
 public:
  OpacityOperation(State& state, LaunchScene scene, HostBuffer host)
      : state_(state), scene_(std::move(scene)), host_(std::move(host)) {
    clear();
  }

  void submit(Device&) override {
    used_.clear();
    clear();
    attempt("filling the opacity table", [&] {
      std::string why;
      {
        const std::scoped_lock lock(state_.mutex);
        state_.evaluate(scene_);
        why = fill();
      }
      if (!why.empty()) {
        note("observe-all: in some launches only rays with the Opaque flag are observed on opaque geometry: " + why);
      }
    });
    host_.flush();
  }

  [[nodiscard]] bool prompt() const override {
    return false;
  }

  void complete(Drain&) override {
    // If it runs again without submit() (recording has stopped), it must not find the old table.
    clear();
    attempt("checking the opacity table", [&] {
      const std::scoped_lock lock(state_.mutex);
      if (!used_.empty() && (scene_.candidates.front()->content == nullptr ||
                             opacity_table(*scene_.candidates.front()->content) != used_)) {
        note(
            "observe-all: the opacity table of a launch was not that of the structure it used: any-hit shaders may "
            "have run otherwise than without the capture");
      }
    });
  }

 private:
  /// Marks the table as invalid.
  void clear() {
    const std::uint32_t how = RR_OPACITY_RAYS;
    std::memcpy(host_.data, &how, sizeof how);
    host_.flush();
  }

  /// Empty, or the reason for failure. The mutex is held.
  std::string fill() {
    if (!scene_.exact && scene_.candidates.empty()) {
      const auto all = state_.structures.top_levels();
      if (all.size() != 1) {
        return "their acceleration structure is not known";
      }
      scene_.candidates = all;
    }
    if (scene_.candidates.size() != 1) {
      return "they may use one of " + std::to_string(scene_.candidates.size()) + " acceleration structures";
    }
    const StructureObject& structure = *scene_.candidates.front();
    if (structure.pending != 0 || structure.content == nullptr) {
      return "their acceleration structure is built by the same submission or one that has not ended";
    }
    std::vector<std::uint32_t> table = opacity_table(*structure.content);
    if (table.empty()) {
      return "the content of their acceleration structure is not known";
    }
    const std::size_t bytes = table.size() * sizeof(std::uint32_t);
    if (bytes > host_.bytes - kTableOffset) {
      return "the opacity table has no room for their acceleration structure";
    }
    std::memcpy(host_.data + kTableOffset, table.data(), bytes);
    const std::uint32_t holds = RR_OPACITY_TABLE;
    std::memcpy(host_.data, &holds, sizeof holds);
    used_ = std::move(table);
    return {};
  }

  State& state_;
  LaunchScene scene_;
  HostBuffer host_;
  std::vector<std::uint32_t> used_;  ///< of the submission that is under way; empty: none
};

}  // namespace

void State::prepare_opacity(CommandRecording& recording) {
  const bool prepared =
      opacity.address != 0 && attempt("the opacity table of a launch", [&] {
        LaunchScene scene = scene_of(recording, recording.pipeline.get());
        std::uint64_t bytes = kMinTableBytes;
        {
          const std::scoped_lock lock(mutex);
          evaluate(scene);
          for (const StructurePointer& structure : scene.exact ? scene.candidates : structures.top_levels()) {
            if (structure->content != nullptr) {
              bytes = std::max(bytes, std::uint64_t{8} * opacity_table(*structure->content).size());
            }
          }
        }
        bytes = std::min<std::uint64_t>(bytes, opacity.bytes);
        HostBuffer host = device.allocate_readback(kTableOffset + bytes);
        if (!host) {
          throw std::bad_alloc();
        }
        const VkBufferCopy flag{host.offset, RR_CONTROL_OPACITY, sizeof(std::uint32_t)};
        const VkBufferCopy table{host.offset + kTableOffset, 0, bytes};
        const VkBuffer from = host.buffer;
        recording.add(std::make_shared<OpacityOperation>(*this, std::move(scene), std::move(host)));
        device.vk.CmdCopyBuffer(recording.handle, from, device.control.buffer, 1, &flag);
        device.vk.CmdCopyBuffer(recording.handle, from, opacity.buffer, 1, &table);
      });
  if (!prepared) {
    device.vk.CmdFillBuffer(recording.handle, device.control.buffer, RR_CONTROL_OPACITY, sizeof(std::uint32_t),
                            RR_OPACITY_RAYS);
  }
}

}  // namespace rayreplay::layer::geometry
