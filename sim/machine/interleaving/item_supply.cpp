#include "sim/machine/interleaving/item_supply.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"

namespace rayreplay::machine {

ItemSupply::ItemSupply(memory::WarpSource& source, const WorkPlan& plan, std::size_t ahead, bool raw)
    : source_(&source),
      plan_(&plan),
      depth_(std::max<std::size_t>(ahead / std::max<std::size_t>(plan.queues(), 1), 1)),
      raw_(raw),
      left_(plan.queue.size()),
      queues_(plan.queues()) {
  std::uint64_t most = 0;
  for (std::size_t queue = 0; queue < queues_.size(); ++queue) {
    queues_[queue] = {plan.queue_begin[queue], plan.queue_begin[queue]};
    most = std::max(most, plan.queue_begin[queue + 1] - plan.queue_begin[queue]);
  }
  depth_ = std::clamp<std::size_t>(depth_, 1, std::max<std::size_t>(most, 1));
  kept_.resize(depth_ * queues_.size());
}

std::uint32_t ItemSupply::take(std::size_t queue, memory::WarpStream& stream) {
  if (queues_[queue].given == plan_->queue_begin[queue + 1]) {
    return kNone;
  }
  --left_;
  if (queues_[queue].given == queues_[queue].made) {
    refill();
  }
  const std::uint64_t place = queues_[queue].given++;
  stream = std::exchange(kept(queue, place), {});
  return plan_->queue[place];
}

void ItemSupply::refill() {
  items_.clear();
  for (std::size_t queue = 0; queue < queues_.size(); ++queue) {
    const Queue& row = queues_[queue];
    const std::uint64_t until = std::min<std::uint64_t>(row.given + depth_, plan_->queue_begin[queue + 1]);
    for (std::uint64_t place = row.made; place < until; ++place) {
      items_.push_back(plan_->queue[place]);
    }
  }
  streams_.resize(std::max(streams_.size(), items_.size()));
  source_->generate(items_, std::span(streams_).first(items_.size()));
  std::size_t next = 0;
  for (std::size_t queue = 0; queue < queues_.size(); ++queue) {
    Queue& row = queues_[queue];
    const std::uint64_t until = std::min<std::uint64_t>(row.given + depth_, plan_->queue_begin[queue + 1]);
    for (; row.made < until; ++row.made) {
      check(streams_[next], items_[next]);
      kept(queue, row.made) = std::exchange(streams_[next], {});
      ++next;
    }
  }
}

void ItemSupply::check(const memory::WarpStream& stream, std::uint32_t item) const {
  const bool ends_meet = stream.first.empty()
                             ? stream.transactions.empty()
                             : stream.first.front() == 0 && stream.first.back() == stream.transactions.size();
  // Strictly ascending: every instruction has transactions. The engine relies on the flags.
  const auto begun = std::count_if(stream.transactions.begin(), stream.transactions.end(),
                                   [](const memory::Transaction& one) { return (one.flags & memory::kFirst) != 0; });
  if (!ends_meet ||
      std::adjacent_find(stream.first.begin(), stream.first.end(), std::greater_equal<>()) != stream.first.end() ||
      static_cast<std::size_t>(begun) != stream.instructions() ||
      !std::all_of(stream.first.begin(), stream.first.end() - (stream.first.empty() ? 0 : 1),
                   [&](std::uint32_t first) { return (stream.transactions[first].flags & memory::kFirst) != 0; })) {
    throw Error(ErrorKind::Internal, {"the stream of a warp breaks its contract", fmt::format("item {}", item), "",
                                      "instructions of one transaction or more", ""});
  }
  if (raw_ && stream.raw.rows.size() != stream.instructions()) {
    throw Error(ErrorKind::Usage, {"the raw instructions of a warp are wanted, but not kept",
                                   fmt::format("item {}", item), fmt::format("{} rows", stream.raw.rows.size()),
                                   fmt::format("{}, one an instruction", stream.instructions()), "set keep_raw"});
  }
}

}  // namespace rayreplay::machine
