#include <bit>
#include <chrono>
#include <filesystem>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "capture/import/memory_trace.hpp"
#include "sim/experiment/cache.hpp"
#include "sim/experiment/cache_parts.hpp"
#include "sim/experiment/lane_faces.hpp"
#include "sim/experiment/overlapped_sink.hpp"

namespace rayreplay::experiment {
namespace {

using memory::DataKind;

memory::Allocations allocations_of(const import::TraceHeader& header, const std::string& path) {
  memory::Allocations allocations;
  for (const import::TraceAllocation& row : header.allocations) {
    allocations.add({row.name, static_cast<DataKind>(row.data), row.start, row.bytes, row.element_bytes}, path);
  }
  return allocations;
}

/// Records become transactions, block by block. A record whose lanes touch data of several kinds becomes one
/// instruction for each kind, in the order of their lowest lanes.
class Transactions {
 public:
  Transactions(const import::TraceHeader& header, const memory::Allocations& allocations,
               const memory::CoalesceOptions& options)
      : allocations_(&allocations), options_(options), faces_(header.warp_size) {
    options_.keep_raw = false;
    pixels_ = std::uint64_t{header.width} * header.height;
  }

  /// Accesses of lanes to elements of a frame buffer behind the frame's last pixel; 0 without a frame.
  [[nodiscard]] std::uint64_t beyond_frame() const {
    return beyond_frame_;
  }

  /// The result is valid until the next call.
  const memory::TransactionBlock& take(const import::RecordBlock& records) {
    instructions_.clear();
    sms_.clear();
    for (std::size_t row = 0; row < records.records(); ++row) {
      add_record(records, row);
    }
    stream_.first.clear();
    stream_.transactions.clear();
    stream_.requests.clear();
    memory::coalesce(instructions_, options_, stream_);
    for (std::size_t i = 0; i < sms_.size(); ++i) {
      for (std::uint32_t t = stream_.first[i]; t < stream_.first[i + 1]; ++t) {
        stream_.transactions[t].sm = sms_[i];
      }
    }
    std::swap(block_.transactions, stream_.transactions);
    std::swap(block_.requests, stream_.requests);
    return block_;
  }

 private:
  struct Lane {
    DataKind kind;
    std::uint32_t element;
    std::uint32_t thread;
  };

  Lane resolve(std::uint64_t address, std::uint32_t lane, std::span<std::uint32_t>& faces, std::uint32_t sm,
               std::uint32_t warp) {
    const std::uint32_t index = allocations_->find(address, cursor_);
    if (index == memory::kNoAllocation) {
      return {DataKind::Unallocated, memory::kNoElement, memory::kNoThread};
    }
    const memory::Allocation& row = allocations_->rows()[index];
    Lane result{row.kind, allocations_->element(index, address), memory::kNoThread};
    if (row.kind == DataKind::Index || row.kind == DataKind::Vertex) {
      if (faces.empty()) {
        faces = faces_.of(sm, warp);
      }
      if (row.kind == DataKind::Index) {
        faces[lane] = result.element;
      } else if (faces[lane] != memory::kNoElement) {
        result.element = faces[lane];
      }
    } else if (row.kind == DataKind::FrameBuffer && pixels_ > 0) {
      const std::uint32_t pixel = result.element - row.first_element;
      if (pixel < pixels_) {
        result.thread = pixel;
      } else {
        ++beyond_frame_;
      }
    }
    return result;
  }

  void add_record(const import::RecordBlock& records, std::size_t row) {
    lanes_.clear();
    std::uint32_t kinds = 0;
    std::span<std::uint32_t> faces;
    const std::uint64_t mask = records.mask[row];
    std::uint64_t left = mask;
    for (std::uint32_t place = records.first[row]; left != 0; ++place, left &= left - 1) {
      lanes_.push_back(resolve(records.address[place], static_cast<std::uint32_t>(std::countr_zero(left)), faces,
                               records.sm[row], records.warp[row]));
      kinds |= 1U << static_cast<std::uint32_t>(lanes_.back().kind);
    }
    for (std::size_t lowest = 0; kinds != 0; ++lowest) {
      const DataKind kind = lanes_[lowest].kind;
      if ((kinds & (1U << static_cast<std::uint32_t>(kind))) != 0) {
        kinds &= ~(1U << static_cast<std::uint32_t>(kind));
        add_instruction(records, row, kind);
      }
    }
  }

  void add_instruction(const import::RecordBlock& records, std::size_t row, DataKind kind) {
    memory::Instruction instruction;
    instruction.first = static_cast<std::uint32_t>(instructions_.address.size());
    instruction.bytes = records.bytes[row];
    instruction.kind = kind;
    instruction.store = records.store[row] != 0;
    std::uint64_t left = records.mask[row];
    for (std::size_t i = 0; i < lanes_.size(); ++i, left &= left - 1) {
      if (lanes_[i].kind == kind) {
        instruction.mask |= left & (~left + 1);
        instructions_.address.push_back(records.address[records.first[row] + i]);
        instructions_.element.push_back(lanes_[i].element);
        instructions_.thread.push_back(lanes_[i].thread);
      }
    }
    instructions_.rows.push_back(instruction);
    sms_.push_back(records.sm[row]);
  }

  const memory::Allocations* allocations_;
  memory::CoalesceOptions options_;
  LaneFaces faces_;
  std::uint64_t pixels_ = 0;
  std::uint64_t beyond_frame_ = 0;
  memory::Allocations::Cursor cursor_;
  std::vector<Lane> lanes_;
  memory::Instructions instructions_;
  std::vector<std::uint16_t> sms_;  ///< by instruction
  memory::WarpStream stream_;
  memory::TransactionBlock block_;
};

struct Counted {
  std::uint64_t requests = 0;
  std::string hash;
};

/// The whole file once, for the number of its requests.
Counted count_requests(const std::string& path, const memory::CoalesceOptions& options) {
  std::error_code error;
  if (path == "-" || !std::filesystem::is_regular_file(path, error)) {
    throw Error(ErrorKind::Usage, {"so many time windows need the number of requests beforehand", path,
                                   "input that can be read once only", "a file",
                                   "say how long a window is instead (window_requests), or write the input to a file"});
  }
  const auto reader = import::open_memory_trace(path);
  const memory::Allocations allocations = allocations_of(reader->header(), path);
  memory::CoalesceOptions counted = options;
  counted.requests = false;
  Transactions transactions(reader->header(), allocations, counted);
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

CacheResult run_cache_imported(const std::string& path, const CacheOptions& options) {
  check(options);
  CacheResult result;
  result.machine = cache_machine(options);
  result.options = options;
  result.options.l1_model = resolved_model(options.l1_model, memory::kL1);
  result.options.l2_model = resolved_model(options.l2_model, memory::kL2);
  result.options.reuse_engine = memory::ReuseEngines::create(options.reuse_engine).spec;
  const memory::CoalesceOptions coalescing = coalescing_of(options, result.machine);
  result.options.stream.coalescing = coalescing;
  const auto start = std::chrono::steady_clock::now();
  Counted counted;
  if (options.windows > 1) {
    counted = count_requests(path, coalescing);
  }

  const auto reader = import::open_memory_trace(path);
  const import::TraceHeader& header = reader->header();
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
  Transactions transactions(header, result.allocations, coalescing);
  if (options.progress != nullptr) {
    options.progress->start("reading the memory trace", 0);
  }
  import::RecordBlock records;
  while (reader->next(records)) {
    guard.take(transactions.take(records));
    if (options.progress != nullptr) {
      options.progress->advance(records.records());
    }
  }
  overlapped.finish();
  if (options.progress != nullptr) {
    options.progress->finish();
  }
  result.beyond_frame = transactions.beyond_frame();
  result.trace_hash = reader->hash();
  if (options.windows > 1 && counted.hash != result.trace_hash) {
    throw Error(ErrorKind::Input, {"the memory trace changed while it was read", path, "", "", "run again"});
  }
  result.stream_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result.analysis = analysis.finish();
  if (options.accelerator != nullptr) {
    options.accelerator->note_cpu("cache models", "those of one cache run on the processor");
  }
  result.analysis_s = overlapped.seconds();
  return result;
}

}  // namespace rayreplay::experiment
