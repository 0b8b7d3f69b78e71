#include "sim/workloads/warp_maker.hpp"

#include <numeric>
#include <utility>

#include "base/error.hpp"

namespace rayreplay::workloads {

WarpMaker::WarpMaker(const std::string& name, const TimedMachine& machine, std::uint64_t warps,
                     std::uint64_t transactions)
    : sms_(machine.sms),
      all_sectors_(static_cast<std::uint8_t>((1U << (machine.line_bytes / machine.sector_bytes)) - 1)) {
  if (transactions > kMaxTransactions || warps > kMaxWarps) {
    throw Error(ErrorKind::Usage,
                {"the workload would be too large", "workload '" + name + "'",
                 std::to_string(warps) + " warps and " + std::to_string(transactions) + " transactions on all SMs",
                 "at most " + std::to_string(kMaxWarps) + " and " + std::to_string(kMaxTransactions),
                 "let it have fewer warps, rounds or accesses, or the machine fewer SMs"});
  }
  made_.coalescing.line_bytes = machine.line_bytes;
  made_.coalescing.sector_bytes = machine.sector_bytes;
  made_.coalescing.requests = false;
  made_.streams.reserve(warps);
  made_.start_delay.reserve(warps);
  made_.plan.warp_size = 1;
  made_.plan.queue_begin.push_back(0);
}

void WarpMaker::warp(std::uint32_t sm, std::uint32_t delay) {
  while (made_.plan.queue_begin.size() <= sm) {
    made_.plan.queue_begin.push_back(made_.streams.size());
  }
  memory::WarpStream& stream = made_.streams.emplace_back();
  stream.first.push_back(0);
  stream.work.emplace_back();
  made_.start_delay.push_back(delay);
}

void WarpMaker::add(std::uint64_t line, std::uint64_t lines, std::uint8_t flags) {
  memory::WarpStream& stream = made_.streams.back();
  for (std::uint64_t i = 0; i < lines; ++i) {
    memory::Transaction transaction;
    transaction.line = line + i;
    transaction.sectors = all_sectors_;
    transaction.lanes = 1;
    transaction.flags = static_cast<std::uint8_t>(flags | (i == 0 ? memory::kFirst : 0));
    transaction.bytes = static_cast<std::uint16_t>(made_.coalescing.line_bytes);
    stream.transactions.push_back(transaction);
  }
  stream.first.push_back(static_cast<std::uint32_t>(stream.transactions.size()));
  stream.work.emplace_back();
}

WarpWorkload WarpMaker::finish() {
  const std::size_t warps = made_.streams.size();
  while (made_.plan.queue_begin.size() <= sms_) {
    made_.plan.queue_begin.push_back(warps);
  }
  made_.plan.thread_at.resize(warps);
  std::iota(made_.plan.thread_at.begin(), made_.plan.thread_at.end(), 0U);
  made_.plan.queue = made_.plan.thread_at;
  return std::move(made_);
}

}  // namespace rayreplay::workloads
