// Paths of calls from their records: numbered whatever their order, and left out with a line where they do not fit.
#include "capture/ingest/call_paths.hpp"

#include "tests/ingest/support.hpp"
#include "tests/support/branching_shader.hpp"

namespace rayreplay::ingest {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Lines = std::vector<std::string>;
using Words = std::vector<std::uint32_t>;

/// Shaders 4 and 6 of a module; they count its first block and the second.
SpoolContents spool_with_paths() {
  SpoolContents result;
  for (const std::uint16_t id : std::initializer_list<std::uint16_t>{4, 5, 6}) {
    result.shaders[id].shader = id;
    result.shaders[id].spirv = test::branching_shader();
  }
  result.paths[4] = {4, {4, 6}, {{0, {4, 6}, {{spool::kNone, 0}, {spool::kNone, 1}}}}};
  return result;
}

/// A record of one lane with a word for each counter.
Words record(std::uint16_t shader, const Words& counters) {
  Words words = {RR_PATH | std::uint32_t{shader} << 8U | static_cast<std::uint32_t>(counters.size()) << 24U, 1,
                 1U << 20U, 0, 9};
  words.insert(words.end(), counters.begin(), counters.end());
  return words;
}
Words bytes(std::uint16_t shader, std::uint32_t word) {
  return {RR_PATH_BYTES | std::uint32_t{shader} << 8U | 1U << 24U, 1, 1U << 20U, 0, 9, word};
}

class PathsOfRecords {
 public:
  explicit PathsOfRecords(const SpoolContents& spool, const std::vector<Words>& records,
                          std::uint64_t most = CallPaths::kMostNumbers)
      : paths_(spool, remarks, most) {
    for (const Words& words : records) {
      paths_.add(parse_header(words.data()));
    }
    paths_.finish();
  }
  [[nodiscard]] std::uint32_t of(const Words& words) const {
    Words scratch;
    return paths_.path_of(parse_header(words.data()), 0, scratch);
  }
  [[nodiscard]] const trace::Paths& table() const {
    return paths_.paths();
  }
  Lines remarks;

 private:
  CallPaths paths_;
};

TEST(CallPaths, AreNumberedByShaderAndCounts) {
  const std::vector<Words> records = {record(6, {1, 1}), record(4, {300, 2}), bytes(4, 0x0001), bytes(4, 0xABCD'0101),
                                      record(4, {1, 0})};
  std::vector<Words> order = records;
  std::sort(order.begin(), order.end());
  do {
    const PathsOfRecords paths(spool_with_paths(), order);
    EXPECT_THAT(paths.remarks, IsEmpty());
    EXPECT_THAT(paths.table().shader, ElementsAre(4, 4, 4, 6));
    EXPECT_THAT(paths.table().counts, ElementsAre(1, 0, 1, 1, 1, 1, 0, 1, 300, 2, 298, 300, 1, 1, 0, 1));
    EXPECT_THAT(paths.table().block_shader, ElementsAre(4, 4, 4, 4, 6, 6, 6, 6));
    EXPECT_THAT(paths.table().block, ElementsAre(0, 1, 2, 3, 0, 1, 2, 3));
    EXPECT_EQ(paths.of(records[0]), 4U);
    EXPECT_EQ(paths.of(records[1]), 3U);
    EXPECT_EQ(paths.of(records[2]), 1U);
    EXPECT_EQ(paths.of(records[3]), 2U);
    EXPECT_EQ(paths.of(records[4]), 1U);  // the same counters, written otherwise
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(CallPaths, ThatContradictThemselvesAreNone) {
  const PathsOfRecords paths(spool_with_paths(), {record(4, {1, 2}), record(4, {1, 1}), record(4, {0, 9})});
  EXPECT_THAT(paths.remarks, ElementsAre(HasSubstr("2 paths of shader 4 contradict themselves: in function 0: ")));
  EXPECT_EQ(paths.of(record(4, {1, 2})), 0U);
  EXPECT_EQ(paths.of(record(4, {1, 1})), 1U);
}

TEST(CallPaths, OfOtherShadersAndOtherCountersAreNone) {
  const PathsOfRecords paths(spool_with_paths(), {record(5, {1, 1}), record(4, {1, 1, 1}), record(4, {1, 1})});
  EXPECT_THAT(paths.remarks, ElementsAre(HasSubstr("2 path records of shaders without paths")));
  EXPECT_EQ(paths.table().size(), 1U);
  EXPECT_EQ(paths.of(record(5, {1, 1})), 0U);
  EXPECT_EQ(paths.of(record(4, {1, 1, 1})), 0U);
}

TEST(CallPaths, BeyondTheMemoryAreNone) {
  const PathsOfRecords paths(spool_with_paths(),
                             {record(4, {1, 1}), record(4, {2, 1}), record(4, {3, 1}), record(4, {2, 1})}, 4);
  EXPECT_EQ(paths.table().size(), 2U);
  EXPECT_EQ(paths.of(record(4, {3, 1})), 0U);
  EXPECT_EQ(paths.of(record(4, {2, 1})), 2U);
  EXPECT_THAT(paths.remarks, ElementsAre(HasSubstr("1 call of more than 4 counters")));
}

struct PathDamage {
  const char* name;
  void (*apply)(SpoolContents&);
  const char* why;
};

class DamagedPaths : public testing::TestWithParam<PathDamage> {};

TEST_P(DamagedPaths, AreNoneAndNamed) {
  SpoolContents spool = spool_with_paths();
  GetParam().apply(spool);
  const PathsOfRecords paths(spool, {record(4, {1, 1})});
  EXPECT_EQ(paths.table().size(), 0U);
  EXPECT_EQ(paths.of(record(4, {1, 1})), 0U);
  EXPECT_THAT(paths.remarks, Contains(HasSubstr(GetParam().why)));
}

INSTANTIATE_TEST_SUITE_P(
    Spool, DamagedPaths,
    testing::Values(
        PathDamage{"NoModule", [](SpoolContents& s) { s.shaders.erase(4); }, "it is not in the spool"},
        PathDamage{"NoSpirv",
                   [](SpoolContents& s) {
                     s.shaders[4].spirv = {1, 2};
                   },
                   "paths of the module of shader 4"},
        PathDamage{"Function", [](SpoolContents& s) { s.paths[4].functions[0].function = 9; },
                   "function 9 is out of order"},
        PathDamage{"FunctionTwice", [](SpoolContents& s) { s.paths[4].functions.push_back(s.paths[4].functions[0]); },
                   "function 0 is out of order"},
        PathDamage{"NoSites", [](SpoolContents& s) { s.paths[4].functions[0].sites.clear(); }, "would have 0 counters"},
        PathDamage{"ManySites", [](SpoolContents& s) { s.paths[4].functions[0].sites.resize(121); }, "121 counters"},
        PathDamage{"SiteTwice", [](SpoolContents& s) { s.paths[4].functions[0].sites[1].to = 0; },
                   "has a counter already"},
        PathDamage{"NoBlock", [](SpoolContents& s) { s.paths[4].functions[0].sites[1].to = 77; }, "does not have"}),
    [](const auto& damage) { return std::string(damage.param.name); });

}  // namespace
}  // namespace rayreplay::ingest
