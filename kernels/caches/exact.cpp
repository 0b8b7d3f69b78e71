#include "kernels/caches/exact.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "ExactSets.spv.hpp"
#include "ExactSetsLong.spv.hpp"
#include "LruSequences.spv.hpp"
#include "LruSets.spv.hpp"
#include "LruSetsLong.spv.hpp"

#include "kernels/caches/arguments.h"

namespace rayreplay::kernels {
namespace {

using namespace lru;

constexpr Shader kSets{.name = "caches: sets", .code = kLruSets};
constexpr Shader kSetsLong{.name = "caches: sets, 64-bit lines", .code = kLruSetsLong};
constexpr Shader kSequences{.name = "caches: sequences", .code = kLruSequences};
constexpr Shader kExact{.name = "caches: exact", .code = kExactSets};
constexpr Shader kExactLong{.name = "caches: exact, 64-bit lines", .code = kExactSetsLong};

static_assert(kExactStore == RR_EXACT_STORE && kExactCounts == RR_EXACT_COUNTS);

constexpr std::uint32_t kUsualLanes = 32;
constexpr std::uint32_t kPart = 65536;  ///< accesses of a set in one launch: a few milliseconds

constexpr std::uint64_t threads(std::uint64_t count) {
  return (count + RR_LRU_THREADS - 1) / RR_LRU_THREADS;
}

void make_room(Device& device, Buffer& buffer, std::uint64_t bytes, const char* what) {
  if (buffer.bytes() < bytes) {
    buffer = Buffer();
    buffer = device.allocate(bytes, what);
  }
}

}  // namespace

std::uint32_t exact_lanes(const Device& device) {
  return std::clamp(kUsualLanes, device.info().least_subgroup, device.info().greatest_subgroup);
}

std::uint64_t exact_bytes(std::uint64_t accesses, unsigned line_bytes) {
  constexpr std::uint64_t kScratch = std::uint64_t{5} << 20U;  // of the sort
  return accesses * (line_bytes + sizeof(std::uint16_t) + 4 * sizeof(std::uint32_t)) + kScratch;
}

ExactPasses::ExactPasses(Device& device, std::uint64_t accesses, unsigned line_bytes)
    : device_(&device),
      accesses_(accesses),
      line_bytes_(line_bytes),
      lines_(device.allocate(accesses * line_bytes, "lines of accesses")),
      flags_(device.allocate_array<std::uint16_t>(accesses, "sectors of accesses")),
      keys_(device.allocate_array<std::uint32_t>(accesses, "sets")),
      other_keys_(device.allocate_array<std::uint32_t>(accesses, "sets, sorted")),
      index_(device.allocate_array<std::uint32_t>(accesses, "accesses")),
      other_index_(device.allocate_array<std::uint32_t>(accesses, "accesses, sorted")),
      sorter_(device) {}

void ExactPasses::order_by_sets(Stream& stream, std::uint64_t sets, std::uint64_t low, const Buffer& begins,
                                std::uint32_t streams) {
  stream.run(device_->program(line_bytes_ == sizeof(std::uint64_t) ? kSetsLong : kSets), threads(accesses_),
             SetArguments{.first_group = 0,
                          .count = static_cast<std::uint32_t>(accesses_),
                          .sets = static_cast<std::uint32_t>(sets),
                          .low = static_cast<std::uint32_t>(low % sets),
                          .lines = lines_.address(),
                          .keys = keys_.address(),
                          .index = index_.address()});
  SortArrays arrays{&keys_, &index_, &other_keys_, &other_index_};
  if (sets > 1) {
    sorter_.sort(stream, accesses_, sizeof(std::uint32_t), 0, static_cast<std::uint32_t>(std::bit_width(sets - 1)),
                 arrays);
  }
  order_ = arrays.values;
  sequences_ = sets * streams;
  make_room(*device_, sequence_begins_, (sequences_ + 1) * sizeof(std::uint32_t), "beginnings of sets");
  make_room(*device_, longest_there_, sizeof(std::uint32_t), "the longest set");
  stream.fill(longest_there_, 0);
  stream.run(device_->program(kSequences), threads(sequences_ + 1),
             SequenceArguments{.first_group = 0,
                               .count = static_cast<std::uint32_t>(accesses_),
                               .sequences = static_cast<std::uint32_t>(sequences_),
                               .streams = streams,
                               .keys = arrays.keys->address(),
                               .order = order_->address(),
                               .begins = begins.address(),
                               .to = sequence_begins_.address(),
                               .longest = longest_there_.address()});
  std::array<std::uint32_t, 1> longest{};
  stream.download_array(longest_there_, longest);
  stream.wait();
  longest_ = longest[0];
}

const Buffer& ExactPasses::run(Stream& stream, std::uint32_t ways, bool write_back, bool allocate) {
  const std::uint64_t all_ways = sequences_ * ways;
  make_room(*device_, counts_, sequences_ * kExactCounts * sizeof(std::uint64_t), "counts of sets");
  make_room(*device_, tags_, all_ways * line_bytes_, "tags");
  make_room(*device_, states_, all_ways * 2 * sizeof(std::uint32_t), "states of ways");
  stream.fill(counts_, 0);
  const std::uint32_t lanes = exact_lanes(*device_);
  const std::array<std::uint32_t, 1> slots{(ways + lanes - 1) / lanes};
  const Program program = device_->program(line_bytes_ == sizeof(std::uint64_t) ? kExactLong : kExact, slots, lanes);
  const std::uint64_t of_group = RR_LRU_THREADS / lanes;
  for (std::uint64_t skipped = 0; skipped < longest_; skipped += kPart) {
    stream.run(program, (sequences_ + of_group - 1) / of_group,
               ExactArguments{.first_group = 0,
                              .sequences = static_cast<std::uint32_t>(sequences_),
                              .ways = ways,
                              .policy = (allocate ? RR_EXACT_ALLOCATE : 0) | (write_back ? RR_EXACT_WRITE_BACK : 0),
                              .skipped = static_cast<std::uint32_t>(skipped),
                              .most = kPart,
                              .sequence_begins = sequence_begins_.address(),
                              .order = order_->address(),
                              .lines = lines_.address(),
                              .flags = flags_.address(),
                              .tags = tags_.address(),
                              .states = states_.address(),
                              .counts = counts_.address()});
  }
  return counts_;
}

}  // namespace rayreplay::kernels
