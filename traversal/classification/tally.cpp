#include "traversal/classification/tally.hpp"

#include <algorithm>
#include <tuple>

#include <tbb/parallel_sort.h>

namespace rayreplay::traversal {
namespace {

constexpr std::size_t kFirstSlots = 64;  // powers of two

std::size_t mix(std::uint64_t a, std::uint64_t b) {
  // Two rounds of multiply and fold, as in splitmix64.
  std::uint64_t z = a * 0x9E37'79B9'7F4A'7C15U + b;
  z = (z ^ (z >> 30)) * 0xBF58'476D'1CE4'E5B9U;
  return static_cast<std::size_t>(z ^ (z >> 27));
}

auto key(const ObjectCounts& object) {
  return std::tuple(object.instance, object.geometry, object.primitive);
}

}  // namespace

std::size_t ObjectTally::place_of(std::uint32_t instance, std::uint32_t geometry, std::uint32_t primitive) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t place = mix((std::uint64_t{instance} << 32U) | primitive, geometry) & mask;
  while (slots_[place].instance != trace::kNone && key(slots_[place]) != std::tuple(instance, geometry, primitive)) {
    place = (place + 1) & mask;
  }
  return place;
}

void ObjectTally::grow() {
  std::vector<ObjectCounts> old(std::max(kFirstSlots, slots_.size() * 2), ObjectCounts{trace::kNone, 0, 0, {}});
  old.swap(slots_);
  for (const ObjectCounts& object : old) {
    if (object.instance != trace::kNone) {
      slots_[place_of(object.instance, object.geometry, object.primitive)] = object;
    }
  }
}

void ObjectTally::count(const Candidate& candidate, TestKind kind) {
  if (used_ * 2 >= slots_.size()) {
    grow();
  }
  ObjectCounts& slot = slots_[place_of(candidate.instance, candidate.geometry, candidate.primitive)];
  if (slot.instance == trace::kNone) {
    slot.instance = candidate.instance;
    slot.geometry = candidate.geometry;
    slot.primitive = candidate.primitive;
    ++used_;
  }
  ++slot.counts[static_cast<std::size_t>(kind)];
}

std::vector<ObjectCounts> ObjectTally::take() {
  std::vector<ObjectCounts> objects;
  objects.reserve(used_);
  std::copy_if(slots_.begin(), slots_.end(), std::back_inserter(objects),
               [](const ObjectCounts& object) { return object.instance != trace::kNone; });
  slots_ = {};
  used_ = 0;
  return objects;
}

std::vector<ObjectCounts> merge(std::vector<std::vector<ObjectCounts>> parts) {
  std::vector<ObjectCounts> all;
  for (std::vector<ObjectCounts>& part : parts) {
    all.insert(all.end(), part.begin(), part.end());
    part = {};
  }
  tbb::parallel_sort(all.begin(), all.end(),
                     [](const ObjectCounts& a, const ObjectCounts& b) { return key(a) < key(b); });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (kept > 0 && key(all[kept - 1]) == key(all[i])) {
      for (std::size_t kind = 0; kind < kTestKinds; ++kind) {
        all[kept - 1].counts[kind] += all[i].counts[kind];
      }
    } else {
      all[kept++] = all[i];
    }
  }
  all.resize(kept);
  return all;
}

}  // namespace rayreplay::traversal
