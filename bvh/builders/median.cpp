// Median builder: halves along the longest axis (MODELS.md §9). Own code, without Embree.
//
// Contract: a set is split into halves of its items in the order of (centroid on the longest axis of the centroids'
// box, reference). A node's children are made by splitting the largest of them until the limit is reached.
// Deterministic: the order is total. O(n log n), parallel.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include <tbb/parallel_for.h>

#include "base/report_progress.hpp"
#include "bvh/builders/build_record.hpp"
#include "bvh/builders/builder_parameters.hpp"
#include "bvh/builders/record_memory.hpp"

namespace rayreplay::bvh {
namespace {

constexpr std::size_t kParallelItems = 4096;

using Range = std::span<BuildItem>;

/// Twice the centroid, in double: exact.
Vec3d centroid(const BuildItem& item) {
  return item.box.low.cast<double>() + item.box.high.cast<double>();
}
double centroid(const BuildItem& item, Eigen::Index axis) {
  return static_cast<double>(item.box.low[axis]) + static_cast<double>(item.box.high[axis]);
}

/// The first of equals.
Eigen::Index longest_axis(Range items) {
  Vec3d low = centroid(items.front());
  Vec3d high = low;
  for (const BuildItem& item : items) {
    const Vec3d here = centroid(item);
    low = low.cwiseMin(here);
    high = high.cwiseMax(here);
  }
  Eigen::Index longest = 0;
  (high - low).maxCoeff(&longest);
  return longest;
}

class MedianBuild {
 public:
  MedianBuild(BuildLimits limits, Progress* progress) : limits_(limits), progress_(progress) {}

  BuildRecord* record(Range items) {
    return items.size() <= limits_.leaf_size ? leaf(items) : node(items);
  }

 private:
  BuildRecord* leaf(Range items) {
    const std::size_t count = items.size();
    auto* made = new (memory_.allocate(LeafRecord::bytes(count))) LeafRecord(count);
    for (std::size_t i = 0; i < items.size(); ++i) {
      made->box.extend(items[i].box);
      made->references()[i] = items[i].reference;
    }
    std::sort(made->references(), made->references() + count);
    report_advance(progress_, count);
    return made;
  }

  BuildRecord* node(Range items) {
    std::vector<Range> parts{items};
    while (parts.size() < limits_.branching) {
      // The first of the largest; leaves are not split.
      const auto largest = std::ranges::max_element(parts, {}, [](Range part) { return part.size(); });
      if (largest->size() <= limits_.leaf_size) {
        break;
      }
      const Range whole = *largest;
      const std::size_t half = split(whole);
      *largest = whole.first(half);
      parts.insert(largest + 1, whole.subspan(half));
    }
    auto* made = new (memory_.allocate(NodeRecord::bytes(parts.size()))) NodeRecord(parts.size());
    const auto descend = [&](std::size_t i) { made->children()[i] = record(parts[i]); };
    if (items.size() > kParallelItems) {
      tbb::parallel_for(std::size_t{0}, parts.size(), descend);
    } else {
      for (std::size_t i = 0; i < parts.size(); ++i) {
        descend(i);
      }
    }
    made->complete();
    return made;
  }

  static std::size_t split(Range items) {
    const Eigen::Index axis = longest_axis(items);
    const std::size_t half = items.size() / 2;
    std::nth_element(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(half), items.end(),
                     [axis](const BuildItem& a, const BuildItem& b) {
                       const double left = centroid(a, axis);
                       const double right = centroid(b, axis);
                       return left < right || (left == right && a.reference < b.reference);
                     });
    return half;
  }

  BuildLimits limits_;
  Progress* progress_;
  RecordMemory memory_;
};

class Median final : public Builder {
 public:
  explicit Median(const Parameters& parameters) : wanted_(wanted_limits(parameters)) {}

  [[nodiscard]] BuildLimits wanted() const override {
    return wanted_;
  }
  [[nodiscard]] Tree build(std::vector<BuildItem> items, BuildLimits limits, const SplitFunction* /*split*/,
                           Progress* progress) const override {
    const std::size_t empty = std::erase_if(items, [](const BuildItem& item) { return item.box.empty(); });
    report_advance(progress, empty);
    if (items.empty()) {
      return {};
    }
    limits.leaf_size = usual_leaf_size(wanted_, limits);
    MedianBuild build(limits, progress);
    return flatten(*build.record(items));
  }

 private:
  BuildLimits wanted_;
};

const Builders::Registrar kRegistrar(
    {.kind = {},
     .name = "median",
     .summary = "Halves along the longest axis of the centroids",
     .text = "Splits every set into halves in the order of the centroids along the longest axis of their box, equal "
             "ones by number, until at most leaf_size references are left; 0 means 4 here, or the layout's own if that "
             "is less. Blind to sizes and empty space: the plain tree that others are measured against. Depends on "
             "nothing but the items.",
     .source = "Kay, Kajiya, Ray tracing complex scenes (1986); rayreplay",
     .parameters = {branching_parameter(), leaf_size_parameter()}},
    [](const Parameters& parameters) { return std::make_unique<Median>(parameters); });

}  // namespace
}  // namespace rayreplay::bvh
