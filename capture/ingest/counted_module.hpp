// A module with the analyses of its functions that counts need. Internal to this room.
#pragma once

#include <utility>

#include "capture/block_counts/invocation_ends.hpp"

namespace rayreplay::ingest {

struct CountedModule {
  explicit CountedModule(spirv::Module parsed) : module(std::move(parsed)), selectors(module), ends(module) {}

  spirv::Module module;
  spirv::WideSelectors selectors;
  block_counts::InvocationEnds ends;
};

}  // namespace rayreplay::ingest
