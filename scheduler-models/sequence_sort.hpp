// Sorting threads by long sequences of different lengths, without comparing sequences.
//
// Contract: `SequenceWords` reads each thread's sequence as 64-bit words that compare like the sequences: the first
// word that differs decides. `sort_by_sequence` sorts by the first word of all threads, then reads the next words of
// only those threads that are still tied, and so on. Stable. `threads` is a permutation of 0…n−1. Complexity: O(words
// read), radix sorts of 64-bit keys, never a comparison of two sequences; a word is read only while its thread is tied.
// Words are read in order of thread id, so that the trace's columns are walked forwards, and in parallel.
#pragma once

#include <cstdint>

#include "scheduler-models/sort_threads.hpp"

namespace rayreplay::scheduler {

class SequenceWords {
 public:
  virtual ~SequenceWords() = default;
  /// Puts the thread's next word into `word`; false when it was the last. Threads whose words have all been equal get
  /// the same answer. Not called again for a thread after false. Called for different threads at the same time.
  virtual bool next(std::uint32_t thread, std::uint64_t& word) = 0;
};

void sort_by_sequence(ThreadList& threads, SequenceWords& words);

}  // namespace rayreplay::scheduler
