// A launch's interleaved access stream, recorded once and put through many caches.
//
// Contract: transactions in the order in which they were issued, with their SM (sim/memory/streams/transactions.hpp);
// 16 bytes each, linear in the trace. `record` is a sink. `write`/`read` are the form in the store: little-endian, with
// a version, counts and a checksum, all checked before use; Input names what is wrong.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/memory/streams/transactions.hpp"

namespace rayreplay::experiment {

struct RecordedStream {
  memory::CoalesceOptions coalescing;  ///< line and sector of the transactions
  std::uint32_t sms = 1;
  std::vector<memory::Transaction> transactions;
  // Of the interleaving; 0 of imported traces.
  std::uint64_t cycles = 0;
  std::uint64_t instructions = 0;

  [[nodiscard]] std::uint64_t bytes() const {
    return transactions.size() * sizeof(memory::Transaction);  // what is reserved beyond is not there yet
  }
};

class StreamRecorder : public memory::TransactionSink {
 public:
  explicit StreamRecorder(RecordedStream& into) : into_(&into) {}
  void take(const memory::TransactionBlock& block) override;

 private:
  RecordedStream* into_;
};

[[nodiscard]] std::string write_stream(const RecordedStream& stream);
[[nodiscard]] RecordedStream read_stream(std::string_view bytes, const std::string& where);

}  // namespace rayreplay::experiment
