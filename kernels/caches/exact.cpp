#include "kernels/caches/exact.hpp"

#include <algorithm>
#include <array>

#include "ExactSets.spv.hpp"
#include "ExactSetsLong.spv.hpp"
#include "LruSequences.spv.hpp"

#include "kernels/caches/set_order.hpp"

namespace rayreplay::kernels {
namespace {

using namespace lru;

constexpr Shader kSequences{.name = "caches: sequences", .code = kLruSequences};
constexpr Shader kExact{.name = "caches: exact", .code = kExactSets};
constexpr Shader kExactLong{.name = "caches: exact, 64-bit lines", .code = kExactSetsLong};

static_assert(kExactStore == RR_EXACT_STORE && kExactCounts == RR_EXACT_COUNTS);

constexpr std::uint32_t kUsualLanes = 32;
constexpr std::uint32_t kPart = 65536;  ///< accesses of a set in one launch: a few milliseconds

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
  SortArrays arrays{&keys_, &index_, &other_keys_, &other_index_};
  sort_by_set(*device_, stream, {&lines_, accesses_, line_bytes_, low}, sets, sorter_, arrays);
  order_ = arrays.values;
  sequences_ = sets * streams;
  sequence_begins_.need(*device_, stream, (sequences_ + 1) * sizeof(std::uint32_t));
  longest_there_.need(*device_, stream, sizeof(std::uint32_t));
  stream.fill(longest_there_.get(), 0);
  stream.run(device_->program(kSequences), groups_of(sequences_ + 1),
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
  stream.download_array(longest_there_.get(), longest);
  stream.wait();
  longest_ = longest[0];
}

const Buffer& ExactPasses::run(Stream& stream, std::uint32_t ways, bool write_back, bool allocate) {
  const std::uint64_t all_ways = sequences_ * ways;
  counts_.need(*device_, stream, sequences_ * kExactCounts * sizeof(std::uint64_t));
  tags_.need(*device_, stream, all_ways * line_bytes_);
  states_.need(*device_, stream, all_ways * 2 * sizeof(std::uint32_t));
  stream.fill(counts_.get(), 0);
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
  return counts_.get();
}

}  // namespace rayreplay::kernels
