#include "capture/trace/reading/column_loader.hpp"

#include <algorithm>
#include <atomic>

#include <sys/mman.h>

#include <fmt/format.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>

#include "base/error.hpp"
#include "base/memory.hpp"
#include "base/report_progress.hpp"

namespace rayreplay::trace {
namespace {

/// Rows [first, last) of a column, from one chunk or, when `chunk` is null, from the fill value.
struct Task {
  const ColumnPlan* plan = nullptr;
  const StoredChunk* chunk = nullptr;
  std::byte* to = nullptr;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

/// Asks for huge pages: with small ones, faulting a column in costs as much as decoding it.
void prefer_huge_pages(std::byte* data, std::uint64_t bytes) {
  constexpr std::uint64_t kHugePage = std::uint64_t{2} << 20;
  if (bytes < 2 * kHugePage) {
    return;
  }
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  const std::uint64_t skip = (kHugePage - address % kHugePage) % kHugePage;
  // Advice only: whether it is taken changes nothing but time.
  ::madvise(data + skip, (bytes - skip) / kHugePage * kHugePage, MADV_HUGEPAGE);
}

void add_tasks(const ColumnPlan& plan, std::byte* to, std::vector<Task>& tasks) {
  constexpr std::uint64_t kFillRows = std::uint64_t{1} << 18;
  const auto add_fill = [&](std::uint64_t first, std::uint64_t last) {
    for (; first < last; first = std::min(first + kFillRows, last)) {
      tasks.push_back({&plan, nullptr, to, first, std::min(first + kFillRows, last)});
    }
  };
  std::uint64_t done = 0;
  for (const StoredChunk& chunk : plan.chunks) {
    const std::uint64_t first = chunk.index * plan.chunk_rows;
    add_fill(done, first);
    done = std::min(first + plan.chunk_rows, plan.rows);
    tasks.push_back({&plan, &chunk, to, first, done});
  }
  add_fill(done, plan.rows);
}

/// Null or what is wrong.
const char* decode(const Task& task, const FileDescriptor& file, ChunkDecoder& decoder) {
  const ColumnPlan& plan = *task.plan;
  const std::size_t count = (task.last - task.first) * plan.width;
  std::byte* const to = task.to + task.first * plan.width * bytes_of(plan.memory);
  if (task.chunk == nullptr) {
    fill_column(plan.disk, plan.memory, plan.fill, count, to);
    return nullptr;
  }
  const ChunkFilters filters = task.chunk->filters;
  if (!filters.deflate && !filters.shuffle && plan.disk == plan.memory) {
    file.read({to, count * bytes_of(plan.memory)}, task.chunk->position);
    return nullptr;
  }
  file.read(decoder.stored(task.chunk->bytes), task.chunk->position);
  return decoder.decode(plan.disk, plan.memory, filters, plan.chunk_rows * plan.width, count, to);
}

}  // namespace

void ColumnLoader::require_memory(std::uint64_t max_bytes, std::uint64_t copied) const {
  std::uint64_t needed = copied;
  for (const ColumnPlan& plan : plans_) {
    needed += plan.memory_bytes();
  }
  const std::uint64_t available = max_bytes == 0 ? available_memory() : max_bytes;
  if (needed > available) {
    throw Error(ErrorKind::Resource,
                {"the trace needs more memory than there is", file_.name(), fmt::format("{} bytes needed", needed),
                 fmt::format("at most {} bytes {}", available, max_bytes == 0 ? "available" : "allowed"),
                 "free memory, raise the limits on this process, use a larger machine, or trace fewer samples or a "
                 "smaller image"});
  }
}

void ColumnLoader::run(std::uint64_t max_bytes, std::uint64_t copied, Progress* progress) {
  require_memory(max_bytes, copied);
  std::vector<Task> tasks;
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < plans_.size(); ++i) {
    const ColumnPlan& plan = plans_[i];
    total += plan.memory_bytes();
    std::byte* const to = allocators_[i](plan.rows * plan.width);
    prefer_huge_pages(to, plan.memory_bytes());
    add_tasks(plan, to, tasks);
  }
  report_start(progress, "loading the trace", total);
  std::vector<const char*> wrong(tasks.size(), nullptr);
  std::atomic<bool> failed = false;
  tbb::enumerable_thread_specific<ChunkDecoder> decoders;
  tbb::parallel_for(std::size_t{0}, tasks.size(), [&](std::size_t i) {
    wrong[i] = decode(tasks[i], file_.bytes(), decoders.local());
    if (wrong[i] != nullptr) {
      failed = true;
    }
    report_advance(progress, (tasks[i].last - tasks[i].first) * tasks[i].plan->width * bytes_of(tasks[i].plan->memory));
  });
  report_finish(progress);
  if (failed) {
    const auto first = std::find_if(wrong.begin(), wrong.end(), [](const char* text) { return text != nullptr; });
    const Task& task = tasks[static_cast<std::size_t>(first - wrong.begin())];
    file_.fail(fmt::format("{}[{}..{}]", task.plan->dataset, task.first, task.last - 1), *first);
  }
}

}  // namespace rayreplay::trace
