// Columns from plans into memory, all of them in parallel. Internal to this room.
//
// Contract: `column` plans a column to be filled; `run` compares the memory that all of them need with the limit
// (Resource error, before anything is allocated), allocates each column once and decodes chunk by chunk on all workers,
// without libhdf5. The error thrown is that of the first damaged chunk, whatever the number of workers.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/progress.hpp"
#include "capture/trace/column.hpp"
#include "capture/trace/reading/column_plan.hpp"

namespace rayreplay::trace {

class ColumnLoader {
 public:
  explicit ColumnLoader(const SourceFile& file) : file_(file), planner_(file) {}

  [[nodiscard]] const SourceFile& file() const {
    return file_;
  }
  /// Plans the dataset `spec.name` of `group` for `column`, which must stay where it is until `run` has returned.
  /// `rows`: what it must have, if that is known. Returns its rows.
  template <class T>
  std::uint64_t column(hid_t group, const std::string& path, const ColumnSpec& spec, Column<T>& column,
                       std::optional<std::uint64_t> rows = std::nullopt) {
    const ColumnPlan& plan = plans_.emplace_back(planner_.plan_column(group, path, spec, rows));
    allocators_.push_back([&column](std::size_t numbers) {
      column.resize(numbers);
      return reinterpret_cast<std::byte*>(column.data());
    });
    return plan.rows;
  }
  [[nodiscard]] const std::vector<ColumnPlan>& plans() const {
    return plans_;
  }
  /// `copied`: bytes that the caller will copy elsewhere afterwards, counted as needed too.
  void run(std::uint64_t max_bytes, std::uint64_t copied, Progress* progress);

 private:
  void require_memory(std::uint64_t max_bytes, std::uint64_t copied) const;

  const SourceFile& file_;
  Planner planner_;
  std::vector<ColumnPlan> plans_;
  std::vector<std::function<std::byte*(std::size_t)>> allocators_;
};

}  // namespace rayreplay::trace
