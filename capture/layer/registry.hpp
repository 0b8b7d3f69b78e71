// Instances and devices, found by the dispatch key of their handles.
//
// Contract: `make` gives an object before the next layer creates its handle; afterwards nothing can fail: `add` and
// `find` allocate nothing and do not throw. Calls of an unknown instance or device could not be passed on, so a few
// objects have static memory for when the heap is exhausted; null only after those. Not thread-safe: its owner locks.
// Complexity: linear in the objects, which are few.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>

namespace rayreplay::layer {

template <typename Object>
class Registry {
 public:
  /// Not found until it is added.
  [[nodiscard]] Object* make() noexcept {
    static_assert(std::is_nothrow_default_constructible_v<Entry>);
    if (auto* made = new (std::nothrow) Entry) {
      return made;
    }
    for (auto& room : reserve()) {
      if (!room.used) {
        room.used = true;
        auto* made = new (room.bytes) Entry;
        made->room = &room;
        return made;
      }
    }
    return nullptr;
  }

  void add(Object* object, const void* key) noexcept {
    auto* entry = static_cast<Entry*>(object);
    entry->key = key;
    entry->next = first_;
    first_ = entry;
  }

  /// Null if there is none.
  [[nodiscard]] Object* find(const void* key) const noexcept {
    auto* at = first_;
    while (at != nullptr && at->key != key) {
      at = at->next;
    }
    return at;
  }

  /// Takes an object out and leaves it to the caller. Null if there is none.
  [[nodiscard]] Object* take(const void* key) noexcept {
    for (auto** at = &first_; *at != nullptr; at = &(*at)->next) {
      if ((*at)->key == key) {
        auto* taken = *at;
        *at = taken->next;
        return taken;
      }
    }
    return nullptr;
  }

  static void drop(Object* object) noexcept {
    auto* entry = static_cast<Entry*>(object);
    if (entry == nullptr || entry->room == nullptr) {
      delete entry;
      return;
    }
    auto* room = entry->room;
    entry->~Entry();
    room->used = false;
  }

  template <typename Visit>
  void for_each(const Visit& visit) {
    for (auto* at = first_; at != nullptr; at = at->next) {
      visit(*at);
    }
  }

 private:
  struct Room;
  struct Entry : Object {
    const void* key = nullptr;
    Entry* next = nullptr;
    Room* room = nullptr;  ///< in the library; null: from the heap
  };
  struct Room {
    alignas(Entry) std::byte bytes[sizeof(Entry)];
    bool used = false;
  };
  static auto& reserve() noexcept {
    static Room rooms[2];
    return rooms;
  }

  Entry* first_ = nullptr;
};

}  // namespace rayreplay::layer
