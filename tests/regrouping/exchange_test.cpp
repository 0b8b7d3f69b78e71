// Exchanges: who is released when, by hand, and against a slow twin on random arrivals.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "scheduler-models/regrouping/exchanges/pool_exchange.hpp"
#include "scheduler-models/regrouping/exchanges/queue_exchange.hpp"
#include "tests/support/random_trace.hpp"

namespace rayreplay::scheduler {
namespace {

using Keys = trace::Column<std::uint64_t>;
using Batch = std::vector<std::uint32_t>;  ///< segments of a warp, ascending

std::shared_ptr<const Keys> keys_of(std::initializer_list<std::uint64_t> keys) {
  return std::make_shared<const Keys>(keys);
}

Batch members(const FormedWarp& warp) {
  Batch result;
  for (const std::uint32_t segment : warp.segment_at) {
    if (segment != kNoSegment) {
      result.push_back(segment);
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

std::vector<Batch> release(Exchange& exchange, double now, bool starved = false) {
  std::vector<FormedWarp> out;
  exchange.release(now, starved, out);
  std::vector<Batch> result;
  for (const FormedWarp& warp : out) {
    result.push_back(members(warp));
  }
  return result;
}

using Batches = std::vector<Batch>;

TEST(PoolExchange, SortsWhenThePoolIsFull) {
  const auto exchange = make_pool_exchange(keys_of({1, 2, 1, 2, 9, 0}), 2, {}, 2, kNever);
  for (std::uint32_t s = 0; s < 3; ++s) {
    exchange->arrive({s, s / 2, static_cast<std::uint8_t>(s % 2)}, 10.0 * s);
  }
  EXPECT_EQ(release(*exchange, 20), Batches{});
  EXPECT_EQ(exchange->waiting(), 3U);
  exchange->arrive({3, 1, 1}, 30);
  exchange->arrive({4, 2, 0}, 30);
  EXPECT_EQ(release(*exchange, 30), (Batches{{0, 2}, {1, 3}}));  // the longest waiting four, by key
  EXPECT_EQ(exchange->waiting(), 1U);
  EXPECT_EQ(exchange->deadline_cycles(), kNever);
  EXPECT_EQ(release(*exchange, 1e9), Batches{});
  EXPECT_EQ(release(*exchange, 1e9, true), Batches{{4}});
  EXPECT_EQ(release(*exchange, 1e9, true), Batches{});
}

TEST(PoolExchange, TimesOutOfTheLongestWaiting) {
  const auto exchange = make_pool_exchange(keys_of({3, 1, 2, 0}), 4, {}, 8, 100);
  exchange->arrive({0, 0, 0}, 7);
  exchange->arrive({1, 1, 0}, 50);
  EXPECT_EQ(exchange->deadline_cycles(), 107);
  EXPECT_EQ(release(*exchange, 106.9), Batches{});
  EXPECT_EQ(release(*exchange, 107), (Batches{{0, 1}}));
  EXPECT_EQ(exchange->deadline_cycles(), kNever);
  exchange->arrive({2, 0, 0}, 120);
  EXPECT_EQ(exchange->deadline_cycles(), 220);
}

TEST(PoolExchange, StarvedAfterAFullPoolKeepsTheRest) {
  const auto exchange = make_pool_exchange(keys_of({0, 0, 0}), 2, {}, 1, kNever);
  for (std::uint32_t s = 0; s < 3; ++s) {
    exchange->arrive({s, s, 0}, 0);
  }
  EXPECT_EQ(release(*exchange, 0, true), (Batches{{0, 1}}));
  EXPECT_EQ(release(*exchange, 0, true), (Batches{{2}}));
}

TEST(PoolExchange, ThreadsKeepTheirLanesAndTheirWarp) {
  // Listing 3.2's second warp as threads of two warps: whoever can stays where it was.
  const auto exchange = make_pool_exchange(keys_of({1, 2, 1, 2}), 2, {}, 2, kNever);
  exchange->arrive({3, 1, 1}, 0);  // in any order of arrival
  exchange->arrive({2, 1, 0}, 0);
  exchange->arrive({1, 0, 1}, 0);
  exchange->arrive({0, 0, 0}, 0);
  std::vector<FormedWarp> out;
  exchange->release(0, false, out);
  ASSERT_EQ(out.size(), 2U);
  EXPECT_EQ(out[0].segment_at[0], 0U);
  EXPECT_EQ(out[0].segment_at[1], 2U);  // lane 0 is taken
  EXPECT_EQ(out[0].moved, 1U);
  EXPECT_EQ(out[1].segment_at[1], 1U);
  EXPECT_EQ(out[1].segment_at[0], 3U);
  EXPECT_EQ(out[1].moved, 1U);
  EXPECT_EQ(out[0].segment_at[2], kNoSegment);
}

TEST(QueueExchange, DispatchesFullQueues) {
  const auto exchange = make_queue_exchange(keys_of({7, 8, 7, 8, 8, 7, 7}), 2, 0);
  exchange->arrive({0, 0, 0}, 0);
  exchange->arrive({1, 0, 1}, 0);
  EXPECT_EQ(release(*exchange, 0), Batches{});
  exchange->arrive({3, 1, 1}, 1);
  exchange->arrive({2, 1, 0}, 1);
  exchange->arrive({4, 2, 0}, 1);
  EXPECT_EQ(release(*exchange, 1), (Batches{{1, 3}, {0, 2}}));  // as they filled up
  EXPECT_EQ(exchange->waiting(), 1U);
  exchange->arrive({5, 3, 0}, 2);
  EXPECT_EQ(release(*exchange, 2, true), Batches{{4}});  // as long as the other, but its first waits longer
  EXPECT_EQ(release(*exchange, 2, true), Batches{{5}});
  EXPECT_EQ(exchange->waiting(), 0U);
}

TEST(QueueExchange, HoldsNoMoreThreadsThanItMay) {
  const auto exchange = make_queue_exchange(keys_of({1, 2, 2, 3, 3}), 4, 3);
  for (std::uint32_t s = 0; s < 3; ++s) {
    exchange->arrive({s, s, 0}, s);
  }
  EXPECT_EQ(release(*exchange, 3), Batches{});
  exchange->arrive({3, 3, 0}, 3);
  EXPECT_EQ(release(*exchange, 3), (Batches{{1, 2}}));  // the longest, as it is
  exchange->arrive({4, 4, 0}, 4);
  EXPECT_EQ(release(*exchange, 4), Batches{});
  EXPECT_EQ(exchange->waiting(), 3U);
}

TEST(QueueExchange, FillsLanesFromZero) {
  const auto exchange = make_queue_exchange(keys_of({5, 5, 5, 6}), 3, 0);
  exchange->arrive({2, 4, 7}, 0);
  exchange->arrive({1, 1, 5}, 0);
  exchange->arrive({0, 1, 3}, 0);
  std::vector<FormedWarp> out;
  exchange->release(0, false, out);
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0].segment_at[0], 0U);
  EXPECT_EQ(out[0].segment_at[1], 1U);
  EXPECT_EQ(out[0].segment_at[2], 2U);
  EXPECT_EQ(out[0].segment_at[3], kNoSegment);
  EXPECT_EQ(out[0].moved, 1U);
}

/// What queues do, with one list of all that wait and no bookkeeping.
class SlowQueues {
 public:
  SlowQueues(const Keys& records, std::size_t width, std::size_t most)
      : records_(records), width_(width), most_(most) {}

  void arrive(std::uint32_t segment) {
    waiting_.push_back(segment);
    if (of(records_[segment]).size() % width_ == 0) {
      full_.push_back(records_[segment]);
    }
  }
  Batches release(bool starved) {
    Batches out;
    for (const std::uint64_t record : full_) {
      out.push_back(take(record));
    }
    full_.clear();
    while (most_ != 0 && waiting_.size() > most_) {
      out.push_back(take(longest()));
    }
    if (starved && out.empty() && !waiting_.empty()) {
      out.push_back(take(longest()));
    }
    return out;
  }

 private:
  [[nodiscard]] Batch of(std::uint64_t record) const {
    Batch result;
    std::copy_if(waiting_.begin(), waiting_.end(), std::back_inserter(result),
                 [&](std::uint32_t s) { return records_[s] == record; });
    return result;
  }
  [[nodiscard]] std::uint64_t longest() const {
    std::uint64_t best = 0;
    std::size_t length = 0;
    for (const std::uint32_t s : waiting_) {  // the first of each queue comes by its time of arrival
      if (of(records_[s]).size() > length) {
        length = of(records_[s]).size();
        best = records_[s];
      }
    }
    return best;
  }
  Batch take(std::uint64_t record) {
    Batch batch = of(record);
    batch.resize(std::min(batch.size(), width_));
    std::erase_if(waiting_, [&](std::uint32_t s) { return std::find(batch.begin(), batch.end(), s) != batch.end(); });
    std::sort(batch.begin(), batch.end());
    return batch;
  }

  const Keys& records_;
  std::size_t width_, most_;
  Batch waiting_;
  std::vector<std::uint64_t> full_;
};

TEST(QueueExchange, IsItsSlowTwin) {
  test::Random random(3);
  for (int round = 0; round < 60; ++round) {
    const std::size_t count = 200;
    auto keys = std::make_shared<Keys>();
    for (std::size_t s = 0; s < count; ++s) {
      keys->push_back(random.below(1 + static_cast<std::uint64_t>(round % 9)));
    }
    const std::uint32_t width = 1 + random.below(8);
    const std::uint32_t most = random.one_in(2) ? 0 : width + random.below(20);
    const auto exchange = make_queue_exchange(keys, width, most);
    SlowQueues slow(*keys, width, most);
    Batch order(count);
    for (std::size_t s = 0; s < count; ++s) {
      order[s] = static_cast<std::uint32_t>(s);
    }
    for (std::size_t s = count; s > 1; --s) {
      std::swap(order[s - 1], order[random.below(s)]);
    }
    std::size_t released = 0;
    for (std::size_t i = 0; i < count; ++i) {
      exchange->arrive({order[i], random.below(30), static_cast<std::uint8_t>(random.below(32))},
                       static_cast<double>(i));
      slow.arrive(order[i]);
      if (random.one_in(3)) {
        const bool starved = random.one_in(4);
        const Batches batches = release(*exchange, static_cast<double>(i), starved);
        ASSERT_EQ(batches, slow.release(starved));
        for (const Batch& batch : batches) {
          released += batch.size();
        }
        ASSERT_EQ(exchange->waiting(), i + 1 - released);
      }
    }
    while (exchange->waiting() > 0) {
      const Batches batches = release(*exchange, 1e6, true);
      ASSERT_EQ(batches, slow.release(true));
      ASSERT_FALSE(batches.empty());
    }
  }
}

TEST(PoolExchange, ReleasesEveryThreadOnceInPoolsOfTheLongestWaiting) {
  test::Random random(9);
  for (int round = 0; round < 60; ++round) {
    const std::uint32_t warp_size = 1 + random.below(8);
    const std::uint32_t pool_warps = 1 + random.below(4);
    const std::size_t pool = std::size_t{warp_size} * pool_warps;
    auto keys = std::make_shared<Keys>();
    const std::uint32_t count = 150;
    for (std::uint32_t s = 0; s < count; ++s) {
      keys->push_back(random.below(4));
    }
    const auto exchange = make_pool_exchange(keys, warp_size, {}, pool_warps, kNever);
    Batch waiting;  // in order of arrival
    for (std::uint32_t s = 0; s < count; ++s) {
      exchange->arrive({s, s / warp_size, static_cast<std::uint8_t>(s % warp_size)}, s);
      waiting.push_back(s);
      const bool starved = random.one_in(10);
      Batch released;
      for (const Batch& batch : release(*exchange, s, starved)) {
        ASSERT_LE(batch.size(), warp_size);
        released.insert(released.end(), batch.begin(), batch.end());
      }
      const std::size_t expected = waiting.size() >= pool ? waiting.size() / pool * pool : starved ? waiting.size() : 0;
      ASSERT_EQ(released.size(), expected);
      std::sort(released.begin(), released.end());
      ASSERT_EQ(released, Batch(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(expected)));
      waiting.erase(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(expected));
    }
  }
}

}  // namespace
}  // namespace rayreplay::scheduler
