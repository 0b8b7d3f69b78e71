// Transactions: the requests of a warp instruction to its SM's L1, one per line.
//
// Contract: a transaction touches one L1 line, in one or more of its sectors (at most 8). Coalesced: one transaction
// for each line that the instruction's lanes touch, lines ascending. `lanes` is the number of lanes it serves,
// `sectors` the union of their sectors. This is what a GPU's load unit does. Not coalesced: one transaction for each
// lane and line, lowest lane first, lines ascending: what a tool counts that looks at lanes separately (von Buelow et
// al. 2023, section 4.1). An access that spans lines counts once per line (MODELS.md §11). A *request* is one lane's
// use of one transaction: both forms have the same requests. Rates per level are over transactions, rates per element
// and pixel over requests.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/memory/data_kind.hpp"
#include "sim/memory/streams/instructions.hpp"
#include "sim/memory/streams/warp_work.hpp"

namespace rayreplay::memory {

enum TransactionFlags : std::uint8_t {
  kStore = 1,
  kFirst = 2,        ///< first transaction of its instruction
  kTimedHit = 4,     ///< hit in the interleaving's own L1 (sim/machine/interleave.hpp)
  kTimedMerged = 8,  ///< … merged with a pending miss there
  kTimedL2Hit = 16,  ///< missed there, and hit in the interleaving's own L2
};

struct Transaction {
  std::uint64_t line = 0;    ///< address / line_bytes of the coalescer
  std::uint16_t sm = 0;      ///< set at issue
  std::uint8_t sectors = 0;  ///< bit s: bytes [s · sector_bytes, (s + 1) · sector_bytes) of the line
  std::uint8_t lanes = 0;    ///< requests, 1 … 64
  DataKind kind = DataKind::Other;
  std::uint8_t flags = 0;   ///< TransactionFlags
  std::uint16_t bytes = 0;  ///< distinct requested bytes, summed over sectors; at most line_bytes. Coalesced lanes with
                            ///< the same bytes count once

  bool operator==(const Transaction&) const = default;
};
static_assert(sizeof(Transaction) == 16);

/// One lane's use of a transaction.
struct Request {
  std::uint32_t element = 0;  ///< kNoElement: none
  std::uint32_t thread = 0;   ///< kNoThread: unknown

  bool operator==(const Request&) const = default;
};

/// Coalesced instructions of one warp. Requests of transaction i are rows [Σ lanes before i, … + lanes); empty unless
/// wanted.
struct WarpStream {
  std::vector<std::uint32_t> first;       ///< instructions + 1: first transaction of each
  std::vector<Transaction> transactions;  ///< sm 0
  std::vector<Request> requests;
  Instructions raw;            ///< the instructions before coalescing; empty unless wanted
  std::vector<WarpWork> work;  ///< instructions + 1: before each, and after the last; empty unless wanted
  WarpCalls calls;             ///< with work

  [[nodiscard]] std::size_t instructions() const {
    return first.empty() ? 0 : first.size() - 1;
  }
  bool operator==(const WarpStream&) const = default;
};

/// Transactions of several SMs in the order of issue.
struct TransactionBlock {
  std::vector<Transaction> transactions;
  std::vector<Request> requests;      ///< as in WarpStream; empty: elements and threads are not needed
  std::vector<std::uint64_t> cycles;  ///< of issue, by transaction, ascending; empty: only the order is known

  void clear() {
    transactions.clear();
    requests.clear();
    cycles.clear();
  }
};

/// Takes blocks in order.
class TransactionSink {
 public:
  virtual ~TransactionSink() = default;
  virtual void take(const TransactionBlock& block) = 0;
};

/// Takes raw instructions in the order of issue.
class InstructionSink {
 public:
  virtual ~InstructionSink() = default;
  virtual void take(std::uint32_t sm, std::uint32_t warp, std::uint64_t cycle, const Instructions& raw,
                    std::size_t row) = 0;
};

struct CoalesceOptions {
  std::uint32_t line_bytes = 128;   ///< power of two, sector_bytes … 8 · sector_bytes
  std::uint32_t sector_bytes = 32;  ///< power of two
  bool coalesce = true;
  bool requests = true;
  bool keep_raw = false;
};

/// Usage for invalid sizes; `where` names them in the message.
void check(const CoalesceOptions& options, const std::string& where);

/// Appends to `out` (except its `raw`). O(active lanes · lines touched together) time, O(result) memory.
void coalesce(const Instructions& instructions, const CoalesceOptions& options, WarpStream& out);

}  // namespace rayreplay::memory
