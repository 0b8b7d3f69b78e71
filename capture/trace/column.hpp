// Column<T>: the array type of a trace: a std::vector whose new elements are left uninitialised when they are about to
// be overwritten (`resize`), because zeroing gigabytes before decoding into them would cost as much as the decoding.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace rayreplay::trace {

template <class T>
struct DefaultInitAllocator : std::allocator<T> {
  static_assert(std::is_trivially_default_constructible_v<T>);
  template <class U>
  struct rebind {
    using other = DefaultInitAllocator<U>;
  };
  DefaultInitAllocator() = default;
  template <class U>
  explicit DefaultInitAllocator(const DefaultInitAllocator<U>&) noexcept {}
  template <class U>
  void construct(U* place) noexcept {
    ::new (static_cast<void*>(place)) U;
  }
  template <class U, class... Arguments>
  void construct(U* place, Arguments&&... arguments) {
    ::new (static_cast<void*>(place)) U(std::forward<Arguments>(arguments)...);
  }
};

template <class T>
using Column = std::vector<T, DefaultInitAllocator<T>>;

}  // namespace rayreplay::trace
