// One 32-bit number for every 64-bit line number: near the cost of an array where numbers are dense.
//
// Contract: every line's number is 0 until it is set. While line numbers are dense, they live in pages of kPageLines
// numbers that a small hash of page numbers finds, and a line costs one access to a page. Once pages stay nearly empty
// (16 times more numbers in pages than lines, and more than 2^18), everything moves to a hash of lines, for good.
// Either way the results are the same. O(1) an access. Memory: 4 bytes a line in pages, 24 to 48 in the hash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace rayreplay::memory {

class LineTable {
 public:
  static constexpr std::size_t kPageLines = 2048;

  /// Sets the number of lines[i] to first + i (never 0) in order; before[i] is what it was.
  void exchange(std::span<const std::uint64_t> lines, std::uint32_t first, std::uint32_t* before);

  /// The same with any numbers (never 0).
  void exchange(std::span<const std::uint64_t> lines, const std::uint32_t* numbers, std::uint32_t* before);

  /// Valid until the next call of anything.
  [[nodiscard]] std::uint32_t& at(std::uint64_t line);

  /// Every number that is not 0, in any order.
  template <class Function>
  void for_each_number(const Function& function) {
    for (Page& page : directory_) {
      if (page.numbers != nullptr) {
        for (std::size_t i = 0; i < kPageLines; ++i) {
          if (page.numbers[i] != 0) {
            function(page.numbers[i]);
          }
        }
      }
    }
    for (Entry& entry : entries_) {
      if (entry.number != 0) {
        function(entry.number);
      }
    }
  }

  [[nodiscard]] std::uint64_t memory_bytes() const;
  [[nodiscard]] bool in_pages() const {
    return entries_.empty();
  }

 private:
  struct Page {
    std::uint64_t key = 0;
    std::uint32_t* numbers = nullptr;  ///< null: free
  };
  struct Entry {
    std::uint64_t line = 0;
    std::uint32_t number = 0;
    std::uint32_t used = 0;
  };

  template <class NumberOf>
  void exchange_with(std::span<const std::uint64_t> lines, const NumberOf& number_of, std::uint32_t* before);
  [[nodiscard]] std::uint32_t* locate_in_pages(std::uint64_t line);
  [[nodiscard]] std::uint32_t* locate_in_hash(std::uint64_t line);
  [[nodiscard]] std::size_t home(std::uint64_t key) const;
  std::uint32_t* add_page(std::uint64_t key);
  void prepare(std::size_t lines);  ///< so that as many new lines move nothing
  void move_to_hash(std::size_t lines);
  void grow_hash(std::size_t lines);

  std::vector<Page> directory_;
  unsigned directory_shift_ = 64;
  std::size_t pages_ = 0;
  std::vector<std::unique_ptr<std::uint32_t[]>> slabs_;
  std::uint32_t* slab_next_ = nullptr;
  std::size_t slab_left_ = 0, slab_pages_ = 2;
  std::uint64_t page_lines_ = 0;  ///< with a number, as far as they were exchanged

  std::vector<Entry> entries_;
  std::size_t entries_used_ = 0;
};

}  // namespace rayreplay::memory
