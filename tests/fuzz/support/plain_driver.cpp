// The driver of every preset but fuzz: a regression test that needs no Clang.
//
//   fuzz_NAME [--inputs N | --seconds N] [--seed S] [FILE…]
//
// Without files: all inputs of the corpus, the seeds, and then N changes of both (Fuzzer::inputs), or changes for N
// seconds. The same seed gives the same inputs in the same order, so that a test by number finds the same on every
// machine. Of every kind some changed inputs must be taken and some refused, as otherwise nothing would be tested;
// until there are, it goes on up to kMaxRounds inputs. With files: these alone. A finding, a crash of the sanitizers
// and an input that takes too long keep the input in a file.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/time.h>
#include <unistd.h>

#include "tests/fuzz/support/fuzzer.hpp"
#include "tests/support/fuzzing.hpp"

// Defined where a sanitizer is linked.
extern "C" void __sanitizer_set_death_callback(void (*callback)()) __attribute__((weak));  // NOLINT: its name

namespace {

using namespace rayreplay;

// Processor time shows an endless loop whatever else the machine does; a deadlock takes none.
constexpr unsigned kMaxProcessorSeconds = 60;
constexpr unsigned kMaxSeconds = 900;
constexpr std::uint64_t kMaxRounds = 4096;

const std::string* current = nullptr;
std::string kept_path;

void keep_input() {
  if (current == nullptr) {
    return;
  }
  const int file = ::open(kept_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file >= 0 && ::write(file, current->data(), current->size()) == static_cast<ssize_t>(current->size())) {
    std::fprintf(stderr, "kept: %s (give it to the program to run it again)\n", kept_path.c_str());
  }
  current = nullptr;
}

void on_signal(int signal) {
  if (signal == SIGPROF) {
    std::fprintf(stderr, "finding: one input took more than %u s of processor time\n", kMaxProcessorSeconds);
  } else if (signal == SIGALRM) {
    std::fprintf(stderr, "finding: one input took longer than %u s\n", kMaxSeconds);
  }
  keep_input();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

/// 0: without a limit.
void limit(unsigned processor_seconds, unsigned seconds) {
  itimerval timer{};
  timer.it_value.tv_sec = processor_seconds;
  ::setitimer(ITIMER_PROF, &timer, nullptr);
  ::alarm(seconds);
}

fuzz::Verdict run(const std::string& input) {
  current = &input;
  limit(kMaxProcessorSeconds, kMaxSeconds);
  const fuzz::Verdict verdict = fuzz::kFuzzer.run(input);
  limit(0, 0);
  current = nullptr;
  return verdict;
}

std::vector<std::string> read_corpus() {
  std::vector<std::filesystem::path> files;
  const std::filesystem::path folder = std::filesystem::path(RR_FUZZ_CORPUS) / fuzz::kFuzzer.name;
  if (std::filesystem::is_directory(folder)) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> inputs;
  for (const auto& file : files) {
    inputs.push_back(test::read_bytes(file));
  }
  return inputs;
}

struct Tally {
  std::uint64_t taken = 0, refused = 0;
  [[nodiscard]] bool says_nothing() const {
    return taken == 0 || refused == 0;
  }
};

}  // namespace

int main(int argc, char** argv) {
  for (const int signal : {SIGABRT, SIGALRM, SIGPROF, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
    std::signal(signal, on_signal);
  }
  if (__sanitizer_set_death_callback != nullptr) {
    __sanitizer_set_death_callback(keep_input);
  }
  const fuzz::Fuzzer& fuzzer = fuzz::kFuzzer;
  kept_path =
      (std::filesystem::temp_directory_path() / ("fuzz-" + std::string(fuzzer.name) + "-" + std::to_string(::getpid())))
          .string();
  if (argc > 1 && std::strncmp(argv[1], "--", 2) != 0) {
    for (int i = 1; i < argc; ++i) {
      const fuzz::Verdict verdict = run(test::read_bytes(argv[i]));
      std::printf("%s: %s, %s\n", argv[i], fuzzer.kinds[verdict.kind], verdict.taken ? "taken" : "refused");
    }
    return EXIT_SUCCESS;
  }
  const test::FuzzArguments arguments = test::fuzz_arguments(argc, argv);
  std::vector<std::string> inputs = read_corpus();
  const std::size_t corpus = inputs.size();
  const std::vector<std::string> seeds = fuzzer.seeds();
  inputs.insert(inputs.end(), seeds.begin(), seeds.end());
  for (const std::string& input : inputs) {
    static_cast<void>(run(input));
  }
  std::vector<Tally> tallies(fuzzer.kinds.size());
  const auto all_kinds_tested = [&] {
    return std::none_of(tallies.begin(), tallies.end(), [](const Tally& tally) { return tally.says_nothing(); });
  };
  const auto start = std::chrono::steady_clock::now();
  std::uint64_t rounds = 0;
  const auto enough = [&] {
    return arguments.seconds
               ? std::chrono::steady_clock::now() - start >= std::chrono::duration<double>(*arguments.seconds)
               : rounds >= arguments.inputs.value_or(fuzzer.inputs);
  };
  for (; !enough() || (!all_kinds_tested() && rounds < kMaxRounds); ++rounds) {
    fuzz::Random random(arguments.seed * 1'000'003 + rounds);
    // Half of the changes are of seeds, however large the corpus has become.
    std::string input = random.one_in(2) ? seeds[random.below(seeds.size())] : inputs[random.below(inputs.size())];
    for (std::uint32_t n = 1 + random.below(4); n > 0; --n) {
      if (fuzzer.mutate == nullptr || random.one_in(3)) {
        fuzz::change_bytes(input, random);
      } else {
        fuzzer.mutate(input, random);
      }
    }
    const fuzz::Verdict verdict = run(input);
    Tally& tally = tallies[verdict.kind];
    ++(verdict.taken ? tally.taken : tally.refused);
  }
  std::printf("%s: %zu inputs of the corpus, %zu seeds, %llu changed ones\n", fuzzer.name, corpus, seeds.size(),
              static_cast<unsigned long long>(rounds));
  for (std::size_t kind = 0; kind < tallies.size(); ++kind) {
    std::printf("  %s: %llu taken, %llu refused\n", fuzzer.kinds[kind],
                static_cast<unsigned long long>(tallies[kind].taken),
                static_cast<unsigned long long>(tallies[kind].refused));
  }
  return all_kinds_tested() ? EXIT_SUCCESS : EXIT_FAILURE;
}
