// Packings whose keys are sequences: word by word, for threads that are still tied (packing.hpp).
#include <algorithm>
#include <array>
#include <bit>
#include <utility>
#include <vector>

#include "SequenceKeep.spv.hpp"
#include "SequenceSplit.spv.hpp"
#include "SequenceWords.spv.hpp"
#include "kernels/packing/packer.hpp"

namespace rayreplay::kernels::packing {
namespace {

using packing_types::TiePush;
using packing_types::WordPush;

const Shader kWords{"packing.sequence_words", kSequenceWords};
const Shader kSplit{"packing.sequence_split", kSequenceSplit};
const Shader kKeep{"packing.sequence_keep", kSequenceKeep};

// sequence_words.comp
constexpr std::uint32_t kCalls = 0;
constexpr std::uint32_t kObjects = 1;
constexpr std::uint32_t kObjectsInTwo = 2;

constexpr std::uint32_t kWordBits = 64;
/// The bits of a word beside the number of a group: there are at most 2^31 groups of two or more threads.
constexpr std::uint32_t kMaxSymbolBits = 33;

/// The symbols of a sequence and the addresses of their data.
struct Symbols {
  std::uint32_t which = kCalls;
  std::uint32_t bits = 1;
  std::uint64_t end = 0;  ///< the symbol behind the last
  std::uint32_t primitive_bits = 0;
  std::uint32_t shaders = 0;
  Buffer numbers;  ///< of calls
  std::uint64_t first = 0;
  std::uint64_t second = 0;
};

std::uint64_t ones(std::uint32_t bits) {
  return bits < kWordBits ? (std::uint64_t{1} << bits) - 1 : ~std::uint64_t{0};
}

std::uint32_t bits_for(std::uint64_t number) {
  return static_cast<std::uint32_t>(std::bit_width(number));
}

/// Calls that occur, numbered 1, 2, … in order of kind, then shader.
Symbols call_symbols(Packer& packer) {
  const CallCounts counts = count_calls(packer.launch, packer.device, packer.stream);
  std::vector<std::uint32_t> number(counts.count.size(), 0);
  std::uint32_t numbered = 0;
  for (std::size_t i = 0; i < number.size(); ++i) {
    if (counts.count[i] != 0 && trace::is_warp_event(static_cast<trace::EventKind>(i / counts.shaders))) {
      number[i] = ++numbered;
    }
  }
  Symbols symbols;
  symbols.bits = std::max(1U, bits_for(numbered));
  symbols.shaders = counts.shaders;
  symbols.numbers = packer.device.allocate_array<std::uint32_t>(number.size(), "the numbers of calls");
  packer.stream.upload_array(symbols.numbers, number);
  symbols.first =
      packer.launch.column(packer.device, packer.stream, packer.launch.launch().data.events.shader).address();
  symbols.second = symbols.numbers.address();
  return symbols;
}

Symbols object_symbols(Packer& packer) {
  const trace::Events& events = packer.launch.launch().data.events;
  const LastObject last = last_object(packer.launch, packer.device, packer.stream);
  Symbols symbols;
  symbols.first = packer.launch.column(packer.device, packer.stream, events.instance).address();
  symbols.second = packer.launch.column(packer.device, packer.stream, events.primitive).address();
  const std::uint32_t primitive_bits = bits_for(last.primitive);
  // Plus one, so that a symbol of ones is above all objects.
  if (bits_for(last.instance) + primitive_bits < kMaxSymbolBits) {
    symbols.which = kObjects;
    symbols.primitive_bits = primitive_bits;
    symbols.bits = bits_for((std::uint64_t{last.instance} << primitive_bits | last.primitive) + 1);
  } else {
    symbols.which = kObjectsInTwo;
    symbols.bits = bits_for(std::uint64_t{std::max(last.instance, last.primitive)} + 1);
  }
  symbols.end = ones(symbols.bits);
  return symbols;
}

/// Threads that are still tied, in their order, group by group.
struct Ties {
  std::uint64_t count = 0;
  std::uint64_t groups = 1;
  Buffer threads;
  Buffer slots;     ///< places in the list; empty: 0, 1, …
  Buffer group_of;  ///< empty: all of group 0
};

class SequenceSort {
 public:
  SequenceSort(Packer& packer, Symbols symbols, std::uint64_t threads) : packer_(packer), symbols_(std::move(symbols)) {
    const auto words = [&](const char* what) { return packer.device.allocate_array<std::uint32_t>(threads + 1, what); };
    cursor_ = packer.device.allocate_array<std::uint64_t>(threads, "positions in the sequences");
    keys_ = packer.device.allocate_array<std::uint64_t>(threads, "the words");
    other_keys_ = packer.device.allocate_array<std::uint64_t>(threads, "the words");
    keep_ = words("the threads that are tied");
    heads_ = words("the groups that are tied");
    keep_sums_ = words("the threads that are tied");
    head_sums_ = words("the groups that are tied");
    spare_ = words("the threads that are tied");
  }

  /// Sorts the tied threads by their next word, writes them into `list`, and keeps those that are still tied.
  void round(Ties& ties, const Buffer& list, bool is_first) {
    const std::uint32_t group_bits = bits_for(ties.groups - 1);
    const std::uint32_t word_symbols = (kWordBits - group_bits) / symbols_.bits;
    read_words(ties, word_symbols, is_first);
    SortArrays arrays{&keys_, &ties.threads, &other_keys_, &spare_};
    const std::uint64_t mask = packer_.sorter.varying_bits(packer_.stream, keys_, ties.count, sizeof(std::uint64_t));
    packer_.sorter.sort_by_mask(packer_.stream, ties.count, sizeof(std::uint64_t), mask, arrays);
    if (arrays.keys != &keys_) {
      std::swap(keys_, other_keys_);
      std::swap(ties.threads, spare_);
    }
    split(ties, list);
  }

 private:
  void read_words(const Ties& ties, std::uint32_t word_symbols, bool is_first) {
    const trace::ThreadData& data = packer_.launch.launch().data;
    WordPush push{};
    push.symbol_bits = symbols_.bits;
    push.symbols = word_symbols;
    push.primitive_bits = symbols_.primitive_bits;
    push.shaders = symbols_.shaders;
    push.is_first = is_first ? 1 : 0;
    push.count = ties.count;
    push.threads = ties.threads.address();
    push.group_of = ties.group_of.address();
    push.cursor = cursor_.address();
    push.offset = packer_.launch.column(packer_.device, packer_.stream, data.event_offset).address();
    push.kinds = packer_.launch.column(packer_.device, packer_.stream, data.events.kind).address();
    push.first = symbols_.first;
    push.second = symbols_.second;
    push.keys = keys_.address();
    packer_.run_items(kWords, ties.count, push, std::array{symbols_.which});
  }

  void split(Ties& ties, const Buffer& list) {
    TiePush push{};
    push.symbol_bits = symbols_.bits;
    push.count = ties.count;
    push.end_symbol = symbols_.end;
    push.keys = keys_.address();
    push.threads = ties.threads.address();
    push.slots = ties.slots.address();
    push.list = list.address();
    push.keep = keep_.address();
    push.heads = heads_.address();
    push.keep_sums = keep_sums_.address();
    push.head_sums = head_sums_.address();
    packer_.run_items(kSplit, ties.count, push);
    packer_.summer.exclusive_sum(packer_.stream, keep_, keep_sums_, ties.count, SumBits::Of32);
    packer_.summer.exclusive_sum(packer_.stream, heads_, head_sums_, ties.count, SumBits::Of32);
    std::array<std::uint32_t, 1> kept{};
    std::array<std::uint32_t, 1> groups{};
    packer_.stream.download_array(keep_sums_, kept, ties.count);
    packer_.stream.download_array(head_sums_, groups, ties.count);
    packer_.stream.wait();
    Ties next;
    next.count = kept[0];
    next.groups = groups[0];
    if (next.count > 0) {
      next.threads = packer_.device.allocate_array<std::uint32_t>(next.count, "the threads that are tied");
      next.slots = packer_.device.allocate_array<std::uint32_t>(next.count, "the places of ties");
      next.group_of = packer_.device.allocate_array<std::uint32_t>(next.count, "the groups of ties");
      push.to_threads = next.threads.address();
      push.to_slots = next.slots.address();
      push.to_group_of = next.group_of.address();
      packer_.run_items(kKeep, ties.count, push);
      packer_.stream.wait();  // the old lists are freed next
    }
    ties = std::move(next);
  }

  Packer& packer_;
  Symbols symbols_;
  Buffer cursor_, keys_, other_keys_, keep_, heads_, keep_sums_, head_sums_, spare_;
};

}  // namespace

void sort_by_sequence(Packer& packer, PackingKey key, ThreadBuffer& list) {
  SequenceSort sort(packer, key == PackingKey::Objects ? object_symbols(packer) : call_symbols(packer), list.count);
  Ties ties;
  ties.count = list.count;
  ties.threads = packer.device.allocate_array<std::uint32_t>(list.count, "the threads that are tied");
  packer.stream.copy(list.threads, 0, ties.threads, 0, list.count * sizeof(std::uint32_t));
  for (bool is_first = true; ties.count > 0; is_first = false) {
    sort.round(ties, list.threads, is_first);
  }
  packer.stream.wait();
}

}  // namespace rayreplay::kernels::packing
