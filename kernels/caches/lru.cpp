#include "kernels/caches/lru.hpp"

#include "LruPlaces.spv.hpp"
#include "LruRelink.spv.hpp"
#include "LruWays.spv.hpp"

#include "kernels/caches/set_order.hpp"

namespace rayreplay::kernels {
namespace {

using namespace lru;

constexpr Shader kPlaces{.name = "caches: places", .code = kLruPlaces};
constexpr Shader kRelink{.name = "caches: next uses by set", .code = kLruRelink};
constexpr Shader kWays{.name = "caches: ways", .code = kLruWays};

static_assert(kMaxLruWays == RR_LRU_MOST_WAYS && RR_LRU_ROW == RR_LRU_MOST_WAYS + 1 && kNoReuse == RR_LRU_NONE);

}  // namespace

std::uint64_t lru_bytes(std::uint64_t accesses, unsigned line_bytes) {
  // In addition to the distances: lines, places, and a second set of links.
  return reuse_bytes(accesses, line_bytes) + accesses * (line_bytes + 2 * sizeof(std::uint32_t)) + accesses / 4 + 4096;
}

LruPasses::LruPasses(Device& device, std::uint64_t accesses, unsigned line_bytes)
    : device_(&device),
      accesses_(accesses),
      line_bytes_(line_bytes),
      lines_(device.allocate(accesses * line_bytes, "lines of accesses")),
      place_(device.allocate_array<std::uint32_t>(accesses, "places by set")),
      links_(make_use_links(device, accesses)),
      links_by_set_(make_use_links(device, accesses)),
      space_(make_reuse_space(device, accesses, line_bytes)) {}

void LruPasses::link(Stream& stream, unsigned end_bit, const Buffer& begins, std::uint32_t streams) {
  stream.copy(lines_, 0, space_.keys, 0, accesses_ * line_bytes_);
  link_uses(*device_, stream, accesses_, end_bit, begins, streams, space_, links_);
}

void LruPasses::count_sets(Stream& stream, std::uint64_t sets, std::uint64_t low) {
  in_place_ = sets == 1;
  if (in_place_) {
    distances_ = &reuse_distances(*device_, stream, accesses_, links_, space_);
    return;
  }
  const auto count = static_cast<std::uint32_t>(accesses_);
  SortArrays arrays{&space_.keys, &space_.index, &space_.other_keys, &space_.other_index};
  sort_by_set(*device_, stream, {&lines_, accesses_, line_bytes_, low}, sets, *space_.sorter, arrays);
  stream.run(
      device_->program(kPlaces), groups_of(accesses_),
      PlaceArguments{.first_group = 0, .count = count, .order = arrays.values->address(), .place = place_.address()});
  stream.fill(links_by_set_.cold, 0);
  stream.fill(links_by_set_.last, 0);
  stream.run(device_->program(kRelink), groups_of(accesses_),
             RelinkArguments{.first_group = 0,
                             .count = count,
                             .place = place_.address(),
                             .next = links_.next.address(),
                             .cold = links_.cold.address(),
                             .next_to = links_by_set_.next.address(),
                             .cold_to = links_by_set_.cold.address(),
                             .last_to = links_by_set_.last.address()});
  distances_ = &reuse_distances(*device_, stream, accesses_, links_by_set_, space_);
}

void LruPasses::count_ways(Stream& stream, const Buffer& ways, std::uint32_t ways_count, const Buffer& pieces,
                           std::uint64_t piece_count, const Buffer& counts) {
  stream.run(device_->program(kWays), piece_count,
             WaysArguments{.first_group = 0,
                           .ways_count = ways_count,
                           .in_place = in_place_ ? 1U : 0U,
                           .unused = 0,
                           .place = place_.address(),
                           .distances = distances_->address(),
                           .pieces = pieces.address(),
                           .ways = ways.address(),
                           .counts = counts.address()});
}

}  // namespace rayreplay::kernels
