#include "bvh/builders/embree_build.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <exception>
#include <iterator>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>
#include <tbb/task_arena.h>

#include "base/error.hpp"
#include "base/memory.hpp"
#include "base/report_progress.hpp"
#include "bvh/builders/build_record.hpp"
#include "bvh/builders/record_memory.hpp"
#include "bvh/layout.hpp"

namespace rayreplay::bvh {
namespace {

constexpr std::size_t kGrain = 8192;
/// Deeper than any tree over floats that is split by position. Embree's default of 32 fails for merely uneven scenes.
constexpr unsigned kMaxDepth = 1000;
constexpr std::uint64_t kBytesPerItem = 120;
/// Below this Embree builds in one thread anyway.
constexpr std::size_t kParallelItems = 1024;
constexpr std::uint64_t kAskAbove = std::uint64_t{1} << 20;

static_assert(sizeof(RTCBuildPrimitive) == 32);

struct Release {
  void operator()(RTCBVH bvh) const {
    rtcReleaseBVH(bvh);
  }
};
using BvhHandle = std::unique_ptr<std::remove_pointer_t<RTCBVH>, Release>;

/// One device for all builds of the process.
RTCDevice device() {
  struct Device {
    RTCDevice handle = rtcNewDevice(nullptr);
    ~Device() {
      rtcReleaseDevice(handle);
    }
  };
  static const Device kDevice;
  if (kDevice.handle == nullptr) {
    throw Error(ErrorKind::Resource,
                {"Embree cannot be started", "",
                 fmt::format("its error {}", static_cast<int>(rtcGetDeviceError(nullptr))), "", ""});
  }
  return kDevice.handle;
}

/// The power of two that scales the scene for Embree; 0 for ordinary scenes.
class Scale {
 public:
  explicit Scale(const Box& bounds) {
    float magnitude = 0;
    float extent = 0;
    for (unsigned axis = 0; axis < 3; ++axis) {
      magnitude = std::max({magnitude, std::abs(bounds.low[axis]), std::abs(bounds.high[axis])});
      extent = std::max(extent, bounds.high[axis] / 2 - bounds.low[axis] / 2);
    }
    constexpr int kOrdinary = 20;
    const int magnitude_exponent = magnitude > 0 ? std::ilogb(magnitude) : 0;
    const int extent_exponent = extent > 0 ? std::ilogb(extent) : magnitude_exponent;
    if (magnitude_exponent > 2 * kOrdinary) {
      exponent_ = kOrdinary - magnitude_exponent;
    } else if (extent_exponent < -kOrdinary) {
      exponent_ = std::min(-extent_exponent, 2 * kOrdinary - magnitude_exponent);
    }
  }
  [[nodiscard]] bool none() const {
    return exponent_ == 0;
  }
  /// Rounded outward if a number underflows, so that the inverse scaling contains the box.
  [[nodiscard]] Box there(const Box& box) const {
    const auto below = [this](float value) { return down(value); };
    return {box.low.unaryExpr(below), -(-box.high).unaryExpr(below)};
  }
  [[nodiscard]] Box back(const Box& box) const {
    const auto scaled = [this](float value) { return back(value); };
    return {box.low.unaryExpr(scaled), box.high.unaryExpr(scaled)};
  }
  [[nodiscard]] float back(float value) const {
    return std::ldexp(value, -exponent_);
  }

 private:
  [[nodiscard]] float down(float value) const {
    const float scaled = std::ldexp(value, exponent_);
    return back(scaled) > value ? std::nextafter(scaled, -std::numeric_limits<float>::infinity()) : scaled;
  }

  int exponent_ = 0;
};

/// The box in Embree's coordinates.
Box seen(const RTCBuildPrimitive& primitive) {
  return {{primitive.lower_x, primitive.lower_y, primitive.lower_z},
          {primitive.upper_x, primitive.upper_y, primitive.upper_z}};
}

/// Shared by the callbacks, which run in Embree's threads and must not throw.
struct Build {
  std::vector<BuildItem> items;  ///< empty if Embree's primitives suffice: primID is the reference
  std::size_t count = 0;
  BuildLimits limits;
  const SplitFunction* split = nullptr;
  Progress* progress = nullptr;
  Scale scale;
  std::atomic<std::uint64_t> done{0};
  std::atomic<bool> oversized{false};
  std::atomic<bool> failed{false};
  std::exception_ptr failure{};
  std::mutex mutex{};
  RecordMemory memory;

  [[nodiscard]] std::uint32_t reference(const RTCBuildPrimitive& primitive) const {
    return items.empty() ? primitive.primID : items[primitive.primID].reference;
  }
  /// The primitive's box in the items' coordinates.
  [[nodiscard]] Box box(const RTCBuildPrimitive& primitive) const {
    return items.empty() ? seen(primitive) : intersection(scale.back(seen(primitive)), items[primitive.primID].box);
  }
  void fail() {
    const std::scoped_lock lock(mutex);
    if (!failed.exchange(true)) {
      failure = std::current_exception();
    }
  }
};

Build& build_of(void* user) {
  return *static_cast<Build*>(user);
}

/// Null without memory: the build has failed and is cancelled at its next report.
void* create_node(RTCThreadLocalAllocator /*allocator*/, unsigned count, void* user) {
  Build& build = build_of(user);
  try {
    auto* record = new (build.memory.allocate(NodeRecord::bytes(count))) NodeRecord(count);
    return static_cast<BuildRecord*>(record);
  } catch (...) {
    build.fail();
    return nullptr;
  }
}

void set_children(void* node, void** children, unsigned count, void* /*user*/) {
  if (node == nullptr || std::find(children, children + count, nullptr) != children + count) {
    return;
  }
  auto* record = static_cast<NodeRecord*>(static_cast<BuildRecord*>(node));
  for (unsigned i = 0; i < count; ++i) {
    record->children()[i] = static_cast<BuildRecord*>(children[i]);
  }
  record->complete();
}

/// Required by Embree; boxes come from the leaves.
void set_bounds(void* /*node*/, const RTCBounds** /*bounds*/, unsigned /*count*/, void* /*user*/) {}

/// Null as in `create_node`.
void* create_leaf(RTCThreadLocalAllocator /*allocator*/, const RTCBuildPrimitive* primitives, std::size_t count,
                  void* user) {
  Build& build = build_of(user);
  LeafRecord* record = nullptr;
  try {
    record = new (build.memory.allocate(LeafRecord::bytes(count))) LeafRecord(count);
  } catch (...) {
    build.fail();
    return nullptr;
  }
  std::uint32_t* references = record->references();
  for (std::size_t i = 0; i < count; ++i) {
    references[i] = build.reference(primitives[i]);
    record->box.extend(build.box(primitives[i]));
  }
  std::sort(references, references + count);
  if (count > build.limits.leaf_size) {
    build.oversized = true;
  }
  return static_cast<BuildRecord*>(record);
}

void put(const Box& box, RTCBounds& bounds) {
  bounds.lower_x = box.low[0];
  bounds.lower_y = box.low[1];
  bounds.lower_z = box.low[2];
  bounds.upper_x = box.high[0];
  bounds.upper_y = box.high[1];
  bounds.upper_z = box.high[2];
}

void split_primitive(const RTCBuildPrimitive* primitive, unsigned axis, float position, RTCBounds* left,
                     RTCBounds* right, void* user) {
  Build& build = build_of(user);
  const Box part = build.box(*primitive);
  Box below;
  Box above;
  try {
    (*build.split)(build.reference(*primitive), part, axis, build.scale.back(position), below, above);
  } catch (...) {
    build.fail();
    cut(part, axis, build.scale.back(position), below, above);
  }
  if (!build.scale.none()) {
    below = below.empty() ? below : build.scale.there(below);
    above = above.empty() ? above : build.scale.there(above);
  }
  put(below, *left);
  put(above, *right);
}

bool report(void* user, double share) {
  Build& build = build_of(user);
  try {
    const auto total = static_cast<double>(build.count);
    const auto now = static_cast<std::uint64_t>(std::clamp(share, 0.0, 1.0) * total);
    std::uint64_t before = build.done.load();
    while (before < now && !build.done.compare_exchange_weak(before, now)) {
    }
    if (before < now && build.progress != nullptr) {
      build.progress->advance(now - before);
    }
  } catch (...) {
    build.fail();
  }
  return !build.failed;
}

using Primitives = std::vector<RTCBuildPrimitive, AlignedAllocator<RTCBuildPrimitive, 32>>;

/// The items in Embree's form, with room for `capacity`.
Primitives primitives_of(const std::vector<BuildItem>& items, const Scale& scale, std::size_t capacity) {
  Primitives primitives(capacity);
  tbb::parallel_for(
      tbb::blocked_range<std::size_t>(0, items.size(), kGrain), [&](const tbb::blocked_range<std::size_t>& range) {
        for (std::size_t i = range.begin(); i != range.end(); ++i) {
          const bool same = scale.none();
          const Box box = same ? items[i].box : scale.there(items[i].box);
          primitives[i] = {box.low[0],  box.low[1],  box.low[2],  0,
                           box.high[0], box.high[1], box.high[2], static_cast<unsigned>(same ? items[i].reference : i)};
        }
      });
  return primitives;
}

bool is_empty(const BuildItem& item) {
  return item.box.empty();
}

Box bounds_of(const std::vector<BuildItem>& items) {
  return tbb::parallel_reduce(
      tbb::blocked_range<std::size_t>(0, items.size(), kGrain), Box{},
      [&](const tbb::blocked_range<std::size_t>& range, Box box) {
        for (std::size_t i = range.begin(); i != range.end(); ++i) {
          box.extend(items[i].box);
        }
        return box;
      },
      [](Box left, const Box& right) {
        left.extend(right);
        return left;
      });
}

[[noreturn]] void fail_for_memory(std::string found) {
  throw Error(ErrorKind::Resource, {"the build of an acceleration structure ran out of memory", "", std::move(found),
                                    "", "free memory or trace a smaller scene"});
}

void check_result(const Build& build, const void* root) {
  if (build.failed) {
    try {
      std::rethrow_exception(build.failure);
    } catch (const std::bad_alloc&) {
      fail_for_memory(fmt::format("{} items", build.count));
    }
  }
  if (root == nullptr) {
    const RTCError error = rtcGetDeviceError(device());
    const std::string found = fmt::format("its error {} for {} items", static_cast<int>(error), build.count);
    if (error == RTC_ERROR_OUT_OF_MEMORY) {
      fail_for_memory(found);
    }
    throw Error(ErrorKind::Internal,
                {"Embree did not build an acceleration structure", "", found, "", "use the builder 'median'"});
  }
  if (build.oversized) {
    throw Error(ErrorKind::Internal,
                {"Embree made a leaf that is larger than asked for", "", "",
                 fmt::format("at most {} references", build.limits.leaf_size), "use the builder 'median'"});
  }
}

Tree run(Build& build, const EmbreeSettings& settings) {
  const std::size_t count = build.count;
  const bool splits = build.split != nullptr && settings.extra_references > 0;
  const std::size_t capacity =
      splits ? count + static_cast<std::size_t>(static_cast<double>(count) * settings.extra_references) : count;
  if (capacity > 0xFFFF'FFFFU) {
    throw Error(ErrorKind::Resource, {"the tree would have too many references", "", fmt::format("{}", capacity),
                                      "less than 2^32", "lower the builder's share of extra references"});
  }
  if (capacity > kAskAbove) {
    require_memory(capacity * kBytesPerItem, "an acceleration structure does not fit into memory", "builder",
                   "free memory or trace a smaller scene");
  }
  Primitives primitives = primitives_of(build.items, build.scale, capacity);
  if (build.scale.none()) {
    std::vector<BuildItem>().swap(build.items);
  }
  const BvhHandle bvh(rtcNewBVH(device()));
  if (bvh == nullptr) {
    check_result(build, nullptr);
  }
  RTCBuildArguments arguments = rtcDefaultBuildArguments();
  arguments.buildQuality = settings.quality;
  arguments.maxBranchingFactor = build.limits.branching;
  arguments.maxDepth = kMaxDepth;
  arguments.sahBlockSize = 1;
  arguments.maxLeafSize = std::min<unsigned>(build.limits.leaf_size, RTC_BUILD_MAX_PRIMITIVES_PER_LEAF);
  arguments.minLeafSize = std::min<unsigned>(settings.min_leaf_size, arguments.maxLeafSize);
  arguments.traversalCost = static_cast<float>(settings.traversal_cost);
  arguments.intersectionCost = static_cast<float>(settings.intersection_cost);
  arguments.bvh = bvh.get();
  arguments.primitives = primitives.data();
  arguments.primitiveCount = count;
  arguments.primitiveArrayCapacity = capacity;
  arguments.createNode = create_node;
  arguments.setNodeChildren = set_children;
  arguments.setNodeBounds = set_bounds;
  arguments.createLeaf = create_leaf;
  arguments.splitPrimitive = splits ? split_primitive : nullptr;
  arguments.buildProgress = report;
  arguments.userPtr = &build;
  const void* root = nullptr;
  if (settings.one_thread && count >= kParallelItems) {
    tbb::task_arena arena(1);
    root = arena.execute([&] { return rtcBuildBVH(&arguments); });
  } else {
    root = rtcBuildBVH(&arguments);
  }
  check_result(build, root);
  Primitives().swap(primitives);  // assigning {} would keep the capacity
  return flatten(*static_cast<const BuildRecord*>(root));
}

Tree single_leaf(const BuildItem& item) {
  Tree tree;
  tree.nodes = {{0, 1}};
  tree.children = {{item.box, 0, 1}};
  tree.references = {item.reference};
  tree.bounds = item.box;
  return tree;
}

}  // namespace

Tree embree_build(std::vector<BuildItem> items, BuildLimits limits, const EmbreeSettings& settings,
                  const SplitFunction* split, Progress* progress) {
  const std::size_t all = items.size();
  std::erase_if(items, is_empty);
  Build build{.items = {},
              .count = items.size(),
              .limits = limits,
              .split = split,
              .progress = progress,
              .scale = Scale(bounds_of(items)),
              .memory = RecordMemory(settings.record_bytes)};
  Tree tree;
  if (items.size() == 1) {
    tree = single_leaf(items.front());
  } else if (!items.empty()) {
    build.items = std::move(items);
    tree = run(build, settings);
  }
  report_advance(progress, all - build.done);
  return tree;
}

}  // namespace rayreplay::bvh
