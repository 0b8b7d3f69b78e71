// Paths of shader calls on the Vulkan device at hand. A twin in plain C++ runs the ray-generation shader, and closed
// forms say what the others do: the path of every call of every thread must be that, and all paths together the marks
// that the shaders themselves left.
#include <algorithm>
#include <cstring>

#include "capture/block_counts/derived_counts.hpp"
#include "capture/block_counts/invocation_ends.hpp"
#include "capture/instrument/instrument.hpp"
#include "tests/instrument/support/chunks.hpp"
#include "tests/instrument/support/group_operations.hpp"
#include "tests/instrument/support/marked_program.hpp"

namespace rayreplay {
namespace {

using test::kMarks, test::kWidth, test::kHeight, test::kShaders;
using test::Words;
using Marks = std::map<std::uint32_t, std::uint64_t>;  ///< by mark: executions; marks without any are not there

constexpr std::size_t kEventWords = 1U << 18;

struct PathCase {
  bool optimised = false;
  bool ballot_extension = false;
};

struct Recorded {
  std::vector<std::uint32_t> marks = std::vector<std::uint32_t>(kMarks);
  std::array<instrument::Result, kShaders> results;
  std::vector<test::Chunk> chunks;
};

Recorded run(const apps::Device& device, PathCase how, std::uint32_t words = kEventWords) {
  const apps::Buffer marks(device, kMarks * 4, test::kStorage, apps::MemoryKind::Readback);
  const apps::Buffer events(device, words * 4, test::kStorage, apps::MemoryKind::Readback);
  const apps::Buffer control(device, 2 * RR_CONTROL_BYTES, test::kStorage, apps::MemoryKind::Readback);
  std::memset(marks.mapped(), 0, marks.size());
  std::memset(events.mapped(), 0, events.size());
  std::memset(control.mapped(), 0, control.size());
  Recorded recorded;
  const auto given = test::marked_shaders(how.optimised);
  std::array<Words, kShaders> instrumented;
  instrument::Options options;
  options.record_paths = true;
  options.ballot_extension = test::votes_by_extension(device, how.ballot_extension);
  options.wide_subgroups = true;
  options.events_address = events.address();
  options.events_words = words;
  options.control_address = (control.address() + 255) / 256 * 256;
  for (std::size_t s = 0; s < kShaders; ++s) {
    options.first_shader_id = static_cast<std::uint16_t>(s);
    recorded.results.at(s) = instrument::instrument(given.at(s), options);
    EXPECT_EQ(recorded.results.at(s).status, instrument::Status::Instrumented);
    instrumented.at(s) = recorded.results.at(s).spirv;
  }
  test::launch_marked(device, instrumented, marks);
  std::memcpy(recorded.marks.data(), marks.mapped(), kMarks * 4);
  std::uint64_t appended = 0;
  std::memcpy(&appended, control.mapped() + (options.control_address - control.address()), 8);
  EXPECT_EQ(appended > words, words != kEventWords);
  Words buffer(std::min<std::uint64_t>(appended, words));
  std::memcpy(buffer.data(), events.mapped(), buffer.size() * 4);
  recorded.chunks = test::read_chunks(buffer, words != kEventWords);
  return recorded;
}

/// The marks of a path.
Marks marks_of(const Words& words, const instrument::PathLayout& layout, const std::vector<std::uint64_t>& counters) {
  const spirv::Module module = test::parsed(words);
  const block_counts::InvocationEnds ends(module);
  std::map<std::uint32_t, std::vector<std::uint64_t>> lanes;
  std::size_t first = 0;
  for (const instrument::PathFunction& counted : layout.functions) {
    const spirv::Function& function = module.functions.at(counted.function);
    std::string reason;
    const auto flow = spirv::control_flow(function, spirv::WideSelectors(module), reason);
    EXPECT_TRUE(flow) << reason;
    const auto derived = block_counts::derive_counts(*flow, ends.blocks_of(function, *flow), counted.sites,
                                                     std::span(counters).subspan(first, counted.sites.size()));
    EXPECT_EQ(derived.fault, "");
    lanes[counted.function] = derived.blocks;
    first += counted.sites.size();
  }
  EXPECT_EQ(first, counters.size());
  Marks marks;
  for (const auto& [mark, count] : test::marked_blocks(words, lanes)) {
    if (count != 0) {
      marks[mark] += count;
    }
  }
  return marks;
}

std::size_t counters_of(const instrument::PathLayout& layout) {
  std::size_t count = 0;
  for (const instrument::PathFunction& function : layout.functions) {
    count += function.sites.size();
  }
  return count;
}

/// By shader and thread: the paths of its calls.
using Calls = std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Marks>>;

Calls calls_of(const Recorded& recorded, PathCase how) {
  const auto words = test::marked_shaders(how.optimised);
  Calls calls;
  std::map<std::pair<std::uint32_t, std::uint32_t>, bool> open;  // the last path may be replaced
  for (const test::Chunk& chunk : recorded.chunks) {
    if (chunk.kind != RR_PATH && chunk.kind != RR_PATH_BYTES) {
      continue;
    }
    const instrument::PathLayout& layout = recorded.results.at(chunk.shader).paths;
    for (const auto& lane : chunk.lanes) {
      std::vector<std::uint64_t> counters;
      for (std::size_t i = 0; i < counters_of(layout); ++i) {
        counters.push_back(chunk.kind == RR_PATH ? lane.at(1 + i) : lane.at(1 + i / 4) >> (8 * (i % 4)) & 0xFFU);
      }
      const std::pair key(chunk.shader, lane[0]);
      std::vector<Marks>& of = calls[key];
      if (open[key]) {
        of.pop_back();
      }
      of.push_back(marks_of(words.at(chunk.shader), layout, counters));
      open[key] = (chunk.site & 0x80U) != 0;
    }
  }
  return calls;
}

/// marked.rgen as it stands there, up to its ray.
class Twin {
 public:
  explicit Twin(std::uint32_t x) {
    mark(0);
    std::uint32_t sum = collatz(x + 1);
    do {
      mark(13);
      sum = choose((x + sum) & 7U, sum + 1);
    } while (++x < 20 && sum != 17);
    for (std::uint32_t i = 0; i < 3; ++i) {
      for (std::uint32_t j = 0; j < i; ++j) {
        mark(14);
        if (j == sum) {
          mark(15);
          break;
        }
        sum += collatz(i + j + 1);
      }
    }
    if (sum > 100) {
      mark(16);
    }
  }
  Marks marks;

 private:
  void mark(std::uint32_t m) {
    ++marks[m];
  }
  std::uint32_t collatz(std::uint32_t n) {
    mark(1);
    std::uint32_t steps = 0;
    while (n != 1) {
      mark(2);
      if ((n & 1U) == 0) {
        mark(3);
        n /= 2;
      } else {
        mark(4);
        n = 3 * n + 1;
      }
      if (++steps > 9) {
        mark(5);
        return steps;
      }
    }
    mark(6);
    return steps;
  }
  std::uint32_t choose(std::uint32_t kind, std::uint32_t value) {
    if (kind == 3) {
      mark(11);
      return 17;
    }
    if (kind == 0 || kind == 7) {
      mark(7);
      value += 1;
    }
    if (kind == 0 || kind == 7 || kind == 1) {
      mark(8);
      value *= 2;
    }
    if (kind == 2) {
      for (std::uint32_t i = 0; i < value; ++i) {
        mark(9);
        if ((i & 3U) == 2) {
          continue;
        }
        mark(10);
        if (i > 9) {
          break;
        }
        value -= 1;
      }
    }
    mark(12);
    return value > 5 ? value - 5 : value;
  }
};

Marks any_hit(std::uint32_t x) {
  Marks marks{{x < 8 ? 33U : 34U, 1}, {28, 1}};
  const std::uint32_t given = x < 8 ? x : x / 2;
  if (given % 2 == 1) {
    marks[29] = 1;
  } else {
    marks[30] = 1;
    if (given == 2) {
      marks[31] = 1;
    } else {
      marks[32] = marks[35] = 1;
    }
  }
  return marks;
}

class Paths : public testing::TestWithParam<PathCase> {
 protected:
  static apps::Device& device() {
    static apps::Device device{apps::DeviceRequest{}};
    return device;
  }
};

TEST_P(Paths, OfEveryCallAreItsOwn) {
  const Recorded recorded = run(device(), GetParam());
  const Calls calls = calls_of(recorded, GetParam());
  for (std::uint32_t thread = 0; thread < kWidth * kHeight; ++thread) {
    const std::uint32_t x = thread % kWidth;
    const std::uint32_t y = thread / kWidth;
    const auto of = [&](std::uint32_t shader) {
      const auto found = calls.find({shader, thread});
      return found == calls.end() ? std::vector<Marks>{} : found->second;
    };
    const auto generation = of(test::kRayGeneration);
    ASSERT_EQ(generation.size(), 1U);
    Marks expected = Twin(x).marks;
    if (generation[0].contains(17)) {
      expected[17] = 1;  // it depends on the hit; the sum of all marks is compared below
    }
    EXPECT_TRUE(y != 3 || generation[0].contains(17));
    EXPECT_EQ(generation[0], expected) << "thread " << thread;
    EXPECT_EQ(of(test::kAnyHit), y == 0 ? std::vector<Marks>{any_hit(x)} : std::vector<Marks>{});
    const bool boxes = y == 1 && !of(test::kIntersection).empty();
    const std::uint64_t reports = (x & 3U) < 3 ? 1 : 0;
    EXPECT_EQ(of(test::kIntersection).size(), y == 1 ? 1U : 0U);
    if (boxes) {
      Marks at_least{{40, reports != 0 ? (x & 3U) + 1 : 3}};
      if (reports != 0) {
        at_least[41] = 1;
      }
      Marks whole = at_least;
      whole[40] = 3;
      const Marks found = of(test::kIntersection)[0];
      EXPECT_TRUE(found == at_least || found == whole);
    }
    const bool missed = !of(test::kMiss).empty();
    const bool hit = !of(test::kClosestHit).empty();
    EXPECT_NE(missed, hit) << "thread " << thread;
    if (missed) {
      EXPECT_EQ(of(test::kMiss), (std::vector<Marks>{{{20, 1}}}));
    } else {
      const std::uint64_t trips = (100 * x + 2) / 3;
      EXPECT_EQ(of(test::kClosestHit), (std::vector<Marks>{trips != 0 ? Marks{{24, trips}} : Marks{}}));
    }
  }
}

TEST_P(Paths, TogetherAreTheShadersOwnMarks) {
  const Recorded recorded = run(device(), GetParam());
  Marks sum;
  for (const auto& [of, paths] : calls_of(recorded, GetParam())) {
    for (const Marks& marks : paths) {
      for (const auto& [mark, count] : marks) {
        sum[mark] += count;
      }
    }
  }
  for (std::uint32_t mark = 0; mark < kMarks; ++mark) {
    EXPECT_EQ(sum.contains(mark) ? sum[mark] : 0, recorded.marks[mark]) << "mark " << mark;
  }
}

// Counters above 255 need a word each: then all lanes of the group have words.
TEST_P(Paths, AreBytesWhereTheyFit) {
  const Recorded recorded = run(device(), GetParam());
  std::size_t bytes = 0, words = 0;
  for (const test::Chunk& chunk : recorded.chunks) {
    if (chunk.kind == RR_PATH_BYTES) {
      ++bytes;
      EXPECT_EQ(chunk.lanes[0].size(), 1 + (counters_of(recorded.results.at(chunk.shader).paths) + 3) / 4);
    }
    if (chunk.kind == RR_PATH) {
      ++words;
      EXPECT_EQ(chunk.lanes[0].size(), 1 + counters_of(recorded.results.at(chunk.shader).paths));
      const auto large = [](const auto& lane) {
        return std::any_of(lane.begin() + 1, lane.end(), [](std::uint32_t count) { return count > 255; });
      };
      EXPECT_TRUE(std::any_of(chunk.lanes.begin(), chunk.lanes.end(), large));
    }
  }
  EXPECT_GT(bytes, 0U);
  EXPECT_GT(words, 0U);
}

// A full buffer loses the last records of threads: what is there is a beginning of what each thread does.
TEST_P(Paths, OfAFullBufferAreTheFirstOnes) {
  const Recorded whole = run(device(), GetParam());
  const Recorded cut = run(device(), GetParam(), 1024);
  EXPECT_LT(cut.chunks.size(), whole.chunks.size());
  const Calls all = calls_of(whole, GetParam());
  for (const auto& [of, paths] : calls_of(cut, GetParam())) {
    if (of.first != test::kIntersection) {
      ASSERT_TRUE(all.contains(of));
      EXPECT_EQ(paths, all.at(of));
    }
  }
  EXPECT_EQ(cut.marks, whole.marks);
}

INSTANTIATE_TEST_SUITE_P(Shaders, Paths,
                         testing::Values(PathCase{false, false}, PathCase{true, false}, PathCase{false, true},
                                         PathCase{true, true}),
                         [](const auto& tested) {
                           return std::string(tested.param.optimised ? "Optimised" : "AsCompiled") +
                                  (tested.param.ballot_extension ? "ByExtension" : "");
                         });

}  // namespace
}  // namespace rayreplay
