#include "kernels/traversal/trace.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "kernels/traversal/programs.hpp"

namespace rayreplay::kernels::traversal {
namespace {

/// Size of a download: large enough to hide its start-up cost.
constexpr std::uint64_t kLogBytes = std::uint64_t{1} << 28U;
/// Rays of a piece: uploaded, traced and downloaded in parallel to the neighbouring pieces.
constexpr std::uint64_t kRaysOfPiece = std::uint64_t{1} << 19U;
constexpr std::uint32_t kFirstQueue = 256;  ///< entries of a ray's queue (ordered)
constexpr std::uint64_t kQueueEntryBytes = 16;

std::uint64_t multiple_of(std::uint64_t count, std::uint64_t piece) {
  return std::max(piece, count / piece * piece);
}

/// A range of rays with all its arrays on the device.
class Part {
 public:
  Part(Device& device, const BvhOnDevice& bvh, Order order, const TraceInput& input, TraceOutput& output)
      : device_(&device), stream_(device), order_(order), input_(&input), output_(&output) {
    scene_ = bvh.on(device, stream_, static_cast<bool>(output.accesses));
    bvh_ = &bvh;
    variant_ = {.counters = !output.counters.empty(),
                .log = static_cast<bool>(output.accesses),
                .answers = input.answers != nullptr,
                .backward = any_backward(input.rays)};
    if (input.answers != nullptr) {
      answers_.emplace(device, stream_, *input.answers);
    }
  }

  /// Rays that fit into device memory together.
  [[nodiscard]] std::uint64_t capacity() const {
    constexpr std::uint64_t kBytes = sizeof(RayRecord) + sizeof(HitRecord) + sizeof(CounterRecord) + 24;
    return multiple_of(device_->free_bytes() / 2 / kBytes, output_->piece);
  }

  void trace(std::uint64_t first, std::uint64_t count) {
    first_ = first;
    count_ = count;
    rays_ = device_->allocate_array<RayRecord>(count, "rays");
    hits_ = device_->allocate_array<HitRecord>(count, "hits");
    counters_ = device_->allocate_array<CounterRecord>(output_->counters.empty() ? 0 : count, "counters of rays");
    row_counts_ = device_->allocate_array<std::uint32_t>(output_->accesses ? count : 0, "counts of accesses");
    unobserved_ = device_->allocate_array<std::uint32_t>(answers_ ? count : 0, "counts of unrecorded answers");
    std::vector<std::uint32_t> row_counts(output_->accesses ? count : 0);
    std::vector<std::uint32_t> unobserved(answers_ ? count : 0);
    const std::uint64_t piece = multiple_of(kRaysOfPiece, output_->piece);
    for (std::uint64_t at = 0; at < count; at += piece) {
      const std::uint64_t size = std::min(piece, count - at);
      stream_.upload_beside(rays_, std::as_bytes(input_->rays.subspan(first + at, size)), at * sizeof(RayRecord));
      run(at, size, {});
      download(hits_, output_->hits.subspan(first, count), at, size);
      if (!output_->counters.empty()) {
        download(counters_, output_->counters.subspan(first, count), at, size);
      }
      download(row_counts_, std::span(row_counts), at, row_counts.empty() ? 0 : size);
      download(unobserved_, std::span(unobserved), at, unobserved.empty() ? 0 : size);
    }
    stream_.wait();
    output_->unobserved = std::accumulate(unobserved.begin(), unobserved.end(), output_->unobserved);
    if (output_->accesses) {
      write_logs(row_counts);
    }
  }

 private:
  /// Targets of a run's log rows.
  struct LogPlace {
    std::uint64_t first = 0;  ///< address of u64 per ray
    std::uint64_t rows = 0;
  };

  template <class T>
  void download(const Buffer& from, std::span<T> to, std::uint64_t at, std::uint64_t size) {
    if (size > 0) {
      stream_.download(from, std::as_writable_bytes(to.subspan(at, size)), at * sizeof(T));
    }
  }

  [[nodiscard]] TracePush push_for(std::uint64_t at, std::uint64_t size) const {
    TracePush push{};
    push.rays = static_cast<std::uint32_t>(size);
    push.scene = scene_;
    push.ray_at = rays_.address() + at * sizeof(RayRecord);
    push.hit_at = hits_.address() + at * sizeof(HitRecord);
    push.counter_at = variant_.counters ? counters_.address() + at * sizeof(CounterRecord) : 0;
    push.answers = answers_ ? answers_->address() : 0;
    push.unobserved_at = unobserved_.address() + at * sizeof(std::uint32_t);
    push.first_place = input_->first_place + first_ + at;
    push.row_count_at = row_counts_.address() + at * sizeof(std::uint32_t);
    return push;
  }

  void run(std::uint64_t at, std::uint64_t size, const LogPlace& log) {
    TracePush push = push_for(at, size);
    push.row_first_at = log.first;
    push.row_at = log.rows;
    if (order_ != Order::Ordered) {
      stream_.run(scalar_program(*device_, *bvh_, order_, variant_), groups_for(size), push);
      return;
    }
    run_ordered(push);
  }

  /// In pieces whose queues fit; rays with overflows are repeated with longer queues.
  void run_ordered(const TracePush& all) {
    const Program program = scalar_program(*device_, *bvh_, order_, variant_);
    std::uint64_t done = 0;
    while (done < all.rays) {
      const std::uint64_t ray_bytes = std::uint64_t{queue_} * kQueueEntryBytes;
      const std::uint64_t fitting = std::max<std::uint64_t>(1, device_->free_bytes() / 4 / ray_bytes);
      const auto size = static_cast<std::uint32_t>(std::min({std::uint64_t{all.rays} - done, fitting, kRaysOfPiece}));
      if (heap_.bytes() < size * ray_bytes) {
        stream_.wait();
        heap_ = {};
        heap_ = device_->allocate(size * ray_bytes, "the queues of rays");
      }
      if (overflow_.bytes() < size * sizeof(std::uint32_t)) {
        stream_.wait();
        overflow_ = device_->allocate_array<std::uint32_t>(size, "overflow flags of the queues");
      }
      TracePush push = all;
      push.rays = size;
      push.ray_at += done * sizeof(RayRecord);
      push.hit_at += done * sizeof(HitRecord);
      push.counter_at += variant_.counters ? done * sizeof(CounterRecord) : 0;
      push.unobserved_at += done * sizeof(std::uint32_t);
      push.first_place += done;
      push.row_count_at += done * sizeof(std::uint32_t);
      push.row_first_at += done * sizeof(std::uint64_t);
      push.heap_at = heap_.address();
      push.overflow_at = overflow_.address();
      push.heap_entries = queue_;
      std::vector<std::uint32_t> overflow(size);
      stream_.run(program, groups_for(size), push);
      stream_.download_array(overflow_, overflow);
      stream_.wait();
      if (std::ranges::all_of(overflow, [](std::uint32_t word) { return word == 0; })) {
        done += size;
      } else {
        queue_ *= 4;
      }
    }
  }

  /// Traces again in pieces whose rows fit, and passes the rows on.
  void write_logs(const std::vector<std::uint32_t>& row_counts) {
    const std::uint64_t most_rows =
        std::max<std::uint64_t>(1, std::min(kLogBytes, device_->free_bytes() / 4) / sizeof(AccessRecord));
    Buffer rows_buffer;
    Buffer first_buffer;
    std::vector<AccessRecord> rows;
    std::uint64_t room = 0;
    std::vector<std::uint64_t> ends;
    std::vector<std::uint64_t> firsts;
    for (std::uint64_t at = 0; at < count_;) {
      ends.clear();
      firsts.clear();
      std::uint64_t sum = 0;
      // Whole pieces, at least one.
      while (at + ends.size() < count_) {
        const std::uint64_t begin = at + ends.size();
        const std::uint64_t size = std::min(output_->piece, count_ - begin);
        const auto counts = std::span(row_counts).subspan(begin, size);
        const std::uint64_t more = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
        if (!ends.empty() && sum + more > most_rows) {
          break;
        }
        for (const std::uint32_t count : counts) {
          firsts.push_back(sum);
          sum += count;
          ends.push_back(sum);
        }
      }
      if (sum > room) {
        room = std::max(sum, std::min(most_rows, 2 * sum));
        rows_buffer = {};
        rows_buffer = device_->allocate_array<AccessRecord>(room, "accesses");
        rows.resize(room);
      }
      if (first_buffer.bytes() < firsts.size() * sizeof(std::uint64_t)) {
        first_buffer = device_->allocate_array<std::uint64_t>(firsts.size(), "first accesses of rays");
      }
      stream_.upload_array(first_buffer, firsts);
      run(at, ends.size(), {first_buffer.address(), rows_buffer.address()});
      if (sum > 0) {
        stream_.download(rows_buffer, std::as_writable_bytes(std::span(rows).first(sum)));
      }
      stream_.wait();
      output_->accesses(first_ + at, ends, std::span<const AccessRecord>(rows).first(sum));
      at += ends.size();
    }
  }

  Device* device_;
  const BvhOnDevice* bvh_ = nullptr;
  // Declared before the stream: its destructor, which waits, runs first.
  std::optional<AnswersOnDevice> answers_;
  Buffer rays_, hits_, counters_, row_counts_, unobserved_, heap_, overflow_;
  Stream stream_;
  Order order_;
  const TraceInput* input_;
  TraceOutput* output_;
  std::uint64_t scene_ = 0;
  std::uint64_t first_ = 0;
  std::uint64_t count_ = 0;
  Variant variant_;
  std::uint32_t queue_ = kFirstQueue;
};

}  // namespace

void trace(Device& device, const BvhOnDevice& bvh, Order order, const TraceInput& input, TraceOutput& output) {
  if (input.rays.empty()) {
    return;
  }
  Part part(device, bvh, order, input, output);
  const std::uint64_t most = part.capacity();
  for (std::uint64_t first = 0; first < input.rays.size(); first += most) {
    part.trace(first, std::min<std::uint64_t>(most, input.rays.size() - first));
  }
}

void trace_on_device(Device& device, Stream& stream, const BvhOnDevice& bvh, Order order, const RaysOnDevice& rays) {
  TracePush push{};
  push.rays = rays.count;
  push.scene = bvh.on(device, stream, false);
  push.ray_at = rays.rays;
  push.hit_at = rays.hits;
  push.counter_at = rays.counters;
  stream.run(scalar_program(device, bvh, order, {.counters = rays.counters != 0, .filter = rays.filter}),
             groups_for(rays.count), push);
}

}  // namespace rayreplay::kernels::traversal
