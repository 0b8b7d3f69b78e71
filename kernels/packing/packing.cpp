#include "kernels/packing/packing.hpp"

#include <algorithm>
#include <bit>

#include "ByStart.spv.hpp"
#include "Compact.spv.hpp"
#include "Place.spv.hpp"
#include "Present.spv.hpp"
#include "kernels/packing/packer.hpp"
#include "kernels/packing/packing_types.h"

namespace rayreplay::kernels {
namespace packing {
namespace {

using packing_types::KeyPush;
using packing_types::ListPush;
using packing_types::PlacePush;

const Shader kOrderByStart{"packing.by_start", kByStart};
const Shader kWhoIsPresent{"packing.present", kPresent};
const Shader kCloseRanks{"packing.compact", kCompact};
const Shader kPutInPlace{"packing.place", kPlace};

/// The places' threads in two orders, and their tiles.
class Lists {
 public:
  Lists(Packer& packer, const scheduler::WarpAssignment& places, std::uint64_t threads, bool tiled)
      : packer_(packer), places_(places.thread_at.size()), threads_(threads) {
    Device& device = packer.device;
    row_major_ = device.allocate_array<std::uint32_t>(places_, "the places");
    by_start_ = device.allocate_array<std::uint32_t>(places_, "the places");
    const Buffer ranks = device.allocate_array<std::uint32_t>(places.start_rank.size(), "the warps' ranks");
    Buffer tiles;
    packer.stream.upload_array(row_major_, places.thread_at);
    packer.stream.upload_array(ranks, places.start_rank);
    PlacePush push{};
    push.warp_size = places.warp_size;
    push.count = places_;
    push.thread_at = row_major_.address();
    push.start_rank = ranks.address();
    push.by_start = by_start_.address();
    if (tiled) {
      tiles = device.allocate_array<std::uint32_t>(places.tile.size(), "the warps' tiles");
      tile_of_ = device.allocate_array<std::uint32_t>(threads, "the threads' tiles");
      packer.stream.upload_array(tiles, places.tile);
      push.tile = tiles.address();
      push.tile_of = tile_of_.address();
      last_tile_ = places.tile.empty() ? 0 : *std::max_element(places.tile.begin(), places.tile.end());
    }
    packer.run_items(kOrderByStart, places_, push);
  }

  /// The threads, warps by start rank.
  ThreadBuffer take_by_start() {
    return without_gaps(std::move(by_start_));
  }
  /// The threads, warps by row-major index.
  ThreadBuffer take_row_major() {
    return without_gaps(std::move(row_major_));
  }

  /// Stable.
  void sort_by_tile(ThreadBuffer& list) {
    if (last_tile_ == 0) {
      return;
    }
    Buffer keys = packer_.device.allocate_array<std::uint32_t>(list.count, "the tiles");
    Buffer other_keys = packer_.device.allocate_array<std::uint32_t>(list.count, "the tiles");
    KeyPush push{};
    push.count = list.count;
    push.threads = list.threads.address();
    push.keys = keys.address();
    push.x = tile_of_.address();
    run_tile_keys(packer_, push);
    SortArrays arrays{&keys, &list.threads, &other_keys, &list.other};
    packer_.sorter.sort(packer_.stream, list.count, sizeof(std::uint32_t), 0,
                        static_cast<std::uint32_t>(std::bit_width(last_tile_)), arrays);
    if (arrays.values != &list.threads) {
      std::swap(list.threads, list.other);
    }
  }

 private:
  ThreadBuffer without_gaps(Buffer list) {
    Device& device = packer_.device;
    ThreadBuffer result;
    result.count = threads_;
    result.other = device.allocate_array<std::uint32_t>(threads_, "a list of threads");
    if (threads_ == places_) {
      result.threads = std::move(list);
      return result;
    }
    result.threads = device.allocate_array<std::uint32_t>(threads_, "a list of threads");
    const Buffer present = device.allocate_array<std::uint32_t>(places_, "occupied places");
    const Buffer before = device.allocate_array<std::uint32_t>(places_ + 1, "occupied places before each place");
    ListPush push{};
    push.count = places_;
    push.from = list.address();
    push.with = before.address();
    push.to = present.address();
    packer_.run_items(kWhoIsPresent, places_, push);
    packer_.summer.exclusive_sum(packer_.stream, present, before, places_, SumBits::Of32);
    push.to = result.threads.address();
    packer_.run_items(kCloseRanks, places_, push);
    return result;
  }

  Packer& packer_;
  std::uint64_t places_;
  std::uint64_t threads_;
  std::uint32_t last_tile_ = 0;
  Buffer row_major_;
  Buffer by_start_;
  Buffer tile_of_;
};

}  // namespace
}  // namespace packing

Needs packing_needs(PackingKey key) {
  Needs needs;
  needs.float64 = key == PackingKey::OriginMorton || key == PackingKey::OriginHilbert ||
                  key == PackingKey::DirectionMorton || key == PackingKey::DirectionHilbert;
  return needs;
}

trace::Column<std::uint32_t> pack(LaunchOnDevice& launch, Device& device, const scheduler::WarpAssignment& places,
                                  const PackingRequest& request) {
  constexpr std::uint32_t kNobody = 0xFFFF'FFFFU;
  const auto gaps = std::count(places.thread_at.begin(), places.thread_at.end(), kNobody);
  const std::uint64_t threads = places.thread_at.size() - static_cast<std::uint64_t>(gaps);
  trace::Column<std::uint32_t> swizzle(threads);
  if (threads == 0) {
    return swizzle;
  }
  packing::Packer packer{launch, device};
  packing::Lists lists(packer, places, threads, request.tiled);
  packing::ThreadBuffer sorted = lists.take_by_start();
  if (request.key == PackingKey::Objects || request.key == PackingKey::ShaderSequence) {
    packing::sort_by_sequence(packer, request.key, sorted);
  } else {
    packing::sort_by_key(packer, request, sorted);
  }
  packing::ThreadBuffer at = lists.take_row_major();
  if (request.tiled) {
    lists.sort_by_tile(sorted);
    lists.sort_by_tile(at);
  }
  packing_types::ListPush push{};
  push.count = threads;
  push.from = sorted.threads.address();
  push.with = at.threads.address();
  push.to = sorted.other.address();
  packer.run_items(packing::kPutInPlace, threads, push);
  packer.stream.download_array(sorted.other, swizzle);
  packer.stream.wait();
  return swizzle;
}

}  // namespace rayreplay::kernels
