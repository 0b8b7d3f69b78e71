// The data of the viewer's page: each address names a part of a trace, or an answer of the engine about it.
//
// Contract: `answer` gives the bytes of an address; the server sends them, and an exported page holds them. Addresses
// (docs/viewer.md lists their fields):
//   trace                         facts of the trace, its launches, shaders, scene and colour maps (JSON)
//   keys                          the keys that a what-if may set (JSON)
//   geometry/G                    vertices and indices, or boxes (slice)
//   launch/N/pixels?map=M         a value for each pixel (slice); `map` is one of `trace`.maps
//   launch/N/faces?metric=M       a value for each primitive of each instance (slice)
//   launch/N/camera               primary rays of the corners (JSON)
//   launch/N/thread/T             rays and events of a thread (JSON)
//   launch/N/warp?thread=T        the thread's warp: lanes, warp events with their masks (JSON)
//   launch/N/captured?thread=T    the same from the captured groups of the thread's hardware warp (JSON)
//   launch/N/ranking              warps, calls and pixels that lose the most lane slots, or call most (JSON)
//   launch/N/whatif               `rows` of `rayreplay whatif`: identity, and the packing of the parameters (JSON)
// Other parameters are keys of experiments (`packing=numrays`), checked like those of the command line.
// Answers with status 400 (Usage, with the message), 404 (no such address) and 500 hold JSON: `error`. Nothing is
// thrown but errors of memory. One answer at a time: calls wait for each other. Memory: the trace, and results that
// the engine keeps (`kept_bytes`).
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/accelerator.hpp"
#include "sim/engine/evaluator.hpp"

namespace rayreplay::viewer {

/// An address of the page: path without a leading slash, and its parameters in order.
struct Request {
  std::string path;
  std::vector<std::pair<std::string, std::string>> parameters;
};

struct Answer {
  int status = 200;
  std::string type = "application/json";
  std::string body;
};

struct ContentOptions {
  std::string trace_file;
  experiment::Settings asked;  ///< of the command line: what a request starts from; not completed
  std::uint64_t kept_bytes = std::uint64_t{1} << 30U;
};

class Content {
 public:
  Content(ContentOptions options, std::shared_ptr<const experiment::InputData> data, Accelerator* accelerator);

  [[nodiscard]] Answer answer(const Request& request);

  /// Settings of the command line with the parameters of a request that are keys, not completed; the others are in
  /// `rest`.
  [[nodiscard]] experiment::Settings asked_of(const Request& request, std::uint64_t launch,
                                              std::vector<std::pair<std::string, std::string>>& rest) const;
  [[nodiscard]] const trace::Trace& trace() const {
    return data_->trace;
  }

 private:
  [[nodiscard]] Answer routed(const Request& request);

  ContentOptions options_;
  std::shared_ptr<const experiment::InputData> data_;
  Accelerator* accelerator_;
  experiment::Evaluator evaluator_;
  std::mutex mutex_;
};

}  // namespace rayreplay::viewer
