// One 32-bit number for every 64-bit line number: near the cost of an array if line numbers are dense.
//
// Contract: every line's number is 0 until it is set. Dense line numbers use pages of kPageLines entries. An array
// finds pages within kWindow pages of each other, a small hash finds the others. If pages are nearly empty (16 entries
// a line, and more than `slack`), all lines move to a hash of lines; they move back when growth finds pages half as
// empty. Results are the same. O(1) amortised an access. Memory: 4 bytes an entry in pages, 32 to 64 a line in the
// hash.
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

  /// Sets the number of lines[i] to first + i (never 0) in order; before[i] gets the old number.
  void exchange(std::span<const std::uint64_t> lines, std::uint32_t first, std::uint32_t* before);

  /// The same with arbitrary numbers (never 0).
  void exchange(std::span<const std::uint64_t> lines, const std::uint32_t* numbers, std::uint32_t* before);

  /// Valid until the next call of any function.
  [[nodiscard]] std::uint32_t& at(std::uint64_t line);

  /// All non-zero numbers, in any order.
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
  void prepare(std::size_t lines);  ///< makes room, so that this many new lines move nothing
  void move_to_hash(std::size_t lines);
  [[nodiscard]] bool dense_again() const;
  void move_to_pages();
  void grow_hash(std::size_t lines);

  struct FreeSlab {
    void operator()(std::uint32_t* memory) const;
  };

  std::size_t slack_;  ///< page entries below which density is not checked

  std::vector<std::uint32_t*> window_;  ///< of pages from window_begin_ on; null: no page, or not looked up yet
  std::uint64_t window_begin_ = 0;
  std::vector<Page> directory_;  ///< all pages
  unsigned directory_shift_ = 64;
  std::size_t pages_ = 0;
  std::vector<std::unique_ptr<std::uint32_t, FreeSlab>> slabs_;
  std::uint32_t* slab_next_ = nullptr;
  std::size_t slab_left_ = 0, slab_pages_ = 2;
  std::uint64_t page_lines_ = 0;  ///< lines with a number, in pages

  std::vector<Entry> entries_;
  std::size_t entries_used_ = 0;
};

}  // namespace rayreplay::memory
