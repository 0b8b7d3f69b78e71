#include "capture/trace/writing/column_writer.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>

#include "base/error.hpp"
#include "capture/trace/file/hdf5_write.hpp"

namespace rayreplay::trace {
namespace {

using hdf5::Handle;
using hdf5::written;

// Encoded together, then written: bounds the memory for what was encoded and not yet written.
constexpr std::size_t kJobsTogether = 32;

hid_t file_type(Storage storage) {
  switch (storage) {
    case Storage::U8:
      return H5T_STD_U8LE;
    case Storage::U16:
      return H5T_STD_U16LE;
    case Storage::U32:
      return H5T_STD_U32LE;
    case Storage::U64:
      return H5T_STD_U64LE;
    case Storage::F32:
      return H5T_IEEE_F32LE;
  }
  return H5I_INVALID_HID;
}

}  // namespace

class ChunkPipeline::Encoders {
 public:
  struct Worker {
    ChunkEncoder encoder;
    std::vector<std::byte> narrowed;
  };
  tbb::enumerable_thread_specific<Worker> workers;
};

ColumnWriter::ColumnWriter(hid_t group, std::string path, const ColumnSpec& spec, std::uint64_t chunk_rows)
    : group_(group), path_(std::move(path)), spec_(spec), chunk_rows_(chunk_rows) {}

void ColumnWriter::create(std::uint64_t chunk_rows, bool may_grow) {
  const int rank = spec_.width == 1 ? 1 : 2;
  const std::array<hsize_t, 2> extent{may_grow ? 0 : rows_, spec_.width};
  const std::array<hsize_t, 2> limit{may_grow ? H5S_UNLIMITED : rows_, spec_.width};
  const std::array<hsize_t, 2> chunk{std::max<std::uint64_t>(chunk_rows, 1), spec_.width};
  const Handle space(written(H5Screate_simple(rank, extent.data(), limit.data()), path_));
  const Handle properties(written(H5Pcreate(H5P_DATASET_CREATE), path_));
  written(H5Pset_obj_track_times(properties.get(), false), path_);
  written(H5Pset_chunk(properties.get(), rank, chunk.data()), path_);
  if (bytes_of(spec_.disk) > 1) {
    written(H5Pset_shuffle(properties.get()), path_);
  }
  written(H5Pset_deflate(properties.get(), 1), path_);
  if (!fill_.empty()) {
    written(H5Pset_fill_value(properties.get(), file_type(spec_.disk), fill_.data()), path_);
  }
  dataset_ = Handle(written(
      H5Dcreate2(group_, spec_.name, file_type(spec_.disk), space.get(), H5P_DEFAULT, properties.get(), H5P_DEFAULT),
      path_));
  extent_ = extent[0];
}

void ColumnWriter::write(const EncodedChunk& chunk, std::uint64_t index, std::uint64_t rows) {
  const std::uint64_t first = index * chunk_rows_;
  if (first + rows > extent_) {
    const std::array<hsize_t, 2> extent{first + rows, spec_.width};
    written(H5Dset_extent(dataset_.get(), extent.data()), path_);
    extent_ = first + rows;
  }
  if (chunk.form == EncodedChunk::Form::LeftOut) {
    return;
  }
  // The mask has a bit for each filter of the pipeline that was not applied.
  const std::uint32_t all_filters = bytes_of(spec_.disk) > 1 ? 0b11U : 0b1U;
  const std::array<hsize_t, 2> offset{first, 0};
  written(H5Dwrite_chunk(dataset_.get(), H5P_DEFAULT, chunk.form == EncodedChunk::Form::Raw ? all_filters : 0,
                         offset.data(), chunk.bytes.size(), chunk.bytes.data()),
          path_);
}

ChunkPipeline::ChunkPipeline() : encoders_(std::make_unique<Encoders>()) {}
ChunkPipeline::~ChunkPipeline() = default;

void ChunkPipeline::take_first_row(ColumnWriter& column, const std::byte* row) const {
  column.fill_.resize(bytes_of(column.spec_.disk));
  narrow(column.spec_, row, 1, column.fill_.data());
}

void ChunkPipeline::encode(Job& job) {
  auto& worker = encoders_->workers.local();
  const ColumnSpec& spec = job.column->spec_;
  const std::size_t memory_bytes = bytes_of(spec.memory);
  const std::size_t disk_bytes = bytes_of(spec.disk);
  const std::size_t head = job.head.size() / memory_bytes;
  const std::size_t body = job.body.size() / memory_bytes;
  worker.narrowed.resize((head + body) * disk_bytes);
  const bool head_in_range = narrow(spec, job.head.data(), head, worker.narrowed.data());
  const bool body_in_range = narrow(spec, job.body.data(), body, worker.narrowed.data() + head * disk_bytes);
  job.encoded.out_of_range = !head_in_range || !body_in_range;
  worker.encoder.encode(spec, worker.narrowed, job.column->fill_, job.encoded);
}

void ChunkPipeline::run() {
  std::sort(jobs_.begin(), jobs_.end(), [](const Job& a, const Job& b) {
    return std::tie(a.order, a.place, a.chunk) < std::tie(b.order, b.place, b.chunk);
  });
  for (std::size_t first = 0; first < jobs_.size(); first += kJobsTogether) {
    const std::size_t last = std::min(first + kJobsTogether, jobs_.size());
    tbb::parallel_for(first, last, [&](std::size_t i) { encode(jobs_[i]); });
    for (std::size_t i = first; i < last; ++i) {
      Job& job = jobs_[i];
      ColumnWriter& column = *job.column;
      if (job.encoded.out_of_range) {
        throw Error(ErrorKind::Internal, {"a value is beyond what scene and shaders allow", column.path_, "",
                                          fmt::format("at most {}", column.spec_.greatest), ""});
      }
      if (!column.dataset_) {
        column.create(column.chunk_rows_, true);
      }
      column.write(job.encoded, job.chunk, job.rows);
      job.encoded = {};
      job.head = {};
    }
  }
  jobs_.clear();
  places_ = 0;
}

void ChunkPipeline::flush() {
  if (!jobs_.empty()) {
    run();
  }
  places_ = 0;
}

void ChunkPipeline::finish(std::span<ColumnWriter* const> columns) {
  flush();
  for (ColumnWriter* column : columns) {
    const std::uint64_t held = column->rows_ % column->chunk_rows_;
    if (column->rows_ == 0) {
      column->create(1, false);
    } else if (held != 0) {
      if (!column->dataset_) {
        // The one and only chunk: no larger than its rows, and of a fixed number.
        column->create(column->rows_, false);
        column->chunk_rows_ = column->rows_;
      }
      const std::size_t row_bytes = bytes_of(column->spec_.memory) * column->spec_.width;
      // Padding repeats the last row: it compresses, and cannot be out of range.
      const std::size_t chunk_bytes = column->chunk_rows_ * row_bytes;
      std::vector<std::byte>& rows = column->pending_;
      rows.reserve(chunk_bytes);
      while (rows.size() < chunk_bytes) {
        rows.push_back(rows[rows.size() - row_bytes]);
      }
      Job job;
      job.column = column;
      job.place = places_++;
      job.chunk = (column->rows_ - 1) / column->chunk_rows_;
      job.head = std::move(rows);
      job.rows = held;
      jobs_.push_back(std::move(job));
    }
  }
  flush();
  for (ColumnWriter* column : columns) {
    if (!column->dataset_.close()) {
      written(-1, column->path_);
    }
  }
}

}  // namespace rayreplay::trace
