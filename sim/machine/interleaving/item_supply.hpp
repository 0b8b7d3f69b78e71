// Streams of the items that a dispatcher gives, generated ahead in batches.
//
// Contract: `take` moves the stream of an item out; each item is taken and generated once. A stream that is missing
// triggers one call of the source for those items that will be taken next, so that many are generated in parallel.
// Memory: the streams generated and not taken. Errors: Internal for streams that break their contract; Usage for
// missing raw instructions or work.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sim/machine/dispatcher.hpp"
#include "sim/memory/streams/warp_source.hpp"

namespace rayreplay::machine {

class ItemSupply {
 public:
  /// `ahead`: items generated ahead, about. Source and dispatcher must outlive this object.
  ItemSupply(memory::WarpSource& source, const Dispatcher& dispatcher, std::size_t ahead, bool raw, bool work)
      : source_(&source), dispatcher_(&dispatcher), ahead_(ahead), raw_(raw), work_(work) {}

  /// The stream of an item that the dispatcher has just given.
  void take(std::uint32_t item, memory::WarpStream& stream);

 private:
  void generate(std::uint32_t item);
  void check(const memory::WarpStream& stream, std::uint32_t item) const;

  memory::WarpSource* source_;
  const Dispatcher* dispatcher_;
  std::size_t ahead_;
  bool raw_, work_;                                             ///< wanted
  std::unordered_map<std::uint32_t, memory::WarpStream> kept_;  ///< by item
  std::vector<std::uint32_t> items_;                            ///< of one call of the source
  std::vector<memory::WarpStream> streams_;                     ///< of one call of the source
};

}  // namespace rayreplay::machine
