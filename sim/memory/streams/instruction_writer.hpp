// Writes Instructions lane by lane.
//
// Contract: call `add` for each active lane in ascending order, then `put`, which appends one instruction, or several
// if a lane's bytes exceed one load; nothing without lanes. `put_words` is for local memory: one instruction for each
// 4-byte word, with word w of a lane `word_stride` bytes after word w − 1. `work`, if wanted, gets a row before each
// instruction; `depend` and `enter` are those of WorkWriter.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "sim/memory/streams/instructions.hpp"
#include "sim/memory/streams/work_writer.hpp"

namespace rayreplay::memory {

/// A lane with the places that one instruction of it reads or writes, at least one.
struct LanePieces {
  struct Piece {
    std::uint64_t address = 0;
    std::uint32_t element = 0;
  };
  std::uint32_t lane = 0, thread = 0;
  std::span<const Piece> pieces;
};

class InstructionWriter {
 public:
  /// load_bytes: limit of one lane's load or store by one instruction; 0: none.
  InstructionWriter(Instructions& out, std::uint32_t load_bytes, WorkWriter* work = nullptr)
      : out_(&out), work_(work), load_bytes_(load_bytes) {}

  /// Null: not wanted.
  [[nodiscard]] WorkWriter* work() const {
    return work_;
  }
  void depend() {
    if (work_ != nullptr) {
      work_->depend();
    }
  }
  void enter(WorkStage stage) {
    if (work_ != nullptr) {
      work_->enter(stage);
    }
  }

  void add(std::uint32_t lane, std::uint64_t address, std::uint32_t element, std::uint32_t thread) {
    mask_ |= std::uint64_t{1} << lane;
    address_[count_] = address;
    element_[count_] = element;
    thread_[count_] = thread;
    ++count_;
  }
  void put(DataKind kind, std::uint32_t bytes, bool store) {
    const std::uint32_t piece = load_bytes_ == 0 ? bytes : load_bytes_;
    for (std::uint32_t done = 0; done < bytes && count_ > 0; done += piece) {
      append(kind, std::min(piece, bytes - done), store, done);
    }
    clear();
  }
  /// One instruction whose lanes, in ascending order, have one address or more each; `load_bytes` does not cut it.
  void put_pieces(DataKind kind, std::uint32_t bytes, bool store, std::span<const LanePieces> lanes) {
    if (lanes.empty()) {
      return;
    }
    if (work_ != nullptr) {
      work_->instruction();
    }
    Instruction row{.first = static_cast<std::uint32_t>(out_->address.size()), .bytes = bytes, .kind = kind};
    row.store = store;
    for (const LanePieces& lane : lanes) {
      row.mask |= std::uint64_t{1} << lane.lane;
      row.pieces = std::max(row.pieces, static_cast<std::uint8_t>(lane.pieces.size()));
    }
    for (std::size_t piece = 0; piece < row.pieces; ++piece) {
      for (const LanePieces& lane : lanes) {
        const LanePieces::Piece& one = lane.pieces[std::min(piece, lane.pieces.size() - 1)];
        out_->address.push_back(one.address);
        out_->element.push_back(one.element);
        out_->thread.push_back(lane.thread);
      }
    }
    out_->rows.push_back(row);
  }
  void put_words(DataKind kind, std::uint32_t words, std::uint32_t word_stride, bool store) {
    for (std::uint32_t word = 0; word < words && count_ > 0; ++word) {
      append(kind, 4, store, std::uint64_t{word} * word_stride);
    }
    clear();
  }

 private:
  void clear() {
    mask_ = 0;
    count_ = 0;
  }
  void append(DataKind kind, std::uint32_t bytes, bool store, std::uint64_t offset) {
    if (work_ != nullptr) {
      work_->instruction();
    }
    const std::size_t first = out_->address.size();
    out_->rows.push_back({mask_, static_cast<std::uint32_t>(first), bytes, kind, store});
    out_->address.insert(out_->address.end(), address_.data(), address_.data() + count_);
    out_->element.insert(out_->element.end(), element_.data(), element_.data() + count_);
    out_->thread.insert(out_->thread.end(), thread_.data(), thread_.data() + count_);
    if (offset != 0) {
      for (std::size_t row = first; row < out_->address.size(); ++row) {
        out_->address[row] += offset;
      }
    }
  }

  Instructions* out_;
  WorkWriter* work_;
  std::uint32_t load_bytes_;
  std::uint64_t mask_ = 0;
  std::size_t count_ = 0;
  std::array<std::uint64_t, 64> address_;
  std::array<std::uint32_t, 64> element_;
  std::array<std::uint32_t, 64> thread_;
};

}  // namespace rayreplay::memory
