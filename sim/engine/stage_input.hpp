// Input of an experiment: a trace, a memory trace, or a synthetic workload.
//
// Contract: `facts` gives the facts known without decoding: content hash (of a trace: its envelope's, checked against
// the bytes; of a memory trace: of all records; of a workload: of its completed spec and version), sizes, and the
// values that the trace decides. A file is read again only if its size or modification time changes; concurrent callers
// wait for the first. A workload is generated for its facts and, unless it is large, kept for the first `load`. `load`
// decodes all; Input where the file differs from the `facts`. Thread-safe. Errors: those of the readers and the
// workloads.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/progress.hpp"
#include "capture/trace/missing_accesses.hpp"
#include "capture/trace/trace.hpp"
#include "sim/settings/settings.hpp"
#include "sim/settings/thread_registers.hpp"
#include "sim/workloads/workload.hpp"

namespace rayreplay::experiment {

struct LaunchFacts {
  trace::LaunchSize size;
  std::uint64_t rays = 0, events = 0;
  bool has_warps = false;
  std::uint64_t accesses = 0;                  ///< recorded, of shaders
  std::optional<DriverRegisters> registers{};  ///< of its pipeline, as the driver says; none: unknown
  trace::MissingAccesses missing_accesses{};   ///< lost by the capture
};

class MadeAhead;

struct InputFacts {
  std::string name;  ///< path, or the workload's resolved spec
  std::string hash;
  bool is_workload = false;
  bool memory = false;          ///< accesses alone: a memory trace, or a workload of memory instructions or of warps
  bool warps = false;           ///< a workload of warps, which the stage "stream" makes for its machine
  std::uint32_t warp_size = 0;  ///< the trace's; 0: none
  std::uint64_t primitives = 0;
  std::uint64_t access_every = 1;  ///< accesses of shaders are those of threads whose id is a multiple of this
  std::uint64_t records = 0;       ///< of a memory trace
  std::uint64_t memory_bytes = 0;  ///< decoded
  std::vector<LaunchFacts> launches;
  std::shared_ptr<MadeAhead> made{};  ///< of a small workload
};

struct InputData {
  trace::Trace trace;                                ///< empty where it is a memory trace
  std::optional<workloads::MemoryWorkload> records;  ///< of a memory workload; a file's are read as they are needed
  std::uint64_t bytes = 0;
};

/// Facts of a loaded trace.
[[nodiscard]] InputFacts facts_of(const std::string& name, const trace::Trace& trace);

/// A workload that was made to learn its facts.
class MadeAhead {
 public:
  explicit MadeAhead(InputData data) : data_(std::move(data)) {}
  [[nodiscard]] std::uint64_t bytes() const;  ///< 0: taken
  /// The input at the first call; empty afterwards.
  [[nodiscard]] std::optional<InputData> take();

 private:
  mutable std::mutex mutex_;
  std::optional<InputData> data_;
};

class InputCatalogue {
 public:
  [[nodiscard]] std::shared_ptr<const InputFacts> facts(const Settings& complete);
  /// The same hash as in `facts`, without making a workload.
  [[nodiscard]] std::string hash(const Settings& complete);
  [[nodiscard]] static InputData load(const InputFacts& facts, Progress* progress);
  /// Hash of any file's content; cached like `facts`.
  [[nodiscard]] std::string content_of(const std::string& path);

 private:
  struct Stamp {
    std::int64_t seconds = 0, nanoseconds = 0;
    std::uint64_t bytes = 0, file = 0, device = 0;
    bool operator==(const Stamp&) const = default;
  };
  template <class Value>
  struct Stamped {
    Stamp stamp;
    Value value;
  };
  /// Empty for anything but regular files. Input where the file does not exist.
  static std::optional<Stamp> stamp_of(const std::string& path);
  /// Held while the input `name` is read.
  [[nodiscard]] std::mutex& gate_of(const std::string& name);
  [[nodiscard]] std::shared_ptr<const InputFacts> known_workload(const std::string& spec);
  [[nodiscard]] std::shared_ptr<const InputFacts> known_trace(const std::string& path, const Stamp& stamp);
  void keep_ahead(const InputFacts& facts);

  std::mutex mutex_;
  std::map<std::string, std::mutex, std::less<>> gates_;
  std::list<std::shared_ptr<MadeAhead>> ahead_;  ///< the oldest first
  std::map<std::string, Stamped<std::shared_ptr<const InputFacts>>, std::less<>> traces_;
  std::map<std::string, std::shared_ptr<const InputFacts>, std::less<>> workloads_;
  std::map<std::string, Stamped<std::string>, std::less<>> contents_;
};

}  // namespace rayreplay::experiment
