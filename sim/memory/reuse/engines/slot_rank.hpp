// The live slots of time (those of lines' last accesses), and the number of live ones after a given slot.
//
// Contract: slots are numbered in order of time; the next free one is now(). `distances` takes the next slots: access i
// gets slot now() + i, and previous[i] is the slot of the line's last access plus one, 0 for none. out[i] is the number
// of live slots after that last access, just before this one: the reuse distance; kInfinite without a last access. The
// old slot becomes free, the new one live. The caller ensures capacity().
//
// Method: a bit for each live slot, with counts for every word of 64 (8 bits), for 64 words (16 bits), for 32 of these
// (32 bits) and for 16 of those. The count after a slot is one masked sum at each level. Accesses are processed in
// groups of 16: d(i) = live(p_i) + (i − max(p_i + 1, start)) − #{j < i in the group : p_j > p_i}, with live() at the
// group's start, so the accesses of a group are independent. All forms (portable, AVX2, AVX-512) give the same numbers.
// O(1) an access up to 2^25 slots, plus 1/16 of an addition for every 2^21 slots after. 9.2 bits a slot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <vector>

namespace rayreplay::memory {

/// Zeroed array, aligned to a cache line.
template <class T>
class AlignedZeros {
 public:
  static constexpr std::align_val_t kAlignment{64};

  AlignedZeros() = default;
  explicit AlignedZeros(std::size_t size)
      : size_(size), data_(static_cast<T*>(::operator new(size * sizeof(T), kAlignment))) {
    std::uninitialized_value_construct_n(data_.get(), size);
  }
  [[nodiscard]] T* data() const {
    return data_.get();
  }
  [[nodiscard]] std::size_t size() const {
    return size_;
  }

 private:
  struct Free {
    void operator()(T* memory) const {
      ::operator delete(memory, kAlignment);
    }
  };
  std::size_t size_ = 0;
  std::unique_ptr<T, Free> data_;
};

/// std::popcount, which calls a library function without the instruction.
constexpr std::uint32_t count_bits(std::uint64_t bits) {
  bits -= bits >> 1U & 0x5555'5555'5555'5555U;
  bits = (bits & 0x3333'3333'3333'3333U) + (bits >> 2U & 0x3333'3333'3333'3333U);
  bits = (bits + (bits >> 4U)) & 0x0F0F'0F0F'0F0F'0F0FU;
  return static_cast<std::uint32_t>(bits * 0x0101'0101'0101'0101U >> 56U);
}

class SlotRank {
 public:
  static constexpr std::uint64_t kMaxSlots = std::uint64_t{1} << 31U;
  enum class Form : std::uint8_t { Portable, Avx2, Avx512 };

  /// All slots free; capacity is rounded up to a multiple of 4096 and limited to kMaxSlots.
  explicit SlotRank(std::uint64_t capacity, Form form = best_form());

  [[nodiscard]] static Form best_form();
  [[nodiscard]] static std::vector<Form> forms();  ///< that this machine supports, Portable first

  void distances(std::span<const std::uint32_t> previous, std::uint32_t* out);

  [[nodiscard]] std::uint32_t now() const {
    return now_;
  }
  [[nodiscard]] std::uint64_t capacity() const {
    return capacity_;
  }
  [[nodiscard]] std::uint64_t live() const {
    return live_;
  }
  [[nodiscard]] std::uint64_t memory_bytes() const;

  /// 64 slots a word, lowest slot in the lowest bit. Call recount after writing.
  [[nodiscard]] std::span<std::uint64_t> words() {
    return {bits_.data(), bits_.size()};
  }
  void recount(std::uint32_t now);

  /// Renumbers the live slots from 0 on: a function that changes the number of a slot, plus one. Before `restart`.
  [[nodiscard]] auto renumbering() const {
    return [bits = bits_.data(), ranks = ranks()](std::uint32_t& number) {
      const std::uint32_t slot = number - 1;
      const std::uint64_t before = bits[slot >> 6U] & ((std::uint64_t{1} << (slot & 63U)) - 1);
      number = ranks[slot >> 6U] + count_bits(before) + 1;
    };
  }
  /// Makes the slots 0 … live − 1 live, and sets now() to live.
  void restart(std::uint64_t live);

  /// Data of the inner loop, for all forms.
  struct View {
    std::uint64_t* bits;
    std::uint8_t* words;
    std::uint16_t* rows;
    std::uint32_t* plates;
    std::uint32_t* tops;
    std::size_t top_count;  ///< a multiple of 16
  };

 private:
  /// Live slots before each word of 64.
  [[nodiscard]] std::vector<std::uint32_t> ranks() const;

  std::uint64_t capacity_ = 0;
  std::uint32_t now_ = 0;
  std::uint64_t live_ = 0;
  Form form_;
  AlignedZeros<std::uint64_t> bits_;
  AlignedZeros<std::uint8_t> words_;
  AlignedZeros<std::uint16_t> rows_;
  AlignedZeros<std::uint32_t> plates_;
  AlignedZeros<std::uint32_t> tops_;
};

}  // namespace rayreplay::memory
