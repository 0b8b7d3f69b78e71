#include "scheduler-models/regrouping/exchanges/queue_exchange.hpp"

#include <set>
#include <unordered_map>
#include <utility>

#include "scheduler-models/regrouping/exchanges/waiting_line.hpp"

namespace rayreplay::scheduler {
namespace {

class QueueExchange final : public Exchange {
 public:
  QueueExchange(std::shared_ptr<const trace::Column<std::uint64_t>> records, std::uint32_t simd_width,
                std::uint64_t most_threads)
      : records_(std::move(records)), simd_width_(simd_width), most_threads_(most_threads) {
    regrouping_.keep_lanes = false;
  }

  void arrive(const Arrival& arrival, double now_cycles) override {
    const std::uint64_t record = (*records_)[arrival.segment];
    WaitingLine& line = lines_[record];
    if (!line.empty()) {
      by_length_.erase(rank(record, line));
    }
    line.push_back({arrival, now_cycles, tickets_++});
    by_length_.insert(rank(record, line));
    ++waiting_;
    if (line.size() % simd_width_ == 0) {
      full_.push_back(record);
    }
  }

  void release(double, bool starved, std::vector<FormedWarp>& out) override {
    const std::size_t before = out.size();
    for (const std::uint64_t record : full_) {
      // A queue may be listed more than once, but never with more threads than it holds.
      dispatch(record, out);
    }
    full_.clear();
    while (most_threads_ != 0 && waiting_ > most_threads_) {
      dispatch(by_length_.begin()->record, out);
    }
    if (starved && out.size() == before && waiting_ > 0) {
      dispatch(by_length_.begin()->record, out);
    }
  }

  [[nodiscard]] std::uint64_t waiting() const override {
    return waiting_;
  }

 private:
  struct Rank {
    std::size_t length;
    std::uint64_t first_ticket;
    std::uint64_t record;
    bool operator<(const Rank& other) const {
      return length != other.length ? length > other.length : first_ticket < other.first_ticket;
    }
  };

  static Rank rank(std::uint64_t record, const WaitingLine& line) {
    return {line.size(), line.front().ticket, record};
  }

  void dispatch(std::uint64_t record, std::vector<FormedWarp>& out) {
    const auto found = lines_.find(record);
    WaitingLine& line = found->second;
    by_length_.erase(rank(record, line));
    take_first(line, simd_width_, batch_);
    waiting_ -= batch_.size();
    form_warps(batch_, *records_, simd_width_, regrouping_, out);
    if (line.empty()) {
      lines_.erase(found);
    } else {
      by_length_.insert(rank(record, line));
    }
  }

  std::shared_ptr<const trace::Column<std::uint64_t>> records_;
  std::uint32_t simd_width_;
  std::uint64_t most_threads_;
  Regrouping regrouping_;
  std::unordered_map<std::uint64_t, WaitingLine> lines_;  ///< never empty ones
  std::set<Rank> by_length_;                              ///< the longest first
  std::vector<std::uint64_t> full_;                       ///< in the order in which they filled up
  std::uint64_t waiting_ = 0;
  std::uint64_t tickets_ = 0;
  std::vector<Arrival> batch_;
};

}  // namespace

std::unique_ptr<Exchange> make_queue_exchange(std::shared_ptr<const trace::Column<std::uint64_t>> records,
                                              std::uint32_t simd_width, std::uint64_t most_threads) {
  return std::make_unique<QueueExchange>(std::move(records), simd_width, most_threads);
}

}  // namespace rayreplay::scheduler
