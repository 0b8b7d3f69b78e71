// Fuzzer of the two languages of expressions: formulas of hints, and conditions of sweeps. Texts must be refused as
// Usage, with a place; a formula that is taken must compute the same compiled and as a tree, a condition the same
// twice.
//
// An input is a byte, even for a formula and odd for a condition, and the text.
#include <cmath>
#include <string>
#include <vector>

#include "scheduler-models/regrouping/hints/formula_hints.hpp"
#include "scheduler-models/regrouping/hints/tree.hpp"
#include "sim/settings/settings.hpp"
#include "sim/sweep/definition/condition.hpp"
#include "tests/fuzz/support/fuzzer.hpp"
#include "tests/regrouping/random_formula.hpp"

namespace rayreplay::fuzz {
namespace {

using scheduler::formula::Field;

enum Kind : std::uint8_t { Formula, Condition, Kinds };
constexpr const char* kKinds[Kinds] = {"formulas", "conditions"};
constexpr std::size_t kPendingCalls = 16;

constexpr const char* kWords[] = {"if(",
                                  "min(",
                                  "max(",
                                  "clamp(",
                                  "abs(",
                                  "floor(",
                                  "sqrt(",
                                  "log2(",
                                  "bits(",
                                  "hash(",
                                  "||",
                                  "&&",
                                  "==",
                                  "!=",
                                  "<=",
                                  ">=",
                                  "<<",
                                  ">>",
                                  "%",
                                  "^",
                                  "(",
                                  ")",
                                  ",",
                                  "!",
                                  "-",
                                  "0x1F",
                                  "1e3",
                                  "64KiB",
                                  "2GiB",
                                  "\"texts\"",
                                  "'texts'",
                                  "true",
                                  "false",
                                  "`",
                                  "cache.l1.bytes",
                                  "machine.sms",
                                  "scheduler.model",
                                  "scheduler.model:pool_warps",
                                  "machine.name",
                                  "instance",
                                  "primitive",
                                  "distance",
                                  "origin_x",
                                  "\xC3\xA9"};

struct Launches {
  trace::Trace trace;
  scheduler::Segments segments;
  std::vector<scheduler::formula::PendingCall> calls;
};

const Launches& launches() {
  static const Launches kLaunches = [] {
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
    result.calls.resize(std::min(result.calls.size(), kPendingCalls));
    return result;
  }();
  return kLaunches;
}

void use_formula(const std::string& text) {
  static const scheduler::formula::FieldReader kFields(launches().trace, launches().trace.launches[0],
                                                       launches().segments, scheduler::formula::FieldSet().set());
  const auto expression = scheduler::formula::parse_expression(text, "fuzz");
  const scheduler::formula::Program program(expression);
  scheduler::formula::Program::Bench bench(program);
  const auto values = program.run(kFields, launches().calls, bench);
  for (std::size_t i = 0; i < launches().calls.size(); ++i) {
    const double expected = scheduler::formula::evaluate_tree(expression, [&](Field field) {
                              double value = 0;
                              kFields.read(field, {&launches().calls[i], 1}, &value);
                              return value;
                            }).value;
    if (!(values[i] == expected || (std::isnan(values[i]) && std::isnan(expected)))) {
      finding("compiled and tree differ: " + text);
    }
  }
  const auto hints = scheduler::formula::hints_of(kFields, expression, 8);
  if (hints.first_bad != scheduler::kNoSegment &&
      taken({ErrorKind::Input}, [&] { scheduler::formula::refuse(kFields, expression, 8, hints.first_bad, "fuzz"); })) {
    finding("a hint that does not fit was not refused: " + text);
  }
}

void use_condition(const std::string& text) {
  static const experiment::Settings kSettings = [] {
    experiment::Settings settings;
    settings.set_text("trace=t.rrt", "fuzz");
    return experiment::complete(settings);
  }();
  const sweep::Condition condition(text, "fuzz");
  const auto holds = [&] {
    return condition.holds([&](const std::string& key) -> const ParameterValue* {
      const auto found = kSettings.all().find(key);
      return found == kSettings.all().end() ? nullptr : &found->second.value;
    });
  };
  if (holds() != holds()) {
    finding("a condition holds once only: " + text);
  }
}

std::vector<std::string> seeds() {
  std::vector<std::string> result;
  Random random(1);
  for (std::uint32_t i = 0; i < 40; ++i) {
    result.push_back(static_cast<char>(Formula) + test::random_formula(random, i % 6));
  }
  for (const char* text :
       {"cache.l1.bytes <= cache.l2.bytes && machine.sms % 2 == 0", "scheduler.model != \"plain\" || warp_size == 32",
        "!(machine.reorders) && machine.l1_ways * 2 - 1 >= 64KiB / 1KiB",
        "`scheduler.model:pool_warps` > 3 || machine.name == 'x'", "-machine.sms < +1e3 && true != false",
        "machine.sms / 0 == 1 || warp_size >= 8"}) {
    result.push_back(static_cast<char>(Condition) + std::string(text));
  }
  return result;
}

void mutate(std::string& input, Random& random) {
  std::string text = input.substr(std::min<std::size_t>(1, input.size()));
  if (random.one_in(16)) {
    text = test::random_formula(random, random.below(7));
  } else {
    change_text(text, random, kWords);
  }
  input = (input.empty() ? '\0' : input[0]) + text;
}

Verdict run(std::string_view input) {
  const auto kind = static_cast<Kind>((input.empty() ? 0U : static_cast<unsigned char>(input.front())) % Kinds);
  const std::string text(input.substr(std::min<std::size_t>(1, input.size())));
  const bool read = taken({ErrorKind::Usage}, [&] {
    try {
      kind == Formula ? use_formula(text) : use_condition(text);
    } catch (const Error& error) {
      if (error.info().what.empty() || error.info().where.empty()) {
        finding(std::string("an error that does not say what or where: ") + error.what());
      }
      throw;
    }
  });
  return {kind, read};
}

}  // namespace

const Fuzzer kFuzzer{"expression", kKinds, &seeds, &run, &mutate, 60000};

}  // namespace rayreplay::fuzz
