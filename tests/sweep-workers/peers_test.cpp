// Rank 0 and workers in one process, over a line made of queues: what MPI cannot be made to do on demand.
#include "sim/sweep/workers/peers.hpp"

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/sweep/workers/remote_worker.hpp"
#include "tests/sweep-workers/synthetic_sweep.hpp"

namespace rayreplay::sweep::test {
namespace {

using rayreplay::test::TemporaryFolder;
using std::chrono::milliseconds;
using testing::HasSubstr;

/// All mailboxes of one sweep. A rank that is cut off neither sends nor receives any more.
struct Exchange {
  std::mutex mutex;
  std::map<int, std::deque<Envelope>> boxes;
  std::map<int, bool> cut;
};

class QueueLink : public Link {
 public:
  QueueLink(Exchange& exchange, int rank, int size, std::vector<int> workers)
      : exchange_(&exchange), rank_(rank), size_(size), workers_(std::move(workers)) {}
  [[nodiscard]] int rank() const override {
    return rank_;
  }
  [[nodiscard]] int size() const override {
    return size_;
  }
  [[nodiscard]] const std::vector<int>& workers() const override {
    return workers_;
  }
  void send(int to, std::string bytes) override {
    const std::lock_guard lock(exchange_->mutex);
    if (!exchange_->cut[rank_] && !exchange_->cut[to]) {
      exchange_->boxes[to].push_back({rank_, std::move(bytes)});
    }
  }
  [[nodiscard]] std::optional<Envelope> receive() override {
    const std::lock_guard lock(exchange_->mutex);
    auto& box = exchange_->boxes[rank_];
    if (exchange_->cut[rank_] || box.empty()) {
      return std::nullopt;
    }
    Envelope envelope = std::move(box.front());
    box.pop_front();
    return envelope;
  }
  void flush(milliseconds) override {}
  void mark_broken() override {
    broken = true;
  }

  std::atomic<bool> broken{false};

 private:
  Exchange* exchange_;
  int rank_;
  int size_;
  std::vector<int> workers_;
};

class Team : public testing::Test {
 protected:
  static constexpr int kSize = 4;  // rank 3 sleeps
  static constexpr double kSilent = 2.5;

  Team() {
    for (int rank = 0; rank < kSize; ++rank) {
      links_.push_back(std::make_unique<QueueLink>(exchange_, rank, kSize, std::vector<int>{1, 2}));
    }
  }
  ~Team() override {
    for (std::thread& thread : threads_) {
      thread.join();
    }
  }

  void start_worker(int rank, const Plan& plan, Work work) {
    threads_.emplace_back([this, rank, &plan, work = std::move(work)] {
      RunnerOptions options = options_of(rank);
      options.threads = 1;
      try {
        ends_[static_cast<std::size_t>(rank)] = run_worker(plan, work, options);
      } catch (const Error&) {  // rank 0 is silent: it was cut off
      }
    });
  }
  void start_sleeper() {
    threads_.emplace_back([this] { static_cast<void>(sleep_until_stop(*links_[3], options_of(3))); });
  }
  RunnerOptions options_of(int rank) {
    RunnerOptions options;
    options.link = links_[static_cast<std::size_t>(rank)].get();
    options.silent_seconds = kSilent;
    return options;
  }
  SweepReport lead(const Plan& plan, const Work& work) {
    ResultsWriter results(folder_ / "s.db", about_of(plan), false);
    RunnerOptions options = options_of(0);
    options.threads = 1;
    return run_sweep(plan, work, results, options);
  }
  std::vector<std::vector<std::string>> alone(const Plan& plan) {
    MadeUp made_up;
    {
      ResultsWriter results(folder_ / "alone.db", about_of(plan), false);
      RunnerOptions options;
      options.threads = 1;
      static_cast<void>(run_sweep(plan, made_up.work(), results, options));
    }
    return rows_of(folder_ / "alone.db");
  }
  void cut(int rank) {
    const std::lock_guard lock(exchange_.mutex);
    exchange_.cut[rank] = true;
  }

  TemporaryFolder folder_;
  Exchange exchange_;
  std::vector<std::unique_ptr<QueueLink>> links_;
  std::array<WorkerEnd, kSize> ends_{};
  std::vector<std::thread> threads_;
};

TEST_F(Team, SharesTheWorkAndGivesTheSameTable) {
  const Plan plan = small_plan("", 1);
  std::array<MadeUp, 3> made_up;
  for (MadeUp& one : made_up) {
    one.takes = milliseconds(5);
  }
  start_worker(1, plan, made_up[1].work());
  start_worker(2, plan, made_up[2].work());
  start_sleeper();
  const SweepReport report = lead(plan, made_up[0].work());
  EXPECT_EQ(report.end, SweepEnd::Finished);
  EXPECT_FALSE(report.lost);
  EXPECT_EQ(made_up[0].evaluated + made_up[1].evaluated + made_up[2].evaluated, 24U);
  for (const MadeUp& one : made_up) {
    EXPECT_GT(one.evaluated, 0U) << "all take part";
  }
  EXPECT_EQ(rows_of(folder_ / "s.db"), alone(plan));
}

TEST_F(Team, TheWorkOfALostRankIsDoneByOthers) {
  const Plan plan = small_plan("", 1);
  std::array<MadeUp, 3> made_up;
  made_up[0].takes = made_up[1].takes = milliseconds(5);
  made_up[2].before = [this](const experiment::Settings&, Progress*) { cut(2); };
  start_worker(1, plan, made_up[1].work());
  start_worker(2, plan, made_up[2].work());
  start_sleeper();
  // It must have work in hand before all is done.
  std::atomic<int> patience{4000};
  made_up[0].before = [&](const experiment::Settings&, Progress*) {
    while (--patience > 0 && made_up[2].under_way == 0 && made_up[2].evaluated == 0) {
      std::this_thread::sleep_for(milliseconds(1));
    }
  };
  made_up[1].before = made_up[0].before;
  const SweepReport report = lead(plan, made_up[0].work());
  EXPECT_EQ(report.end, SweepEnd::Finished);
  EXPECT_TRUE(report.lost);
  EXPECT_TRUE(links_[0]->broken);
  ASSERT_EQ(report.standing.notes.size(), 1U);
  EXPECT_THAT(report.standing.notes[0], HasSubstr("rank 2"));
  EXPECT_EQ(report.standing.done, 24U);
  EXPECT_EQ(rows_of(folder_ / "s.db"), alone(plan));
}

TEST_F(Team, AnotherSweepIsRefused) {
  const Plan plan = small_plan("", 1);
  const Plan other = small_plan("where = [\"default_cost < 6\"]\n", 1);
  std::array<MadeUp, 3> made_up;
  made_up[0].takes = milliseconds(20);
  start_worker(1, other, made_up[1].work());
  start_worker(2, plan, made_up[2].work());
  start_sleeper();
  made_up[2].takes = milliseconds(20);
  try {
    static_cast<void>(lead(plan, made_up[0].work()));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Input);
    EXPECT_THAT(error.what(), HasSubstr("rank 1"));
    EXPECT_THAT(error.what(), HasSubstr("sweep"));
  }
}

TEST_F(Team, AnInputThatDiffersOnANodeIsNamed) {
  const Plan plan = small_plan("", 1);
  std::array<MadeUp, 3> made_up;
  std::array<Work, 3> works;
  for (std::size_t i = 0; i < 3; ++i) {
    made_up[i].takes = milliseconds(20);
    works[i] = made_up[i].work();
    works[i].input_hash = [i](const experiment::Settings&) { return i == 2 ? "other" : "same"; };
  }
  start_worker(1, plan, works[1]);
  start_worker(2, plan, works[2]);
  start_sleeper();
  try {
    static_cast<void>(lead(plan, works[0]));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::AllOf(HasSubstr("rank 2"), HasSubstr("t.rrt"), HasSubstr("other")));
  }
}

TEST_F(Team, AWorkersErrorIsRankZeros) {
  const Plan plan = small_plan("", 1);
  std::array<MadeUp, 3> made_up;
  made_up[0].takes = milliseconds(20);
  made_up[2].takes = milliseconds(20);
  made_up[1].before = [](const experiment::Settings&, Progress*) {
    throw Error(ErrorKind::Internal, {"a broken invariant", "", "", "", ""});
  };
  start_worker(1, plan, made_up[1].work());
  start_worker(2, plan, made_up[2].work());
  start_sleeper();
  try {
    static_cast<void>(lead(plan, made_up[0].work()));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Internal);
    EXPECT_THAT(error.what(), testing::AllOf(HasSubstr("rank 1"), HasSubstr("a broken invariant")));
  }
}

TEST_F(Team, WorkersOfARankZeroThatIsGoneGiveUp) {
  const Plan plan = small_plan("", 1);
  cut(0);
  RunnerOptions options = options_of(1);
  options.threads = 1;
  options.silent_seconds = 0.02;
  MadeUp made_up;
  const WorkerEnd end = run_worker(plan, made_up.work(), options);
  ASSERT_TRUE(end.silent);
  EXPECT_EQ(end.silent->kind(), ErrorKind::Resource);
  EXPECT_THAT(end.silent->what(), HasSubstr("silent"));
  EXPECT_TRUE(links_[1]->broken);
}

TEST_F(Team, WhereRankZeroIsLostInTheMiddleTheOthersEndSoon) {
  const Plan plan = small_plan("", 1);
  MadeUp made_up;
  made_up.before = [&](const experiment::Settings&, Progress*) {
    if (made_up.evaluated == 3) {
      cut(0);
    }
  };
  std::thread first([&] {
    try {
      MadeUp nothing;
      nothing.takes = milliseconds(20);
      static_cast<void>(lead(plan, nothing.work()));
    } catch (const Error&) {  // alone it may end in any way
    }
  });
  RunnerOptions options = options_of(1);
  options.threads = 1;
  options.silent_seconds = 1.5;
  const auto begun = std::chrono::steady_clock::now();
  const WorkerEnd end = run_worker(plan, made_up.work(), options);
  const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  first.join();
  ASSERT_TRUE(end.silent);
  EXPECT_THAT(end.silent->what(), HasSubstr("silent"));
  EXPECT_TRUE(links_[1]->broken);
  EXPECT_FALSE(end.abandoned);
  EXPECT_LT(took, 20 * options.silent_seconds) << "not the patience for a rank 0 that has not begun";
}

TEST_F(Team, AStopOfOneRankStopsAll) {
  const Plan plan = small_plan("", 1);
  std::array<MadeUp, 3> made_up;
  made_up[0].takes = made_up[1].takes = made_up[2].takes = milliseconds(30);
  start_worker(1, plan, made_up[1].work());
  threads_.emplace_back([&] {
    RunnerOptions options = options_of(2);
    options.threads = 1;
    options.stop_requested = [&] { return made_up[2].evaluated > 0; };
    static_cast<void>(run_worker(plan, made_up[2].work(), options));
  });
  start_sleeper();
  const SweepReport report = lead(plan, made_up[0].work());
  EXPECT_EQ(report.end, SweepEnd::Stopped);
  EXPECT_LT(report.standing.done, 24U);
  EXPECT_EQ(rows_of(folder_ / "s.db").size(), made_up[0].evaluated + made_up[1].evaluated + made_up[2].evaluated)
      << "what was under way was waited for";
}

}  // namespace
}  // namespace rayreplay::sweep::test
