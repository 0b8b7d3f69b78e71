// Rows of an access log while it is written: a growing array with cheap appends.
//
// Contract: as std::vector<Access>, but a row is written by one store of 16 bytes (a traversal writes one every few
// nanoseconds), and `append` reserves rows that the caller fills later. Errors: std::bad_alloc.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

namespace rayreplay::traversal {

/// The target of a memory access: read, or for stack entries also written.
enum class AccessKind : std::uint8_t { Node, Index, Vertex, Instance, Box, Stack };

inline constexpr std::uint32_t kStackEntryBytes = 8;  ///< an entry distance and a record's number

struct Access {
  std::uint64_t address = 0;  ///< of bvh::MemoryMap; Stack: in the lane's memory for entries that are not on chip
  std::uint32_t bytes = 0;
  AccessKind kind = AccessKind::Node;
  bool store = false;

  bool operator==(const Access&) const = default;
};

static_assert(sizeof(Access) == 16 && offsetof(Access, bytes) == 8 && offsetof(Access, kind) == 12 &&
              offsetof(Access, store) == 13);

class AccessRows {
 public:
  AccessRows() = default;
  AccessRows(const AccessRows& other) {
    reserve(other.size());
    std::copy(other.begin(), other.end(), append(other.size()));
  }
  AccessRows(AccessRows&& other) noexcept {
    swap(other);
  }
  AccessRows& operator=(AccessRows other) noexcept {
    swap(other);
    return *this;
  }
  ~AccessRows() = default;

  void swap(AccessRows& other) noexcept {
    std::swap(rows_, other.rows_);
    std::swap(size_, other.size_);
    std::swap(room_, other.room_);
  }

  [[nodiscard]] std::size_t size() const {
    return size_;
  }
  [[nodiscard]] bool empty() const {
    return size_ == 0;
  }
  [[nodiscard]] Access* data() {
    return rows_.get();
  }
  [[nodiscard]] const Access* data() const {
    return rows_.get();
  }
  [[nodiscard]] const Access* begin() const {
    return data();
  }
  [[nodiscard]] const Access* end() const {
    return data() + size_;
  }
  [[nodiscard]] const Access& operator[](std::size_t row) const {
    return rows_[row];
  }

  void clear() {
    size_ = 0;
  }
  void reserve(std::size_t rows) {
    if (rows > room_) {
      grow(rows);
    }
  }
  void push(std::uint64_t address, std::uint32_t bytes, AccessKind kind, bool store = false) {
    put(append(1), address, bytes, kind, store);
  }
  /// Appends `rows` rows for the caller to fill; the pointer is valid until the next call.
  [[nodiscard]] Access* append(std::size_t rows) {
    if (size_ + rows > room_) [[unlikely]] {
      grow(std::max(size_ + rows, 2 * room_));
    }
    Access* const first = data() + size_;
    size_ += rows;
    return first;
  }

  static void put(Access* row, std::uint64_t address, std::uint32_t bytes, AccessKind kind, bool store = false) {
    if constexpr (std::endian::native == std::endian::little) {
      const std::array<std::uint64_t, 2> words{
          address, bytes | std::uint64_t{static_cast<std::uint8_t>(kind)} << 32U | std::uint64_t{store} << 40U};
      std::memcpy(static_cast<void*>(row), words.data(), sizeof(Access));
    } else {
      *row = {address, bytes, kind, store};
    }
  }

  bool operator==(const AccessRows& other) const {
    return std::equal(begin(), end(), other.begin(), other.end());
  }

 private:
  struct Free {
    void operator()(Access* rows) const noexcept {
      ::operator delete(rows);
    }
  };

  [[gnu::noinline]] void grow(std::size_t rows) {
    auto larger = std::unique_ptr<Access[], Free>(static_cast<Access*>(::operator new(rows * sizeof(Access))));
    if (size_ > 0) {
      std::memcpy(static_cast<void*>(larger.get()), rows_.get(), size_ * sizeof(Access));
    }
    rows_ = std::move(larger);
    room_ = rows;
  }

  std::unique_ptr<Access[], Free> rows_;
  std::size_t size_ = 0;
  std::size_t room_ = 0;
};

}  // namespace rayreplay::traversal
