#include "sim/memory/reuse/device_stacks.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <exception>
#include <future>
#include <limits>
#include <map>
#include <mutex>
#include <utility>

#include <fmt/format.h>
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_reduce.h>
#include <oneapi/tbb/task_arena.h>

#include "base/error.hpp"
#include "kernels/accelerator.hpp"
#include "kernels/reuse/reuse.hpp"

namespace rayreplay::memory {
namespace {

namespace tbb = oneapi::tbb;
using kernels::Device;
using kernels::DeviceError;

constexpr const char* kStage = "reuse distances";
constexpr std::size_t kSlice = std::size_t{1} << 18U;     ///< lines of one task
constexpr std::size_t kUploaded = std::size_t{1} << 22U;  ///< lines in one upload
constexpr std::size_t kScratch = std::size_t{1} << 16U;   ///< unwanted distances written to it
constexpr std::uint64_t kMinBatch = std::uint64_t{1} << 16U;
constexpr std::uint64_t kMaxBatch = std::uint64_t{1} << 28U;
constexpr std::uint64_t kMaxHistograms = 4096;  ///< of a batch, on the device
constexpr int kStacksACore = 4;                 ///< with fewer cores per stack than this, each stack uses one core

/// New accesses of one stack in a batch, after its live lines.
struct Part {
  std::size_t stack = 0;
  std::uint64_t begin = 0;  ///< of the call's lines
  std::uint64_t end = 0;
  std::uint64_t place = 0;  ///< in the batch: the live lines, then these
  std::uint64_t live = 0;

  [[nodiscard]] std::uint64_t size() const {
    return live + end - begin;
  }
};

/// A piece of an upload: `lines` go to position `to`.
struct Slice {
  std::span<const std::uint64_t> lines;
  std::uint64_t to = 0;
};

struct Range {
  std::uint64_t low = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t high = 0;
};

/// Device buffers, reused from batch to batch.
struct OnDevice {
  std::uint64_t limit = 0;  ///< accesses that a batch may have
  kernels::ReuseSpace space;
  kernels::UseLinks links;
  std::uint64_t linked = 0;  ///< capacity of `links` in accesses
};

}  // namespace

class DeviceStacks::Impl {
 public:
  Impl(kernels::Accelerator* accelerator, std::size_t stacks, const DeviceStacksOptions& options)
      : accelerator_(accelerator),
        options_(options),
        live_(stacks),
        engines_(stacks),
        histograms_(stacks),
        on_processor_(accelerator == nullptr) {}

  void distances(std::span<const std::uint64_t> lines, std::span<const std::uint64_t> begins,
                 std::span<std::uint32_t> out) {
    if (begins.size() != live_.size() + 1 || begins.front() != 0 || begins.back() != lines.size() ||
        (!out.empty() && out.size() != lines.size())) {
      throw Error(ErrorKind::Internal, {"the begins of streams do not partition the lines", "", "", "", ""});
    }
    lines_ = lines;
    out_ = out;
    next_.assign(begins.begin(), begins.end() - 1);
    end_.assign(begins.begin() + 1, begins.end());
    if (lines.empty()) {
      return;
    }
    if (on_processor_) {
      process();
      return;
    }
    (void)accelerator_->run(
        kStage, {},
        [&](std::span<Device* const> devices) {
          while (!on_processor_ && any_left()) {
            run_batches(devices);
            leave_if_slow();
          }
          if (on_processor_) {
            process();
          }
          return true;
        },
        [&] {
          process();
          return true;
        });
  }

  [[nodiscard]] const std::vector<ReuseHistogram>& histograms() const {
    return histograms_;
  }
  [[nodiscard]] std::uint64_t live_lines() const {
    std::uint64_t sum = 0;
    for (std::size_t stack = 0; stack < live_.size(); ++stack) {
      sum += engines_[stack] != nullptr ? engines_[stack]->live_lines() : live_[stack].size();
    }
    return sum;
  }

 private:
  // On the processor.

  /// Processes all remaining accesses of this call, and of later calls.
  void process() {
    on_processor_ = true;
    devices_.clear();
    if (engine_ == nullptr) {
      const auto cores = static_cast<std::size_t>(tbb::this_task_arena::max_concurrency());
      engine_ = ReuseEngines::create(live_.size() * kStacksACore <= cores ? "offline" : "bitmap").model;
    }
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, live_.size(), 1),
                      [&](const tbb::blocked_range<std::size_t>& range) {
                        for (std::size_t stack = range.begin(); stack < range.end(); ++stack) {
                          process(stack);
                        }
                      });
  }

  void process(std::size_t stack) {
    if (next_[stack] == end_[stack]) {
      return;
    }
    std::vector<std::uint32_t> scratch;
    if (engines_[stack] == nullptr) {
      engines_[stack] = engine_->make();
      scratch.resize(live_[stack].size());
      engines_[stack]->distances(live_[stack], scratch);
      live_[stack] = {};
    }
    for (std::uint64_t& at = next_[stack]; at < end_[stack];) {
      const std::uint64_t size = out_.empty() ? std::min<std::uint64_t>(kScratch, end_[stack] - at) : end_[stack] - at;
      if (out_.empty()) {
        scratch.resize(size);
      }
      const std::span<std::uint32_t> to = out_.empty() ? std::span(scratch) : out_.subspan(at, size);
      engines_[stack]->distances(lines_.subspan(at, size), to);
      histograms_[stack].add(to);
      at += size;
    }
  }

  // On devices.

  [[nodiscard]] bool any_left() const {
    return next_ != end_;
  }

  void leave_if_slow() {
    if (sent_again_ > options_.most_overhead * sent_ + options_.free_overhead && any_left_or_more()) {
      accelerator_->note_cpu(kStage, "the pieces of the stream are short against the lines that live");
      on_processor_ = true;
    }
  }
  [[nodiscard]] bool any_left_or_more() const {
    return any_left() || !options_.once;
  }

  OnDevice& on(Device& device) {
    const auto [it, is_new] = devices_.try_emplace(&device);
    if (is_new) {
      constexpr std::uint64_t kMany = std::uint64_t{1} << 24U;
      const double each = static_cast<double>(kernels::reuse_bytes(kMany, sizeof(std::uint64_t))) / kMany;
      const auto fits = static_cast<std::uint64_t>(static_cast<double>(device.free_bytes()) / 2 / each);
      it->second.limit = options_.batch != 0 ? options_.batch : std::clamp(fits, kMinBatch, kMaxBatch);
    }
    return it->second;
  }

  /// One batch for each device, of different stacks.
  void run_batches(std::span<Device* const> devices) {
    std::uint64_t left = 0;
    for (std::size_t stack = 0; stack < live_.size(); ++stack) {
      left += end_[stack] - next_[stack] + (next_[stack] == end_[stack] ? 0 : live_[stack].size());
    }
    std::vector<std::vector<Part>> batches;
    std::size_t stack = 0;
    for (Device* const device : devices) {
      const std::uint64_t share = std::max<std::uint64_t>(1, (left + devices.size() - 1) / devices.size());
      batches.push_back(fill_batch(stack, on(*device).limit, share));
    }
    std::vector<std::future<void>> others;
    for (std::size_t i = 1; i < devices.size(); ++i) {
      if (!batches[i].empty()) {
        others.push_back(std::async(std::launch::async, [&, i] { run_or_shrink(*devices[i], batches[i]); }));
      }
    }
    std::exception_ptr error;
    try {
      if (!batches[0].empty()) {
        run_or_shrink(*devices[0], batches[0]);
      }
    } catch (...) {
      error = std::current_exception();
    }
    for (std::future<void>& other : others) {
      try {
        other.get();
      } catch (...) {
        error = std::current_exception();
      }
    }
    if (error) {
      std::rethrow_exception(error);
    }
  }

  /// Starts at stack `stack` and advances it; `share`: this device's part of the work, `limit`: its capacity.
  std::vector<Part> fill_batch(std::size_t& stack, std::uint64_t limit, std::uint64_t share) const {
    std::vector<Part> parts;
    std::uint64_t used = 0;
    for (; stack < live_.size() && used < share; ++stack) {
      const std::uint64_t live = live_[stack].size();
      const std::uint64_t wanted = end_[stack] - next_[stack];
      if (wanted == 0) {
        continue;
      }
      if (used + live >= limit) {
        if (parts.empty()) {
          throw DeviceError(kernels::Fault::Memory,
                            {"the live lines of a stack do not fit on the device", kStage, fmt::format("{}", live),
                             fmt::format("less than {}", limit), "--device cpu, or larger lines"});
        }
        break;
      }
      const std::uint64_t taken = std::min(wanted, limit - used - live);
      parts.push_back({stack, next_[stack], next_[stack] + taken, used, live});
      used += live + taken;
    }
    return parts;
  }

  void run_or_shrink(Device& device, const std::vector<Part>& parts) {
    try {
      run_batch(device, parts);
    } catch (const DeviceError& error) {
      OnDevice& here = on(device);
      if (error.fault() != kernels::Fault::Memory || here.limit / 2 < kMinBatch) {
        throw;
      }
      const std::uint64_t tried = parts.back().place + parts.back().size();
      here = {.limit = std::min(here.limit, tried) / 2, .space = {}, .links = {}, .linked = 0};
    }
  }

  [[nodiscard]] std::vector<Slice> slices_of(const std::vector<Part>& parts) const {
    std::vector<Slice> slices;
    const auto add = [&](std::span<const std::uint64_t> lines, std::uint64_t to) {
      for (std::size_t i = 0; i < lines.size(); i += kSlice) {
        slices.push_back({lines.subspan(i, std::min(kSlice, lines.size() - i)), to + i});
      }
    };
    for (const Part& part : parts) {
      add(live_[part.stack], part.place);
      add(lines_.subspan(part.begin, part.end - part.begin), part.place + part.live);
    }
    return slices;
  }

  static Range range_of(const std::vector<Slice>& slices) {
    return tbb::parallel_reduce(
        tbb::blocked_range<std::size_t>(0, slices.size(), 1), Range{},
        [&](const tbb::blocked_range<std::size_t>& range, Range found) {
          for (std::size_t i = range.begin(); i < range.end(); ++i) {
            for (const std::uint64_t line : slices[i].lines) {
              found.low = std::min(found.low, line);
              found.high = std::max(found.high, line);
            }
          }
          return found;
        },
        [](const Range& a, const Range& b) {
          return Range{std::min(a.low, b.low), std::max(a.high, b.high)};
        });
  }

  template <class Key>
  static void upload(kernels::Stream& stream, const kernels::Buffer& keys, const std::vector<Slice>& slices,
                     std::uint64_t low) {
    std::vector<Key> made;
    for (std::size_t first = 0; first < slices.size();) {
      const std::uint64_t begin = slices[first].to;
      std::size_t last = first;
      while (last < slices.size() && slices[last].to + slices[last].lines.size() - begin <= kUploaded) {
        ++last;
      }
      made.resize(slices[last - 1].to + slices[last - 1].lines.size() - begin);
      tbb::parallel_for(first, last, [&](std::size_t i) {
        std::transform(slices[i].lines.begin(), slices[i].lines.end(),
                       made.begin() + static_cast<std::ptrdiff_t>(slices[i].to - begin),
                       [low](std::uint64_t line) { return static_cast<Key>(line - low); });
      });
      stream.upload_array(keys, made, begin);
      first = last;
    }
  }

  void run_batch(Device& device, const std::vector<Part>& parts) {
    const std::uint64_t size = parts.back().place + parts.back().size();
    if (size > kernels::kMostReuseAccesses) {
      throw DeviceError(kernels::Fault::Memory, {"a batch is too long", kStage, fmt::format("{}", size),
                                                 fmt::format("at most {}", kernels::kMostReuseAccesses), ""});
    }
    const std::vector<Slice> slices = slices_of(parts);
    const Range range = range_of(slices);
    const auto bits = static_cast<unsigned>(std::bit_width(range.high - range.low));
    const unsigned key_bytes = bits > 32 ? sizeof(std::uint64_t) : sizeof(std::uint32_t);
    OnDevice& here = on(device);
    make_room(device, here, size, key_bytes);

    // The buffers outlive the device stream, also when an exception is thrown.
    std::vector<std::uint32_t> begins;
    std::vector<std::uint32_t> rows;
    std::vector<std::uint32_t> unwanted;
    std::vector<std::uint32_t> last;
    kernels::Buffer begins_there;
    kernels::Buffer histograms;
    kernels::Buffer pieces_there;
    kernels::Stream stream(device);
    if (key_bytes == sizeof(std::uint64_t)) {
      upload<std::uint64_t>(stream, here.space.keys, slices, range.low);
    } else {
      upload<std::uint32_t>(stream, here.space.keys, slices, range.low);
    }
    begins.reserve(parts.size());
    for (const Part& part : parts) {
      begins.push_back(static_cast<std::uint32_t>(part.place));
    }
    begins_there = device.allocate_array<std::uint32_t>(begins.size(), "beginnings of streams");
    stream.upload_array(begins_there, begins);
    kernels::link_uses(device, stream, size, bits, begins_there, static_cast<std::uint32_t>(begins.size()), here.space,
                       here.links);
    const kernels::Buffer& found = kernels::reuse_distances(device, stream, size, here.links, here.space);

    const bool count_there = parts.size() <= kMaxHistograms;
    if (count_there) {
      std::vector<kernels::HistogramPiece> pieces;
      for (std::uint32_t i = 0; i < parts.size(); ++i) {
        kernels::add_pieces(i, parts[i].place + parts[i].live, parts[i].place + parts[i].size(), pieces);
      }
      rows.resize(parts.size() * kRow);
      histograms = device.allocate_array<std::uint32_t>(rows.size(), "histograms of reuse distances");
      pieces_there = device.allocate_array<kernels::HistogramPiece>(pieces.size(), "pieces of histograms");
      stream.fill(histograms, 0, 0, rows.size() * sizeof(std::uint32_t));
      stream.upload_array(pieces_there, pieces);
      kernels::count_histograms(device, stream, found, pieces_there, pieces.size(), histograms);
      stream.download_array(histograms, rows);
    }
    download(stream, found, parts, count_there, unwanted);
    if (state_wanted(parts)) {
      last.resize((size + 31) / 32);
      stream.download_array(here.links.last, last);
    }
    stream.wait();

    // Nothing below fails, so the state stays consistent.
    count(parts, rows, unwanted);
    if (!last.empty()) {
      keep_live(parts, last);
    }
    const std::lock_guard lock(counting_);
    for (const Part& part : parts) {
      next_[part.stack] = part.end;
      sent_ += part.end - part.begin;
      sent_again_ += part.live;
    }
  }

  static void make_room(Device& device, OnDevice& here, std::uint64_t size, unsigned key_bytes) {
    // The number of live lines grows from call to call.
    const std::uint64_t room = here.linked == 0 ? size : size + size / 8;
    if (here.space.accesses < size || here.space.key_bytes != key_bytes) {
      here.space = {};
      here.space = kernels::make_reuse_space(device, room, key_bytes);
    }
    if (here.linked < size) {
      here.links = {};
      here.linked = 0;
      here.links = kernels::make_use_links(device, room);
      here.linked = room;
    }
  }

  /// Output for distances of new accesses; `unwanted` if they are only needed for histograms.
  void download(kernels::Stream& stream, const kernels::Buffer& found, const std::vector<Part>& parts, bool counted,
                std::vector<std::uint32_t>& unwanted) const {
    if (out_.empty()) {
      if (!counted) {
        unwanted.resize(parts.back().place + parts.back().size());
        stream.download_array(found, unwanted);
      }
      return;
    }
    for (std::size_t i = 0; i < parts.size();) {
      // Consecutive parts without live lines are contiguous in both places.
      const std::uint64_t from = parts[i].place + parts[i].live;
      std::uint64_t end = parts[i].end;
      std::size_t after = i + 1;
      while (after < parts.size() && parts[after].live == 0 && parts[after].begin == end) {
        end = parts[after++].end;
      }
      std::span<std::uint32_t> to = out_.subspan(parts[i].begin, end - parts[i].begin);
      stream.download_array(found, to, from);
      i = after;
    }
  }

  void count(const std::vector<Part>& parts, const std::vector<std::uint32_t>& rows,
             const std::vector<std::uint32_t>& unwanted) {
    tbb::parallel_for(std::size_t{0}, parts.size(), [&](std::size_t i) {
      const Part& part = parts[i];
      ReuseHistogram& histogram = histograms_[part.stack];
      if (!rows.empty()) {
        const std::span<const std::uint32_t> row = std::span(rows).subspan(i * kRow, kRow);
        histogram.add_bins(row.first(kernels::kReuseBins), row.back());
      } else if (!out_.empty()) {
        histogram.add(out_.subspan(part.begin, part.end - part.begin));
      } else {
        histogram.add(std::span(unwanted).subspan(part.place + part.live, part.end - part.begin));
      }
    });
  }

  [[nodiscard]] bool state_wanted(const std::vector<Part>& parts) const {
    return !options_.once ||
           std::any_of(parts.begin(), parts.end(), [&](const Part& part) { return part.end != end_[part.stack]; });
  }

  /// A stack's live lines are the lines of its last accesses, in their order.
  void keep_live(const std::vector<Part>& parts, const std::vector<std::uint32_t>& last) {
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, parts.size(), 1),
                      [&](const tbb::blocked_range<std::size_t>& range) {
                        for (std::size_t i = range.begin(); i < range.end(); ++i) {
                          live_[parts[i].stack] = live_of(parts[i], last);
                        }
                      });
  }

  [[nodiscard]] std::vector<std::uint64_t> live_of(const Part& part, const std::vector<std::uint32_t>& last) const {
    const std::vector<std::uint64_t>& before = live_[part.stack];
    const std::uint64_t size = part.size();
    const std::size_t tasks = (size + kSlice - 1) / kSlice;
    std::vector<std::uint64_t> to(tasks + 1);
    // Calls `take(position in the part)` for every last access of the task.
    const auto each = [&](std::size_t task, const auto& take) {
      const std::uint64_t end = part.place + std::min(size, (task + 1) * kSlice);
      for (std::uint64_t at = part.place + task * kSlice; at < end;) {
        const std::uint64_t first = at % 32;
        const std::uint64_t stop = std::min(end, at - first + 32);
        std::uint32_t bits = last[at / 32] >> first;
        bits &= stop - at == 32 ? ~0U : (1U << (stop - at)) - 1;
        for (; bits != 0; bits &= bits - 1) {
          take(at + static_cast<std::uint64_t>(std::countr_zero(bits)) - part.place);
        }
        at = stop;
      }
    };
    tbb::parallel_for(std::size_t{0}, tasks, [&](std::size_t task) {
      std::uint64_t bits = 0;
      each(task, [&](std::uint64_t) { ++bits; });
      to[task + 1] = bits;
    });
    for (std::size_t task = 0; task < tasks; ++task) {
      to[task + 1] += to[task];
    }
    std::vector<std::uint64_t> after(to[tasks]);
    tbb::parallel_for(std::size_t{0}, tasks, [&](std::size_t task) {
      std::uint64_t* next = after.data() + to[task];
      each(task, [&](std::uint64_t i) { *next++ = i < part.live ? before[i] : lines_[part.begin + i - part.live]; });
    });
    return after;
  }

  static constexpr std::size_t kRow = kernels::kReuseBins + 1;
  static_assert(kernels::kReuseBins == ReuseHistogram::kBins && kernels::kNoReuse == kInfinite);

  kernels::Accelerator* accelerator_;
  DeviceStacksOptions options_;
  std::vector<std::vector<std::uint64_t>> live_;  ///< by stack, in order of last use; for stacks without an engine
  std::vector<std::unique_ptr<ReuseStack>> engines_;
  std::vector<ReuseHistogram> histograms_;
  bool on_processor_;
  std::unique_ptr<ReuseEngine> engine_;
  std::map<Device*, OnDevice> devices_;
  std::mutex counting_;
  std::uint64_t sent_ = 0, sent_again_ = 0;

  // For the current call:
  std::span<const std::uint64_t> lines_;
  std::span<std::uint32_t> out_;
  std::vector<std::uint64_t> next_, end_;  ///< unprocessed accesses, by stack
};

DeviceStacks::DeviceStacks(kernels::Accelerator* accelerator, std::size_t stacks, const DeviceStacksOptions& options)
    : impl_(std::make_unique<Impl>(accelerator, stacks, options)) {}

DeviceStacks::~DeviceStacks() = default;

void DeviceStacks::distances(std::span<const std::uint64_t> lines, std::span<const std::uint64_t> begins,
                             std::span<std::uint32_t> out) {
  impl_->distances(lines, begins, out);
}

const std::vector<ReuseHistogram>& DeviceStacks::histograms() const {
  return impl_->histograms();
}

std::uint64_t DeviceStacks::live_lines() const {
  return impl_->live_lines();
}

std::vector<std::uint32_t> distances_of_streams(std::span<const std::uint64_t> lines,
                                                std::span<const std::uint64_t> begins,
                                                kernels::Accelerator* accelerator) {
  DeviceStacks stacks(accelerator, begins.size() - 1, {.once = true});
  std::vector<std::uint32_t> result(lines.size());
  stacks.distances(lines, begins, result);
  return result;
}

std::vector<ReuseHistogram> histograms_of_streams(std::span<const std::uint64_t> lines,
                                                  std::span<const std::uint64_t> begins,
                                                  kernels::Accelerator* accelerator) {
  DeviceStacks stacks(accelerator, begins.size() - 1, {.once = true});
  stacks.distances(lines, begins, {});
  return stacks.histograms();
}

}  // namespace rayreplay::memory
