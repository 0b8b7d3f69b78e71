#include "scheduler-models/object_order.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <numeric>

#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

#include "scheduler-models/sequence_sort.hpp"

namespace rayreplay::scheduler {
namespace {

constexpr int kWordBits = 64;
/// Leaves room for an end mark that is larger than every object.
constexpr int kMaxPackedBits = 62;

bool meets_object(trace::EventKind kind) {
  return kind == trace::EventKind::Intersection || kind == trace::EventKind::AnyHit ||
         kind == trace::EventKind::ClosestHit;
}

class Cursor {
 public:
  explicit Cursor(const trace::ThreadData& data)
      : kinds_(data.events.kind.data()),
        end_(data.event_offset.data() + 1),
        row_(data.event_offset.begin(), data.event_offset.end()) {}

  /// Moves to the thread's next object; false when there is none.
  bool seek(std::uint32_t thread) {
    std::uint64_t row = row_[thread];
    const std::uint64_t end = end_[thread];
    while (row < end && !meets_object(kinds_[row])) {
      ++row;
    }
    row_[thread] = row;
    return row < end;
  }
  void pass(std::uint32_t thread) {
    ++row_[thread];
  }
  [[nodiscard]] std::uint64_t row(std::uint32_t thread) const {
    return row_[thread];
  }

 private:
  const trace::EventKind* kinds_;
  const std::uint64_t* end_;
  trace::Column<std::uint64_t> row_;
};

/// Several objects a word. The end mark is larger than every object, so that longer lists come first.
class PackedObjects final : public SequenceWords {
 public:
  PackedObjects(const trace::ThreadData& data, std::uint32_t last_instance, std::uint32_t last_primitive)
      : cursor_(data),
        instances_(data.events.instance.data()),
        primitives_(data.events.primitive.data()),
        primitive_bits_(static_cast<int>(std::bit_width(last_primitive))),
        bits_(static_cast<int>(std::bit_width((std::uint64_t{last_instance} << primitive_bits_ | last_primitive) + 1))),
        objects_per_word_(kWordBits / bits_) {}

  bool next(std::uint32_t thread, std::uint64_t& word) override {
    word = 0;
    for (int i = 0; i < objects_per_word_; ++i) {
      if (!cursor_.seek(thread)) {
        // All ones from here on: no object has all its bits set.
        const int rest = bits_ * (objects_per_word_ - i);
        word = rest == kWordBits ? std::numeric_limits<std::uint64_t>::max() : ((word + 1) << rest) - 1;
        return false;
      }
      const std::uint64_t row = cursor_.row(thread);
      word = word << bits_ | std::uint64_t{instances_[row]} << primitive_bits_ | primitives_[row];
      cursor_.pass(thread);
    }
    return true;
  }

 private:
  Cursor cursor_;
  const std::uint32_t* instances_;
  const std::uint32_t* primitives_;
  int primitive_bits_;
  int bits_;
  int objects_per_word_;
};

/// For ids too large to share a word: instance and primitive take a word each.
class WideObjects final : public SequenceWords {
 public:
  explicit WideObjects(const trace::ThreadData& data)
      : cursor_(data),
        instances_(data.events.instance.data()),
        primitives_(data.events.primitive.data()),
        primitive_due_(data.threads(), 0) {}

  bool next(std::uint32_t thread, std::uint64_t& word) override {
    if (primitive_due_[thread] != 0) {
      primitive_due_[thread] = 0;
      word = primitives_[cursor_.row(thread)];
      cursor_.pass(thread);
      return true;
    }
    if (!cursor_.seek(thread)) {
      word = std::numeric_limits<std::uint64_t>::max();
      return false;
    }
    primitive_due_[thread] = 1;
    word = instances_[cursor_.row(thread)];
    return true;
  }

 private:
  Cursor cursor_;
  const std::uint32_t* instances_;
  const std::uint32_t* primitives_;
  trace::Column<std::uint8_t> primitive_due_;
};

/// Events without an object hold 0.
std::uint32_t largest(const trace::Column<std::uint32_t>& column) {
  constexpr std::size_t kRowsPerTask = std::size_t{1} << 20;
  return tbb::parallel_reduce(
      tbb::blocked_range<std::size_t>(0, column.size(), kRowsPerTask), 0U,
      [rows = column.data()](const auto& range, std::uint32_t most) {
        return std::accumulate(rows + range.begin(), rows + range.end(), most,
                               [](std::uint32_t a, std::uint32_t b) { return std::max(a, b); });
      },
      [](std::uint32_t a, std::uint32_t b) { return std::max(a, b); });
}

}  // namespace

void sort_by_objects(const trace::Launch& launch, ThreadList& threads) {
  const std::uint32_t instance = largest(launch.data.events.instance);
  const std::uint32_t primitive = largest(launch.data.events.primitive);
  if (std::bit_width(instance) + std::bit_width(primitive) <= kMaxPackedBits) {
    PackedObjects words(launch.data, instance, primitive);
    sort_by_sequence(threads, words);
  } else {
    WideObjects words(launch.data);
    sort_by_sequence(threads, words);
  }
}

}  // namespace rayreplay::scheduler
