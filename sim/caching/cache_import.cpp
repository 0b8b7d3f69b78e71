#include <filesystem>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/report_progress.hpp"
#include "base/stopwatch.hpp"
#include "capture/import/memory_trace.hpp"
#include "sim/caching/allocation_traffic.hpp"
#include "sim/caching/cache.hpp"
#include "sim/caching/cache_parts.hpp"
#include "sim/caching/imported_transactions.hpp"
#include "sim/caching/overlapped_sink.hpp"

namespace rayreplay::experiment {
namespace {

struct Counted {
  std::uint64_t requests = 0;
  std::string hash;
};

/// Reads the whole file once to guess labels.
std::vector<LabelGuess> guesses_of(const std::string& path, std::string& hash) {
  std::error_code error;
  if (path == "-" || !std::filesystem::is_regular_file(path, error)) {
    throw Error(ErrorKind::Usage, {"a guess of labels requires reading the trace twice", path,
                                   "input that can be read only once", "a file", "write the input to a file"});
  }
  const auto reader = import::open_memory_trace(path);
  const memory::Allocations allocations = allocations_of(reader->header(), path);
  AllocationTraffic traffic(allocations, reader->header().warp_size);
  import::RecordBlock records;
  while (reader->next(records)) {
    traffic.add(records);
  }
  hash = reader->hash();
  return guess_labels(allocations, traffic.finish(), reader->header().warp_size);
}

import::TraceHeader with_labels(import::TraceHeader header,
                                const std::vector<LabelGuess>& guesses){for (const LabelGuess& guess:guesses){
    header.allocations[guess.allocation].data = static_cast<std::uint8_t>(guess.kind);
header.allocations[guess.allocation].element_bytes = guess.element_bytes;
}  // namespace
return header;
}  // namespace rayreplay::experiment

/// Reads the whole file once to count its requests.
Counted count_requests(const std::string& path, const memory::CoalesceOptions& options,
                       const std::vector<LabelGuess>& guesses) {
  std::error_code error;
  if (path == "-" || !std::filesystem::is_regular_file(path, error)) {
    throw Error(ErrorKind::Usage,
                {"a number of time windows requires the number of requests in advance", path,
                 "input that can be read only once", "a file",
                 "set the length of a window instead (window_requests), or write the input to a file"});
  }
  const auto reader = import::open_memory_trace(path);
  const import::TraceHeader header = with_labels(reader->header(), guesses);
  const memory::Allocations allocations = allocations_of(header, path);
  memory::CoalesceOptions counted = options;
  counted.requests = false;
  ImportedTransactions transactions(header, allocations, counted);
  Counted result;
  import::RecordBlock records;
  while (reader->next(records)) {
    for (const memory::Transaction& transaction : transactions.take(records).transactions) {
      result.requests += transaction.lanes;
    }
  }
  result.hash = reader->hash();
  return result;
}

}  // namespace

CacheResult run_cache_imported(const std::string& path, const CacheOptions& options,
                               const import::WaitNotice& on_wait) {
  CacheResult result;
  result.machine = options.machine;
  result.options = options;
  result.options.reuse_engine = memory::ReuseEngines::create(options.reuse_engine).spec;
  memory::CoalesceOptions coalescing = options.stream.coalescing;
  coalescing.requests = wants_requests(options);
  result.options.stream.coalescing = coalescing;
  const Stopwatch watch;
  std::string guessed_hash;
  if (options.guess_labels) {
    result.guesses = guesses_of(path, guessed_hash);
  }
  Counted counted;
  if (options.windows > 1) {
    counted = count_requests(path, coalescing, result.guesses);
  }

  const auto reader = import::open_memory_trace(path, on_wait);
  const import::TraceHeader header = with_labels(reader->header(), result.guesses);
  result.application = header.application;
  result.device = header.device;
  result.size = {header.width, header.height, 1};
  result.warp_size = header.warp_size;
  result.machine.sms = header.sms;
  result.machine.withheld_sms = 0;
  result.scheduled = false;
  result.captured_sms = true;
  result.allocations = allocations_of(header, path);

  memory::AnalysisOptions analysis_options =
      analysis_of(options, result, coalescing, std::uint64_t{header.width} * header.height);
  if (options.windows > 1) {
    analysis_options.window_limits = window_limits(counted.requests, options.windows);
  }
  if (options.request_sums) {
    analysis_options.elements = true;
    analysis_options.take_elements = [&](std::uint32_t window, const std::vector<memory::ElementRow>& rows) {
      for (const memory::ElementRow& row : rows) {
        result.requests.merge(row.sums);
      }
      if (options.take_elements) {
        options.take_elements(window, rows);
      }
    };
  }
  memory::Analysis analysis(analysis_options);
  OverlappedSink overlapped(analysis);
  WindowGuard guard(options.window_requests, overlapped);
  ImportedTransactions transactions(header, result.allocations, coalescing);
  report_start(options.progress, "reading the memory trace", 0);
  import::RecordBlock records;
  while (reader->next(records)) {
    guard.take(transactions.take(records));
    report_advance(options.progress, records.records());
  }
  overlapped.finish();
  report_finish(options.progress);
  result.beyond_frame = transactions.beyond_frame();
  result.trace_hash = reader->hash();
  if ((options.windows > 1 && counted.hash != result.trace_hash) ||
      (options.guess_labels && guessed_hash != result.trace_hash)) {
    throw Error(ErrorKind::Input, {"the memory trace changed while it was read", path, "", "", "run again"});
  }
  result.stream_s = watch.seconds();
  result.analysis = analysis.finish();
  if (options.accelerator != nullptr) {
    options.accelerator->note_cpu("cache models", "those of one cache run on the processor");
  }
  result.analysis_s = overlapped.seconds();
  return result;
}

}  // namespace rayreplay::experiment
