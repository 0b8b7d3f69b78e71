// For tests of recorded accesses in streams: sites, images, accesses one by one, and random ones for any trace.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "capture/trace/texel_address.hpp"
#include "capture/trace/trace.hpp"
#include "sim/memory/images/image_plan.hpp"
#include "tests/support/random_trace.hpp"

namespace rayreplay::test {

struct Site {
  std::uint16_t shader = 0;
  trace::AccessKind kind = trace::AccessKind::Load;
  trace::AccessSpace space = trace::AccessSpace::Descriptor;
  std::uint32_t binding = 0;
  std::uint32_t bytes = 4;
};

/// Its row.
inline std::uint32_t add_site(trace::Trace& trace, const Site& site) {
  trace::AccessSites& sites = trace.access_sites;
  sites.instruction.push_back(static_cast<std::uint32_t>(sites.size()));
  sites.shader.push_back(site.shader);
  for (auto* column : {&sites.function, &sites.block, &sites.set, &sites.element}) {
    column->push_back(0);
  }
  sites.kind.push_back(site.kind);
  sites.space.push_back(site.space);
  sites.binding.push_back(site.binding);
  sites.bytes.push_back(site.bytes);
  return static_cast<std::uint32_t>(sites.size()) - 1;
}

/// A row of the launch's table of images.
struct ImageRow {
  std::uint32_t binding = 0, element = 0, image = 0;
  memory::ImageShape shape{};
  std::uint32_t base_layer = 0, base_level = 0;
  trace::Filter filter = trace::Filter::None;
};

/// By binding and element, ascending.
inline void add_image(trace::Launch& launch, const ImageRow& row) {
  trace::Images& table = launch.images;
  table.set.push_back(0);
  table.binding.push_back(row.binding);
  table.element.push_back(row.element);
  table.image.push_back(row.image);
  table.width.push_back(row.shape.width);
  table.height.push_back(row.shape.height);
  table.depth.push_back(row.shape.depth);
  table.layers.push_back(row.shape.layers);
  table.levels.push_back(row.shape.levels);
  table.base_layer.push_back(row.base_layer);
  table.base_level.push_back(row.base_level);
  table.block_width.push_back(row.shape.block_width);
  table.block_height.push_back(row.shape.block_height);
  table.block_bytes.push_back(row.shape.block_bytes);
  table.filter.push_back(row.filter);
}

/// Of the bindings 0 to 2, with up to three descriptors each: views of two or three images, of any form.
inline void add_random_images(trace::Launch& launch, Random& random) {
  std::vector<memory::ImageShape> images(2 + random.below(2));
  for (memory::ImageShape& shape : images) {
    const bool solid = random.one_in(3);
    shape.width = 1 + random.below(70);
    shape.height = random.one_in(4) ? 1 : 1 + random.below(70);
    shape.depth = solid ? 1 + random.below(5) : 1;
    shape.layers = solid ? 1 : 1 + random.below(3);
    shape.levels = 1 + random.below(random.one_in(3) || (shape.width < 2 && shape.height < 2) ? 1 : 2);
    if (random.one_in(4)) {
      shape.block_width = shape.block_height = 4;
      shape.block_bytes = 8 + 8 * random.below(2);
    } else {
      shape.block_bytes = random.one_in(3) ? 16 : 1U << random.below(4);
    }
  }
  for (std::uint32_t binding = 0; binding < 3; ++binding) {
    for (std::uint32_t element = 0; element < 3; ++element) {
      if (random.one_in(4)) {
        continue;
      }
      const std::uint32_t image = random.below(images.size());
      const memory::ImageShape& shape = images[image];
      add_image(launch, {.binding = binding,
                         .element = element,
                         .image = 3 * image + 1,
                         .shape = shape,
                         .base_layer = random.below(shape.layers),
                         .base_level = random.below(shape.levels),
                         .filter = static_cast<trace::Filter>(random.below(trace::kFilters))});
    }
  }
}

/// An access after so many events of its thread.
struct Access {
  std::uint32_t event = 0, site = 0;
  std::uint64_t address = 0;
};

inline void set_accesses(trace::Launch& launch, const std::vector<std::vector<Access>>& by_thread) {
  trace::Accesses& all = launch.data.accesses;
  all = {};
  all.offset.push_back(0);
  for (const std::vector<Access>& of_thread : by_thread) {
    for (const Access& access : of_thread) {
      all.event.push_back(access.event);
      all.site.push_back(access.site);
      all.address.push_back(access.address);
      all.group.push_back(static_cast<std::uint32_t>(all.group.size()));
    }
    all.offset.push_back(all.size());
  }
}

/// Sites for every shader, images, and accesses of shaders that run in the thread, or of any. Some are of images or
/// texels that are not there.
inline void add_random_accesses(trace::Trace& trace, std::uint64_t seed, std::uint32_t most_of_a_thread = 20) {
  Random random(seed);
  std::vector<std::vector<std::uint32_t>> sites_of(trace.shaders.size());
  for (std::uint16_t shader = 0; shader < trace.shaders.size(); ++shader) {
    for (std::uint32_t n = 1 + random.below(3); n > 0; --n) {
      const std::uint32_t sizes[] = {1, 4, 8, 12, 16, 200};
      Site site{.shader = shader,
                .space = static_cast<trace::AccessSpace>(random.below(trace::kAccessSpaces)),
                .bytes = sizes[random.below(6)]};
      const bool image = site.space == trace::AccessSpace::Image;
      // Samples are of images alone.
      site.kind = static_cast<trace::AccessKind>(random.below(image ? trace::kAccessKinds : trace::kAccessKinds - 1));
      site.bytes = image ? 0 : site.bytes;
      if (image || site.space == trace::AccessSpace::Descriptor) {
        site.binding = random.below(3);
      }
      sites_of[shader].push_back(add_site(trace, site));
    }
  }
  for (trace::Launch& launch : trace.launches) {
    add_random_images(launch, random);
    std::vector<std::vector<Access>> by_thread(launch.data.threads());
    for (std::size_t thread = 0; thread < by_thread.size(); ++thread) {
      const std::uint64_t first = launch.data.event_offset[thread];
      const auto events = static_cast<std::uint32_t>(launch.data.event_offset[thread + 1] - first);
      for (std::uint32_t n = random.below(most_of_a_thread + 1); n > 0; --n) {
        Access access{.event = random.below(events + 1)};
        // Of a shader of an event nearby, mostly.
        const std::uint64_t near = first + access.event - std::min(access.event, random.below(3));
        const std::uint32_t shader = events == 0 || random.one_in(4)
                                         ? random.below(trace.shaders.size())
                                         : launch.data.events.shader[std::min<std::uint64_t>(near, first + events - 1)];
        access.site = sites_of[shader][random.below(sites_of[shader].size())];
        if (trace.access_sites.space[access.site] == trace::AccessSpace::Image) {
          const bool sample = trace.access_sites.kind[access.site] == trace::AccessKind::Sample;
          access.address = trace::pack({.x = random.below(sample ? 80 : 40),
                                        .y = random.one_in(3) ? 0 : random.below(sample ? 80 : 40),
                                        .layer = random.below(3),
                                        .level = random.one_in(4) ? 1U : 0U,
                                        .element = random.below(4),
                                        .outside = sample && random.one_in(4)});
          by_thread[thread].push_back(access);
          continue;
        }
        const bool far = trace.access_sites.space[access.site] == trace::AccessSpace::Device;
        const std::uint64_t base =
            far ? (std::uint64_t{1} << 40U) + (std::uint64_t{random.below(3)} << 30U) + 65500 : 0;
        access.address = base + random.below(random.one_in(3) ? 70000 : 256);
        by_thread[thread].push_back(access);
      }
      std::ranges::stable_sort(by_thread[thread], {}, &Access::event);
    }
    set_accesses(launch, by_thread);
  }
}

}  // namespace rayreplay::test
