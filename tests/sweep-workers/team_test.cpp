// The ranks of a sweep as threads of one process: what MPI cannot be made to do on demand.
#include "sim/sweep/workers/team.hpp"

#include <array>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/sweep/results/rank_databases.hpp"
#include "tests/sweep-workers/synthetic_sweep.hpp"

namespace rayreplay::sweep::test {
namespace {

using rayreplay::test::TemporaryFolder;
using std::chrono::milliseconds;
using testing::HasSubstr;

constexpr int kSize = 4;
constexpr int kWorkers = 3;  // rank 3 attends

/// What all ranks share.
struct Meeting {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> said = std::vector<std::string>(kSize);
  std::vector<std::string> before;
  int there = 0;
  int meetings = 0;
  std::array<std::atomic<std::int64_t>, kCounters> counters{};
};

class ThreadTeam : public Team {
 public:
  ThreadTeam(Meeting& meeting, int rank) : meeting_(&meeting), rank_(rank) {}
  [[nodiscard]] int rank() const override {
    return rank_;
  }
  [[nodiscard]] int workers() const override {
    return kWorkers;
  }
  [[nodiscard]] std::vector<std::string> gather(const std::string& mine) override {
    std::unique_lock lock(meeting_->mutex);
    meeting_->said[static_cast<std::size_t>(rank_)] = mine;
    const int number = meeting_->meetings;
    if (++meeting_->there == kSize) {
      meeting_->before = meeting_->said;
      meeting_->there = 0;
      ++meeting_->meetings;
      meeting_->changed.notify_all();
    }
    // Rather than wait for ever.
    if (!meeting_->changed.wait_for(lock, std::chrono::seconds(60), [&] { return meeting_->meetings > number; })) {
      throw Error(ErrorKind::Internal, {"a rank does not come", fmt::format("rank {}", rank_), "", "", ""});
    }
    return meeting_->before;
  }
  std::int64_t fetch_add(Counter counter, std::int64_t value) override {
    return meeting_->counters.at(static_cast<std::size_t>(counter)).fetch_add(value);
  }

 private:
  Meeting* meeting_;
  int rank_;
};

class Ranks : public testing::Test {
 protected:
  struct Rank {
    MadeUp made_up;
    Work work;
    const Plan* plan = nullptr;
    RunnerOptions options;
    SweepReport report;
    std::exception_ptr failed;
  };

  explicit Ranks() : plan_(small_plan("", 1)) {
    for (Rank& rank : ranks_) {
      rank.made_up.takes = milliseconds(10);
      rank.work = rank.made_up.work();
      rank.plan = &plan_;
      rank.options.threads = 1;
    }
  }

  /// As the command does it.
  void act(int number) {
    Rank& rank = ranks_.at(static_cast<std::size_t>(number));
    ThreadTeam team(meeting_, number);
    rank.options.team = &team;
    std::unique_ptr<ResultsWriter> results;
    const auto path = folder_ / "s.db";
    try {
      rank.options.finished = agree_on_sweep(team, *rank.plan, [&] {
        results = std::make_unique<ResultsWriter>(path, about_of(*rank.plan), false);
        join_rank_databases(*results, path, about_of(*rank.plan), false);
        return results->finished(false);
      });
      in_step(&team, [&] {
        if (number == kWorkers) {
          attend_sweep(team);
          return Texts{};
        }
        if (number > 0) {
          results = std::make_unique<ResultsWriter>(rank_database(path, number), about_of(*rank.plan), true);
        }
        rank.report = run_sweep(*rank.plan, rank.work, *results, rank.options);
        if (number > 0) {
          results.reset();  // before rank 0 joins it
        }
        return Texts{};
      });
      in_step(&team, [&] {
        if (number == 0 && join_) {
          join_rank_databases(*results, path, about_of(*rank.plan), false);
        }
        return Texts{};
      });
    } catch (...) {
      rank.failed = std::current_exception();
    }
  }
  /// The error of rank 0; "": none.
  std::string act_all() {
    std::vector<std::thread> threads;
    for (int rank = 0; rank < kSize; ++rank) {
      threads.emplace_back([this, rank] { act(rank); });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    for (std::size_t rank = 1; rank < kSize; ++rank) {
      EXPECT_EQ(ranks_.at(rank).failed == nullptr, ranks_[0].failed == nullptr) << rank;
      EXPECT_TRUE(ranks_.at(rank).failed == nullptr || is_rank_failed(ranks_.at(rank).failed)) << rank;
    }
    try {
      if (ranks_[0].failed) {
        std::rethrow_exception(ranks_[0].failed);
      }
    } catch (const Error& error) {
      kind_ = error.kind();
      return error.what();
    }
    return "";
  }
  static bool is_rank_failed(const std::exception_ptr& thrown) {
    try {
      std::rethrow_exception(thrown);
    } catch (const RankFailed&) {
      return true;
    } catch (...) {
      return false;
    }
  }
  [[nodiscard]] std::uint64_t evaluated() const {
    return ranks_[0].made_up.evaluated + ranks_[1].made_up.evaluated + ranks_[2].made_up.evaluated;
  }
  std::vector<std::vector<std::string>> alone() {
    MadeUp made_up;
    {
      ResultsWriter results(folder_ / "alone.db", about_of(plan_), false);
      RunnerOptions options;
      static_cast<void>(run_sweep(plan_, made_up.work(), results, options));
    }
    return rows_of(folder_ / "alone.db");
  }
  [[nodiscard]] std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      names.insert(entry.path().filename().string());
    }
    return names;
  }

  TemporaryFolder folder_;
  Plan plan_;
  Meeting meeting_;
  std::array<Rank, kSize> ranks_;
  ErrorKind kind_ = ErrorKind::Internal;
  bool join_ = true;
};

TEST_F(Ranks, ShareTheWorkAndGiveTheSameTable) {
  EXPECT_EQ(act_all(), "");
  EXPECT_EQ(ranks_[0].report.end, SweepEnd::Finished);
  EXPECT_EQ(ranks_[0].report.standing.done, 24U) << "of all ranks";
  EXPECT_EQ(evaluated(), 24U) << "no run twice";
  for (int rank = 0; rank < kWorkers; ++rank) {
    EXPECT_GT(ranks_.at(static_cast<std::size_t>(rank)).made_up.evaluated, 0U) << "all take part";
  }
  EXPECT_EQ(files(), std::set<std::string>{"s.db"}) << "joined and removed";
  EXPECT_EQ(rows_of(folder_ / "s.db"), alone());
}

TEST_F(Ranks, FinishWhatIsLeftOfAnEarlierRun) {
  // Rank 0 is killed before it joins what the others wrote.
  ranks_[1].options.most_now = ranks_[0].options.most_now = ranks_[2].options.most_now = 12;
  join_ = false;
  EXPECT_EQ(act_all(), "");
  EXPECT_EQ(evaluated(), 12U);
  EXPECT_TRUE(files().contains("s.db.rank1"));
  EXPECT_LT(rows_of(folder_ / "s.db").size(), 12U);
  for (Rank& rank : ranks_) {
    rank.options.most_now = 0;
  }
  for (auto& counter : meeting_.counters) {
    counter = 0;
  }
  join_ = true;
  EXPECT_EQ(act_all(), "");
  EXPECT_EQ(evaluated(), 24U) << "rows of other ranks are not done again";
  EXPECT_EQ(files(), std::set<std::string>{"s.db"});
  EXPECT_EQ(rows_of(folder_ / "s.db"), alone());
}

TEST_F(Ranks, OfAnotherSweepAreRefused) {
  const Plan other = small_plan("where = [\"default_cost < 6\"]\n", 1);
  ranks_[1].plan = &other;
  EXPECT_THAT(act_all(), testing::AllOf(HasSubstr("rank 1"), HasSubstr("the sweep differs")));
  EXPECT_EQ(kind_, ErrorKind::Usage);
  EXPECT_EQ(evaluated(), 0U);
}

TEST_F(Ranks, WithAnotherContentOfAnInputAreNamed) {
  for (int rank = 0; rank < kWorkers; ++rank) {
    ranks_.at(static_cast<std::size_t>(rank)).work.input_hash = [rank](const experiment::Settings&) {
      return rank == 2 ? "other" : "00112233445566778899aabbccddeeff";
    };
  }
  EXPECT_THAT(act_all(), testing::AllOf(HasSubstr("rank 2"), HasSubstr("t.rrt"), HasSubstr("other")));
  EXPECT_EQ(kind_, ErrorKind::Input);
  EXPECT_TRUE(rows_of(folder_ / "s.db").empty()) << "no row before it is known";
}

TEST_F(Ranks, ThatCannotReadAnInputAreNamed) {
  ranks_[2].work.input_hash = [](const experiment::Settings&) -> std::string {
    throw Error(ErrorKind::Input, {"there is no such file", "t.rrt", "", "", ""});
  };
  EXPECT_THAT(act_all(), testing::AllOf(HasSubstr("rank 2"), HasSubstr("there is no such file")));
}

TEST_F(Ranks, AnErrorOfOneEndsAllAndKeepsWhatIsFinished) {
  ranks_[1].made_up.before = [this](const experiment::Settings&, Progress*) {
    if (ranks_[1].made_up.evaluated == 2) {
      throw Error(ErrorKind::Internal, {"a broken invariant", "", "", "", ""});
    }
  };
  EXPECT_THAT(act_all(), testing::AllOf(HasSubstr("rank 1"), HasSubstr("a broken invariant")));
  EXPECT_EQ(kind_, ErrorKind::Internal);
  EXPECT_LT(evaluated(), 24U);
  EXPECT_EQ(rows_of(folder_ / "s.db.rank1").size(), 2U);
}

TEST_F(Ranks, AStopOfOneStopsAll) {
  for (Rank& rank : ranks_) {
    rank.made_up.takes = milliseconds(200);
  }
  ranks_[2].options.stop_requested = [this] { return ranks_[2].made_up.evaluated > 0; };
  EXPECT_EQ(act_all(), "");
  EXPECT_EQ(ranks_[0].report.end, SweepEnd::Stopped);
  EXPECT_LT(ranks_[0].report.standing.done, 24U);
  EXPECT_EQ(rows_of(folder_ / "s.db").size(), evaluated()) << "what was under way was waited for";
}

TEST_F(Ranks, AStepThatFailsOnOneFailsOnAll) {
  std::array<int, kSize> reached{};
  std::vector<std::thread> threads;
  for (int rank = 0; rank < kSize; ++rank) {
    threads.emplace_back([&, rank] {
      ThreadTeam team(meeting_, rank);
      // Rank 1 does not even come to the inner step.
      const auto outer = [&] {
        in_step(&team, [&] {
          if (rank == 1) {
            throw Error(ErrorKind::Missing, {"no room", "there", "", "", ""});
          }
          in_step(&team, [] { return Texts{"inner"}; });
          return Texts{};
        });
      };
      if (rank == 0) {
        try {
          outer();
        } catch (const Error& error) {
          reached[0] = error.kind() == ErrorKind::Missing && error.info().where.starts_with("rank 1 on ") &&
                       error.info().where.ends_with(", there");
        }
      } else {
        EXPECT_THROW(outer(), RankFailed);
        reached.at(static_cast<std::size_t>(rank)) = 1;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_THAT(reached, testing::Each(1));
  EXPECT_EQ(meeting_.there, 0) << "nobody is left waiting";
}

TEST(RankDatabases, OfARestartAreDropped) {
  const TemporaryFolder folder;
  const Plan plan = small_plan();
  const auto path = folder / "s.db";
  MadeUp made_up;
  {
    ResultsWriter rank(rank_database(path, 12), about_of(plan), false);
    RunnerOptions options;
    static_cast<void>(run_sweep(plan, made_up.work(), rank, options));
  }
  ResultsWriter results(path, about_of(plan), false);
  EXPECT_EQ(join_rank_databases(results, path, about_of(plan), true), 1U);
  results.commit();
  EXPECT_TRUE(rows_of(path).empty());
  EXPECT_FALSE(std::filesystem::exists(rank_database(path, 12)));
}

TEST(RankDatabases, OfAnotherSweepAreNamedAndStay) {
  const TemporaryFolder folder;
  const Plan plan = small_plan();
  const Plan other = small_plan("where = [\"default_cost < 6\"]\n");
  const auto path = folder / "s.db";
  { ResultsWriter(rank_database(path, 1), about_of(other), false).commit(); }
  ResultsWriter results(path, about_of(plan), false);
  try {
    join_rank_databases(results, path, about_of(plan), false);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::AllOf(HasSubstr("s.db.rank1"), HasSubstr("remove")));
  }
  EXPECT_TRUE(std::filesystem::exists(rank_database(path, 1)));
}

TEST(RankDatabases, OfARankThatIsStillThereAreNotTaken) {
  const TemporaryFolder folder;
  const Plan plan = small_plan();
  const auto path = folder / "s.db";
  ResultsWriter rank(rank_database(path, 1), about_of(plan), false);
  ResultsWriter results(path, about_of(plan), false);
  EXPECT_THROW(join_rank_databases(results, path, about_of(plan), false), Error);
  EXPECT_TRUE(std::filesystem::exists(rank_database(path, 1)));
}

}  // namespace
}  // namespace rayreplay::sweep::test
