#include "sim/sweep/workers/peers.hpp"

#include <algorithm>
#include <future>
#include <thread>

#include <fmt/format.h>

#include "base/error.hpp"
#include "sim/sweep/workers/local_pool.hpp"
#include "sim/sweep/workers/written_row.hpp"

namespace rayreplay::sweep {
namespace {

constexpr std::chrono::milliseconds kPoll{2};
constexpr std::chrono::milliseconds kFlush{2000};
constexpr std::chrono::milliseconds kBeat{1000};
constexpr std::chrono::milliseconds kGoodBye{5000};

std::chrono::steady_clock::duration seconds(double value) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(value));
}

}  // namespace

Peers::Peers(Link* link, const Plan& plan, const PeersOptions& options)
    : link_(link), plan_(&plan), options_(options), beat_(Clock::now()) {
  if (link_ == nullptr) {
    return;
  }
  for (const int rank : link_->workers()) {
    Peer& peer = peers_[rank];
    peer.rank = rank;
    peer.heard = Clock::now();
  }
  for (int rank = 1; rank < link_->size(); ++rank) {
    if (!peers_.contains(rank)) {
      sleepers_.insert(rank);
    }
  }
}

std::string Peers::name(const Peer& peer) const {
  return peer.host.empty() ? fmt::format("rank {}", peer.rank) : fmt::format("rank {} on {}", peer.rank, peer.host);
}

std::uint64_t Peers::outstanding() const {
  std::uint64_t sum = 0;
  for (const auto& [rank, peer] : peers_) {
    sum += peer.tasks.size();
  }
  return sum;
}

bool Peers::any_lost() const {
  return std::any_of(peers_.begin(), peers_.end(), [](const auto& entry) { return entry.second.lost; });
}

std::vector<std::string> Peers::take_notes() {
  return std::exchange(notes_, {});
}

void Peers::feed(UnitQueue& queue) {
  // One each in turn, so that no worker hoards what others could begin at once.
  for (bool gave = true; gave && !queue.empty();) {
    gave = false;
    for (auto& [rank, peer] : peers_) {
      if (!peer.greeted || peer.lost || peer.gone ||
          peer.tasks.size() >= units_in_hand(peer.capacity, queue.size(), processes())) {
        continue;
      }
      std::optional<Task> task = queue.next(peer.affinity);
      if (!task) {
        return;
      }
      peer.affinity = task->affinity;
      link_->send(rank, encode(Assign{task->id, task->affinity, task->runs}));
      peer.tasks.emplace(task->id, std::move(*task));
      gave = true;
    }
  }
}

void Peers::check(const Peer& peer, const Hello& hello) const {
  const Hello& own = options_.own;
  const auto require = [&](bool fits, const std::string& what, const std::string& found, const std::string& expected,
                           const std::string& fix) {
    if (!fits) {
      throw Error(ErrorKind::Input, {what, name(peer), found, expected, fix});
    }
  };
  require(hello.tool == own.tool, "the version of rayreplay is another one", hello.tool, own.tool + " as on rank 0",
          "run the same rayreplay on all machines");
  require(hello.definition_hash == own.definition_hash && hello.runs == own.runs, "the sweep is another one",
          fmt::format("{} ({} runs)", hello.definition_hash, hello.runs),
          fmt::format("{} ({} runs) as on rank 0", own.definition_hash, own.runs),
          "give all machines the same sweep file");
  for (const InputFile& input : own.inputs) {
    const auto same = std::find_if(hello.inputs.begin(), hello.inputs.end(),
                                   [&](const InputFile& other) { return other.path == input.path; });
    require(same != hello.inputs.end(), "an input cannot be read there", input.path, "the file that rank 0 reads",
            "put the file where all machines find it under this name");
    require(same->hash == input.hash, "an input has other content there: " + input.path, same->hash,
            input.hash + " as on rank 0", "copy the file again to that machine");
  }
}

void Peers::take_done(Peer& peer, const Done& done, std::vector<ResultRow>& rows) {
  const auto task = peer.tasks.find(done.id);
  if (task == peer.tasks.end()) {
    return;  // it was lost, and the unit is with others now
  }
  std::vector<std::uint64_t> runs;
  for (const Done::Row& row : done.rows) {
    if (row.run >= plan_->runs()) {
      throw Error(ErrorKind::Input, {"a row is of no run of the sweep", name(peer), std::to_string(row.run),
                                     fmt::format("less than {}", plan_->runs()), ""});
    }
    runs.push_back(row.run);
  }
  if (runs != task->second.runs) {
    throw Error(ErrorKind::Input,
                {"rows came for other runs than were asked for", name(peer), fmt::format("{} rows", runs.size()),
                 fmt::format("the {} runs of unit {}", task->second.runs.size(), done.id), ""});
  }
  for (const Done::Row& row : done.rows) {
    ResultRow full = begin_row(*plan_, row.run);
    as_written(*plan_, full);
    full.outcome = row.outcome;  // as it was written there
    full.host = peer.host;
    full.started = row.started;
    rows.push_back(std::move(full));
  }
  peer.tasks.erase(task);
}

void Peers::take(Peer& peer, const Message& message, std::vector<ResultRow>& rows) {
  peer.heard = Clock::now();
  if (peer.lost) {
    peer.lost = false;
    notes_.push_back(fmt::format("{} is back", name(peer)));
  }
  if (const auto* hello = std::get_if<Hello>(&message)) {
    peer.host = hello->host;
    check(peer, *hello);
    peer.capacity = hello->capacity;
    peer.greeted = true;
  } else if (const auto* done = std::get_if<Done>(&message)) {
    take_done(peer, *done, rows);
  } else if (const auto* trouble = std::get_if<Trouble>(&message)) {
    ErrorInfo info = trouble->info;
    info.where = name(peer) + (info.where.empty() ? "" : ", " + info.where);
    throw Error(trouble->kind, info);
  } else if (std::holds_alternative<StopWanted>(message)) {
    stop_wanted_ = true;
  } else if (std::holds_alternative<Bye>(message)) {
    peer.gone = true;
  } else if (!std::holds_alternative<Beat>(message)) {
    throw Error(ErrorKind::Input, {"a message came that only rank 0 sends", name(peer), "", "", ""});
  }
}

void Peers::beat_and_watch(UnitQueue* queue) {
  const Clock::time_point now = Clock::now();
  if (now - beat_ >= seconds(options_.beat_seconds)) {
    beat_ = now;
    for (int rank = 1; rank < link_->size(); ++rank) {
      const auto peer = peers_.find(rank);
      if (peer == peers_.end() || !peer->second.lost) {
        link_->send(rank, encode(Beat{}));
      }
    }
  }
  for (auto& [rank, peer] : peers_) {
    if (peer.lost || peer.gone || now - peer.heard < seconds(options_.silent_seconds)) {
      continue;
    }
    peer.lost = true;
    notes_.push_back(fmt::format("{} is silent for {:.0f} s and counts as lost; {} of its units {} done by others",
                                 name(peer), options_.silent_seconds, peer.tasks.size(),
                                 peer.tasks.size() == 1 ? "is" : "are"));
    for (auto& [id, task] : peer.tasks) {
      if (queue != nullptr) {
        queue->give_back(std::move(task));
      }
    }
    peer.tasks.clear();
  }
}

std::vector<ResultRow> Peers::poll(UnitQueue& queue) {
  std::vector<ResultRow> rows;
  if (link_ == nullptr) {
    return rows;
  }
  while (std::optional<Envelope> envelope = link_->receive()) {
    const auto peer = peers_.find(envelope->from);
    const Message message = decode(envelope->bytes, fmt::format("rank {}", envelope->from));
    if (peer != peers_.end()) {
      take(peer->second, message, rows);
    } else if (std::holds_alternative<StopWanted>(message)) {
      stop_wanted_ = true;
    }
  }
  beat_and_watch(&queue);
  return rows;
}

void Peers::stop(double grace_seconds) {
  if (link_ == nullptr) {
    return;
  }
  for (int rank = 1; rank < link_->size(); ++rank) {
    link_->send(rank, encode(Stop{grace_seconds, !any_lost()}));
  }
}

void Peers::end(std::chrono::milliseconds most, const std::function<void(std::vector<ResultRow>)>& take_rows) {
  if (link_ == nullptr) {
    return;
  }
  const Clock::time_point until = Clock::now() + most;
  std::set<int> waiting = sleepers_;
  const auto all_gone = [&] {
    return waiting.empty() && std::all_of(peers_.begin(), peers_.end(),
                                          [](const auto& entry) { return entry.second.gone || entry.second.lost; });
  };
  // One that has not even begun is reading its inputs: it hears the good-bye afterwards, or falls silent.
  const auto some_begin = [&] {
    return std::any_of(peers_.begin(), peers_.end(),
                       [](const auto& entry) { return !entry.second.greeted && !entry.second.lost; });
  };
  while (!all_gone() && (Clock::now() < until || some_begin())) {
    std::vector<ResultRow> rows;
    while (std::optional<Envelope> envelope = link_->receive()) {
      const Message message = decode(envelope->bytes, fmt::format("rank {}", envelope->from));
      const auto peer = peers_.find(envelope->from);
      if (peer == peers_.end()) {
        if (std::holds_alternative<Bye>(message)) {
          waiting.erase(envelope->from);
        }
      } else if (std::holds_alternative<Hello>(message)) {
        peer->second.heard = Clock::now();
        peer->second.greeted = true;
      } else if (const auto* trouble = std::get_if<Trouble>(&message)) {
        notes_.push_back(fmt::format("{}: {}", name(peer->second), format_error(trouble->info)));
      } else {
        take(peer->second, message, rows);
        peer->second.greeted = peer->second.greeted || peer->second.gone;
      }
    }
    if (!rows.empty()) {
      take_rows(std::move(rows));
    }
    beat_and_watch(nullptr);
    std::this_thread::sleep_for(kPoll);
  }
  for (auto& [rank, peer] : peers_) {
    if (!peer.gone && !peer.lost) {
      peer.lost = true;
      notes_.push_back(fmt::format("{} did not say good-bye", name(peer)));
    }
  }
  if (any_lost()) {
    link_->mark_broken();
  }
  link_->flush(kFlush);
}

void beat_meanwhile(Link* link, const std::function<void()>& work) {
  if (link == nullptr) {
    work();
    return;
  }
  std::future<void> done = std::async(std::launch::async, work);
  do {
    for (int rank = 1; rank < link->size(); ++rank) {
      link->send(rank, encode(Beat{}));
    }
  } while (done.wait_for(kBeat) != std::future_status::ready);
  done.get();
}

void dismiss(Link& link) {
  for (int rank = 1; rank < link.size(); ++rank) {
    link.send(rank, encode(Stop{0, true}));
  }
  std::set<int> gone;
  const auto until = Peers::Clock::now() + kGoodBye;
  while (static_cast<int>(gone.size()) + 1 < link.size() && Peers::Clock::now() < until) {
    while (std::optional<Envelope> envelope = link.receive()) {
      if (std::holds_alternative<Bye>(decode(envelope->bytes, fmt::format("rank {}", envelope->from)))) {
        gone.insert(envelope->from);
      }
    }
    std::this_thread::sleep_for(kPoll);
  }
  if (static_cast<int>(gone.size()) + 1 < link.size()) {
    link.mark_broken();
  }
  link.flush(kFlush);
}

}  // namespace rayreplay::sweep
