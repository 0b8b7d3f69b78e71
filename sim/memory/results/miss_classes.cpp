#include "sim/memory/results/miss_classes.hpp"

#include "sim/memory/caches/set_associative.hpp"
#include "sim/memory/reuse/reuse_engine.hpp"

namespace rayreplay::memory {
namespace {

// A line's state: sectors of the infinite cache, sectors of the ideal cache, and a mark that the line was accessed (the
// table's numbers are 0 until then).
constexpr unsigned kIdealShift = 8;
constexpr std::uint32_t kSectors = 0xFF;
constexpr std::uint32_t kAccessed = 1U << 16U;

/// The class of a miss of a line that was accessed before.
MissClass class_of(std::uint32_t touched, std::uint32_t infinite, bool ideal_hits) {
  if (infinite == 0) {
    return MissClass::StoredOnly;
  }
  if ((touched & ~infinite) != 0) {
    return MissClass::NewSectors;
  }
  return ideal_hits ? MissClass::Conflict : MissClass::Capacity;
}

}  // namespace

MissClasses::MissClasses(const CacheModel& model, const CacheGeometry& geometry, bool sampled)
    : lines_(geometry.lines()),
      keeps_stores_(model.keeps_stores()),
      whole_(!model.exact() || (keeps_stores_ && geometry.sector() == geometry.line_bytes)) {
  if (!whole_ && !keeps_stores_ && !sampled) {
    CacheGeometry one_set = geometry;
    one_set.ways = 0;
    ideal_ = make_set_associative(one_set,
                                  {.replacement = Replacement::Lru, .write_back = false, .allocate = false, .seed = 0});
  }
}

void MissClasses::classify(std::span<const LineAccess> accesses, std::span<const std::uint32_t> distances,
                           std::span<const std::uint32_t> hit, std::span<MissClass> classes) {
  if (whole_) {
    by_distance(distances, classes);
  } else if (ideal_ == nullptr) {
    by_masks(accesses, distances, classes);
  } else {
    by_ideal_cache(accesses, distances, hit, classes);
  }
}

void MissClasses::by_distance(std::span<const std::uint32_t> distances, std::span<MissClass> classes) const {
  for (std::size_t i = 0; i < distances.size(); ++i) {
    const std::uint32_t distance = distances[i];
    if (distance >= kNotSampled) {
      classes[i] = distance == kInfinite ? MissClass::Cold : MissClass::Unknown;
    } else {
      classes[i] = distance >= lines_ ? MissClass::Capacity : MissClass::Conflict;
    }
  }
}

void MissClasses::by_masks(std::span<const LineAccess> accesses, std::span<const std::uint32_t> distances,
                           std::span<MissClass> classes) {
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    const std::uint32_t distance = distances[i];
    if (distance == kNotSampled) {
      classes[i] = MissClass::Unknown;
      continue;
    }
    const LineAccess access = accesses[i];
    std::uint32_t& state = states_.at(access.line);
    const std::uint32_t infinite = state & kSectors;
    const std::uint32_t ideal = distance < lines_ ? state >> kIdealShift & kSectors : 0;
    classes[i] =
        distance == kInfinite ? MissClass::Cold : class_of(access.sectors, infinite, (access.sectors & ~ideal) == 0);
    const std::uint32_t kept = !access.store || keeps_stores_ ? access.sectors : 0;
    state = kAccessed | infinite | kept | (ideal | kept) << kIdealShift;
  }
}

void MissClasses::by_ideal_cache(std::span<const LineAccess> accesses, std::span<const std::uint32_t> distances,
                                 std::span<const std::uint32_t> hit, std::span<MissClass> classes) {
  ideal_hit_.resize(accesses.size());
  ideal_->access(accesses, {}, ideal_hit_, nullptr);
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    const bool ideal_hits = ideal_hit_[i] == kOne;
    if (hit[i] == kOne) {
      // The infinite cache has all that the real one has: its mask stays.
      classes[i] = ideal_hits ? MissClass::Conflict : MissClass::Capacity;
      continue;
    }
    const LineAccess access = accesses[i];
    std::uint32_t& state = states_.at(access.line);
    classes[i] = distances[i] == kInfinite ? MissClass::Cold : class_of(access.sectors, state & kSectors, ideal_hits);
    state |= kAccessed | (access.store ? 0U : access.sectors);
  }
}

}  // namespace rayreplay::memory
