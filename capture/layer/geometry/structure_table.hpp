// The acceleration structures of a device, and their contents.
//
// Contract: structures follow the application's handles; pending operations keep an object alive beyond its handle.
// `find` resolves a reference of an instance: a device address or (host builds) a handle. Of several structures at one
// address it takes the one built last, if none is alive the one destroyed last (pending submissions may still read its
// memory). Serialised data is recognised by its bytes, wherever they were moved. Not thread-safe: its owner locks.
// Complexity: O(log n) each.
#pragma once

#include <vulkan/vulkan.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/layer/geometry/content.hpp"

namespace rayreplay::layer::geometry {

struct StructureObject {
  VkAccelerationStructureKHR handle = VK_NULL_HANDLE;
  std::uint64_t address = 0;  ///< 0: unknown
  bool alive = true;
  bool top_level = false;            ///< created as one, or built as one
  std::shared_ptr<Content> content;  ///< null: never built, as far as is known
  std::uint64_t built = 0;           ///< number of the build or copy that made it; larger is later
  std::uint64_t checked = 0;         ///< builds() when its references were last looked up
  std::uint32_t pending = 0;         ///< builds and copies into it that were submitted and are not completed
};
using StructurePointer = std::shared_ptr<StructureObject>;

class StructureTable {
 public:
  StructurePointer create(VkAccelerationStructureKHR handle, VkAccelerationStructureTypeKHR type,
                          std::uint64_t address);
  void set_address(VkAccelerationStructureKHR handle, std::uint64_t address);
  void destroy(VkAccelerationStructureKHR handle);

  /// Null if unknown.
  [[nodiscard]] StructurePointer get(VkAccelerationStructureKHR handle) const;
  [[nodiscard]] StructurePointer find(std::uint64_t reference) const;

  void set_content(StructureObject& object, std::shared_ptr<Content> content);

  /// Number of contents so far.
  [[nodiscard]] std::uint64_t builds() const {
    return builds_;
  }
  /// The content of a top level with what its references hold now, if a bottom level was built again after it (the
  /// specification wants the top level built again as well, yet a launch reads what is there); null if none was.
  [[nodiscard]] std::shared_ptr<Content> refreshed(StructureObject& top_level, ContentStore& store) const;

  /// Live top-level structures that were built, the latest first.
  [[nodiscard]] std::vector<StructurePointer> top_levels() const;

 private:
  /// Destroyed structures that are kept for pending submissions, the latest ones.
  static constexpr std::size_t kGraves = 64;

  void forget_address(const StructurePointer& object);

  std::unordered_map<VkAccelerationStructureKHR, StructurePointer> by_handle_;
  std::multimap<std::uint64_t, StructurePointer> by_address_;
  std::deque<StructurePointer> graves_;
  std::uint64_t builds_ = 0;
};

/// Output of vkCopyAccelerationStructureToMemoryKHR: UUIDs, sizes, handles (Vulkan 1.3, "Copying Acceleration
/// Structures"), and opaque data.
struct SerializedView {
  std::uint64_t size = 0;              ///< of all of it
  std::vector<std::uint64_t> handles;  ///< bottom levels that a top level refers to
  Hash hash;                           ///< of all but the handles, which the application may replace
};
/// Empty if the bytes are not a whole serialised structure.
[[nodiscard]] std::optional<SerializedView> view_serialized(std::span<const std::uint8_t> bytes);

/// Contents by their serialised bytes.
class SerializedStore {
 public:
  void put(const SerializedView& view, std::shared_ptr<Content> content);
  /// The content of deserialising these bytes: a top level's references are renamed like the handles and looked up in
  /// `table`. Null if the bytes were not serialised in this process.
  [[nodiscard]] std::shared_ptr<Content> get(const SerializedView& view, const StructureTable& table,
                                             ContentStore& store) const;

 private:
  static constexpr std::size_t kMax = 4096;
  struct Entry {
    std::vector<std::uint64_t> handles;
    std::shared_ptr<Content> content;
  };
  std::unordered_map<Hash, Entry, HashOfHash> entries_;
  std::deque<Hash> order_;
};

}  // namespace rayreplay::layer::geometry
