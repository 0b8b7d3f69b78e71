#include "sim/simt/warp_recorder.hpp"

#include <string>
#include <utility>

#include "base/error.hpp"
#include "sim/simt/call_dictionary.hpp"
#include "sim/simt/job.hpp"
#include "sim/simt/kernel/kernel.hpp"

namespace rayreplay::simt {
namespace {

class Recording {
 public:
  virtual ~Recording() = default;
  virtual void record(std::span<const std::uint32_t> segment_at, const CallDictionary& dictionary,
                      std::vector<WarpEvent>& events) = 0;
};

template <class Code>
class RecordingOf final : public Recording {
 public:
  RecordingOf(const kernel::Entries<Code>& entries, const CallDictionary& dictionary, const Pieces& pieces,
              std::size_t shaders, Policy policy)
      : entries_(entries),
        prepared_(prepare<Code>(dictionary, shaders, pieces, policy, {})),
        memory_(dictionary.calls.size()) {}

  void record(std::span<const std::uint32_t> segment_at, const CallDictionary& dictionary,
              std::vector<WarpEvent>& events) override {
    prepared_.job.thread_at = segment_at.data();
    prepared_.job.places = segment_at.size();
    memory_.recorded.clear();
    kernel::Worker<Code> worker = memory_.worker(false);
    entries_.record(prepared_.job, worker, 0);
    for (const kernel::CodedEvent& event : memory_.recorded) {
      const Call call = dictionary.calls[event.code];
      events.push_back({call.kind, call.shader, event.mask});
    }
  }

 private:
  kernel::Entries<Code> entries_;
  PreparedJob<Code> prepared_;
  WorkerMemory<Code> memory_;
};

}  // namespace

struct WarpRecorder::State {
  std::uint32_t warp_size = 0;
  CallDictionary dictionary;
  std::unique_ptr<Recording> recording;
  std::vector<WarpEvent> events;
};

WarpRecorder::WarpRecorder(const trace::Launch& launch, const std::vector<trace::Shader>& shaders,
                           std::span<const std::uint64_t> event_offset, std::uint32_t warp_size, Policy policy)
    : state_(std::make_unique<State>()) {
  check_replay_inputs(shaders.size(), warp_size, {});
  const Pieces pieces{launch.data.events, event_offset, {}, warp_size};
  const kernel::Kernel& kernel = *kernel::kernels().front();
  state_->warp_size = warp_size;
  state_->dictionary = make_call_dictionary(launch, shaders, policy);
  if (state_->dictionary.narrow()) {
    state_->recording =
        std::make_unique<RecordingOf<std::uint8_t>>(kernel.narrow, state_->dictionary, pieces, shaders.size(), policy);
  } else {
    state_->recording =
        std::make_unique<RecordingOf<std::uint16_t>>(kernel.wide, state_->dictionary, pieces, shaders.size(), policy);
  }
}

WarpRecorder::~WarpRecorder() = default;
WarpRecorder::WarpRecorder(WarpRecorder&& other) noexcept = default;

std::span<const WarpEvent> WarpRecorder::record(std::span<const std::uint32_t> segment_at) {
  if (segment_at.size() != state_->warp_size) {
    throw Error(ErrorKind::Internal,
                {"a warp to be recorded has the wrong size", "warp", std::to_string(segment_at.size()) + " places",
                 std::to_string(state_->warp_size), ""});
  }
  state_->events.clear();
  state_->recording->record(segment_at, state_->dictionary, state_->events);
  return state_->events;
}

}  // namespace rayreplay::simt
