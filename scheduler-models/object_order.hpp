// Threads in the order of the objects that they meet (MODELS.md §6, "objects").
//
// Contract: a thread's list has one (instance, primitive) per Intersection, AnyHit and ClosestHit event, in event
// order. `sort_by_objects` sorts stably and lexicographically, instance before primitive; a list that continues another
// comes before it. Complexity: one pass over the instance and primitive columns for their ranges, then as
// sequence_sort.hpp: each event is read at most once, and only while its thread is tied.
#pragma once

#include "capture/trace/trace.hpp"
#include "scheduler-models/sort_threads.hpp"

namespace rayreplay::scheduler {

void sort_by_objects(const trace::Launch& launch, ThreadList& threads);

}  // namespace rayreplay::scheduler
