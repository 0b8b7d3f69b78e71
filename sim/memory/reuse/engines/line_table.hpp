// One 32-bit number for every 64-bit line number: near the cost of an array where numbers are dense.
//
// Contract: every line's number is 0 until it is set. While line numbers are dense, they live in pages of kPageLines
// numbers. Those within kWindow pages of one another are found by an array of pages, others by a small hash. Where
// pages are nearly empty (16 numbers in pages to a line, and more than `slack`), everything moves to a hash of lines,
// and back when that grows and finds pages half as empty. Either way the results are the same. O(1) an access,
// amortised. Memory: 4 bytes a number in pages, 32 to 64 a line in the hash.
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
  static constexpr std::size_t kWindow = 1U << 16U;

  static constexpr std::size_t kSlack = std::size_t{1} << 21U;  ///< 8 MB of pages

  explicit LineTable(std::size_t slack = kSlack) : slack_(slack) {}

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
  std::uint32_t* find_or_add_page(std::uint64_t key);
  void put_in_window(std::uint64_t key, std::uint32_t* numbers);
  void prepare(std::size_t lines);  ///< so that as many new lines move nothing
  void move_to_hash(std::size_t lines);
  [[nodiscard]] bool dense_again() const;
  void move_to_pages();
  void grow_hash(std::size_t lines);

  struct FreeSlab {
    void operator()(std::uint32_t* memory) const;
  };

  std::size_t slack_;  ///< numbers in pages that never matter

  std::vector<std::uint32_t*> window_;  ///< of pages from window_begin_ on; null: not there, or not yet asked for
  std::uint64_t window_begin_ = 0;
  std::vector<Page> directory_;  ///< all pages
  unsigned directory_shift_ = 64;
  std::size_t pages_ = 0;
  std::vector<std::unique_ptr<std::uint32_t, FreeSlab>> slabs_;
  std::uint32_t* slab_next_ = nullptr;
  std::size_t slab_left_ = 0, slab_pages_ = 2;
  std::uint64_t page_lines_ = 0;  ///< in pages, with a number

  std::vector<Entry> entries_;
  std::size_t entries_used_ = 0;
};

}  // namespace rayreplay::memory
