#include "capture/optimise/optimise.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <set>

#include "capture/optimise/spirv_tools.hpp"
#include "capture/optimise/steps.hpp"
#include "capture/spirv/instruction_class.hpp"

namespace rayreplay::optimise {
namespace {

constexpr std::uint32_t kSlotsOfLevel = 2;

/// Slots that a switch takes beyond its own instruction.
std::uint32_t switch_slots(const Instruction& last, const spirv::WideSelectors& wide) {
  const std::size_t values = (last.size() - 3) / (wide.literal_words(last[1]) + 1);
  const auto levels = static_cast<std::uint32_t>(std::bit_width(values));  // of a tree with a leaf for the default
  return levels == 0 ? 0 : levels * kSlotsOfLevel - 1;
}

struct Size {
  std::uint64_t instructions = 0;
  double slots = 0;
};

Size size_of(const Module& module, const Counts& counts) {
  const spirv::Classifier classes(module);
  const spirv::WideSelectors wide(module);
  Size size;
  for (const auto& function : module.functions) {
    double lanes = 0;
    for (const Instruction& i : function.body) {
      if (i.is(spv::Op::OpLabel)) {
        const auto found = counts.find(i[1]);
        lanes = found == counts.end() ? 0 : static_cast<double>(found->second);
      }
      // Compilers lay blocks out so that most of these take nothing.
      if (i.is(spv::Op::OpBranch)) {
        continue;
      }
      size.instructions += spirv::issues(classes.of(i)) ? 1U : 0U;
      size.slots += lanes * (classes.issue_slots(i) + (i.is(spv::Op::OpSwitch) ? switch_slots(i, wide) : 0));
    }
  }
  return size;
}

/// What the application may rely on by number or name.
std::multiset<std::vector<Word>> surface_of(const Module& module) {
  std::multiset<std::vector<Word>> surface;
  const auto add = [&](const Instruction& i) {
    std::vector<Word> words = {i.op()};
    words.insert(words.end(), i.operands().begin(), i.operands().end());
    surface.insert(std::move(words));
  };
  std::for_each(module.entry_points.begin(), module.entry_points.end(), add);
  std::for_each(module.execution_modes.begin(), module.execution_modes.end(), add);
  for (const Instruction& i : module.annotations) {
    const auto what = static_cast<spv::Decoration>(i[2]);
    if (i.is(spv::Op::OpDecorate) && (what == spv::Decoration::SpecId || what == spv::Decoration::Binding ||
                                      what == spv::Decoration::DescriptorSet || what == spv::Decoration::Location)) {
      add(i);
    }
  }
  return surface;
}

class Work {
 public:
  /// `validates`: after every step, not only at the end.
  Work(Module module, Counts counts, bool validates)
      : module_(std::move(module)), counts_(std::move(counts)), validates_(validates), surface_(surface_of(module_)) {}

  /// Runs a step on a copy, and keeps it if the module is valid, as far as steps are validated. True: kept.
  template <typename Change>
  bool attempt(const char* kind, const Place& place, bool is_last, Change&& change) {
    Module copy = module_;
    Counts counts = counts_;
    Step step{kind, static_cast<std::uint32_t>(place.function), place.label, false, {}};
    const bool changed = change(copy, counts, step.text);
    if (changed) {
      const std::string fault = validates_ ? fault_in(copy) : std::string();
      step.done = fault.empty();
      step.text += fault.empty() ? "" : "; left, since the module would not be valid: " + fault;
    }
    if (step.done) {
      module_ = std::move(copy);
      counts_ = std::move(counts);
    }
    if (!step.text.empty() && (step.done || is_last)) {
      steps_.push_back(step);
    }
    return step.done;
  }

  /// Empty: the module is valid, and has the surface of the given one.
  [[nodiscard]] std::string fault_in(const Module& module) const {
    const std::string fault = module.bound > spirv::kMaxBound ? "too many ids" : fault_of(module.serialise());
    return fault.empty() && surface_of(module) != surface_ ? "the interface would change" : fault;
  }

  void run(const Wishes& wishes) {
    for (std::size_t f = 0; f < module_.functions.size(); ++f) {
      std::string reason;
      const auto flow = spirv::control_flow(module_.functions[f], spirv::WideSelectors(module_), reason);
      if (!flow) {
        continue;
      }
      for (const spirv::Block& block : flow->blocks) {
        const auto ran = counts_.find(block.label);
        const bool branches = block.ending == spirv::Ending::ConditionalBranch || block.ending == spirv::Ending::Switch;
        if (ran == counts_.end() || ran->second == 0 || !branches) {
          continue;
        }
        const Place place{f, block.label};
        std::vector<Id> dead;
        for (const spirv::Node to : flow->graph.successors[static_cast<std::size_t>(&block - flow->blocks.data())]) {
          const Id target = flow->blocks[to].label;
          if (const auto found = counts_.find(target); found != counts_.end() && found->second == 0) {
            dead.push_back(target);
          }
        }
        if (!dead.empty() && wishes.assume_profile) {
          prune_at(place);
        } else if (wishes.outline) {
          outline_at(place, dead);
        }
        if (block.ending == spirv::Ending::Switch) {
          attempt("peel", place, true,
                  [&](Module& module, Counts& counts, std::string& said) { return peel(module, place, counts, said); });
        }
      }
    }
  }

  void simplify_all() {
    attempt("simplify", {}, true, [&](Module& module, Counts&, std::string& said) {
      const auto words = simplify(module.serialise());
      std::string reason;
      auto parsed = words ? spirv::parse(*words, reason) : std::nullopt;
      if (!parsed) {
        said = "left: the optimiser of SPIRV-Tools failed";
        return false;
      }
      module = std::move(*parsed);
      said = "code without effect was removed, and blocks were joined";
      return true;
    });
  }

  [[nodiscard]] bool did_something() const {
    return std::any_of(steps_.begin(), steps_.end(), [](const Step& step) { return step.done; });
  }
  [[nodiscard]] const std::vector<Step>& steps() const {
    return steps_;
  }
  void validate_from_now() {
    validates_ = true;
  }
  [[nodiscard]] const Module& module() const {
    return module_;
  }
  [[nodiscard]] Size size() const {
    return size_of(module_, counts_);
  }

 private:
  void prune_at(const Place& place) {
    const auto with = [&](bool keep_switch) {
      return attempt("prune", place, keep_switch, [&](Module& module, Counts& counts, std::string& said) {
        return prune(module, place, counts, keep_switch, said);
      });
    };
    if (!with(false)) {
      static_cast<void>(with(true));
    }
  }

  void outline_at(const Place& place, const std::vector<Id>& dead) {
    for (const Id target : dead) {
      attempt("outline", place, true, [&](Module& module, Counts& counts, std::string& said) {
        return outline(module, place, target, counts, said);
      });
    }
  }

  Module module_;
  Counts counts_;
  std::vector<Step> steps_;
  bool validates_;
  std::multiset<std::vector<Word>> surface_;
};

}  // namespace

Optimised optimise(std::span<const spirv::Word> words, std::span<const BlockExecutions> executions,
                   const Wishes& wishes) {
  Optimised out;
  std::string reason;
  auto module = spirv::parse(words, reason);
  if (!module) {
    out.why = "it cannot be read: " + reason;
    return out;
  }
  if (const std::string fault = fault_of({words.begin(), words.end()}); !fault.empty()) {
    out.why = "SPIRV-Tools does not take it: " + fault;
    return out;
  }
  Counts counts;
  const spirv::WideSelectors wide(*module);
  std::vector<std::vector<Id>> labels;  // by function and block
  for (const auto& function : module->functions) {
    auto& of = labels.emplace_back();
    if (const auto flow = spirv::control_flow(function, wide, reason)) {
      std::transform(flow->blocks.begin(), flow->blocks.end(), std::back_inserter(of),
                     [](const spirv::Block& block) { return block.label; });
    }
  }
  for (const BlockExecutions& row : executions) {
    if (row.function < labels.size() && row.block < labels[row.function].size()) {
      counts[labels[row.function][row.block]] += row.lanes;
    }
  }
  const Size before = size_of(*module, counts);
  out.instructions_before = out.instructions_after = before.instructions;
  out.slots_before = out.slots_after = before.slots;
  if (std::none_of(counts.begin(), counts.end(), [](const auto& count) { return count.second != 0; })) {
    out.why = "none of its blocks ran, or none was counted";
    return out;
  }
  // Most modules stay valid by all their steps, and one validation shows it. Where they do not, each step is validated.
  Work work(*module, counts, false);
  work.run(wishes);
  if (wishes.validate_each || !work.fault_in(work.module()).empty()) {
    work = Work(std::move(*module), std::move(counts), true);
    work.run(wishes);
  }
  if (!work.did_something()) {
    out.steps = work.steps();
    out.why = "the profile gives nothing to change";
    return out;
  }
  work.validate_from_now();
  work.simplify_all();
  out.steps = work.steps();
  const Size after = work.size();
  out.instructions_after = after.instructions;
  out.slots_after = after.slots;
  out.words = work.module().serialise();
  return out;
}

}  // namespace rayreplay::optimise
