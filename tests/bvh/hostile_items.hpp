// Sets of boxes that have broken builders: the ordinary, the coincident, the collinear, the huge and the tiny.
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "bvh/builder.hpp"
#include "tests/support/random_trace.hpp"

namespace rayreplay::test {

struct ItemSet {
  std::string name;
  std::vector<bvh::BuildItem> items;
};

inline ItemSet make_items(std::string name, std::size_t count,
                          const std::function<bvh::Box(std::size_t, Random&)>& box_of) {
  ItemSet set{std::move(name), {}};
  Random random(count + 17);
  for (std::size_t i = 0; i < count; ++i) {
    // Numbers with gaps and out of order: references are names, not places.
    set.items.push_back({box_of(i, random), static_cast<std::uint32_t>((count - i) * 3)});
  }
  return set;
}

inline bvh::Box box_at(float x, float y, float z, float half) {
  return {{x - half, y - half, z - half}, {x + half, y + half, z + half}};
}

/// `count`: of the larger sets.
inline std::vector<ItemSet> hostile_items(std::size_t count) {
  std::vector<ItemSet> sets;
  const auto add = [&](const char* name, std::size_t n, const auto& box_of) {
    sets.push_back(make_items(name, n, box_of));
  };
  const auto random_box = [](std::size_t, Random& r) {
    return box_at(r.unit(), r.unit(), r.unit(), 0.02F * std::abs(r.unit()));
  };
  const auto scaled = [](float scale) {
    return [scale](std::size_t, Random& r) {
      const bvh::Box box = box_at(r.unit(), r.unit(), r.unit(), 0.1F * std::abs(r.unit()));
      return bvh::Box{box.low * scale, box.high * scale};
    };
  };
  add("nothing", 0, random_box);
  add("one", 1, random_box);
  add("two", 2, random_box);
  add("nine", 9, random_box);
  add("random", count, random_box);
  add("some empty", count / 2, [&](std::size_t i, Random& r) { return i % 3 == 0 ? bvh::Box{} : random_box(i, r); });
  add("all empty", 5, [](std::size_t, Random&) { return bvh::Box{}; });
  add("all the same", count, [](std::size_t, Random&) { return box_at(1, 2, 3, 0.5F); });
  add("all the same point", count, [](std::size_t, Random&) { return box_at(1, 2, 3, 0); });
  add("one centre", count, [](std::size_t, Random& r) { return box_at(1, 2, 3, std::ldexp(1.0F + r.unit(), -4)); });
  add("few centres", count, [](std::size_t, Random& r) {
    return box_at(static_cast<float>(r.below(3)), static_cast<float>(r.below(2)), 0, std::ldexp(1.0F + r.unit(), -4));
  });
  // Coarse cells of a space-filling curve that hold few centres each, met in any order.
  add("centres in a speck", count, [](std::size_t i, Random& r) {
    const float far = i % 50 == 0 ? 1000.0F : 0;
    return box_at(far + static_cast<float>(r.below(3)) / 128, static_cast<float>(r.below(2)) / 128, 0,
                  std::ldexp(1.0F + r.unit(), -4));
  });
  add("collinear points", count, [](std::size_t, Random& r) { return box_at(r.unit(), 0, 0, 0); });
  add("diagonal", count, [](std::size_t, Random& r) {
    const float x = r.unit();
    return box_at(x, x, x, 0.01F);
  });
  add("grid", count, [](std::size_t i, Random&) {
    return box_at(static_cast<float>(i % 17), static_cast<float>(i / 17 % 19), static_cast<float>(i / 323), 0.5F);
  });
  add("every scale", 2000, [](std::size_t i, Random& r) {
    const float x = std::ldexp(1.0F + std::abs(r.unit()), static_cast<int>(i % 250) - 130);
    return box_at(i % 2 == 0 ? x : -x, i % 3 == 0 ? x : 0, 0, x / 4);
  });
  add("powers of two", 277,
      [](std::size_t i, Random&) { return box_at(std::ldexp(1.0F, static_cast<int>(i) - 149), 0, 0, 0); });
  add("huge", count / 4, scaled(3e38F / 1.2F));
  add("large", count / 4, scaled(1e25F));
  add("small", count / 4, scaled(1e-25F));
  add("denormal", count / 4, scaled(1e-39F));
  add("nested", count / 4, [](std::size_t i, Random&) { return box_at(0, 0, 0, static_cast<float>(i + 1)); });
  add("slivers", count, [](std::size_t i, Random& r) {
    bvh::Box box = box_at(r.unit(), r.unit(), r.unit(), 0.001F);
    const auto axis = static_cast<Eigen::Index>(i % 3);
    box.low[axis] = -1;
    box.high[axis] = 1;
    return box;
  });
  add("far away", count / 4,
      [](std::size_t, Random& r) { return box_at(1e7F + r.unit(), r.unit(), 1e-3F * r.unit(), 0); });
  return sets;
}

}  // namespace rayreplay::test
