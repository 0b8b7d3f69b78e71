// Exact reuse distances of several LRU stacks (sim/memory/reuse/reuse_stacks.hpp) on devices.
//
// Contract: a call runs in batches as large as fit on the device. A stack's live lines, oldest use first, precede its
// new accesses in the batch: they are all of the past that matters, and their own distances are dropped. They cost as
// much as that many accesses: where calls are short against the live lines, the processor takes over. Memory: a bit an
// access of a batch; device memory: reuse.hpp. Errors: DeviceError.
#include <algorithm>
#include <atomic>
#include <bit>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include <fmt/format.h>
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_reduce.h>

#include "kernels/on_each.hpp"
#include "kernels/reuse/reuse.hpp"
#include "kernels/reuse/upload.hpp"
#include "kernels/twins.hpp"
#include "sim/memory/reuse/reuse_stacks.hpp"

namespace rayreplay::kernels {
namespace {

namespace tbb = oneapi::tbb;

constexpr const char* kStage = "reuse distances";
constexpr std::size_t kSlice = std::size_t{1} << 18U;     ///< lines that one task works on
constexpr std::size_t kUploaded = std::size_t{1} << 22U;  ///< lines that are made ready at a time
constexpr std::uint64_t kMinBatch = std::uint64_t{1} << 16U;
constexpr std::uint64_t kMaxBatch = std::uint64_t{1} << 28U;
constexpr std::uint64_t kMaxHistograms = 4096;  ///< of a batch, on the device

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

/// Device buffers, reused from batch to batch.
struct OnDevice {
  std::uint64_t limit = 0;  ///< accesses of a batch
  ReuseSpace space;
  UseLinks links;
  std::uint64_t linked = 0;  ///< accesses that `links` has room for
};

class StackBatches {
 public:
  /// Runs until all accesses are done; false: the processor is faster.
  bool work(std::span<Device* const> devices, memory::StackState& state) {
    state_ = &state;
    while (state.any_left()) {
      run_batches(devices);
      if (is_slow()) {
        state.accelerator->note_cpu(kStage, "the pieces of the stream are short against the lines that live");
        return false;
      }
    }
    return true;
  }

 private:
  [[nodiscard]] bool is_slow() const {
    const memory::ReuseStacksOptions& options = state_->options;
    return sent_again_ > options.most_overhead * sent_ + options.free_overhead && (state_->any_left() || !options.once);
  }

  OnDevice& on(Device& device) {
    const auto [it, is_new] = devices_.try_emplace(&device);
    if (is_new) {
      it->second.limit = state_->options.batch != 0
                             ? state_->options.batch
                             : std::clamp(accesses_that_fit(device, 0.5, reuse_bytes), kMinBatch, kMaxBatch);
    }
    return it->second;
  }

  /// One batch for each device, of different stacks.
  void run_batches(std::span<Device* const> devices) {
    std::uint64_t left = 0;
    for (std::size_t stack = 0; stack < state_->live.size(); ++stack) {
      left += state_->end[stack] - state_->next[stack] +
              (state_->next[stack] == state_->end[stack] ? 0 : state_->live[stack].size());
    }
    std::vector<std::vector<Part>> batches;
    std::size_t stack = 0;
    for (Device* const device : devices) {
      const std::uint64_t share = std::max<std::uint64_t>(1, (left + devices.size() - 1) / devices.size());
      batches.push_back(fill_batch(stack, on(*device).limit, share));
    }
    on_each(devices.size(), [&](std::size_t i) {
      if (!batches[i].empty()) {
        run_or_shrink(*devices[i], batches[i]);
      }
    });
  }

  /// Starts at stack `stack` and advances it; `share`: this device's part of the work, `limit`: its capacity.
  std::vector<Part> fill_batch(std::size_t& stack, std::uint64_t limit, std::uint64_t share) const {
    std::vector<Part> parts;
    std::uint64_t used = 0;
    for (; stack < state_->live.size() && used < share; ++stack) {
      const std::uint64_t live = state_->live[stack].size();
      const std::uint64_t wanted = state_->end[stack] - state_->next[stack];
      if (wanted == 0) {
        continue;
      }
      if (used + live >= limit) {
        if (parts.empty()) {
          throw DeviceError(Fault::Memory,
                            {"the live lines of a stack do not fit on the device", kStage, fmt::format("{}", live),
                             fmt::format("less than {}", limit), "--device cpu, or larger lines"});
        }
        break;
      }
      const std::uint64_t taken = std::min(wanted, limit - used - live);
      parts.push_back({stack, state_->next[stack], state_->next[stack] + taken, used, live});
      used += live + taken;
    }
    return parts;
  }

  void run_or_shrink(Device& device, const std::vector<Part>& parts) {
    try {
      run_batch(device, parts);
    } catch (const DeviceError& error) {
      OnDevice& here = on(device);
      if (error.fault() != Fault::Memory || here.limit / 2 < kMinBatch) {
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
      add(state_->live[part.stack], part.place);
      add(state_->lines.subspan(part.begin, part.end - part.begin), part.place + part.live);
    }
    return slices;
  }

  static memory::LineRange range_of(const std::vector<Slice>& slices) {
    return tbb::parallel_reduce(
        tbb::blocked_range<std::size_t>(0, slices.size(), 1), memory::LineRange{},
        [&](const tbb::blocked_range<std::size_t>& range, memory::LineRange found) {
          for (std::size_t i = range.begin(); i < range.end(); ++i) {
            for (const std::uint64_t line : slices[i].lines) {
              found.add({line, line});
            }
          }
          return found;
        },
        memory::joined);
  }

  template <class Key>
  static void upload(Stream& stream, const Buffer& keys, const std::vector<Slice>& slices, std::uint64_t low) {
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
    if (size > kMaxReuseAccesses) {
      throw DeviceError(Fault::Memory, {"a batch is too long", kStage, fmt::format("{}", size),
                                        fmt::format("at most {}", kMaxReuseAccesses), ""});
    }
    const std::vector<Slice> slices = slices_of(parts);
    const memory::LineRange range = range_of(slices);
    const unsigned key_bytes = bytes_of_line(range);
    OnDevice& here = on(device);
    make_room(device, here, size, key_bytes);

    // The buffers outlive the device stream, also when an exception is thrown.
    std::vector<std::uint32_t> begins;
    std::vector<std::uint32_t> rows;
    std::vector<std::uint32_t> unwanted;
    std::vector<std::uint32_t> last;
    Buffer begins_there;
    Buffer histograms;
    Buffer pieces_there;
    Stream stream(device);
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
    link_uses(device, stream, size, range.bits(), begins_there, static_cast<std::uint32_t>(begins.size()), here.space,
              here.links);
    const Buffer& found = reuse_distances(device, stream, size, here.links, here.space);

    const bool count_there = parts.size() <= kMaxHistograms;
    if (count_there) {
      std::vector<HistogramPiece> pieces;
      for (std::uint32_t i = 0; i < parts.size(); ++i) {
        add_pieces(i, parts[i].place + parts[i].live, parts[i].place + parts[i].size(), pieces);
      }
      rows.resize(parts.size() * kRow);
      histograms = device.allocate_array<std::uint32_t>(rows.size(), "histograms of reuse distances");
      pieces_there = device.allocate_array<HistogramPiece>(pieces.size(), "pieces of histograms");
      stream.fill(histograms, 0, 0, rows.size() * sizeof(std::uint32_t));
      stream.upload_array(pieces_there, pieces);
      count_histograms(device, stream, found, pieces_there, pieces.size(), histograms);
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
      state_->next[part.stack] = part.end;
      sent_ += part.end - part.begin;
      sent_again_ += part.live;
    }
  }

  static void make_room(Device& device, OnDevice& here, std::uint64_t size, unsigned key_bytes) {
    // The number of live lines grows from call to call.
    const std::uint64_t room = here.linked == 0 ? size : size + size / 8;
    if (here.space.accesses < size || here.space.key_bytes != key_bytes) {
      here.space = {};
      here.space = make_reuse_space(device, room, key_bytes);
    }
    if (here.linked < size) {
      here.links = {};
      here.linked = 0;
      here.links = make_use_links(device, room);
      here.linked = room;
    }
  }

  /// Distances of new accesses; to `unwanted` if only histograms are needed and counted here.
  void download(Stream& stream, const Buffer& found, const std::vector<Part>& parts, bool counted,
                std::vector<std::uint32_t>& unwanted) const {
    if (state_->out.empty()) {
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
      std::span<std::uint32_t> to = state_->out.subspan(parts[i].begin, end - parts[i].begin);
      stream.download_array(found, to, from);
      i = after;
    }
  }

  void count(const std::vector<Part>& parts, const std::vector<std::uint32_t>& rows,
             const std::vector<std::uint32_t>& unwanted) {
    tbb::parallel_for(std::size_t{0}, parts.size(), [&](std::size_t i) {
      const Part& part = parts[i];
      memory::ReuseHistogram& histogram = state_->histograms[part.stack];
      if (!rows.empty()) {
        const std::span<const std::uint32_t> row = std::span(rows).subspan(i * kRow, kRow);
        histogram.add_bins(row.first(kReuseBins), row.back());
      } else if (!state_->out.empty()) {
        histogram.add(state_->out.subspan(part.begin, part.end - part.begin));
      } else {
        histogram.add(std::span(unwanted).subspan(part.place + part.live, part.end - part.begin));
      }
    });
  }

  [[nodiscard]] bool state_wanted(const std::vector<Part>& parts) const {
    return !state_->options.once || std::any_of(parts.begin(), parts.end(),
                                                [&](const Part& part) { return part.end != state_->end[part.stack]; });
  }

  /// A stack's live lines are the lines of its last accesses, in their order.
  void keep_live(const std::vector<Part>& parts, const std::vector<std::uint32_t>& last) {
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, parts.size(), 1),
                      [&](const tbb::blocked_range<std::size_t>& range) {
                        for (std::size_t i = range.begin(); i < range.end(); ++i) {
                          state_->live[parts[i].stack] = live_of(parts[i], last);
                        }
                      });
  }

  [[nodiscard]] std::vector<std::uint64_t> live_of(const Part& part, const std::vector<std::uint32_t>& last) const {
    const std::vector<std::uint64_t>& before = state_->live[part.stack];
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
      each(task,
           [&](std::uint64_t i) { *next++ = i < part.live ? before[i] : state_->lines[part.begin + i - part.live]; });
    });
    return after;
  }

  static constexpr std::size_t kRow = kReuseBins + 1;
  static_assert(kReuseBins == memory::ReuseHistogram::kBins && kNoReuse == memory::kInfinite);

  memory::StackState* state_ = nullptr;  ///< of the call
  std::map<Device*, OnDevice> devices_;
  std::mutex counting_;
  std::uint64_t sent_ = 0, sent_again_ = 0;
};

bool work(std::span<Device* const> devices, memory::StackState& state) {
  if (state.on_devices == nullptr) {
    state.on_devices = std::make_shared<StackBatches>();
  }
  return static_cast<StackBatches*>(state.on_devices.get())->work(devices, state);
}

const decltype(memory::reuse_stacks_twin)::Registrar kStacksTwin(memory::reuse_stacks_twin, {.run = all_devices(work)});

}  // namespace
}  // namespace rayreplay::kernels
