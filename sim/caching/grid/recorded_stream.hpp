// A launch's interleaved access stream, recorded once for many cache hierarchies.
//
// Contract: transactions in the order of issue, with their SM (sim/memory/streams/transactions.hpp); 16 bytes each,
// linear in the trace. The recorder holds one part that doubles up to kPart, then parts of kPart until `finish`, which
// frees each part as it is joined: the peak is the stream and one part. `write`/`read`: the form in the store,
// little-endian, with a version, counts and a checksum, all checked before use; Input names the fault. Memory time is
// stored too, 88 bytes an SM.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/machine/interleave.hpp"
#include "sim/memory/streams/transactions.hpp"

namespace rayreplay::experiment {

struct RecordedStream {
  memory::CoalesceOptions coalescing;  ///< line and sector of the transactions
  std::uint32_t sms = 1;
  std::vector<memory::Transaction> transactions;
  // Of the interleaving; 0 for imported traces.
  std::uint64_t cycles = 0;
  std::uint64_t instructions = 0;
  std::uint64_t mshr_stall_cycles = 0;
  machine::MemoryTime time;  ///< without SMs if the interleaving had no work

  [[nodiscard]] std::uint64_t bytes() const {
    return transactions.size() * sizeof(memory::Transaction) + time.sms.size() * sizeof(machine::SmTime);
  }
};

class StreamRecorder : public memory::TransactionSink {
 public:
  static constexpr std::size_t kPart =
      std::size_t{1} << 21U;  ///< transactions: large enough for its own mapping, which is unmapped when freed

  /// Before it allocates, calls `grows` with the transactions that it may hold at a time from then on, copies in growth
  /// and in `finish` included. `grows` may throw.
  explicit StreamRecorder(RecordedStream& into, std::function<void(std::uint64_t transactions)> grows = {})
      : into_(&into), grows_(std::move(grows)) {}
  void take(const memory::TransactionBlock& block) override;
  /// Called once, after the last block.
  void finish();
  [[nodiscard]] std::uint64_t taken() const {
    return parts_.empty() ? 0 : (parts_.size() - 1) * kPart + parts_.back().size();
  }

 private:
  void make_room(std::size_t more);
  void tell(std::uint64_t transactions) const;

  RecordedStream* into_;
  std::function<void(std::uint64_t)> grows_;
  std::vector<std::vector<memory::Transaction>> parts_;  ///< all but the last are full
};

[[nodiscard]] std::string write_stream(const RecordedStream& stream);
[[nodiscard]] RecordedStream read_stream(std::string_view bytes, const std::string& where);

}  // namespace rayreplay::experiment
