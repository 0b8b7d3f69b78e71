// What the processes of one sweep tell each other.
//
// Contract: CBOR (RFC 8949) of one object with the version of these messages and a kind; `decode` checks everything
// before it gives a message: Input names what is wrong. Reals come through as they are, NaN and infinities included.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "sim/experiment/stages/evaluator.hpp"
#include "sim/sweep/results/database.hpp"

namespace rayreplay::sweep {

/// A worker's first: what it is about to work on, and with how many units at a time.
struct Hello {
  std::string host;
  std::string tool;
  std::string definition_hash;
  std::uint64_t runs = 0;
  std::uint64_t capacity = 1;
  std::vector<InputFile> inputs;
};
struct Beat {};  ///< both ways: still there
struct Assign {  ///< 0 to a worker
  std::uint64_t id = 0;
  std::uint64_t affinity = 0;
  std::vector<std::uint64_t> runs;
};
struct Done {
  struct Row {
    std::uint64_t run = 0;
    std::string started;
    experiment::Outcome outcome;
  };
  std::uint64_t id = 0;
  std::vector<Row> rows;
};
struct Trouble {  ///< a worker gives up: the sweep ends with this
  ErrorKind kind = ErrorKind::Internal;
  ErrorInfo info;
};
struct StopWanted {};  ///< a worker was asked to stop
struct Stop {          ///< 0 to all: begin nothing, send what is finished within this time, say Bye
  double grace_seconds = 0;
  bool finalize = true;  ///< all are there: MPI may be ended in order
};
struct Bye {};

using Message = std::variant<Hello, Beat, Assign, Done, Trouble, StopWanted, Stop, Bye>;

[[nodiscard]] std::string encode(const Message& message);
[[nodiscard]] Message decode(std::string_view bytes, const std::string& where);

}  // namespace rayreplay::sweep
