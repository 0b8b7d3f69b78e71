// Contents of acceleration structures, kept until a captured launch needs them.
//
// Contract: a Content is the result of one build; copied structures share it, and so do builds of the same bytes.
// `ContentStore::intern` finds an equal one (by XXH3-128 over all that the spool would hold) or keeps the new one; its
// bytes count as held until it is written or dropped. Beyond the limit they are not kept and `missing` says so. A
// Content's fields change only under its owner's lock: `written`, which frees its bytes.
#pragma once

#include <vulkan/vulkan.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/spool/format.hpp"

namespace rayreplay::layer::geometry {

struct Hash {
  std::uint64_t low = 0, high = 0;
  bool operator==(const Hash&) const = default;
};
struct HashOfHash {
  std::size_t operator()(const Hash& hash) const {
    return static_cast<std::size_t>(hash.low);
  }
};
[[nodiscard]] Hash hash_bytes(const void* data, std::size_t bytes);

struct Content;

struct TopInstance {
  VkAccelerationStructureInstanceKHR raw = {};
  std::shared_ptr<Content> bottom;  ///< what the reference held when the top level was built; null: nothing known
};

struct Content {
  bool top_level = false;
  VkBuildAccelerationStructureFlagsKHR flags = 0;
  std::vector<spool::Geometry> geometries;  ///< bottom level; without their bytes once written
  std::vector<TopInstance> instances;       ///< top level
  std::string missing;

  std::uint64_t holder = 0;  ///< handle of the structure that got it last, for its name
  Hash hash;
  std::uint32_t id = spool::kNone;  ///< Structure number; kNone: not written yet
};

class ContentStore {
 public:
  explicit ContentStore(std::uint64_t limit_bytes);

  [[nodiscard]] std::shared_ptr<Content> intern(Content content);
  /// Frees the bytes of a content that the spool holds.
  void release_bytes(Content& content);
  [[nodiscard]] std::uint64_t held_bytes() const {
    return held_->load();
  }

 private:
  std::uint64_t limit_;
  std::shared_ptr<std::atomic<std::uint64_t>> held_;  ///< outlives the store, for contents do
  std::unordered_map<Hash, std::weak_ptr<Content>, HashOfHash> known_;
  std::uint64_t dropped_ = 0;    ///< contents that did not fit
  std::size_t sweep_at_ = 1024;  ///< entries at which expired ones are thrown out
};

/// Bytes of vertices, indices, boxes and instances.
[[nodiscard]] std::uint64_t bytes_of(const Content& content);

}  // namespace rayreplay::layer::geometry
