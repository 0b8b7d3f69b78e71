// Fuzz test of the rewriter: modules of the corpus are changed and instrumented. `instrument` must not crash, throw or
// hang, and must give the same bytes twice; whatever it takes must parse again.
//
//   fuzz_instrument [--seconds N] [--seed S]
//
// Changes: words, operands of instructions, opcodes, word counts, instructions removed, doubled, swapped or moved
// between modules, the end cut off. The failing round's number is printed; the same seed gives the same rounds.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "capture/instrument/instrument.hpp"
#include "capture/instrument/module.hpp"
#include "tests/instrument/support/corpus.hpp"
#include "tests/support/fuzzing.hpp"
#include "tests/support/random_trace.hpp"

namespace {

using namespace rayreplay;
using test::Random;
using test::Words;

std::vector<std::size_t> instruction_starts(const Words& words) {
  std::vector<std::size_t> starts;
  for (std::size_t at = 5; at < words.size() && words[at] >> 16 != 0; at += words[at] >> 16) {
    starts.push_back(at);
  }
  return starts;
}

std::uint32_t odd_word(Random& random, const Words& words) {
  switch (random.below(5)) {
    case 0:
      return static_cast<std::uint32_t>(random.bits());
    case 1:
      return random.below(8);
    case 2:
      return words.size() > 3 ? random.below(std::uint64_t{words[3]} + 2) : 0;
    case 3:
      return words[random.below(words.size())];
    default:
      return random.one_in(2) ? 0xFFFFFFFF : 0;
  }
}

void mutate(Random& random, Words& words) {
  const std::vector<std::size_t> starts = instruction_starts(words);
  if (starts.empty()) {
    return;
  }
  const std::size_t at = starts[random.below(starts.size())];
  const std::size_t size = std::min<std::size_t>(words[at] >> 16, words.size() - at);
  const auto begin = words.begin() + static_cast<std::ptrdiff_t>(at);
  switch (random.below(8)) {
    case 0:
      words[random.below(words.size())] = odd_word(random, words);
      break;
    case 1:
    case 2:
      if (size > 1) {
        words[at + 1 + random.below(size - 1)] = odd_word(random, words);
      }
      break;
    case 3: {
      const std::size_t other = starts[random.below(starts.size())];
      words[at] = (words[at] & 0xFFFF0000) | (words[other] & 0xFFFF);
      break;
    }
    case 4:
      words[at] += (random.one_in(2) ? 1U : 0xFFFFFFFFU) << 16;
      break;
    case 5:
      words.erase(begin, begin + static_cast<std::ptrdiff_t>(size));
      break;
    case 6: {
      const Words copy(begin, begin + static_cast<std::ptrdiff_t>(size));
      const std::size_t to = starts[random.below(starts.size())];
      words.insert(words.begin() + static_cast<std::ptrdiff_t>(to), copy.begin(), copy.end());
      break;
    }
    default:
      if (random.one_in(10)) {
        words.resize(random.below(words.size() + 1));
      }
  }
}

int fail(std::uint64_t seed, std::uint64_t round, const char* what) {
  std::fprintf(stderr, "fuzz_instrument: seed %llu, round %llu: %s\n", static_cast<unsigned long long>(seed),
               static_cast<unsigned long long>(round), what);
  return EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  const auto [seconds, seed] = test::fuzz_arguments(argc, argv);
  const auto sets = test::option_sets();
  const auto start = std::chrono::steady_clock::now();
  std::uint64_t round = 0;
  std::uint64_t taken = 0;
  std::uint64_t refused = 0;
  while (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < seconds) {
    Random random(seed * 1'000'003 + round);
    Words words = test::corpus()[random.below(test::corpus().size())].words;
    for (std::uint32_t n = 1 + random.below(6); n > 0 && !words.empty(); --n) {
      mutate(random, words);
    }
    const instrument::Options& options = sets[random.below(sets.size())].options;
    const instrument::Result result = instrument::instrument(words, options);
    if (result.status == instrument::Status::Refused && result.reason.empty()) {
      return fail(seed, round, "refused without a reason");
    }
    if (result.status == instrument::Status::Instrumented) {
      std::string reason;
      if (!instrument::parse(result.spirv, reason)) {
        return fail(seed, round, reason.c_str());
      }
      ++taken;
    }
    refused += result.status == instrument::Status::Refused ? 1U : 0U;
    if (round % 16 == 0 && instrument::instrument(words, options).spirv != result.spirv) {
      return fail(seed, round, "other bytes the second time");
    }
    (void)instrument::entry_points(words, 0);
    ++round;
  }
  std::printf("fuzz_instrument: %llu modules, %llu instrumented, %llu refused\n",
              static_cast<unsigned long long>(round), static_cast<unsigned long long>(taken),
              static_cast<unsigned long long>(refused));
  return taken > 0 && refused > 0 ? EXIT_SUCCESS : fail(seed, round, "no module of one kind was seen");
}
