// Memory for the records of one build: parts of large blocks, one block a thread at a time, released together.
//
// Contract: `allocate`, from any thread, returns memory aligned to 8 bytes; throws std::bad_alloc, also if all blocks
// together would exceed `limit` bytes. A thread's first block is small and comes from the heap, because scenes have
// hundreds of small structures. Later blocks are mapped and unmapped directly: the heap would keep them, and the next
// build needs the memory. Embree's thread-local allocator takes twice the memory.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <vector>

#include <tbb/enumerable_thread_specific.h>

namespace rayreplay::bvh {

class RecordMemory {
 public:
  explicit RecordMemory(std::size_t limit = std::numeric_limits<std::size_t>::max()) : limit_(limit) {}

  [[nodiscard]] void* allocate(std::size_t bytes) {
    Blocks& blocks = blocks_.local();
    const std::size_t needed = (bytes + 7) / 8 * 8;
    if (needed > blocks.left) {
      const std::size_t block = blocks.next_block(needed);
      if (block > limit_ - std::min(limit_, taken_.fetch_add(block))) {
        throw std::bad_alloc();
      }
      blocks.grow(block);
    }
    void* place = blocks.next;
    blocks.next += needed;
    blocks.left -= needed;
    return place;
  }

 private:
  static constexpr std::size_t kFirst = std::size_t{16} << 10;
  static constexpr std::size_t kLater = std::size_t{2} << 20;

  struct Unmap {
    std::size_t bytes = 0;
    void operator()(std::byte* block) const {
      munmap(block, bytes);
    }
  };

  struct Blocks {
    std::unique_ptr<std::byte[]> first;
    std::vector<std::unique_ptr<std::byte, Unmap>> later;
    std::byte* next = nullptr;
    std::size_t left = 0;

    [[nodiscard]] std::size_t next_block(std::size_t needed) const {
      return first == nullptr && needed <= kFirst ? kFirst : std::max(needed, kLater);
    }
    void grow(std::size_t bytes) {
      if (bytes == kFirst) {
        first = std::make_unique_for_overwrite<std::byte[]>(kFirst);
        next = first.get();
      } else {
        later.reserve(later.size() + 1);  // before the block is added, which then cannot throw
        void* block = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (block == MAP_FAILED) {
          throw std::bad_alloc();
        }
        later.emplace_back(static_cast<std::byte*>(block), Unmap{bytes});
        next = later.back().get();
      }
      left = bytes;
    }
  };

  std::size_t limit_;
  std::atomic<std::size_t> taken_{0};
  tbb::enumerable_thread_specific<Blocks> blocks_;
};

}  // namespace rayreplay::bvh
