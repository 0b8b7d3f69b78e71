// Runs several devices in parallel.
//
// Contract: runs body(i) for i < count, each in its own thread. After all have ended, the exception of the lowest i, if
// any, is rethrown.
#pragma once

#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

namespace rayreplay::kernels {

template <class Body>
void on_each(std::size_t count, const Body& body) {
  std::vector<std::exception_ptr> failures(count);
  const auto guarded = [&](std::size_t i) {
    try {
      body(i);
    } catch (...) {
      failures[i] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < count; ++i) {
      threads.emplace_back(guarded, i);
    }
    if (count > 0) {
      guarded(0);
    }
  }
  for (const std::exception_ptr& failure : failures) {
    if (failure != nullptr) {
      std::rethrow_exception(failure);
    }
  }
}

}  // namespace rayreplay::kernels
