// Readers and writers of the forms. Internal to this folder; docs/memory-traces.md describes the forms.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "capture/import/byte_source.hpp"
#include "capture/import/memory_trace.hpp"
#include "capture/import/trace_output.hpp"

namespace rayreplay::import {

inline constexpr std::string_view kTextMagic = "rayreplay-memory-trace";
inline constexpr std::uint32_t kTextVersion = 1;
inline constexpr std::string_view kBinaryMagic = "RRMEMTR\n";
inline constexpr std::uint32_t kBinaryVersion = 1;

[[nodiscard]] std::unique_ptr<MemoryTraceReader> make_text_reader(std::unique_ptr<ByteSource> bytes);
[[nodiscard]] std::unique_ptr<MemoryTraceReader> make_binary_reader(std::unique_ptr<ByteSource> bytes);

/// Header and records are already checked.
[[nodiscard]] std::unique_ptr<MemoryTraceWriter> make_text_writer(std::unique_ptr<TraceOutput> output,
                                                                  const TraceHeader& header);
[[nodiscard]] std::unique_ptr<MemoryTraceWriter> make_binary_writer(std::unique_ptr<TraceOutput> output,
                                                                    const TraceHeader& header);

/// Two overlapping allocations; `low` has the lower start.
struct Overlap {
  std::uint32_t low = 0, high = 0;
};
/// O(n log n).
[[nodiscard]] std::optional<Overlap> find_overlap(const TraceHeader& header);
[[noreturn]] void fail_overlap(const TraceHeader& header, const Overlap& overlap, const std::string& where);

/// As `check` of a record; `place` makes the location's text only for an error.
template <class Place>
void check_row(const TraceHeader& header, const RecordBlock& block, std::size_t row, const Place& place) {
  try {
    check(header, block, row, {});
  } catch (const Error& error) {
    ErrorInfo info = error.info();
    info.where = place();
    throw Error(error.kind(), info);
  }
}

}  // namespace rayreplay::import
