// Fuzz test of the formula language: texts are made, changed and parsed. The parser must not crash or hang and throw
// nothing but Usage errors whose mark lies in the text; what it takes must compute the same compiled and as a tree.
//
//   fuzz_formula [--seconds N] [--seed S]
//
// Changes: characters replaced, inserted, removed, doubled, pieces swapped and repeated. The failing round's text is
// printed; the same seed gives the same rounds.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "scheduler-models/regrouping/hints/formula_hints.hpp"
#include "scheduler-models/regrouping/hints/tree.hpp"
#include "tests/regrouping/random_formula.hpp"
#include "tests/support/fuzzing.hpp"
#include "tests/support/random_trace.hpp"

namespace {

using namespace rayreplay;
using scheduler::formula::Field;
using test::Random;

[[noreturn]] void fail(const char* what, const std::string& text) {
  std::fprintf(stderr, "%s: [%s]\n", what, text.c_str());
  std::exit(1);
}

void mutate(Random& random, std::string& text) {
  constexpr std::string_view kBytes = "0123456789.eExX+-*/%&|^!<>=(),_ abcdfiloprstuz\t\n~$\"\xC3\xA9\x80\xFF";
  const std::size_t at = random.below(text.size() + 1);
  switch (random.below(6)) {
    case 0:
      text.insert(at, 1, kBytes[random.below(kBytes.size())]);
      break;
    case 1:
      if (at < text.size()) {
        text[at] = random.one_in(8) ? static_cast<char>(random.below(256)) : kBytes[random.below(kBytes.size())];
      }
      break;
    case 2:
      text.erase(at, 1 + random.below(4));
      break;
    case 3:
      text.insert(at, text.substr(random.below(text.size() + 1), random.below(12)));
      break;
    case 4: {
      std::string piece(1 + random.below(random.one_in(4) ? 3000 : 40), "(-!"[random.below(3)]);
      text.insert(at, piece);
      break;
    }
    default:
      text += text.substr(0, random.below(text.size() + 1));
  }
}

struct Launches {
  trace::Trace trace;
  scheduler::Segments segments;
  std::vector<scheduler::formula::PendingCall> calls;
};

Launches make_launches() {
  Launches result;
  for (std::uint64_t seed = 1;; ++seed) {
    result.trace = test::random_trace({.seed = seed, .geometry = true, .capture = true});
    if (result.trace.launches[0].tlas != trace::kNone) {
      break;
    }
  }
  const trace::Launch& launch = result.trace.launches[0];
  scheduler::Cut cut;
  cut.at = scheduler::CutAt::PendingCall;
  result.segments = scheduler::cut_paths(launch, cut);
  scheduler::formula::for_each_pending(launch, result.segments, 0, launch.data.threads(),
                                       [&](const auto& call) { result.calls.push_back(call); });
  result.calls.resize(std::min<std::size_t>(result.calls.size(), 16));
  return result;
}

void compare(const scheduler::formula::FieldReader& fields, const Launches& launches, const std::string& text) {
  const auto expression = scheduler::formula::parse_expression(text, "fuzz");
  const scheduler::formula::Program program(expression);
  scheduler::formula::Program::Bench bench(program);
  const auto values = program.run(fields, launches.calls, bench);
  for (std::size_t i = 0; i < launches.calls.size(); ++i) {
    const double expected = scheduler::formula::evaluate_tree(expression, [&](Field field) {
                              double value = 0;
                              fields.read(field, {&launches.calls[i], 1}, &value);
                              return value;
                            }).value;
    if (!(values[i] == expected || (std::isnan(values[i]) && std::isnan(expected)))) {
      fail("compiled and tree differ", text);
    }
  }
  const auto hints = scheduler::formula::hints_of(fields, expression, 8);
  if (hints.first_bad != scheduler::kNoSegment) {
    try {
      scheduler::formula::refuse(fields, expression, 8, hints.first_bad, "fuzz");
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Input) {
        fail("refused otherwise than as input", text);
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const test::FuzzArguments arguments = test::fuzz_arguments(argc, argv);
  const Launches launches = make_launches();
  const scheduler::formula::FieldReader fields(launches.trace, launches.trace.launches[0], launches.segments,
                                               scheduler::formula::FieldSet().set());
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(arguments.seconds);
  std::uint64_t rounds = 0;
  std::uint64_t taken = 0;
  Random random(arguments.seed);
  for (; std::chrono::steady_clock::now() < end; ++rounds) {
    std::string text = test::random_formula(random, random.below(7));
    for (std::uint32_t changes = random.below(4); changes > 0; --changes) {
      mutate(random, text);
    }
    try {
      compare(fields, launches, text);
      ++taken;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Usage || error.info().what.empty() || error.info().where.empty()) {
        fail(error.what(), text);
      }
    }
  }
  std::printf("%llu formulas, %llu of them well formed\n", static_cast<unsigned long long>(rounds),
              static_cast<unsigned long long>(taken));
  return taken > 0 && taken < rounds ? 0 : 1;
}
