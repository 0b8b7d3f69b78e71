// The line between the processes of one sweep: whole messages from one to another.
//
// Contract: `rank` 0 gives out the work. `send` never waits for the receiver and throws nothing for one that is gone;
// `receive` never waits. Messages from one sender come in their order. `flush` waits until what was sent has left this
// process, at most that long. All calls from one thread.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace rayreplay::sweep {

struct Envelope {
  int from = 0;
  std::string bytes;
};

class Link {
 public:
  virtual ~Link() = default;
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  /// Ranks that evaluate, without 0: the same on all.
  [[nodiscard]] virtual const std::vector<int>& workers() const = 0;
  virtual void send(int to, std::string bytes) = 0;
  [[nodiscard]] virtual std::optional<Envelope> receive() = 0;
  virtual void flush(std::chrono::milliseconds most) = 0;
  /// A process at the other end is lost: what needs all of them must not be waited for.
  virtual void mark_broken() = 0;
};

}  // namespace rayreplay::sweep
