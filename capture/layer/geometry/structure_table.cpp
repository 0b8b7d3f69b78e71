#include "capture/layer/geometry/structure_table.hpp"

#include <algorithm>
#include <cstring>

namespace rayreplay::layer::geometry {
namespace {

VkAccelerationStructureKHR as_handle(std::uint64_t number) {
  return reinterpret_cast<VkAccelerationStructureKHR>(number);
}

std::uint64_t number_at(std::span<const std::uint8_t> bytes, std::size_t offset) {
  std::uint64_t number = 0;
  std::memcpy(&number, bytes.data() + offset, sizeof number);
  return number;
}

}  // namespace

StructurePointer StructureTable::create(VkAccelerationStructureKHR handle, VkAccelerationStructureTypeKHR type,
                                        std::uint64_t address) {
  destroy(handle);  // a reused handle was destroyed without being seen
  auto object = std::make_shared<StructureObject>();
  object->handle = handle;
  object->top_level = type == VK_ACCELERATION_STRUCTURE_TYPE_TOP_LEVEL_KHR;
  by_handle_[handle] = object;
  set_address(handle, address);
  return object;
}

void StructureTable::forget_address(const StructurePointer& object) {
  auto [at, end] = by_address_.equal_range(object->address);
  for (; at != end; ++at) {
    if (at->second == object) {
      by_address_.erase(at);
      return;
    }
  }
}

void StructureTable::set_address(VkAccelerationStructureKHR handle, std::uint64_t address) {
  const StructurePointer object = get(handle);
  if (object == nullptr || object->address == address) {
    return;
  }
  forget_address(object);
  object->address = address;
  if (address != 0) {
    by_address_.emplace(address, object);
  }
}

void StructureTable::destroy(VkAccelerationStructureKHR handle) {
  const auto found = by_handle_.find(handle);
  if (found == by_handle_.end()) {
    return;
  }
  found->second->alive = false;
  graves_.push_back(found->second);
  by_handle_.erase(found);
  while (graves_.size() > kGraves) {
    forget_address(graves_.front());
    graves_.pop_front();
  }
}

StructurePointer StructureTable::get(VkAccelerationStructureKHR handle) const {
  const auto found = by_handle_.find(handle);
  return found == by_handle_.end() ? nullptr : found->second;
}

StructurePointer StructureTable::find(std::uint64_t reference) const {
  StructurePointer best;
  if (reference == 0) {
    return best;
  }
  auto [at, end] = by_address_.equal_range(reference);
  for (; at != end; ++at) {
    const StructurePointer& object = at->second;
    const bool better = best == nullptr || (object->alive && !best->alive) ||
                        (object->alive == best->alive && object->built >= best->built);
    if (better) {
      best = object;
    }
  }
  return best != nullptr ? best : get(as_handle(reference));
}

void StructureTable::set_content(StructureObject& object, std::shared_ptr<Content> content) {
  object.built = ++builds_;
  object.top_level = content != nullptr && content->top_level;
  object.content = std::move(content);
  if (object.content != nullptr) {
    object.content->holder = reinterpret_cast<std::uint64_t>(object.handle);
  }
}

std::shared_ptr<Content> StructureTable::refreshed(StructureObject& top_level, ContentStore& store) const {
  if (top_level.content == nullptr || !top_level.content->top_level || top_level.checked == builds_) {
    return nullptr;
  }
  top_level.checked = builds_;
  const std::vector<TopInstance>& instances = top_level.content->instances;
  const auto held_now = [&](const TopInstance& instance) {
    const StructurePointer bottom = find(instance.raw.accelerationStructureReference);
    return bottom != nullptr && bottom->content != nullptr ? bottom->content : instance.bottom;
  };
  const bool stale = std::any_of(instances.begin(), instances.end(),
                                 [&](const TopInstance& instance) { return held_now(instance) != instance.bottom; });
  if (!stale) {
    return nullptr;
  }
  Content content;
  content.top_level = true;
  content.flags = top_level.content->flags;
  content.missing = top_level.content->missing;
  content.instances = instances;
  for (TopInstance& instance : content.instances) {
    instance.bottom = held_now(instance);
  }
  return store.intern(std::move(content));
}

std::vector<StructurePointer> StructureTable::top_levels() const {
  std::vector<StructurePointer> found;
  for (const auto& [handle, object] : by_handle_) {
    if (object->top_level && object->content != nullptr) {
      found.push_back(object);
    }
  }
  std::sort(found.begin(), found.end(),
            [](const StructurePointer& a, const StructurePointer& b) { return a->built > b->built; });
  return found;
}

std::optional<SerializedView> view_serialized(std::span<const std::uint8_t> bytes) {
  constexpr std::size_t kUuids = 2 * VK_UUID_SIZE;
  constexpr std::size_t kHeader = kUuids + 3 * sizeof(std::uint64_t);
  if (bytes.size() < kHeader) {
    return std::nullopt;
  }
  SerializedView view;
  view.size = number_at(bytes, kUuids);
  const std::uint64_t handles = number_at(bytes, kUuids + 16);
  if (view.size < kHeader || view.size > bytes.size() || handles > (view.size - kHeader) / sizeof(std::uint64_t)) {
    return std::nullopt;
  }
  view.handles.resize(handles);
  const std::size_t rest = kHeader + handles * sizeof(std::uint64_t);
  if (handles != 0) {
    std::memcpy(view.handles.data(), bytes.data() + kHeader, rest - kHeader);
  }
  const Hash parts[2] = {hash_bytes(bytes.data(), kHeader), hash_bytes(bytes.data() + rest, view.size - rest)};
  view.hash = hash_bytes(parts, sizeof parts);
  return view;
}

void SerializedStore::put(const SerializedView& view, std::shared_ptr<Content> content) {
  const bool added = entries_.insert_or_assign(view.hash, Entry{view.handles, std::move(content)}).second;
  if (added) {
    order_.push_back(view.hash);
  }
  while (order_.size() > kMax) {
    entries_.erase(order_.front());
    order_.pop_front();
  }
}

std::shared_ptr<Content> SerializedStore::get(const SerializedView& view, const StructureTable& table,
                                              ContentStore& store) const {
  const auto found = entries_.find(view.hash);
  if (found == entries_.end() || found->second.content == nullptr) {
    return nullptr;
  }
  const Entry& entry = found->second;
  if (!entry.content->top_level || entry.content->instances.empty() || entry.handles.size() != view.handles.size()) {
    return entry.content;
  }
  std::unordered_map<std::uint64_t, std::uint64_t> renamed;
  for (std::size_t i = 0; i < entry.handles.size(); ++i) {
    renamed[entry.handles[i]] = view.handles[i];
  }
  Content content;
  content.top_level = true;
  content.flags = entry.content->flags;
  content.instances = entry.content->instances;
  for (TopInstance& instance : content.instances) {
    const auto name = renamed.find(instance.raw.accelerationStructureReference);
    if (name != renamed.end()) {
      instance.raw.accelerationStructureReference = name->second;
      const StructurePointer bottom = table.find(name->second);
      instance.bottom = bottom != nullptr ? bottom->content : nullptr;
    }
  }
  return store.intern(std::move(content));
}

}  // namespace rayreplay::layer::geometry
