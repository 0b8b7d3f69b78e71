// What tests of reuse engines have in common: the definition itself, streams in pieces, every engine held to the same.
#pragma once

#include <algorithm>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/memory/reuse/engines/bitmap_stack.hpp"
#include "sim/memory/reuse/reuse_engine.hpp"
#include "tests/support/reuse_streams.hpp"

namespace rayreplay::memory::test {

using rayreplay::test::StreamRandom;
using Lines = std::vector<std::uint64_t>;
using Distances = std::vector<std::uint32_t>;

/// The definition itself: the place in the list of lines, latest first.
inline Distances brute_force(const Lines& lines) {
  std::list<std::uint64_t> stack;
  Distances result;
  for (const std::uint64_t line : lines) {
    const auto it = std::find(stack.begin(), stack.end(), line);
    if (it == stack.end()) {
      result.push_back(kInfinite);
    } else {
      result.push_back(static_cast<std::uint32_t>(std::distance(stack.begin(), it)));
      stack.erase(it);
    }
    stack.push_front(line);
  }
  return result;
}

/// In calls of random sizes, empty ones among them.
inline Distances in_pieces(ReuseStack& stack, const Lines& lines, std::uint64_t seed, std::uint64_t longest) {
  StreamRandom random(seed);
  Distances result(lines.size());
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t n = std::min<std::size_t>(lines.size() - at, random.below(longest + 1));
    stack.distances(std::span(lines).subspan(at, n), std::span(result).subspan(at, n));
    at += n;
  }
  return result;
}

inline Distances whole(ReuseStack& stack, const Lines& lines) {
  Distances result(lines.size());
  stack.distances(lines, result);
  return result;
}

inline std::vector<std::string> exact_engines() {
  std::vector<std::string> result;
  for (const std::string& name : ReuseEngines::names()) {
    if (ReuseEngines::create(name).model->exact()) {
      result.push_back(name);
    }
  }
  return result;
}

inline std::uint64_t count_distinct(Lines lines) {
  std::sort(lines.begin(), lines.end());
  return static_cast<std::uint64_t>(std::unique(lines.begin(), lines.end()) - lines.begin());
}

/// Every exact engine and every form of the bitmap, whole and cut, gives `expected`.
inline void expect_all(const Lines& lines, const Distances& expected, const std::string& what) {
  for (const std::string& name : exact_engines()) {
    SCOPED_TRACE(what + ", " + name);
    const auto engine = ReuseEngines::create(name).model;
    const auto stack = engine->make();
    EXPECT_EQ(whole(*stack, lines), expected);
    EXPECT_EQ(stack->live_lines(), count_distinct(lines));
    for (const std::uint64_t longest : {1U, 7U, 40U, 3000U}) {
      EXPECT_EQ(in_pieces(*engine->make(), lines, longest, longest), expected) << "calls of up to " << longest;
    }
  }
  for (const SlotRank::Form form : SlotRank::forms()) {
    SCOPED_TRACE(what + ", bitmap, form " + std::to_string(static_cast<int>(form)));
    BitmapStack stack(form, 1);
    EXPECT_EQ(whole(stack, lines), expected);
    BitmapStack cut(form, 1);
    EXPECT_EQ(in_pieces(cut, lines, 3, 50), expected);
  }
}

}  // namespace rayreplay::memory::test
