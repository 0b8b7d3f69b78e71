// The cycle in which each thread of a launch makes its last access.
//
// Contract: takes blocks with requests and cycles (transactions.hpp), in order; a request's cycle is that of its
// transaction's issue. Threads without accesses have kNoAccess. O(requests) time, 8 bytes a thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/memory/streams/transactions.hpp"

namespace rayreplay::memory {

class LastAccesses final : public TransactionSink {
 public:
  static constexpr std::uint64_t kNoAccess = ~std::uint64_t{0};

  explicit LastAccesses(std::size_t threads) : cycles_(threads, kNoAccess) {}

  void take(const TransactionBlock& block) override {
    const Request* request = block.requests.data();
    for (std::size_t i = 0; i < block.transactions.size(); ++i) {
      for (const Request* const end = request + block.transactions[i].lanes; request != end; ++request) {
        if (request->thread < cycles_.size()) {
          cycles_[request->thread] = block.cycles[i];
        }
      }
    }
  }
  /// By thread.
  [[nodiscard]] std::span<const std::uint64_t> cycles() const {
    return cycles_;
  }

 private:
  std::vector<std::uint64_t> cycles_;
};

}  // namespace rayreplay::memory
