// Arrays with random access by kernels: aligned to 64 bytes, and large ones on huge pages if the system has them.
//
// Contract: an allocator for std::vector. Arrays of kLarge bytes or more are aligned to 2 MiB, and the system is asked
// for huge pages: a traversal touches a new page with almost every node, and a TLB miss costs about as much as a cache
// miss. Without huge pages only the speed differs.
#pragma once

#include <cstddef>
#include <new>
#include <utility>

namespace rayreplay::bvh {

namespace detail {

inline constexpr std::size_t kHugePage = std::size_t{2} << 20;
inline constexpr std::size_t kLarge = 2 * kHugePage;

/// A hint, never an error.
void ask_for_huge_pages(void* place, std::size_t bytes) noexcept;

}  // namespace detail

template <class T, std::size_t Alignment = 64>
struct AlignedAllocator {
  using value_type = T;
  template <class U>
  struct rebind {
    using other = AlignedAllocator<U, Alignment>;
  };
  AlignedAllocator() = default;
  template <class U>
  explicit AlignedAllocator(const AlignedAllocator<U, Alignment>& /*other*/) noexcept {}

  [[nodiscard]] T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    void* const place = ::operator new(bytes, boundary(bytes));
    if (bytes >= detail::kLarge) {
      detail::ask_for_huge_pages(place, bytes);
    }
    return static_cast<T*>(place);
  }
  void deallocate(T* place, std::size_t count) noexcept {
    ::operator delete(place, boundary(count * sizeof(T)));
  }
  /// `resize` leaves new elements uninitialised: every byte of these arrays is written later, in parallel.
  template <class U>
  void construct(U* place) noexcept {
    ::new (static_cast<void*>(place)) U;
  }
  template <class U, class... Arguments>
  void construct(U* place, Arguments&&... arguments) {
    ::new (static_cast<void*>(place)) U(std::forward<Arguments>(arguments)...);
  }
  bool operator==(const AlignedAllocator&) const = default;

 private:
  static std::align_val_t boundary(std::size_t bytes) {
    return std::align_val_t{bytes >= detail::kLarge ? detail::kHugePage : Alignment};
  }
};

}  // namespace rayreplay::bvh
