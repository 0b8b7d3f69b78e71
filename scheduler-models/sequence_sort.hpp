// Sorting threads by long sequences of different lengths, without comparing sequences.
//
// Contract: `SequenceWords` reads each thread's sequence as 64-bit words that compare like the sequences: the first
// difference decides. `sort_by_sequence` sorts all threads by their first words, then reads the next words of threads
// that are still tied, and so on. Stable. `threads` is a permutation of 0…n−1. O(words read) by radix sorts of 64-bit
// keys; a word is read only while its thread is tied. Words are read in order of thread id (the trace's columns are
// walked forwards), in parallel.
#pragma once

#include <cstdint>

#include "scheduler-models/sort_threads.hpp"

namespace rayreplay::scheduler {

class SequenceWords {
 public:
  virtual ~SequenceWords() = default;
  /// Writes the thread's next word; false at the end of the sequence, after which the thread is not asked again.
  /// Threads with equal words so far must get the same answer. Called for different threads concurrently.
  virtual bool next(std::uint32_t thread, std::uint64_t& word) = 0;
};

void sort_by_sequence(ThreadList& threads, SequenceWords& words);

}  // namespace rayreplay::scheduler
