// Columns on their way into the file: rows come in, whole chunks go out. Internal to this room.
//
// Contract: `add` takes the next rows of a column and lists the chunks that they complete; `flush` encodes the chunks
// of many columns in parallel and writes them in the order of `Job::order`, then column, then chunk; `finish` writes
// what is left. A dataset is created with its first chunk, so that the column's first row can be its fill value. What
// is written, and where in the file, thus depends on the rows and the orders alone. Memory: one chunk per column, and
// in `flush` a few per worker.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "capture/trace/file/chunk_codec.hpp"
#include "capture/trace/file/hdf5_handle.hpp"
#include "capture/trace/file/storage.hpp"

namespace rayreplay::trace {

class ColumnWriter {
 public:
  /// `group` must outlive this. Datasets hold `chunk_rows` rows a chunk, fewer if the whole column is shorter.
  ColumnWriter(hid_t group, std::string path, const ColumnSpec& spec, std::uint64_t chunk_rows);

  [[nodiscard]] std::uint64_t rows() const {
    return rows_;
  }

 private:
  friend class ChunkPipeline;

  void create(std::uint64_t chunk_rows, bool may_grow);
  void write(const EncodedChunk& chunk, std::uint64_t index, std::uint64_t rows);

  hid_t group_;
  std::string path_;  ///< for messages
  ColumnSpec spec_;
  std::uint64_t chunk_rows_;
  std::uint64_t rows_ = 0;          ///< taken in
  std::vector<std::byte> pending_;  ///< of an unfinished chunk, in memory storage
  std::vector<std::byte> fill_;     ///< first number of the first row, in disk storage
  std::uint64_t extent_ = 0;
  hdf5::Handle dataset_;
};

/// Encodes and writes chunks for a set of columns.
class ChunkPipeline {
 public:
  ChunkPipeline();
  ~ChunkPipeline();
  ChunkPipeline(const ChunkPipeline&) = delete;
  ChunkPipeline& operator=(const ChunkPipeline&) = delete;

  /// The next `rows` rows, in memory storage; they must stay where they are until `flush` has returned. `order_of(row)`
  /// gives the order of a chunk by the index in `data` of its last row.
  template <class OrderOf>
  void add(ColumnWriter& column, const void* data, std::uint64_t rows, OrderOf&& order_of);
  void flush();
  /// Writes unfinished chunks and creates datasets that have no row.
  void finish(std::span<ColumnWriter* const> columns);

 private:
  struct Job {
    ColumnWriter* column = nullptr;
    std::uint64_t order = 0;
    std::uint32_t place = 0;  ///< of the column among those of the flush
    std::uint64_t chunk = 0;
    std::vector<std::byte> head;  ///< rows kept from before
    std::span<const std::byte> body;
    std::uint64_t rows = 0;  ///< that are not padding
    EncodedChunk encoded;
  };
  class Encoders;

  void take_first_row(ColumnWriter& column, const std::byte* row) const;
  void encode(Job& job);
  void run();

  std::vector<Job> jobs_;
  std::uint32_t places_ = 0;
  std::unique_ptr<Encoders> encoders_;
};

template <class OrderOf>
void ChunkPipeline::add(ColumnWriter& column, const void* data, std::uint64_t rows, OrderOf&& order_of) {
  if (rows == 0) {
    return;
  }
  const std::size_t row_bytes = bytes_of(column.spec_.memory) * column.spec_.width;
  std::span<const std::byte> rest(static_cast<const std::byte*>(data), rows * row_bytes);
  if (column.rows_ == 0) {
    take_first_row(column, rest.data());
  }
  const std::uint32_t place = places_++;
  std::uint64_t held = column.rows_ % column.chunk_rows_;
  std::uint64_t chunk = column.rows_ / column.chunk_rows_;
  std::uint64_t taken = 0;
  column.rows_ += rows;
  while (held + (rows - taken) >= column.chunk_rows_) {
    const std::uint64_t count = column.chunk_rows_ - held;
    Job job;
    job.column = &column;
    job.order = order_of(taken + count - 1);
    job.place = place;
    job.chunk = chunk++;
    job.head = std::move(column.pending_);
    job.body = rest.first(count * row_bytes);
    job.rows = column.chunk_rows_;
    jobs_.push_back(std::move(job));
    column.pending_.clear();
    rest = rest.subspan(count * row_bytes);
    taken += count;
    held = 0;
  }
  column.pending_.insert(column.pending_.end(), rest.begin(), rest.end());
}

}  // namespace rayreplay::trace
