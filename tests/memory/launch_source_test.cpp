// Access streams of launches: against a twin that traces one group of rays at a time and looks every address up; sums
// against the scalar traversal; any cut, any number of threads.
#include "sim/memory/streams/launch_source.hpp"

#include <gtest/gtest.h>

#include <oneapi/tbb/global_control.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <map>
#include <ostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bvh/bvh.hpp"
#include "bvh/layouts/quantised_6_leaves.hpp"
#include "capture/trace/reader.hpp"
#include "scheduler-models/warp_assignment.hpp"
#include "tests/memory/launch_streams.hpp"
#include "tests/memory/traced_launches.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/launch_builder.hpp"
#include "tests/support/random_trace.hpp"
#include "traversal/observed.hpp"

namespace rayreplay::test {
namespace {

using memory::Allocation;
using memory::Allocations;
using memory::DataKind;
using memory::Instruction;
using memory::Instructions;
using memory::make_launch_source;
using memory::StreamOptions;
using memory::WarpStream;
using scheduler::kNoThread;
using trace::EventKind;

/// The twin's instruction: lanes with what they ask for.
struct Lane {
  std::uint64_t address = 0;
  std::uint32_t element = 0;
  std::uint32_t thread = 0;
};

class Twin {
 public:
  Twin(const trace::Launch& launch, const bvh::Bvh& structure, const Allocations& table, StreamOptions options)
      : launch_(launch), structure_(structure), table_(table), options_(std::move(options)) {}

  Instructions run(std::uint32_t item, const std::vector<std::uint32_t>& thread_at) {
    out_ = {};
    item_ = item;
    lanes_.clear();
    for (std::uint32_t lane = 0; lane < options_.warp_size; ++lane) {
      const std::uint32_t thread = thread_at[item * options_.warp_size + lane];
      if (thread != kNoThread) {
        lanes_[lane] = thread;
      }
    }
    std::map<std::uint32_t, Lane> start;
    std::uint64_t most = 0;
    for (const auto& [lane, thread] : lanes_) {
      most = std::max(most, rays(thread));
      if (rays(thread) > 0) {
        start[lane] = record("ray-generation records", 0, thread);
      }
    }
    if (options_.record_bytes > 0) {
      put(start, DataKind::ShaderRecord, options_.record_bytes, false);
    }
    for (std::uint64_t k = 0; k < most; ++k) {
      run_rays(k);
    }
    write_pixels();
    return out_;
  }

 private:
  [[nodiscard]] std::uint64_t rays(std::uint32_t thread) const {
    return launch_.data.ray_offset[thread + 1] - launch_.data.ray_offset[thread];
  }
  [[nodiscard]] std::uint32_t element_of(std::uint64_t address) const {
    Allocations::Cursor cursor;
    const std::uint32_t index = table_.find(address, cursor);
    EXPECT_NE(index, memory::kNoAllocation) << address;
    return index == memory::kNoAllocation ? memory::kNoElement : table_.element(index, address);
  }
  /// The content of a leaf block, by its bytes.
  [[nodiscard]] std::uint32_t content_of(std::uint64_t address, DataKind kind) const {
    Allocations::Cursor cursor;
    const Allocation& nodes = table_.rows()[table_.find(address, cursor)];
    const auto record = static_cast<std::uint32_t>((address - nodes.start) / 64);
    if (kind == DataKind::Instance) {
      EXPECT_EQ(nodes.name, "top nodes");
      bvh::InstanceLeaf leaf;
      std::memcpy(&leaf, structure_.top.record(record), 64);
      std::memcpy(reinterpret_cast<std::byte*>(&leaf) + 64, structure_.top.record(record + 1), 64);
      return named(table_, "instances").first_element + leaf.instance;
    }
    bvh::QuadLeaf leaf;  // of a procedural leaf, `second` is the primitive's number
    std::memcpy(&leaf, structure_.bottoms[nodes.subject].record(record), 64);
    const std::uint32_t row = structure_.scene.blases[nodes.subject].first_geometry + leaf.descriptor.geometry();
    const std::string geometry = "geometry " + std::to_string(row);
    return kind == DataKind::Vertex ? named(table_, geometry + " indices").first_element + leaf.primitive
                                    : named(table_, geometry + " boxes").first_element + leaf.second;
  }
  [[nodiscard]] Lane record(const char* region, std::uint64_t index, std::uint32_t thread) const {
    if (options_.record_bytes == 0) {
      return {};
    }
    const Allocation& row = named(table_, region);
    EXPECT_LT(index, row.elements()) << region;
    return {row.start + index * options_.record_bytes, row.first_element + static_cast<std::uint32_t>(index), thread};
  }

  void put(const std::map<std::uint32_t, Lane>& lanes, DataKind kind, std::uint32_t bytes, bool store) {
    for (std::uint32_t done = 0; done < bytes && !lanes.empty();) {
      const std::uint32_t piece =
          options_.load_bytes == 0 ? bytes : std::min<std::uint32_t>(options_.load_bytes, bytes - done);
      Instruction row{0, static_cast<std::uint32_t>(out_.address.size()), piece, kind, store};
      for (const auto& [lane, what] : lanes) {
        row.mask |= std::uint64_t{1} << lane;
        out_.address.push_back(what.address + done);
        out_.element.push_back(what.element);
        out_.thread.push_back(what.thread);
      }
      out_.rows.push_back(row);
      done += piece;
    }
  }
  void payloads(const std::map<std::uint32_t, std::uint32_t>& lanes, bool store) {
    for (std::uint32_t word = 0; word < options_.payload_bytes / 4 && !lanes.empty(); ++word) {
      const Allocation& row = named(table_, "payloads");
      std::map<std::uint32_t, Lane> what;
      for (const auto& [lane, thread] : lanes) {
        const std::uint64_t slot = std::uint64_t{item_} * options_.payload_bytes * options_.warp_size;
        what[lane] = {row.start + slot + (std::uint64_t{word} * options_.warp_size + lane) * 4,
                      row.first_element + item_, thread};
      }
      put(what, DataKind::Payload, 4, store);
    }
  }

  void run_rays(std::uint64_t k) {
    std::map<std::uint32_t, std::uint32_t> active;
    std::vector<std::uint32_t> threads;
    std::vector<std::uint32_t> lane_of;
    for (const auto& [lane, thread] : lanes_) {
      if (k < rays(thread)) {
        active[lane] = thread;
        threads.push_back(thread);
        lane_of.push_back(lane);
      }
    }
    payloads(active, true);
    traverse(k, threads, lane_of);
    call_shaders(k, active);
  }

  void write_pixels() {
    std::map<std::uint32_t, Lane> pixels;
    for (const auto& [lane, thread] : lanes_) {
      if (rays(thread) > 0 && options_.pixel_bytes > 0) {
        const Allocation& row = named(table_, "frame buffer");
        pixels[lane] = {row.start + std::uint64_t{thread} * options_.pixel_bytes, row.first_element + thread, thread};
      }
    }
    put(pixels, DataKind::FrameBuffer, options_.pixel_bytes, true);
  }

  void traverse(std::uint64_t k, const std::vector<std::uint32_t>& threads, const std::vector<std::uint32_t>& lane_of) {
    const traversal::Observed observed = traversal::observe(launch_, threads);
    std::vector<traversal::Ray> rays_k;
    std::vector<std::uint64_t> places;
    std::uint64_t place = 0;
    for (const std::uint32_t thread : threads) {
      places.push_back(place + k);
      rays_k.push_back(observed.rays[place + k]);
      place += rays(thread);
    }
    const traversal::ObservedShaders shaders(observed, places);
    const std::vector<std::uint64_t> first_ray{0, rays_k.size()};
    const traversal::WarpTraceResult result = traversal::WarpTraversals::create(options_.warp_traversal)
                                                  .model->trace(structure_, rays_k, first_ray,
                                                                {.warp_size = options_.warp_size,
                                                                 .accesses = true,
                                                                 .stack_entries = options_.stack_entries,
                                                                 .shaders = &shaders});
    std::size_t row = 0;
    for (const traversal::WarpStep& step : result.steps) {
      // By kind and number, each lane's accesses.
      std::map<std::pair<int, int>, std::map<std::uint32_t, Lane>> met;
      std::map<std::pair<int, int>, std::pair<DataKind, std::uint32_t>> what;
      for (int i = 0; i < std::popcount(step.mask); ++i, ++row) {
        const std::uint32_t ray = result.ray[row];
        std::map<int, int> number;
        std::uint32_t face = memory::kNoElement;
        for (std::uint64_t a = result.access_offset[row]; a < result.access_offset[row + 1]; ++a) {
          const traversal::Access& access = result.accesses[a];
          const auto [order, kind] = kind_of(access);
          const std::pair<int, int> key{order, number[order]++};
          what[key] = {kind, access.bytes};
          if (kind == DataKind::Stack) {
            const Allocation& stacks = named(table_, "stacks");
            met[key][lane_of[ray]] = {stacks.start + std::uint64_t{item_} * stacks.element_bytes +
                                          (access.address / 4 * options_.warp_size + lane_of[ray]) * 4,
                                      stacks.first_element + item_, threads[ray]};
            continue;
          }
          std::uint32_t element = element_of(access.address);
          if (structure_.traits.holds_primitives && kind != DataKind::Node) {
            element = content_of(access.address, kind);
          } else if (kind == DataKind::Index) {
            face = element;
          } else if (kind == DataKind::Vertex) {
            element = face;
          }
          met[key][lane_of[ray]] = {access.address, element, threads[ray]};
        }
      }
      for (auto& [key, lanes] : met) {
        if (what[key].first != DataKind::Stack) {
          put(lanes, what[key].first, what[key].second, false);
          continue;
        }
        for (int word = 0; word < 2; ++word) {
          put(lanes, DataKind::Stack, 4, key.first == 5);
          for (auto& [lane, to] : lanes) {
            to.address += std::uint64_t{options_.warp_size} * 4;
          }
        }
      }
    }
  }
  static std::pair<int, DataKind> kind_of(const traversal::Access& access) {
    switch (access.kind) {
      case traversal::AccessKind::Node:
        return {0, DataKind::Node};
      case traversal::AccessKind::Instance:
        return {1, DataKind::Instance};
      case traversal::AccessKind::Index:
        return {2, DataKind::Index};
      case traversal::AccessKind::Vertex:
        return {3, DataKind::Vertex};
      case traversal::AccessKind::Stack:
        return {access.store ? 5 : 6, DataKind::Stack};
      case traversal::AccessKind::Box:
        break;
    }
    return {4, DataKind::Box};
  }

  void call_shaders(std::uint64_t k, const std::map<std::uint32_t, std::uint32_t>& active) {
    const trace::Events& events = launch_.data.events;
    const trace::Rays& all = launch_.data.rays;
    std::vector<std::map<std::uint32_t, std::uint64_t>> calls;  // j-th: event by lane
    for (const auto& [lane, thread] : active) {
      std::size_t j = 0;
      std::uint64_t begun = 0;
      for (std::uint64_t e = launch_.data.event_offset[thread]; e < launch_.data.event_offset[thread + 1]; ++e) {
        begun += trace::begins_ray(events.kind[e]) ? 1U : 0U;
        const std::uint64_t ray = events.ray.empty() ? begun - 1 : events.ray[e];
        if (ray == k && trace::is_warp_event(events.kind[e]) && !trace::begins_ray(events.kind[e])) {
          calls.resize(std::max(calls.size(), j + 1));
          calls[j++][lane] = e;
        }
      }
    }
    for (const auto& lanes : calls) {
      std::map<std::uint32_t, Lane> records;
      std::map<std::uint32_t, std::uint32_t> read;
      std::map<std::uint32_t, std::uint32_t> written;
      for (const auto& [lane, event] : lanes) {
        const std::uint32_t thread = active.at(lane);
        const std::uint64_t ray = launch_.data.ray_offset[thread] + k;
        const EventKind kind = events.kind[event];
        if (kind == EventKind::Miss) {
          records[lane] = record("miss records", all.miss_index[ray], thread);
        } else {
          ASSERT_NE(kind, EventKind::Callable);
          const std::uint32_t geometry = events.geometry.empty() ? 0 : events.geometry[event];
          records[lane] = record("hit records",
                                 structure_.scene.source(events.instance[event]).hit_group_offset +
                                     all.sbt_offset[ray] + std::uint64_t{all.sbt_stride[ray]} * geometry,
                                 thread);
        }
        if (kind != EventKind::Intersection) {
          read[lane] = thread;
        }
        if (kind == EventKind::Miss || kind == EventKind::ClosestHit) {
          written[lane] = thread;
        }
      }
      if (options_.record_bytes > 0) {
        put(records, DataKind::ShaderRecord, options_.record_bytes, false);
      }
      payloads(read, false);
      payloads(written, true);
    }
  }

  const trace::Launch& launch_;
  const bvh::Bvh& structure_;
  const Allocations& table_;
  StreamOptions options_;
  Instructions out_;
  std::uint32_t item_ = 0;
  std::map<std::uint32_t, std::uint32_t> lanes_;
};

void expect_equal(const Instructions& made, const Instructions& expected) {
  ASSERT_EQ(made.rows.size(), expected.rows.size());
  for (std::size_t i = 0; i < made.rows.size(); ++i) {
    ASSERT_EQ(made.rows[i], expected.rows[i])
        << i << " " << to_string(made.rows[i].kind) << " " << to_string(expected.rows[i].kind);
  }
  ASSERT_EQ(made.address, expected.address);
  ASSERT_EQ(made.element, expected.element);
  ASSERT_EQ(made.thread, expected.thread);
}

struct Case {
  const char* trace;
  const char* layout;
  const char* node_order;
  const char* vertex_order;
  StreamOptions options;
};

void PrintTo(const Case& value, std::ostream* out) {
  *out << value.trace << " " << value.layout << " " << value.options.warp_traversal;
}

class StreamsOfLaunches : public testing::TestWithParam<Case> {
 protected:
  StreamsOfLaunches()
      : trace_(std::string(GetParam().trace) == "built-in" ? traced(3) : captured(GetParam().trace)),
        structure_(bvh::build_bvh(trace_.scene, launch().tlas, "test",
                                  {.layout = GetParam().layout,
                                   .node_order = GetParam().node_order,
                                   .vertex_order = GetParam().vertex_order})),
        options_(GetParam().options),
        places_(some_places(launch(), options_.warp_size)) {
    options_.coalescing.keep_raw = true;
  }
  [[nodiscard]] const trace::Launch& launch() const {
    return trace_.launches[0];
  }

  trace::Trace trace_;
  bvh::Bvh structure_;
  StreamOptions options_;
  std::vector<std::uint32_t> places_;
};

/// Allocations lie behind each other in the order of their addresses, and the structure's are those of its map.
TEST_P(StreamsOfLaunches, EveryArrayIsAnAllocation) {
  const auto source = make_launch_source(trace_, launch(), structure_, places_, options_);
  const Allocations& table = source->allocations();
  std::uint64_t end = 0;
  std::uint32_t element = 0;
  for (const Allocation& row : table.rows()) {
    EXPECT_GE(row.start, end) << row.name;
    EXPECT_EQ(row.start % 256, 0U) << row.name;
    EXPECT_EQ(row.first_element, element) << row.name;
    end = row.start + row.bytes;
    element += row.elements();
  }
  EXPECT_EQ(named(table, "top nodes").start, structure_.memory.top_nodes);
  EXPECT_EQ(named(table, "top nodes").elements(), structure_.top.node_count);
  EXPECT_EQ(named(table, "instances").elements(), structure_.scene.instances.size());
  for (std::uint32_t blas = 0; blas < structure_.bottoms.size(); ++blas) {
    if (structure_.bottoms[blas].empty()) {
      continue;
    }
    const Allocation& nodes = named(table, "blas " + std::to_string(blas) + " nodes");
    EXPECT_EQ(nodes.start, structure_.memory.bottom_nodes[blas]);
    EXPECT_EQ(nodes.elements(), structure_.bottoms[blas].node_count);
    EXPECT_EQ(nodes.subject, blas);
    for (std::uint32_t g = 0; g < structure_.scene.blases[blas].geometry_count; ++g) {
      const std::uint32_t row = structure_.scene.blases[blas].first_geometry + g;
      const trace::Geometry& geometry = trace_.scene.geometries[row];
      const std::string name = "geometry " + std::to_string(row);
      if (geometry.type == trace::GeometryType::Boxes) {
        EXPECT_EQ(named(table, name + " boxes").elements(), geometry.primitives());
        EXPECT_EQ(named(table, name + " boxes").subject, row);
      } else {
        EXPECT_EQ(named(table, name + " indices").elements(), geometry.primitives());
        EXPECT_EQ(named(table, name + " vertices").elements(), geometry.vertices.size() / 3);
        EXPECT_EQ(named(table, name + " vertices").start, structure_.memory.geometries[row].vertices);
      }
    }
  }
  if (options_.pixel_bytes > 0) {
    EXPECT_EQ(named(table, "frame buffer").elements(), launch().size.threads());
    EXPECT_EQ(named(table, "payloads").elements(), source->items());
  }
}

TEST_P(StreamsOfLaunches, AnyCutAndNumberOfThreadsGiveTheSame) {
  const auto source = make_launch_source(trace_, launch(), structure_, places_, options_);
  const std::vector<WarpStream> whole = all_streams(*source);
  const memory::SourceTally tally = source->tally();
  const auto other = make_launch_source(trace_, launch(), structure_, places_, options_);
  const oneapi::tbb::global_control one(oneapi::tbb::global_control::max_allowed_parallelism, 1);
  Random random(4);
  std::vector<WarpStream> streams(7);
  for (std::uint32_t next = 0; next < whole.size();) {
    const std::uint32_t count = std::min<std::uint32_t>(1 + random.below(7), source->items() - next);
    std::vector<std::uint32_t> items;
    for (std::uint32_t i = 0; i < count; ++i) {
      items.push_back(next + count - 1 - i);  // backwards, into streams that hold others
    }
    other->generate(items, std::span(streams).first(count));
    for (std::uint32_t i = 0; i < count; ++i) {
      ASSERT_EQ(streams[i], whole[items[i]]) << items[i];
    }
    next += count;
  }
  const auto same = [](const memory::SourceTally& a, const memory::SourceTally& b) {
    return a.rays == b.rays && a.ignored_rays == b.ignored_rays && a.unobserved == b.unobserved;
  };
  EXPECT_TRUE(same(other->tally(), tally));
  static_cast<void>(all_streams(*other));
  EXPECT_TRUE(same(other->tally(), tally)) << "items that are made again are counted once";
}

TEST_P(StreamsOfLaunches, TakeNoMoreMemoryThanTheyNeed) {
  const auto source = make_launch_source(trace_, launch(), structure_, places_, options_);
  // Into a stream that held the largest one.
  std::vector<WarpStream> streams(1);
  for (std::uint32_t item = source->items(); item-- > 0;) {
    source->generate({&item, 1}, streams);
    const WarpStream& stream = streams[0];
    ASSERT_EQ(stream.first.capacity(), stream.first.size());
    ASSERT_EQ(stream.transactions.capacity(), stream.transactions.size());
    ASSERT_EQ(stream.requests.capacity(), stream.requests.size());
    ASSERT_EQ(stream.raw.rows.capacity(), stream.raw.rows.size());
    ASSERT_EQ(stream.raw.address.capacity(), stream.raw.address.size());
  }
}

TEST_P(StreamsOfLaunches, EqualTheTwin) {
  const auto source = make_launch_source(trace_, launch(), structure_, places_, options_);
  const std::vector<WarpStream> streams = all_streams(*source);
  Twin twin(launch(), structure_, source->allocations(), options_);
  const std::uint32_t step = streams.size() > 400 ? 7 : 1;
  for (std::uint32_t item = 0; item < streams.size(); item += step) {
    SCOPED_TRACE(item);
    expect_equal(streams[item].raw, twin.run(item, places_));
    WarpStream coalesced;
    memory::coalesce(streams[item].raw, options_.coalescing, coalesced);
    ASSERT_EQ(coalesced.transactions, streams[item].transactions);
    ASSERT_EQ(coalesced.requests, streams[item].requests);
    ASSERT_EQ(coalesced.first, streams[item].first);
    if (HasFatalFailure()) {
      return;
    }
  }
}

/// What lanes read is what the scalar traversal reads (all forms but the speculative one take its steps).
TEST_P(StreamsOfLaunches, BytesAreThoseOfTheTraversal) {
  const auto source = make_launch_source(trace_, launch(), structure_, places_, options_);
  const traversal::Observed observed = traversal::observe(launch(), 0, launch().data.threads());
  const traversal::ObservedShaders shaders(observed);
  const traversal::TraceResult scalar =
      traversal::Traversals::create("near-first")
          .model->trace(structure_, observed.rays, {.accesses = true, .shaders = &shaders});
  std::array<std::uint64_t, memory::kDataKinds> expected{};
  std::array<std::uint64_t, memory::kDataKinds> made{};
  for (const auto& block : scalar.accesses.blocks) {
    for (const traversal::Access& access : block) {
      constexpr std::array kKinds{DataKind::Node, DataKind::Index, DataKind::Vertex, DataKind::Instance, DataKind::Box};
      expected[static_cast<std::size_t>(kKinds[static_cast<std::size_t>(access.kind)])] += access.bytes;
    }
  }
  for (const WarpStream& stream : all_streams(*source)) {
    Allocations::Cursor cursor;
    for (const Instruction& row : stream.raw.rows) {
      const auto lanes = static_cast<std::uint32_t>(std::popcount(row.mask));
      made[static_cast<std::size_t>(row.kind)] += std::uint64_t{lanes} * row.bytes;
      for (std::uint32_t i = row.first; i < row.first + lanes; ++i) {
        const std::uint64_t address = stream.raw.address[i];
        const std::uint32_t index = source->allocations().find(address, cursor);
        ASSERT_NE(index, memory::kNoAllocation);
        const Allocation& allocation = source->allocations().rows()[index];
        ASSERT_LE(address + row.bytes, allocation.start + allocation.bytes) << "ends in its allocation";
        if (structure_.traits.holds_primitives && allocation.kind == DataKind::Node && row.kind != DataKind::Node) {
          const Allocation& held =
              source->allocations().rows()[source->allocations().allocation_of(stream.raw.element[i])];
          ASSERT_EQ(held.kind, row.kind == DataKind::Vertex ? DataKind::Index : row.kind);
          ASSERT_EQ(row.bytes, 64U);
          continue;
        }
        ASSERT_EQ(allocation.kind, row.kind);
        if (row.kind != DataKind::Vertex) {
          ASSERT_EQ(stream.raw.element[i], source->allocations().element(index, address));
        } else {
          const Allocation& face =
              source->allocations().rows()[source->allocations().allocation_of(stream.raw.element[i])];
          ASSERT_EQ(face.kind, DataKind::Index);
          ASSERT_EQ(face.subject, allocation.subject) << "vertices count for a face of their geometry";
        }
      }
    }
  }
  const bool speculative = std::string(options_.warp_traversal).find("speculative") != std::string::npos;
  for (const DataKind kind : {DataKind::Node, DataKind::Index, DataKind::Vertex, DataKind::Instance, DataKind::Box}) {
    const auto i = static_cast<std::size_t>(kind);
    if (speculative) {
      EXPECT_GE(made[i], expected[i]) << to_string(kind);
    } else {
      EXPECT_EQ(made[i], expected[i]) << to_string(kind);
    }
  }
  const memory::SourceTally tally = source->tally();
  EXPECT_EQ(tally.rays, launch().data.rays.size());
  EXPECT_EQ(tally.ignored_rays, observed.ignored_rays);
  std::uint64_t with_rays = 0;
  for (std::size_t thread = 0; thread < launch().data.threads(); ++thread) {
    with_rays += launch().data.ray_offset[thread + 1] > launch().data.ray_offset[thread] ? 1U : 0U;
  }
  EXPECT_EQ(made[static_cast<std::size_t>(DataKind::FrameBuffer)], with_rays * options_.pixel_bytes);
}

StreamOptions with(const char* warp_traversal, std::uint32_t warp_size = 32, std::uint32_t load_bytes = 0) {
  StreamOptions options;
  options.warp_traversal = warp_traversal;
  options.warp_size = warp_size;
  options.load_bytes = load_bytes;
  return options;
}

StreamOptions spilling(std::uint32_t stack_entries, const char* warp_traversal = "while-while") {
  StreamOptions options;
  options.warp_traversal = warp_traversal;
  options.stack_entries = stack_entries;
  return options;
}

StreamOptions bare() {
  StreamOptions options;
  options.payload_bytes = 0;
  options.record_bytes = 0;
  options.pixel_bytes = 0;
  options.coalescing.coalesce = false;
  return options;
}

INSTANTIATE_TEST_SUITE_P(
    Traces, StreamsOfLaunches,
    testing::Values(Case{"built-in", "wide-8", "depth-first", "as-given", with("while-while")},
                    Case{"built-in", "binary", "breadth-first", "random", with("if-if", 8)},
                    Case{"built-in", "half-4", "depth-first", "as-given", with("speculative-while-while", 64, 16)},
                    Case{"built-in", "quantised-6", "depth-first", "as-given", with("persistent-while-while", 5)},
                    Case{"built-in", "quantised-6:leaves=quads", "depth-first", "as-given", with("while-while")},
                    Case{"built-in", "quantised-6:leaves=quads", "treelet", "as-given",
                         with("speculative-while-while", 16)},
                    Case{"bunny", "quantised-6:leaves=quads", "depth-first", "as-given", with("while-while", 16)},
                    Case{"one-weekend", "quantised-6:leaves=quads", "depth-first", "as-given", with("if-if", 16)},
                    Case{"built-in", "wide-4", "van-emde-boas", "as-given",
                         with("persistent-while-while:threshold=20,speculative=true,queue=share,warps=3")},
                    Case{"built-in", "compressed-wide-8", "depth-first", "random", bare()},
                    Case{"built-in", "binary", "depth-first", "as-given", spilling(1)},
                    Case{"built-in", "wide-8", "depth-first", "as-given", spilling(2, "speculative-while-while")},
                    Case{"bunny", "wide-8", "depth-first", "random", with("while-while")},
                    Case{"bunny", "binary", "depth-first", "as-given", spilling(4)},
                    Case{"one-weekend", "compressed-wide-8", "breadth-first", "as-given", with("while-while")},
                    Case{"one-weekend-ser", "wide-4", "depth-first", "as-given", with("if-if")},
                    Case{"teapot-alpha", "binary", "treelet", "as-given", with("while-while", 32, 16)}),
    [](const auto& chosen) {
      std::string name =
          std::string(chosen.param.trace) + "_" + chosen.param.layout + "_" + std::to_string(chosen.index);
      std::ranges::replace_if(
          name, [](char c) { return c == '-' || c == ':' || c == '='; }, '_');
      return name;
    });

}  // namespace
}  // namespace rayreplay::test
