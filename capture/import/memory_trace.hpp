// Memory traces of other tools: the memory accesses of a real GPU, seen by binary instrumentation.
//
// Contract: a memory trace is an allocation table and records, one a warp memory instruction, in the order of
// observation: SM, warp, mask of active lanes, bytes of a lane, load or store, and one address for each active lane
// (lowest first). Its first bytes select one of two forms; docs/memory-traces.md describes every field: text (one
// record a line, '#' comments) and binary (magic, version, little-endian, records in checked blocks). Reading streams:
// memory is one block for a file of any length. A path of "-" is standard input. Every size, count and value is checked
// before use. Errors are Input with file, line or byte offset, what was found, what was expected, and the fix. A file
// that ends within a record is an error (truncated), and so is one whose number of records differs from that at its
// end. Addresses outside every allocation are no error: the consumer of the records counts them. Writing: to a
// temporary file, renamed at the end (base/output_file.hpp); directly to "-" and to pipes. Invalid records are refused
// with the same messages.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace rayreplay::import {

inline constexpr std::uint32_t kMaxWarpSize = 64;
inline constexpr std::uint32_t kMaxSms = 4096;
inline constexpr std::uint32_t kMaxLaneBytes = 4096;         ///< of one lane's access
inline constexpr std::uint32_t kMaxAllocations = 1U << 20U;  ///< of a trace
inline constexpr std::size_t kMaxText = 4096;                ///< bytes of a name, and of each text of the header
inline constexpr std::size_t kMaxBlockRecords = 1U << 14U;   ///< of a block

/// Values of the field `data` of an allocation, in the order of sim/memory/data_kind.hpp.
inline constexpr std::uint8_t kDataOther = 9;
inline constexpr std::uint8_t kDataValues = 19;  ///< "unallocated" is not a valid value
inline constexpr std::array<std::string_view, kDataValues> kDataNames = {
    "node",       "index",        "vertex",       "box",          "instance",    "shader-record", "payload",
    "stack",      "frame-buffer", "other",        "state",        "shader-load", "shader-store",  "shader-atomic",
    "image-load", "image-store",  "image-atomic", "image-sample", "queue"};

struct TraceAllocation {
  std::string name;
  std::uint8_t data = kDataOther;
  std::uint64_t start = 0;
  std::uint64_t bytes = 0;
  std::uint32_t element_bytes = 1;

  bool operator==(const TraceAllocation&) const = default;
};

struct TraceHeader {
  std::string tool, device, application;  ///< for display; may be empty
  std::uint32_t warp_size = 32;           ///< 1 … 64
  std::uint32_t sms = 0;                  ///< SM numbers are below it; 1 … 4096
  std::uint32_t width = 0, height = 0;    ///< of the frame buffer; 0: unknown
  std::vector<TraceAllocation> allocations;

  bool operator==(const TraceHeader&) const = default;
};

/// Throws Input (place: `where`) unless the header is valid: numbers in range, and allocations that are not empty, end
/// below 2^64, have an element size, and do not overlap. O(n log n).
void check(const TraceHeader& header, const std::string& where);

/// Records of a block; addresses of record i are rows [first[i], first[i + 1]).
struct RecordBlock {
  std::vector<std::uint32_t> warp;
  std::vector<std::uint16_t> sm;
  std::vector<std::uint64_t> mask;
  std::vector<std::uint32_t> bytes;
  std::vector<std::uint8_t> store;
  std::vector<std::uint32_t> first;  ///< one more than records
  std::vector<std::uint64_t> address;

  [[nodiscard]] std::size_t records() const {
    return warp.size();
  }
  void clear();
  /// Adds a record; `addresses`: one for each bit of `lanes`.
  void add(std::uint16_t on_sm, std::uint32_t of_warp, bool is_store, std::uint32_t lane_bytes, std::uint64_t lanes,
           const std::uint64_t* addresses);
  bool operator==(const RecordBlock&) const = default;
};

/// Throws Input (place: `where`) unless record `row` is valid under the header.
void check(const TraceHeader& header, const RecordBlock& block, std::size_t row, const std::string& where);

class MemoryTraceReader {
 public:
  virtual ~MemoryTraceReader() = default;
  [[nodiscard]] virtual const TraceHeader& header() const = 0;
  /// The next block, false at the end. Blocks have at least one record.
  virtual bool next(RecordBlock& block) = 0;
  /// 32 hexadecimal digits over everything read; complete after the end.
  [[nodiscard]] virtual std::string hash() const = 0;
};

/// Decides by the first bytes; false if unreadable. Also true for compressed files, text in UTF-16 or with a byte order
/// mark, and mem_trace's output: opening them gives the remedy. "-" and pipes, which cannot be read twice, count as
/// memory traces: rayreplay reads no other input from there.
[[nodiscard]] bool is_memory_trace(const std::string& path);
/// True if a file's first bytes are a memory trace's; false for all others, and for input that cannot be read twice.
[[nodiscard]] bool has_memory_trace_start(const std::string& path);
[[nodiscard]] std::unique_ptr<MemoryTraceReader> open_memory_trace(const std::string& path);

enum class TraceForm : std::uint8_t { Binary, Text };

class MemoryTraceWriter {
 public:
  virtual ~MemoryTraceWriter() = default;
  virtual void append(const RecordBlock& block) = 0;
  virtual void commit() = 0;  ///< without it no file is left
};
[[nodiscard]] std::unique_ptr<MemoryTraceWriter> create_memory_trace(const std::string& path, TraceForm form,
                                                                     bool overwrite, const TraceHeader& header);

}  // namespace rayreplay::import
