#include "sim/memory/results/request_tables.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"

namespace rayreplay::memory {
namespace {

[[noreturn]] void out_of_range(const char* what, std::uint64_t found, std::uint64_t limit) {
  throw Error(ErrorKind::Internal, {fmt::format("a request's {} is out of range", what), "", fmt::format("{}", found),
                                    fmt::format("less than {}", limit), ""});
}

void count(RequestSums& row, const TransactionOutcome& outcome, std::uint64_t order) {
  ++row.requests;
  row.l1_hits += outcome.l1_hit;
  row.l2_hits += outcome.l2_hits;
  row.l2_requests += outcome.l2_requests;
  row.first = std::min(row.first, order);
  row.last = order;  // orders ascend
}

}  // namespace

void ElementTable::add(std::span<const Transaction> transactions, std::span<const Request> requests,
                       std::span<const TransactionOutcome> outcomes, std::uint64_t first) {
  std::size_t next = 0;
  for (std::size_t i = 0; i < transactions.size(); ++i) {
    for (const std::size_t end = next + transactions[i].lanes; next < end; ++next) {
      const std::uint32_t element = requests[next].element;
      if (element == kNoElement) {
        continue;
      }
      if (element >= elements_) {
        out_of_range("element", element, elements_);
      }
      RequestSums& sums = row(element);
      if (sums.requests == 0) {
        touched_.push_back(element);
      }
      count(sums, outcomes[i], first + next);
    }
  }
}

std::vector<ElementRow> ElementTable::take(std::uint32_t window) {
  std::ranges::sort(touched_);
  std::vector<ElementRow> result;
  result.reserve(touched_.size());
  for (const std::uint32_t element : touched_) {
    RequestSums& sums = row(element);
    result.push_back({window, element, sums});
    sums = {};
  }
  touched_.clear();
  return result;
}

void PixelTable::add(std::span<const Transaction> transactions, std::span<const Request> requests,
                     std::span<const TransactionOutcome> outcomes, std::uint64_t first) {
  std::size_t next = 0;
  for (std::size_t i = 0; i < transactions.size(); ++i) {
    const Transaction& transaction = transactions[i];
    const bool writes = transaction.kind == DataKind::FrameBuffer && (transaction.flags & kStore) != 0;
    const std::uint64_t share = outcomes[i].fetched / transaction.lanes / (kOne / kOneByte);
    for (const std::size_t end = next + transaction.lanes; next < end; ++next) {
      const std::uint32_t thread = requests[next].thread;
      if (thread == kNoThread) {
        continue;
      }
      if (thread >= rows_.size()) {
        out_of_range("thread", thread, rows_.size());
      }
      PixelSums& row = rows_[thread];
      count(row.requests, outcomes[i], first + next);
      row.bytes += share;
      if (writes) {
        row.written = std::min(row.written, first + next);
      }
    }
  }
}

std::vector<PixelSums> PixelTable::finish() {
  for (PixelSums& row : rows_) {
    row.bytes /= kOneByte;
  }
  return std::move(rows_);
}

}  // namespace rayreplay::memory
