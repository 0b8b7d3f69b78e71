#include "capture/instrument/probe_libraries.hpp"

#include "EmptyAnyHit.spv.hpp"
#include "Events.spv.hpp"
#include "EventsWithClock.spv.hpp"
#include "Lookups.spv.hpp"

namespace rayreplay::instrument {

const Library& events_library(bool clock) {
  static const Library kPlain = make_library(kEvents);
  static const Library kWithClock = make_library(kEventsWithClock);
  return clock ? kWithClock : kPlain;
}

const Library& lookups_library() {
  static const Library kLibrary = make_library(kLookups);
  return kLibrary;
}

std::span<const Word> empty_any_hit() {
  return kEmptyAnyHit;
}

}  // namespace rayreplay::instrument
