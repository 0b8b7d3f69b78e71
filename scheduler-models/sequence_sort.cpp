#include "scheduler-models/sequence_sort.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

namespace rayreplay::scheduler {
namespace {

constexpr std::size_t kThreadsPerTask = 4096;

/// Positions [begin, end) hold threads whose words were equal so far.
struct TieGroup {
  std::size_t begin;
  std::size_t end;
};

}  // namespace

void sort_by_sequence(ThreadList& threads, SequenceWords& words) {
  const std::size_t n = threads.size();
  trace::Column<std::uint64_t> word(n);
  trace::Column<std::uint8_t> tied(n);
  trace::Column<KeyedThread> items(n);
  trace::Column<KeyedThread> scratch(n);
  std::vector<std::uint32_t> reading(n);  // the tied threads, ascending
  std::iota(reading.begin(), reading.end(), 0U);
  std::vector<TieGroup> groups;
  std::vector<TieGroup> next_groups;
  if (n > 1) {
    groups.push_back({0, n});
  }
  // Isolated: if the caller's group of tasks were cancelled, the bodies below would be skipped and ties left unsorted.
  tbb::task_group_context context(tbb::task_group_context::isolated);
  while (!groups.empty()) {
    tbb::parallel_for(
        tbb::blocked_range<std::size_t>(0, reading.size(), kThreadsPerTask),
        [&](const auto& range) {
          for (std::size_t i = range.begin(); i < range.end(); ++i) {
            const std::uint32_t thread = reading[i];
            tied[thread] = words.next(thread, word[thread]) ? 1 : 0;
          }
        },
        context);
    next_groups.clear();
    for (const TieGroup group : groups) {
      const std::size_t size = group.end - group.begin;
      for (std::size_t i = 0; i < size; ++i) {
        const std::uint32_t thread = threads[group.begin + i];
        items[i] = {word[thread], thread};
      }
      sort_by_key(std::span(items).first(size), scratch);
      for (std::size_t begin = 0; begin < size;) {
        std::size_t end = begin;
        for (; end < size && items[end].key == items[begin].key; ++end) {
          threads[group.begin + end] = items[end].thread;
        }
        if (end - begin == 1) {
          tied[items[begin].thread] = 0;
        } else if (tied[items[begin].thread] != 0) {
          next_groups.push_back({group.begin + begin, group.begin + end});
        }
        begin = end;
      }
    }
    std::erase_if(reading, [&tied](std::uint32_t thread) { return tied[thread] == 0; });
    std::swap(groups, next_groups);
  }
}

}  // namespace rayreplay::scheduler
