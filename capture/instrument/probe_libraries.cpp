#include "capture/instrument/probe_libraries.hpp"

#include "Accesses.spv.hpp"
#include "AccessesByExtension.spv.hpp"
#include "Counts.spv.hpp"
#include "CountsByExtension.spv.hpp"
#include "EmptyAnyHit.spv.hpp"
#include "Events.spv.hpp"
#include "EventsByExtension.spv.hpp"
#include "EventsByExtensionWithClock.spv.hpp"
#include "EventsWithClock.spv.hpp"
#include "Formulas.spv.hpp"
#include "Lookups.spv.hpp"

namespace rayreplay::instrument {

// Never destroyed: an application's threads may make pipelines while the process exits.
const Library& events_library(bool clock, bool ballot_extension) {
  static const Library* const kPlain = new Library(make_library(kEvents));
  static const Library* const kWithClock = new Library(make_library(kEventsWithClock));
  static const Library* const kByExtension = new Library(make_library(kEventsByExtension));
  static const Library* const kByExtensionWithClock = new Library(make_library(kEventsByExtensionWithClock));
  if (ballot_extension) {
    return clock ? *kByExtensionWithClock : *kByExtension;
  }
  return clock ? *kWithClock : *kPlain;
}

const Library& lookups_library() {
  static const Library* const kLibrary = new Library(make_library(kLookups));
  return *kLibrary;
}

const Library& counts_library(bool ballot_extension) {
  static const Library* const kPlain = new Library(make_library(kCounts));
  static const Library* const kByExtension = new Library(make_library(kCountsByExtension));
  return ballot_extension ? *kByExtension : *kPlain;
}

const Library& accesses_library(bool ballot_extension) {
  static const Library* const kPlain = new Library(make_library(kAccesses));
  static const Library* const kByExtension = new Library(make_library(kAccessesByExtension));
  return ballot_extension ? *kByExtension : *kPlain;
}

const Library& formulas_library() {
  static const Library* const kLibrary = new Library(make_library(kFormulas));
  return *kLibrary;
}

std::span<const Word> empty_any_hit() {
  return kEmptyAnyHit;
}

}  // namespace rayreplay::instrument
