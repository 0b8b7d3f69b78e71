// Converts records of a memory trace to transactions, block by block. Internal to this folder and sim/engine.
//
// Contract: a record whose lanes touch data of several kinds becomes one instruction for each kind, in the order of
// their lowest lanes. Records come in the order of the trace; results do not depend on the cuts between blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "capture/import/memory_trace.hpp"
#include "sim/caching/lane_faces.hpp"
#include "sim/memory/allocations.hpp"
#include "sim/memory/streams/transactions.hpp"

namespace rayreplay::experiment {

/// `where` names the trace in messages.
[[nodiscard]] memory::Allocations allocations_of(const import::TraceHeader& header, const std::string& where);

class ImportedTransactions {
 public:
  /// Header and allocations must outlive this object.
  ImportedTransactions(const import::TraceHeader& header, const memory::Allocations& allocations,
                       const memory::CoalesceOptions& options);

  /// Accesses of lanes to elements of a frame buffer after the frame's last pixel; 0 without a frame.
  [[nodiscard]] std::uint64_t beyond_frame() const {
    return beyond_frame_;
  }

  /// The result is valid until the next call.
  const memory::TransactionBlock& take(const import::RecordBlock& records);

 private:
  struct Lane {
    memory::DataKind kind;
    std::uint32_t element;
    std::uint32_t thread;
  };

  Lane resolve(std::uint64_t address, std::uint32_t lane, std::span<std::uint32_t>& faces, std::uint32_t sm,
               std::uint32_t warp);
  void add_record(const import::RecordBlock& records, std::size_t row);
  void add_instruction(const import::RecordBlock& records, std::size_t row, memory::DataKind kind);

  const memory::Allocations* allocations_;
  memory::CoalesceOptions options_;
  LaneFaces faces_;
  std::uint64_t pixels_ = 0;
  std::uint64_t beyond_frame_ = 0;
  memory::Allocations::Cursor cursor_;
  std::vector<Lane> lanes_;
  memory::Instructions instructions_;
  std::vector<std::uint16_t> sms_;  ///< by instruction
  memory::WarpStream stream_;
  memory::TransactionBlock block_;
};

}  // namespace rayreplay::experiment
