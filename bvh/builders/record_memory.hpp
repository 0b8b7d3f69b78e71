// Memory of the records of one build: pieces of large blocks, one block a thread at a time, released all at once.
//
// Contract: `allocate` from any thread gives memory on 8-byte boundaries. Embree's own thread-local allocator would do
// too, but takes twice the memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <tbb/enumerable_thread_specific.h>

namespace rayreplay::bvh {

class RecordMemory {
 public:
  [[nodiscard]] void* allocate(std::size_t bytes) {
    Blocks& blocks = blocks_.local();
    const std::size_t words = (bytes + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t);
    if (words > blocks.left) {
      blocks.left = std::max(words, kBlock);
      blocks.all.push_back(std::make_unique_for_overwrite<std::uint64_t[]>(blocks.left));
      blocks.next = blocks.all.back().get();
    }
    void* place = blocks.next;
    blocks.next += words;
    blocks.left -= words;
    return place;
  }

 private:
  static constexpr std::size_t kBlock = 4096;  ///< words; small, for scenes have hundreds of small structures

  struct Blocks {
    std::vector<std::unique_ptr<std::uint64_t[]>> all;
    std::uint64_t* next = nullptr;
    std::size_t left = 0;
  };

  tbb::enumerable_thread_specific<Blocks> blocks_;
};

}  // namespace rayreplay::bvh
