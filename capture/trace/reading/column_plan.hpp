// Where a column's bytes lie in the file, and whether they can be what they claim. Internal to this room.
//
// Contract: `plan_column` looks at a dataset's type, shape, layout, filters, fill value and chunks, throws Input at
// anything that the format does not allow, and allocates in proportion to the chunks the file really has. The plan then
// suffices to decode the column without libhdf5. A column whose chunks may not be left out (Elision::Forbidden) vouches
// for its number of rows: a stored byte cannot inflate to more than kGreatestDeflateRatio.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "capture/trace/file/chunk_codec.hpp"
#include "capture/trace/file/hdf5_read.hpp"
#include "capture/trace/file/storage.hpp"

namespace rayreplay::trace {

struct StoredChunk {
  std::uint64_t index = 0;  ///< holds rows from index · chunk_rows
  std::uint64_t position = 0;
  std::uint64_t bytes = 0;
  ChunkFilters filters;
};

struct ColumnPlan {
  std::string dataset;  ///< "/launch/0/events/kind"
  Storage disk = Storage::U8;
  Storage memory = Storage::U8;
  std::uint32_t width = 1;
  std::uint64_t rows = 0;
  std::uint64_t chunk_rows = 1;
  std::array<std::byte, 8> fill{};
  std::vector<StoredChunk> chunks;  ///< by index
  std::uint64_t stored_bytes = 0;

  [[nodiscard]] std::uint64_t memory_bytes() const {
    return rows * width * bytes_of(memory);
  }
};

class Planner {
 public:
  explicit Planner(const SourceFile& file) : file_(file) {}

  /// `spec` gives name, storage in memory, width and elision; `rows`: what the column must have, if that is known.
  [[nodiscard]] ColumnPlan plan_column(hid_t group, const std::string& path, const ColumnSpec& spec,
                                       std::optional<std::uint64_t> rows);
  [[nodiscard]] const SourceFile& file() const {
    return file_;
  }

 private:
  void plan_shape(hid_t dataset, ColumnPlan& plan) const;
  [[nodiscard]] std::vector<H5Z_filter_t> plan_filters(hid_t properties, const ColumnPlan& plan) const;
  void plan_chunks(hid_t dataset, const std::vector<H5Z_filter_t>& filters, ColumnPlan& plan);

  const SourceFile& file_;
  std::uint64_t stored_bytes_ = 0;  ///< of all columns so far
};

}  // namespace rayreplay::trace
