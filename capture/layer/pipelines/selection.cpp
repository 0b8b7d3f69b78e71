#include "capture/layer/pipelines/selection.hpp"

#include <unistd.h>

#include "capture/layer/process.hpp"

namespace rayreplay::layer {
namespace {

// Bounds on the frames and launches between recording and submission. Command buffers submitted once: a few frames in
// flight, with reserve for programs that record many before they submit the first. Others may be kept for the whole
// run: a hundred thousand frames are half an hour at 60 a second.
constexpr std::uint64_t kFramesAheadOnce = 64;
constexpr std::uint64_t kFramesAhead = 100'000;
constexpr std::uint64_t kLaunchesAheadOnce = 4'096;
constexpr std::uint64_t kLaunchesAhead = 1'000'000;

bool near(const Range& range, std::uint64_t now, std::uint64_t ahead) {
  return range.last >= now && range.first <= now + ahead;
}

}  // namespace

bool triggered() {
  const auto& file = options().trigger_file;
  return file.empty() || access(file.c_str(), F_OK) == 0;
}

bool chosen(std::uint32_t frame, std::uint32_t number, bool triggered) {
  const auto& wanted = options();
  return triggered && (!wanted.frames || wanted.frames->contains(frame)) &&
         (!wanted.launch || wanted.launch->contains(number));
}

bool may_be_chosen(const Device& device, bool once) {
  const auto& wanted = options();
  if (wanted.frames && !near(*wanted.frames, device.frame.load(), once ? kFramesAheadOnce : kFramesAhead)) {
    return false;
  }
  if (wanted.launch &&
      !near(*wanted.launch, process().next_launch.load(), once ? kLaunchesAheadOnce : kLaunchesAhead)) {
    return false;
  }
  // The file may appear at any time, but a command buffer submitted once is submitted soon.
  return !once || triggered();
}

}  // namespace rayreplay::layer
