#include "capture/import/memory_trace.hpp"

namespace rayreplay::import {

void RecordBlock::clear() {
  warp.clear();
  sm.clear();
  mask.clear();
  bytes.clear();
  store.clear();
  first.clear();
  address.clear();
}

}  // namespace rayreplay::import
