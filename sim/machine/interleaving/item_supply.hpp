// Streams of the items that a dispatcher gives, generated ahead in batches.
//
// Contract: `take` gives the stream of an item, which stays where it is until `give_back`; each item is taken and
// generated once. A stream that is missing triggers one call of the source for those items that will be taken next, so
// that many are generated in parallel. Memory: the streams generated and not given back, and 4 bytes an item. Errors:
// Internal for streams that break their contract; Usage for missing raw instructions or work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "sim/machine/dispatcher.hpp"
#include "sim/memory/streams/warp_source.hpp"

namespace rayreplay::machine {

class ItemSupply {
 public:
  /// `ahead`: items generated ahead, about. Source and dispatcher must outlive this object.
  ItemSupply(memory::WarpSource& source, const Dispatcher& dispatcher, std::size_t ahead, bool raw, bool work)
      : source_(&source),
        dispatcher_(&dispatcher),
        ahead_(ahead),
        raw_(raw),
        work_(work),
        place_(dispatcher.items(), kNone) {}

  /// The complete stream of an item that the dispatcher has just given.
  [[nodiscard]] const memory::WarpStream& take(std::uint32_t item) {
    if (place_[item] == kNone) {
      generate(item);
    }
    memory::WarpStream& stream = held_[place_[item]];
    source_->complete(item, stream);
    return stream;
  }
  /// Calls in all streams taken so far, and in those generated ahead.
  [[nodiscard]] const memory::WarpCalls& calls() const {
    return calls_;
  }
  /// The item's stream is not read any more.
  void give_back(std::uint32_t item) {
    held_[place_[item]] = {};
    free_.push_back(std::exchange(place_[item], kNone));
  }

 private:
  static constexpr std::uint32_t kNone = 0xFFFF'FFFFU;

  void generate(std::uint32_t item);
  void check(const memory::WarpStream& stream, std::uint32_t item) const;

  memory::WarpSource* source_;
  const Dispatcher* dispatcher_;
  std::size_t ahead_;
  bool raw_, work_;                      ///< wanted
  std::vector<std::uint32_t> place_;     ///< by item: of its stream in held_; kNone
  std::deque<memory::WarpStream> held_;  ///< generated and not given back; others are empty
  std::vector<std::uint32_t> free_;      ///< places of those
  memory::WarpCalls calls_;
  std::vector<std::uint32_t> items_;         ///< of one call of the source
  std::vector<memory::WarpStream> streams_;  ///< of one call of the source
};

}  // namespace rayreplay::machine
