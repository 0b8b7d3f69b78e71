// The grammar of a ray's events: words by hand, and the table of the validator against a recogniser on all short rays.
#include <string>
#include <vector>

#include "capture/trace/validate.hpp"
#include "tests/trace/sound_trace.hpp"
#include "tests/trace/support.hpp"

namespace rayreplay::trace {
namespace {

using test::LaunchBuilder;

/// One thread with these events; B Begin, O OcclusionBegin, I Intersection, R Report, A AnyHit, X Ignore, T Terminate,
/// M Miss, C ClosestHit, K Callable.
bool is_legal(const std::string& word) {
  Trace trace = sound_trace();
  LaunchBuilder builder({1, 1, 1});
  builder.thread();
  for (const char letter : word) {
    switch (letter) {
      case 'B':
        builder.begin(kRayGen);
        break;
      case 'O':
        builder.occlusion_begin(kRayGen);
        break;
      case 'I':
        builder.intersection(kInt, 1, 0);
        break;
      case 'R':
        builder.report(kInt, 1, 0);
        break;
      case 'A':
        builder.any_hit(kAny);
        break;
      case 'X':
        builder.ignore(kAny);
        break;
      case 'T':
        builder.terminate(kAny);
        break;
      case 'M':
        builder.miss(kMiss);
        break;
      case 'C':
        builder.closest_hit(kHit);
        break;
      default:
        builder.callable(kCall);
    }
  }
  trace.launches = {builder.build()};
  return find_faults(trace, "t", 1).faults.empty();
}

TEST(GrammarTest, Legal) {
  for (const char* word :
       {"",      "B",      "BM",    "BC",     "O",      "OM",     "K",         "KBMK",  "BCKKBM", "BIC",   "BIIIM",
        "BIRC",  "BIRRC",  "BIRAC", "BIRAXM", "BIRATC", "BIRARC", "BIRAXRATC", "BAC",   "BAXM",   "BATC",  "BAAXAM",
        "OIRAX", "OIRATM", "OAT",   "OAXAT",  "BBM",    "BIBM",   "BAB",       "BIRAA", "BIK",    "BIAXM", "OIRAXRI"}) {
    EXPECT_TRUE(is_legal(word)) << word;
  }
}

TEST(GrammarTest, Illegal) {
  for (const char* word : {"M",
                           "C",
                           "I",
                           "A",
                           "X",
                           "T",
                           "R",
                           "KM",
                           "BX",
                           "BT",
                           "BR",
                           "BAR",
                           "BIX",
                           "BIT",
                           "BIRX",
                           "BIRT",
                           "BAXX",
                           "BATX",
                           "BMM",
                           "BCM",
                           "BMC",
                           "BCI",
                           "BMA",
                           "OC",
                           "OIC",
                           "OIRATC",
                           "BKM",
                           "BIKC",
                           "BIAR",
                           "BIRAAX"
                           "R",
                           "BIAXR",
                           "BIRAXX",
                           "BMR",
                           "BAKX"}) {
    EXPECT_FALSE(is_legal(word)) << word;
  }
}

/// The grammar of validate.hpp as a backtracking recogniser of one ray: the slow twin of the table.
class Recogniser {
 public:
  explicit Recogniser(const std::string& word) : word_(word) {}
  bool ray() {
    if (word_.empty() || (word_[0] != 'B' && word_[0] != 'O')) {
      return false;
    }
    return traversals(1);
  }

 private:
  [[nodiscard]] bool is(std::size_t at, const char* letters) const {
    return at < word_.size() && std::string(letters).find(word_[at]) != std::string::npos;
  }
  bool traversals(std::size_t at) {
    if (at == word_.size() || (at + 1 == word_.size() && (is(at, "M") || (word_[0] == 'B' && is(at, "C"))))) {
      return true;
    }
    if (is(at, "A") && (traversals(at + 1) || (is(at + 1, "XT") && traversals(at + 2)))) {
      return true;
    }
    return is(at, "I") && reports(at + 1);
  }
  bool reports(std::size_t at) {
    if (traversals(at)) {
      return true;
    }
    return is(at, "R") &&
           (reports(at + 1) || (is(at + 1, "A") && (reports(at + 2) || (is(at + 2, "XT") && reports(at + 3)))));
  }
  std::string word_;
};

TEST(GrammarTest, TableAgreesWithTheGrammarOnAllShortRays) {
  const std::string letters = "IRAXTMC";
  std::size_t legal = 0;
  for (const char* begin : {"B", "O"}) {
    std::vector<std::string> words{begin};
    for (int length = 1; length <= 4; ++length) {
      std::vector<std::string> longer;
      for (const std::string& word : words) {
        const bool expected = Recogniser(word).ray();
        EXPECT_EQ(is_legal(word), expected) << word;
        legal += expected ? 1U : 0U;
        for (const char letter : letters) {
          longer.push_back(word + letter);
        }
      }
      words = longer;
    }
  }
  EXPECT_GT(legal, 50U);
}

}  // namespace
}  // namespace rayreplay::trace
