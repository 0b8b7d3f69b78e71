#include "scheduler-models/regrouping/exchanges/pool_exchange.hpp"

#include <utility>

#include "scheduler-models/regrouping/exchanges/waiting_line.hpp"

namespace rayreplay::scheduler {
namespace {

class PoolExchange final : public Exchange {
 public:
  PoolExchange(std::shared_ptr<const trace::Column<std::uint64_t>> keys, std::uint32_t warp_size,
               const Regrouping& regrouping, std::uint32_t pool_warps, double timeout_cycles)
      : keys_(std::move(keys)),
        regrouping_(regrouping),
        warp_size_(warp_size),
        pool_threads_(std::size_t{pool_warps} * warp_size),
        timeout_cycles_(timeout_cycles) {}

  void arrive(const Arrival& arrival, double now_cycles) override {
    line_.push_back({arrival, now_cycles, tickets_++});
  }

  void release(double now_cycles, bool starved, std::vector<FormedWarp>& out) override {
    bool released = false;
    while (line_.size() >= pool_threads_) {
      form(pool_threads_, out);
      released = true;
    }
    if (now_cycles >= deadline_cycles() || (starved && !released && !line_.empty())) {
      form(line_.size(), out);
    }
  }

  [[nodiscard]] double deadline_cycles() const override {
    return line_.empty() ? kNever : line_.front().since_cycles + timeout_cycles_;
  }
  [[nodiscard]] std::uint64_t waiting() const override {
    return line_.size();
  }

 private:
  void form(std::size_t threads, std::vector<FormedWarp>& out) {
    take_first(line_, threads, batch_);
    form_warps(batch_, *keys_, warp_size_, regrouping_, out);
  }

  std::shared_ptr<const trace::Column<std::uint64_t>> keys_;
  Regrouping regrouping_;
  std::uint32_t warp_size_;
  std::size_t pool_threads_;
  double timeout_cycles_;
  WaitingLine line_;
  std::uint64_t tickets_ = 0;
  std::vector<Arrival> batch_;
};

}  // namespace

std::unique_ptr<Exchange> make_pool_exchange(std::shared_ptr<const trace::Column<std::uint64_t>> keys,
                                             std::uint32_t warp_size, const Regrouping& regrouping,
                                             std::uint32_t pool_warps, double timeout_cycles) {
  return std::make_unique<PoolExchange>(std::move(keys), warp_size, regrouping, pool_warps, timeout_cycles);
}

}  // namespace rayreplay::scheduler
