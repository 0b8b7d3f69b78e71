// Fuzzer of the rewriter and of the static analyses. A module that spirv-val calls valid must be valid afterwards; any
// words at all must be rewritten, left alone or refused with a reason, without a crash, and give the same bytes twice.
// The same holds where SER is put into the module first. What is known without a run must agree with itself.
//
// An input is a byte that picks the options, a byte that picks what Vulkan the module is for, and the module's words.
#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "capture/instrument/instrument.hpp"
#include "capture/instrument/ser/insert.hpp"
#include "capture/spirv/facts.hpp"
#include "capture/spirv/module.hpp"
#include "tests/fuzz/support/fuzzer.hpp"
#include "tests/instrument/support/corpus.hpp"

namespace rayreplay::fuzz {
namespace {

using instrument::Status;
using test::Words;

constexpr std::size_t kHeaderBytes = 2;  ///< of an input
constexpr std::size_t kFirst = 5;        ///< word of the first instruction
constexpr const char* kEnvironments[] = {"vulkan1.1", "vulkan1.2", "vulkan1.3"};
constexpr const char* kKinds[] = {"modules"};

Words words_of(std::string_view input) {
  Words words(input.size() <= kHeaderBytes ? 0 : (input.size() - kHeaderBytes) / 4);
  if (!words.empty()) {
    std::memcpy(words.data(), input.data() + kHeaderBytes, words.size() * 4);
  }
  return words;
}

std::string input_of(char options, char environment, const Words& words) {
  std::string input{options, environment};
  input.append(reinterpret_cast<const char*>(words.data()), words.size() * 4);
  return input;
}

std::vector<std::string> seeds() {
  std::vector<std::string> result;
  std::size_t number = 0;
  for (const test::CorpusModule& module : test::corpus()) {
    // Debug information makes up most of these and says nothing to the rewriter that the smaller ones do not.
    if (module.words.size() * 4 <= 16384) {
      const auto environment = static_cast<char>(module.environment.back() - '1');
      result.push_back(input_of(static_cast<char>(number++ % test::option_sets().size()), environment, module.words));
    }
  }
  return result;
}

std::vector<std::size_t> instruction_starts(const Words& words) {
  std::vector<std::size_t> starts;
  for (std::size_t at = kFirst; at < words.size() && words[at] >> 16 != 0; at += words[at] >> 16) {
    starts.push_back(at);
  }
  return starts;
}

std::uint32_t odd_word(Random& random, const Words& words) {
  switch (random.below(5)) {
    case 0:
      return static_cast<std::uint32_t>(odd_number(random));
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

bool is_any(std::uint32_t opcode, std::initializer_list<std::uint32_t> opcodes) {
  return std::find(opcodes.begin(), opcodes.end(), opcode) != opcodes.end();
}

/// Where instructions of these opcodes start.
std::vector<std::size_t> starts_of(const Words& words, std::initializer_list<std::uint32_t> opcodes) {
  std::vector<std::size_t> found;
  for (const std::size_t at : instruction_starts(words)) {
    if (is_any(words[at] & 0xFFFF, opcodes)) {
      found.push_back(at);
    }
  }
  return found;
}

// Opcodes by their numbers in the specification: the rewriter's own names are not used to check it.
constexpr std::uint32_t kOpName = 5, kOpExtension = 10, kOpEntryPoint = 15, kOpCapability = 17, kOpConstant = 43,
                        kOpDecorate = 71, kOpMemberDecorate = 72, kOpLabel = 248, kOpBranch = 249, kOpNop = 0,
                        kOpUndef = 1, kOpLine = 8, kOpNoLine = 317;

/// Changes after which a valid module is often valid still.
bool mutate_gently(Words& words, Random& random) {
  const auto insert = [&](std::size_t at, const Words& instruction) {
    words.insert(words.begin() + static_cast<std::ptrdiff_t>(at), instruction.begin(), instruction.end());
  };
  const auto pick = [&](const std::vector<std::size_t>& places) { return places[random.below(places.size())]; };
  switch (random.below(8)) {
    case 0: {  // the value of a constant
      const auto constants = starts_of(words, {kOpConstant});
      if (constants.empty()) {
        return false;
      }
      const std::size_t at = pick(constants);
      if (at + 3 < words.size()) {
        words[at + 3] = random.one_in(2) ? random.below(70) : static_cast<std::uint32_t>(odd_number(random));
      }
      return true;
    }
    case 1: {  // unused ids
      if (words.size() > 3) {
        words[3] += 1 + random.below(random.one_in(8) ? 1U << 22 : 100);
      }
      return true;
    }
    case 2: {  // a name or a decoration less
      const auto places = starts_of(words, {kOpName, kOpDecorate, kOpMemberDecorate, kOpLine});
      if (places.empty()) {
        return false;
      }
      const std::size_t at = pick(places);
      const std::size_t size = std::min<std::size_t>(words[at] >> 16, words.size() - at);
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(at),
                  words.begin() + static_cast<std::ptrdiff_t>(at + size));
      return true;
    }
    case 3: {  // a capability or an extension once more
      const auto places = starts_of(words, {kOpCapability, kOpExtension});
      if (places.empty()) {
        return false;
      }
      const std::size_t at = pick(places);
      const std::size_t size = std::min<std::size_t>(words[at] >> 16, words.size() - at);
      insert(at, Words(words.begin() + static_cast<std::ptrdiff_t>(at),
                       words.begin() + static_cast<std::ptrdiff_t>(at + size)));
      return true;
    }
    case 4: {  // instructions that do nothing, before any other of a function
      const auto labels = starts_of(words, {kOpLabel});
      const auto starts = instruction_starts(words);
      if (labels.empty()) {
        return false;
      }
      const std::size_t at = pick(starts);
      insert(std::max(at, labels.front() + 2), Words{1U << 16U | (random.one_in(2) ? kOpNop : kOpNoLine)});
      return true;
    }
    case 5: {  // a block cut in two
      const auto labels = starts_of(words, {kOpLabel});
      if (labels.empty() || words.size() < 4) {
        return false;
      }
      const std::size_t label = pick(labels);
      // Variables stand at the start of a function's first block: behind them, wherever it is one.
      std::size_t at = label + 2;
      while (at < words.size() && is_any(words[at] & 0xFFFF, {59U, kOpLine, kOpNoLine, kOpNop}) &&
             words[at] >> 16 != 0) {
        at += words[at] >> 16;
      }
      const std::uint32_t id = words[3]++;
      insert(std::min(at, words.size()), Words{2U << 16U | kOpBranch, id, 2U << 16U | kOpLabel, id});
      return true;
    }
    case 6: {  // another name of an entry point
      const auto points = starts_of(words, {kOpEntryPoint});
      if (points.empty()) {
        return false;
      }
      const std::size_t at = pick(points);
      if (at + 3 < words.size()) {
        reinterpret_cast<char*>(&words[at + 3])[random.below(3)] = static_cast<char>('a' + random.below(26));
      }
      return true;
    }
    default: {  // an undefined value in a function
      const auto labels = starts_of(words, {kOpLabel});
      const auto types = starts_of(words, {20U, 21U, 22U});  // truth values, whole numbers, numbers
      if (labels.empty() || types.empty() || words.size() < 4) {
        return false;
      }
      const std::uint32_t type = words[pick(types) + 1];
      const std::size_t label = labels.back();
      insert(label + 2, Words{3U << 16U | kOpUndef, type, words[3]++});
      return true;
    }
  }
}

void mutate_roughly(Words& words, Random& random) {
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

void mutate(std::string& input, Random& random) {
  Words words = words_of(input);
  if (input.size() <= kHeaderBytes || words.size() <= kFirst) {
    return change_bytes(input, random);
  }
  char options = input[0];
  if (random.one_in(8)) {
    options = static_cast<char>(random.below(test::option_sets().size()));
  } else if (random.one_in(3) || !mutate_gently(words, random)) {
    mutate_roughly(words, random);
  }
  input = input_of(options, input[1], words);
}

/// What is known without a run must agree with itself. True if the module parses and all its functions have control
/// flow.
bool look_at(const Words& words) {
  std::string reason;
  const std::optional<spirv::Module> module = spirv::parse(words, reason);
  if (!module) {
    if (reason.empty()) {
      finding("no module, without a reason");
    }
    return false;
  }
  const spirv::Analysed analysed(*module);
  bool flows = true;
  for (std::size_t f = 0; f < analysed.flows.size(); ++f) {
    flows = flows && analysed.flows[f];
    if (!analysed.flows[f] && analysed.reasons[f].empty()) {
      finding("no control flow, without a reason");
    }
  }
  for (const std::uint32_t recompute : {0U, 3U}) {
    for (const spirv::ShaderFacts& shader : spirv::facts_of(analysed, recompute).shaders) {
      if ((!shader.has_liveness || !shader.has_divergence) && shader.notes.empty()) {
        finding("a shader was left alone without a note");
      }
      for (const spirv::UniformityFacts& load : shader.loads) {
        if (load.address == spirv::Level::Divergent && load.level != spirv::Level::Divergent) {
          finding("a uniform value from an address that may diverge");
        }
      }
    }
  }
  return flows;
}

/// A hint of everything that the code of hints may ask for.
const instrument::HintProgram& ser_hint() {
  static const instrument::HintProgram kHint = [] {
    std::string text = "9: 0";
    for (const char* field : instrument::kHintFields) {
      text += std::string(" ") + field + " hash2";
    }
    std::string reason;
    return *instrument::parse_hint_program(text, reason);
  }();
  return kHint;
}

/// SER put into any words; a valid module must stay valid, also when it is instrumented then.
void insert_ser(const Words& words, const test::NamedOptions& set, const std::string& environment) {
  for (const bool hinted : {false, true}) {
    const std::optional<instrument::HintProgram> hint = hinted ? std::optional(ser_hint()) : std::nullopt;
    const instrument::InsertResult inserted = instrument::insert_reordering(words, hint);
    if (instrument::insert_reordering(words, hint).spirv != inserted.spirv) {
      finding("other bytes the second time SER was put in");
    }
    if (inserted.spirv.empty() != (inserted.inserted == 0)) {
      finding("SER was put in without words, or words are there without it");
    }
    if (inserted.spirv.empty() || !test::validate(words, environment).empty()) {
      continue;
    }
    if (const std::string messages = test::validate(inserted.spirv, environment); !messages.empty()) {
      finding("a valid module was made invalid by SER, " + environment + ": " + messages);
    }
    const instrument::Result result = instrument::instrument(inserted.spirv, set.options);
    if (result.status == Status::Instrumented) {
      if (const std::string messages = test::validate(result.spirv, environment); !messages.empty()) {
        finding("a valid module was made invalid behind SER, options " + set.name + ", " + environment + ": " +
                messages);
      }
    }
  }
}

Verdict run(std::string_view input) {
  static const std::vector<test::NamedOptions> kSets = test::option_sets();
  const Words words = words_of(input);
  Choices choices(input);
  const test::NamedOptions& set = kSets[choices.below(kSets.size())];
  const std::string environment = kEnvironments[choices.below(std::size(kEnvironments))];
  const bool flows = look_at(words);
  insert_ser(words, set, environment);
  const instrument::Result result = instrument::instrument(words, set.options);
  static_cast<void>(instrument::entry_points(words, 0));
  if (instrument::instrument(words, set.options).spirv != result.spirv) {
    finding("other bytes the second time, options " + set.name);
  }
  if (result.status == Status::Refused && result.reason.empty()) {
    finding("refused without a reason, options " + set.name);
  }
  if (result.status != Status::Instrumented) {
    return {0, false};
  }
  std::string reason;
  if (!spirv::parse(result.spirv, reason)) {
    finding("the rewritten module does not parse: " + reason);
  }
  if (test::validate(words, environment).empty()) {
    if (!flows) {
      finding("a valid module without control flow");
    }
    const std::string messages = test::validate(result.spirv, environment);
    if (!messages.empty()) {
      finding("a valid module was made invalid, options " + set.name + ", " + environment + ": " + messages);
    }
  }
  return {0, true};
}

}  // namespace

const Fuzzer kFuzzer{"spirv", kKinds, &seeds, &run, &mutate, 2000};

}  // namespace rayreplay::fuzz
