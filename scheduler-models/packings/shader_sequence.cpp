// Shader-sequence packing: threads sorted by all shader calls of their path (MODELS.md §6).
//
// Contract: the key is the thread's sequence of warp events as calls (kind, shader), kind before shader, compared at
// the first difference; a prefix comes before its continuation; ties by original warp id, then lane. Calls get dense
// numbers in their order, so that several share a 64-bit word. O(events), as sequence_sort.hpp.
#include <algorithm>
#include <bit>
#include <vector>

#include "scheduler-models/sequence_sort.hpp"
#include "scheduler-models/sorting_packing.hpp"

namespace rayreplay::scheduler {
namespace {

constexpr int kWordBits = 64;

/// 1, 2, … for the calls that occur, in order of kind, then shader; index: kind · shaders + shader. 0 is the end.
struct CallNumbers {
  std::size_t shaders = 0;
  std::vector<std::uint32_t> number;
  int bits = 1;
};

CallNumbers number_calls(const trace::Events& events) {
  CallNumbers calls;
  const auto last = std::max_element(events.shader.begin(), events.shader.end());
  calls.shaders = last == events.shader.end() ? 0 : std::size_t{*last} + 1;
  calls.number.assign(trace::kEventKinds * calls.shaders, 0);
  for (std::size_t row = 0; row < events.size(); ++row) {
    calls.number[static_cast<std::size_t>(events.kind[row]) * calls.shaders + events.shader[row]] = 1;
  }
  std::uint32_t numbered = 0;
  for (std::size_t i = 0; i < calls.number.size(); ++i) {
    if (calls.number[i] != 0) {
      const bool is_call = trace::is_warp_event(static_cast<trace::EventKind>(i / calls.shaders));
      calls.number[i] = is_call ? ++numbered : 0;
    }
  }
  calls.bits = std::max(1, static_cast<int>(std::bit_width(numbered)));
  return calls;
}

class CallWords final : public SequenceWords {
 public:
  CallWords(const trace::ThreadData& data)
      : calls_(number_calls(data.events)),
        kinds_(data.events.kind.data()),
        shaders_(data.events.shader.data()),
        end_(data.event_offset.data() + 1),
        row_(data.event_offset.begin(), data.event_offset.end()) {}

  bool next(std::uint32_t thread, std::uint64_t& word) override {
    std::uint64_t row = row_[thread];
    const std::uint64_t end = end_[thread];
    word = 0;
    int free_bits = kWordBits;
    for (; row < end && free_bits >= calls_.bits; ++row) {
      const std::uint32_t number =
          calls_.number[static_cast<std::size_t>(kinds_[row]) * calls_.shaders + shaders_[row]];
      if (number != 0) {
        free_bits -= calls_.bits;
        word |= std::uint64_t{number} << free_bits;
      }
    }
    row_[thread] = row;
    // If the last word is full, the next one is 0, the end.
    return free_bits < calls_.bits;
  }

 private:
  CallNumbers calls_;
  const trace::EventKind* kinds_;
  const std::uint16_t* shaders_;
  const std::uint64_t* end_;
  trace::Column<std::uint64_t> row_;
};

void sort_by_calls(const trace::Launch& launch, ThreadList& threads) {
  CallWords words(launch.data);
  sort_by_sequence(threads, words);
}

const Packings::Registrar kRegistrar(
    {.kind = {},
     .name = "shader-sequence",
     .summary = "Threads sorted by all shader calls of their path",
     .text = "The key is the sequence of (kind, shader) of the thread's warp events, compared at the first difference; "
             "a sequence that ends goes before one that continues it; ties keep the order in which the warps started. "
             "Uses the whole path, unknown to a real scheduler: an upper reference for packings.",
     .source = "rayreplay",
     .parameters = {tiled_parameter()}},
    [](const Parameters& parameters) {
      return std::make_unique<SortingPacking>(sort_by_calls, parameters.get_bool("tiled"));
    });

}  // namespace
}  // namespace rayreplay::scheduler
