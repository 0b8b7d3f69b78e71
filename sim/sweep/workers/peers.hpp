// The other processes of a sweep, as rank 0 sees them.
//
// Contract: `feed` gives units to those that have room; `poll` takes in what they sent. A worker whose sweep is another
// (definition, tool, content of an input) and one that reports an error end the sweep: `poll` throws its error, with
// the worker's name. One from which nothing was heard for `silent_seconds` is lost: its units go back to the queue, a
// note says so once; should it come back, it gets work again, but what it delivers of a unit that was taken from it
// does not count. `end` says good-bye to all. Without a link there is nobody. `dismiss` ends the others where rank 0
// fails before there is work to give out.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/sweep/plan/plan.hpp"
#include "sim/sweep/results/database.hpp"
#include "sim/sweep/workers/link.hpp"
#include "sim/sweep/workers/messages.hpp"
#include "sim/sweep/workers/unit_queue.hpp"

namespace rayreplay::sweep {

struct PeersOptions {
  double beat_seconds = 1;
  double silent_seconds = 30;
  Hello own;  ///< what every worker's Hello must say but for host and capacity
};

class Peers {
 public:
  using Clock = std::chrono::steady_clock;

  Peers(Link* link, const Plan& plan, const PeersOptions& options);

  /// Several machines share the work.
  [[nodiscard]] bool any() const {
    return !peers_.empty();
  }
  [[nodiscard]] std::uint64_t outstanding() const;
  [[nodiscard]] bool stop_wanted() const {
    return stop_wanted_;
  }
  [[nodiscard]] bool any_lost() const;
  /// Each once.
  [[nodiscard]] std::vector<std::string> take_notes();

  /// What every worker's Hello must say of its inputs. Before the first `poll`.
  void expect(std::vector<InputFile> inputs) {
    options_.own.inputs = std::move(inputs);
  }
  void feed(UnitQueue& queue);
  /// Rows that came. Also beats, and finds who is lost.
  [[nodiscard]] std::vector<ResultRow> poll(UnitQueue& queue);

  /// Nothing more is given out; workers get so long to finish what they have.
  void stop(double grace_seconds);
  /// After `stop`: rows until all that are there have said good-bye, or the time is over.
  void end(std::chrono::milliseconds most, const std::function<void(std::vector<ResultRow>)>& rows);

 private:
  struct Peer {
    int rank = 0;
    bool greeted = false;
    bool lost = false;
    bool gone = false;  ///< said good-bye
    Clock::time_point heard;
    std::string host;
    std::uint64_t capacity = 0;
    std::optional<std::uint64_t> affinity;
    std::map<std::uint64_t, Task> tasks;
  };
  void take(Peer& peer, const Message& message, std::vector<ResultRow>& rows);
  void check(const Peer& peer, const Hello& hello) const;
  void take_done(Peer& peer, const Done& done, std::vector<ResultRow>& rows);
  void beat_and_watch(UnitQueue* queue);
  [[nodiscard]] std::string name(const Peer& peer) const;

  Link* link_;
  const Plan* plan_;
  PeersOptions options_;
  std::map<int, Peer> peers_;  ///< by rank
  std::set<int> sleepers_;     ///< ranks that only wait for the end
  std::vector<std::string> notes_;
  Clock::time_point beat_;
  bool stop_wanted_ = false;
};

void dismiss(Link& link);

/// Does `work`, which may take long, while the others hear that rank 0 is there. Without a link it only does it.
void beat_meanwhile(Link* link, const std::function<void()>& work);

}  // namespace rayreplay::sweep
