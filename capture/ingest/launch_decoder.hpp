// Second pass: the records of a launch sorted by thread and decoded, batch by batch. Internal to this room.
//
// Contract: calls `take` with the threads of the launch in order, each batch a ThreadData of consecutive threads, whose
// content does not depend on the number of workers. Memory: 8 bytes a record for at most kRecordsTogether records at a
// time (one thread may have more), and a batch of about kRecordsABatch records twice. Cost: one walk over the chunks
// for each kRecordsTogether records, and the decoding, in parallel over threads.
#pragma once

#include <cstdint>
#include <functional>

#include "capture/ingest/call_paths.hpp"
#include "capture/ingest/launch_index.hpp"

namespace rayreplay::ingest {

inline constexpr std::uint64_t kRecordsTogether = std::uint64_t{1} << 27;
inline constexpr std::uint64_t kRecordsABatch = std::uint64_t{1} << 21;

struct DecodeLimits {
  std::uint64_t records_together = kRecordsTogether;
  std::uint64_t records_a_batch = kRecordsABatch;
};

/// With paths: their table (null: none), and where the path of each thread's start goes.
struct PathColumn {
  const CallPaths* paths = nullptr;
  trace::Column<std::uint32_t>* of_threads = nullptr;
};

/// Returns the number of ClosestHit and Miss records that belong to no ray and were left out. `take` returns false to
/// stop.
std::uint64_t decode_launch(const LaunchIndex& index, const std::function<bool(trace::ThreadData&)>& take,
                            const AccessTable& accesses, DecodeLimits limits = {}, PathColumn paths = {});

}  // namespace rayreplay::ingest
