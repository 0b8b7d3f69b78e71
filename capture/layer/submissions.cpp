#include "capture/layer/submissions.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <unordered_set>

#include "capture/layer/event_memory.hpp"
#include "capture/layer/geometry/hooks.hpp"
#include "capture/layer/launch_counts.hpp"
#include "capture/layer/pipelines/pipelines.hpp"
#include "capture/layer/pipelines/selection.hpp"
#include "capture/layer/process.hpp"

namespace rayreplay::layer {
namespace {

// A submission may wait for a timeline semaphore that the application signals later: an unbounded wait would deadlock.
// After a timed-out wait the next ones are shorter, so that such an application is hardly slowed down. Without such
// semaphores a submission that does not end is a long one, and waiting keeps the event buffer from filling; the wait
// still ends, for submissions that wait for an event set by the host.
constexpr std::uint64_t kLongPatienceNs = 60'000'000'000;
constexpr std::uint64_t kPatienceNs = 2'000'000'000;
constexpr std::uint64_t kMinPatienceNs = 50'000'000;

/// Notes a launch that was asked for and is not captured.
void miss(const char* why, std::uint32_t number) {
  saw(spool::Sight::MissedLaunch);
  note(why, number);
}

/// observe_all: empty, or why opaque geometry of the launch may be unobserved.
std::string unobserved(const LaunchOperation& launch, const LaunchSlot& slot, const spool::Launch& block) {
  const auto* pipeline = launch.pipeline.get();
  if (pipeline != nullptr && !pipeline->may_trace) {
    return {};
  }
  if (pipeline == nullptr || !pipeline->instrumented || !pipeline->observes_all) {
    return "shaders of its pipeline are left as they are";
  }
  if (const std::uint32_t rays = slot.after.culling - slot.before.culling; rays != 0) {
    return "rays that cull non-opaque geometry keep their flags: " + std::to_string(rays);
  }
  if (!pipeline->any_hits) {
    return {};
  }
  const auto& device = launch.device;
  if (!device.geometry || device.geometry->opacity_address() == 0 || device.ray_flags.address == 0) {
    return "its pipeline has any-hit shaders, and there is no opacity table or memory for ray flags";
  }
  if (slot.opacity != RR_OPACITY_TABLE) {
    return "which geometry is opaque was not known when it was submitted";
  }
  const std::uint64_t words = device.ray_flags.bytes / sizeof(std::uint32_t);
  if (std::uint64_t{block.width} * block.height * block.depth > words) {
    return "ray flags are kept of its first " + std::to_string(words) + " threads only";
  }
  return {};
}

}  // namespace

Submissions::~Submissions() {
  for (const auto& submission : pending_) {
    device_.vk.DestroyFence(device_.handle, submission.fence, nullptr);
  }
  for (auto* fence : fences_) {
    device_.vk.DestroyFence(device_.handle, fence, nullptr);
  }
}

bool Submissions::start() {
  patience_ns_ = kPatienceNs;
  if (!device_.records || !device_.event_memory->made()) {
    return true;
  }
  emptied_on_ = device_.queues.front().get();
  return reader_.reset(*device_.queues.front());
}

bool Submissions::empty_before(Queue& queue) {
  if (!device_.records) {
    return true;
  }
  if (emptied_on_ == nullptr) {
    // No wait: earlier work of the queue may depend on what this thread does next.
    const std::scoped_lock lock(queue.mutex);
    emptied_on_ = reader_.start_reset(queue) ? &queue : nullptr;
    return emptied_on_ != nullptr;
  }
  // Queues run side by side.
  return emptied_on_ == &queue || reader_.is_reset(patience_ns());
}

bool Submissions::upload(const DeviceBuffer& to, std::span<const std::uint32_t> words) {
  return reader_.upload(*device_.queues.front(), to, words);
}

VkResult Submissions::submit(Queue& queue, const std::vector<Batch>& batches, VkFence fence, const Pass& pass) {
  // A command buffer that runs more than once reuses its slots: such batches run and are read one by one.
  bool twice = false;
  attempt("looking at a submission", [&] {
    std::unordered_set<const CommandRecording*> seen;
    for (const auto& batch : batches) {
      for (const auto& recording : batch.recordings) {
        twice |= !seen.insert(recording.get()).second;
      }
    }
  });
  const auto count = static_cast<std::uint32_t>(batches.size());
  const std::scoped_lock lock(mutex_);
  if (!twice) {
    return submit_part(queue, batches, 0, count, fence, pass);
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto result = submit_part(queue, batches, i, 1, i + 1 == count ? fence : VK_NULL_HANDLE, pass);
    if (result != VK_SUCCESS) {
      return result;
    }
  }
  return VK_SUCCESS;
}

VkResult Submissions::submit_part(Queue& queue, const std::vector<Batch>& batches, std::uint32_t first,
                                  std::uint32_t count, VkFence fence, const Pass& pass) {
  std::list<Submission> followed;
  if (!device_.lost.load()) {
    attempt("preparing a submission", [&] {
      poll_locked(0);
      followed = prepare(queue, batches, first, count);
    });
  }
  VkResult result = VK_SUCCESS;
  VkResult own = VK_SUCCESS;
  {
    const std::scoped_lock lock(queue.mutex);
    result = pass(first, count, fence);
    if (result == VK_SUCCESS && !followed.empty()) {
      own = device_.vk.QueueSubmit(queue.handle, 0, nullptr, followed.front().fence);
    }
  }
  if (followed.empty()) {
    return result;
  }
  auto& submission = followed.front();
  if (result != VK_SUCCESS || own != VK_SUCCESS) {
    recycle(submission);
    if (result == VK_ERROR_DEVICE_LOST || own != VK_SUCCESS) {
      give_up(result != VK_SUCCESS ? result : own);
    }
    return result;
  }
  const bool only_watched = std::all_of(submission.items.begin(), submission.items.end(), [](const auto& item) {
    return item.operation->launch() != nullptr ? !item.captured : !item.operation->prompt();
  });
  pending_.splice(pending_.end(), followed);
  pending_count_ = pending_.size();
  attempt("completing a submission", [&] { poll_locked(only_watched ? 0 : patience_ns()); });
  return result;
}

std::list<Submissions::Submission> Submissions::prepare(Queue& queue, const std::vector<Batch>& batches,
                                                        std::uint32_t first, std::uint32_t count) {
  std::list<Submission> followed(1);
  auto& submission = followed.front();
  submission.queue = &queue;
  submission.frame = device_.frame.load();
  const bool trigger = triggered();
  bool launches = false;
  bool frame_end = false;
  std::unordered_map<const Operation*, std::size_t> positions;
  for (std::uint32_t i = first; i < first + count; ++i) {
    frame_end |= batches[i].frame_end;
    for (const auto& recording : batches[i].recordings) {
      submission.recordings.push_back(recording);
      for (const auto& operation : recording->operations) {
        if (operation->plain_launch()) {
          launches = true;
          if (const auto number = process().next_launch++; chosen(submission.frame, number, trigger)) {
            miss(device_.event_memory->failed()
                     ? "there was no memory for events when this launch was written into its command buffer: it is not "
                       "captured"
                     : "this launch was written into its command buffer long before it was submitted, or before the "
                       "trigger file was there, with the application's own shaders: it is not captured",
                 number);
          }
          continue;
        }
        Item item{operation, 0, false};
        if (operation->launch() != nullptr) {
          launches = true;
          item.number = process().next_launch++;
          item.captured = chosen(submission.frame, item.number, trigger);
        }
        const auto [position, fresh] = positions.emplace(operation.get(), submission.items.size());
        if (!fresh) {
          auto& earlier = submission.items[position->second];
          if (earlier.captured) {
            note("a command buffer ran more than once in one batch: only the last run is captured", earlier.number);
          }
          earlier.operation = nullptr;
          position->second = submission.items.size();
        }
        submission.items.push_back(std::move(item));
      }
    }
  }
  std::erase_if(submission.items, [](const auto& item) { return item.operation == nullptr; });
  submission.captures =
      std::any_of(submission.items.begin(), submission.items.end(), [](const auto& item) { return item.captured; });
  if (frame_end || (launches && !device_.swapchain && !device_.frame_boundary)) {
    ++device_.frame;
  }
  if (submission.items.empty()) {
    return {};
  }
  if (fences_.empty()) {
    fences_.reserve(1);
    VkFenceCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
    VkFence fence = VK_NULL_HANDLE;
    const auto made = device_.vk.CreateFence(device_.handle, &info, nullptr, &fence);
    if (made != VK_SUCCESS) {
      give_up(made);
      return {};
    }
    fences_.push_back(fence);  // There is room: see above.
  }
  // An earlier run of the same command buffers shares their gates.
  if (device_.gated ? !pending_.empty() : submission.captures && !pending_.empty()) {
    poll_locked(submission.captures ||
                        std::any_of(pending_.begin(), pending_.end(), [](const auto& other) { return other.captures; })
                    ? patience_ns()
                    : 0);
  }
  // After a timed-out wait the earlier run's counters are about to be overwritten.
  for (auto& other : pending_) {
    for (auto& item : other.items) {
      if (item.captured && positions.contains(item.operation.get())) {
        item.captured = false;
        miss("its command buffer was submitted again before it was seen to finish: this run is not captured",
             item.number);
      }
    }
  }
  // Barriers separate launches of one queue, but not those of two queues running at the same time.
  for (auto& other : pending_) {
    if ((device_.records || device_.counters) && other.queue != &queue && (other.captures || submission.captures)) {
      // The gate opened for one launch is also open for the other.
      const bool both = device_.gated || (other.captures && submission.captures);
      other.overlaps |= both;
      submission.overlaps |= both;
    }
  }
  if (submission.captures && !empty_before(queue)) {
    for (auto& item : submission.items) {
      if (item.captured) {
        item.captured = false;
        miss("the event buffer could not be emptied before this launch: it is not captured", item.number);
      }
    }
    submission.captures = false;
  }
  open_gates(submission);
  // Nothing fails from here on.
  submission.fence = fences_.back();
  fences_.pop_back();
  for (const auto& item : submission.items) {
    item.operation->submit(device_);
  }
  return followed;
}

void Submissions::open_gates(const Submission& submission) const {
  if (!device_.gated) {
    return;
  }
  for (const auto& item : submission.items) {
    if (auto* launch = item.operation->launch()) {
      const std::uint32_t gate = item.captured ? 1 : 0;
      std::memcpy(launch->slot.data + offsetof(LaunchSlot, gate), &gate, sizeof gate);
      launch->slot.flush();
    }
  }
}

bool Submissions::finished(const Submission& submission, std::uint64_t timeout_ns) {
  const auto result = device_.vk.WaitForFences(device_.handle, 1, &submission.fence, VK_TRUE, timeout_ns);
  if (result < 0) {
    give_up(result);
  }
  return result == VK_SUCCESS;
}

std::uint64_t Submissions::patience_ns() const {
  return late_signals_.load() ? patience_ns_ : kLongPatienceNs;
}

void Submissions::poll_locked(std::uint64_t timeout_ns) {
  for (auto at = pending_.begin(); at != pending_.end() && !device_.lost.load();) {
    if (!finished(*at, timeout_ns)) {
      if (timeout_ns > 0) {
        late_signals_ = true;
        patience_ns_ = std::max(kMinPatienceNs, patience_ns_ / 4);
        timeout_ns = 0;
      }
      ++at;
      continue;
    }
    if (timeout_ns > 0) {
      patience_ns_ = std::min(kPatienceNs, patience_ns_ * 2);
    }
    // A thread of the application may hold the queue while it waits for this thread's submission: never block here.
    const std::unique_lock queue_lock(at->queue->mutex, std::try_to_lock);
    if (!queue_lock.owns_lock()) {
      ++at;
      continue;
    }
    std::list<Submission> done;
    done.splice(done.end(), pending_, at++);
    pending_count_ = pending_.size();
    attempt("completing a submission", [&] { complete(done.front()); });
    recycle(done.front());
  }
}

void Submissions::poll() {
  if (pending_count_.load() == 0) {
    return;
  }
  attempt("completing submissions", [this] {
    // If another thread is completing, it takes these too.
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (lock.owns_lock()) {
      poll_locked(0);
    }
  });
}

void Submissions::finish() {
  attempt("completing the last submissions", [this] {
    const std::scoped_lock lock(mutex_);
    poll_locked(kPatienceNs);
    for (const auto& submission : pending_) {
      for (const auto& item : submission.items) {
        if (item.captured) {
          note("the device was destroyed before this launch was seen to finish", item.number);
        }
      }
    }
  });
}

void Submissions::complete(Submission& submission) {
  Drain drain{device_, submission.queue->family, submission.queue->index, submission.frame};
  for (const auto& item : submission.items) {
    if (!attempt("completing an operation", [&] { complete_item(submission, item, drain); }) && item.captured) {
      note("there was no memory to read this launch back: it is not whole", item.number);
    }
    if (device_.lost.load()) {
      return;
    }
  }
  const bool recording =
      std::any_of(pending_.begin(), pending_.end(), [](const auto& other) { return other.captures; });
  if (used_ && !recording) {
    used_ = !reader_.reset(*submission.queue);
  }
}

void Submissions::complete_item(const Submission& submission, const Item& item, Drain& drain) {
  auto* launch = item.operation->launch();
  if (launch == nullptr) {
    item.operation->complete(drain);
  } else if (item.captured) {
    complete_launch(submission, item, *launch, drain);
  }
}

void Submissions::complete_launch(const Submission& submission, const Item& item, LaunchOperation& launch,
                                  Drain& drain) {
  launch.slot.invalidate();
  LaunchSlot slot;
  std::memcpy(&slot, launch.slot.data, sizeof slot);
  spool::Launch block;
  block.device = device_.number;
  block.launch = item.number;
  block.frame = drain.frame;
  block.queue_family = drain.queue_family;
  block.queue = drain.queue;
  block.width = launch.width;
  block.height = launch.height;
  block.depth = launch.depth;
  if (launch.kind == LaunchKind::Indirect && launch.size_known) {
    block.width = slot.size.width;
    block.height = slot.size.height;
    block.depth = slot.size.depth;
  } else if (launch.kind == LaunchKind::Indirect2 && launch.size_known) {
    launch.command.invalidate();
    VkTraceRaysIndirectCommand2KHR command{};
    std::memcpy(&command, launch.command.data, sizeof command);
    block.width = command.width;
    block.height = command.height;
    block.depth = command.depth;
  }
  if (!launch.size_known && (device_.records || device_.swizzle.buffer != VK_NULL_HANDLE)) {
    note("the size of this indirect launch is unknown", item.number);
  }
  if (launch.pipeline) {
    block.pipeline = launch.pipeline->number;
    block.stack_bytes = launch.stack_bytes;
  }
  if (launch.bindings) {
    block.structures = launch.bindings->structures();
  }
  if (launch.tables) {
    block.tables = launch.tables->read();
  }
  if (launch.timestamps) {
    const auto bits = device_.families[drain.queue_family].timestampValidBits;
    const auto times = device_.timestamps->read(*launch.timestamps, bits);
    block.begin_ns = times ? times->first : 0;
    block.end_ns = times ? times->second : 0;
  }
  const auto& wanted = options();
  block.swizzled = device_.swizzle.buffer != VK_NULL_HANDLE && launch.pipeline && launch.pipeline->instrumented &&
                           block.width == wanted.swizzle_width && block.height == wanted.swizzle_height &&
                           block.depth == wanted.swizzle_depth
                       ? 1
                       : 0;
  if (!wanted.swizzle.empty() && block.swizzled == 0 && launch.size_known) {
    note("launches of another size than the swizzle's run without it", item.number);
  }
  if (wanted.observe_all && device_.records) {
    const std::string why =
        submission.overlaps ? "it ran beside a launch of another queue" : unobserved(launch, slot, block);
    block.observe_all = why.empty() ? 1 : 0;
    if (!why.empty()) {
      note("observe-all: not all opaque geometry of this launch is observed: " + why, item.number);
    }
  }
  const auto capacity = device_.events_words;
  auto first = std::min(slot.before.words, capacity);
  auto end = std::min(slot.after.words, capacity);
  if (!device_.records) {
    first = end = 0;
  } else if (submission.overlaps) {
    note("this launch ran beside one of another queue: their records cannot be told apart and are left out",
         item.number);
    first = end = 0;
  } else if (end < first) {
    note("the counters of this launch contradict each other: its records are left out", item.number);
    first = end = 0;
  }
  if (device_.records && !submission.overlaps) {
    // The block holds the counts; ingest reports them.
    for (std::size_t kind = 0; kind < slot.after.dropped.size(); ++kind) {
      block.dropped.push_back(slot.after.dropped.at(kind) - slot.before.dropped.at(kind));
    }
    if (slot.after.words > capacity) {
      end = first + reader_.whole_chunks(*submission.queue, first, end);
    }
  }
  used_ |= device_.records && slot.after.words > 0;
  block.words = end - first;
  if (!spool_block(block)) {
    device_.lost = true;
    return;
  }
  if (launch.bindings) {
    if (const auto images = launch.bindings->images(item.number); !images.descriptors.empty()) {
      spool_block(images);
    }
  }
  if (!submission.overlaps) {
    spool_counts(launch, item.number);
  } else if (launch.counts) {
    note("this launch ran beside one of another queue: it is not counted", item.number);
  }
  ++process().captured;
  std::uint64_t done = 0;
  reader_.read(*submission.queue, first, end - first, [&](const std::uint32_t* words, std::uint64_t count) {
    if (!process().spool.append_events(item.number, done, words, count)) {
      spool_failed();
      device_.lost = true;
      return false;
    }
    done += count;
    return true;
  });
}

void Submissions::give_up(VkResult result) noexcept {
  if (!device_.lost.exchange(true)) {
    attempt("noting a failure", [result] {
      note("the device failed (VkResult " + std::to_string(result) + "): recording on it ends here");
    });
  }
}

void Submissions::recycle(Submission& submission) noexcept {
  if (submission.fence == VK_NULL_HANDLE) {
    return;
  }
  const bool reset = device_.vk.ResetFences(device_.handle, 1, &submission.fence) == VK_SUCCESS;
  if (reset && fences_.size() < fences_.capacity()) {
    fences_.push_back(submission.fence);
  } else {
    device_.vk.DestroyFence(device_.handle, submission.fence, nullptr);
  }
  submission.fence = VK_NULL_HANDLE;
}

}  // namespace rayreplay::layer
