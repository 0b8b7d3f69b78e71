// A small table of columns, written at once. Internal to this room.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "capture/trace/file/hdf5_write.hpp"
#include "capture/trace/writing/column_writer.hpp"

namespace rayreplay::trace {

class Table {
 public:
  Table(hid_t parent, const char* name, std::string path, ChunkPipeline& pipeline, std::uint64_t chunk_rows)
      : path_(std::move(path)),
        group_(hdf5::create_group(parent, name, path_)),
        pipeline_(pipeline),
        chunk_rows_(chunk_rows) {}

  [[nodiscard]] hid_t group() const {
    return group_.get();
  }
  [[nodiscard]] const std::string& path() const {
    return path_;
  }
  /// Column of one value per item.
  template <class T, class Items, class Value>
  void column(const char* name, const Items& items, Value&& value) {
    std::vector<T> values;
    values.reserve(items.size());
    for (const auto& item : items) {
      values.push_back(static_cast<T>(value(item)));
    }
    add(writer(column_spec<T>(name, Elision::Forbidden)), values.data(), values.size());
  }
  /// Column of all items' arrays end to end, and where each starts, counted in rows.
  template <class T, class Items, class Array>
  void arrays(const char* name, const char* offset_name, std::uint32_t width, const Items& items, Array&& array) {
    ColumnWriter& rows = writer(column_spec<T>(name, Elision::Forbidden, width));
    std::vector<std::uint64_t> offsets{0};
    for (const auto& item : items) {
      const auto& values = array(item);
      add(rows, values.data(), values.size() / width);
      offsets.push_back(rows.rows());
    }
    add(writer(column_spec<std::uint64_t>(offset_name, Elision::Forbidden)), offsets.data(), offsets.size());
  }
  /// Column of `width` values per row, `count` rows of them.
  template <class T>
  void rows(const char* name, std::uint32_t width, const void* data, std::uint64_t count) {
    add(writer(column_spec<T>(name, Elision::Forbidden, width)), data, count);
  }
  void finish() {
    std::vector<ColumnWriter*> columns;
    for (ColumnWriter& column : columns_) {
      columns.push_back(&column);
    }
    pipeline_.finish(columns);
  }

 private:
  ColumnWriter& writer(const ColumnSpec& spec) {
    return columns_.emplace_back(group_.get(), path_ + "/" + spec.name, spec, chunk_rows_);
  }
  void add(ColumnWriter& column, const void* data, std::uint64_t rows) {
    pipeline_.add(column, data, rows, [](std::uint64_t) { return std::uint64_t{0}; });
    pipeline_.flush();
  }

  std::string path_;
  hdf5::Handle group_;
  ChunkPipeline& pipeline_;
  std::uint64_t chunk_rows_;
  std::deque<ColumnWriter> columns_;
};

}  // namespace rayreplay::trace
