#include "capture/optimise/optimise.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>

#include "capture/optimise/expected_gain.hpp"
#include "capture/optimise/spirv_tools.hpp"
#include "capture/optimise/steps.hpp"

namespace rayreplay::optimise {
namespace {

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

/// Results of loads, and labels of blocks, that the run tells something about.
struct Observed {
  std::unordered_set<Id> uniform_loads, uniform_branches;
  std::vector<std::pair<Place, Id>> uniform_addresses;        ///< of loads
  std::vector<std::pair<std::size_t, KnownValue>> constants;  ///< by function
};

/// The condition under which a step is worth its guard.
enum class Worth : std::uint8_t { Always, Slots, UniformSlots };

class Work {
 public:
  /// `validates`: after every step, not only at the end.
  Work(Module module, Counts counts, const Observed& observed, bool validates)
      : module_(std::move(module)),
        counts_(std::move(counts)),
        observed_(observed),
        validates_(validates),
        surface_(surface_of(module_)) {
    for (const auto& function : module_.functions) {
      limits_.instructions += function.body.size();
    }
  }

  /// Runs a step on a copy, and keeps it if the module is valid, as far as steps are validated. True: kept.
  template <typename Change>
  bool attempt(const char* kind, const Place& place, bool is_last, Change&& change, Worth worth = Worth::Always) {
    Module copy = module_;
    Counts counts = counts_;
    CopyLimits limits = limits_;
    limits.held = limits.failed = 0;
    Step step{kind, static_cast<std::uint32_t>(place.function), place.label, 0, false, {}, 0, 0};
    double plain_saved = 0;
    const bool changed = change(copy, counts, limits, step.text);
    if (changed) {
      const std::string fault = validates_ || worth == Worth::Slots ? fault_in(copy) : std::string();
      step.done = fault.empty();
      step.text += fault.empty() ? "" : "; left, since the module would not be valid: " + fault;
    }
    if (step.done && !judge(worth, copy, counts, limits, step)) {
      step.done = false;
      step.text += "; left: the guard is expected to cost as much";
    }
    if (step.done) {
      plain_saved = size_of(module_, counts_).slots - size_of(copy, counts).slots;
      step.slots_saved = worth == Worth::Slots ? step.slots_saved : plain_saved;
      step.guard_failed = limits.failed;
      module_ = std::move(copy);
      counts_ = std::move(counts);
      limits_ = limits;
    }
    if (!step.text.empty() && (step.done || is_last)) {
      steps_.push_back(step);
      plain_saved_.push_back(plain_saved);
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
        const auto count = counts_.find(block.label);
        if (count == counts_.end() || count->second == 0) {
          continue;
        }
        const auto& to = flow->graph.successors[static_cast<std::size_t>(&block - flow->blocks.data())];
        const bool enters_loop = block.ending == spirv::Ending::Branch && block.merge == 0 && to.size() == 1 &&
                                 flow->blocks[to.front()].continue_target != 0;
        if (enters_loop && !wishes.assume_profile) {
          specialise_loop_at({f, block.label});
        }
        const bool branches = block.ending == spirv::Ending::ConditionalBranch || block.ending == spirv::Ending::Switch;
        if (!branches) {
          continue;
        }
        Place place{f, block.label};
        if (!wishes.assume_profile && specialise_loads_at(place)) {
          continue;
        }
        if (wishes.scalar && observed_.uniform_branches.contains(block.label) && scalarise_at(place)) {
          place.label = limits_.held;
        }
        std::vector<Id> dead;
        for (const spirv::Node next : to) {
          const Id target = flow->blocks[next].label;
          if (const auto found = counts_.find(target); found != counts_.end() && found->second == 0) {
            dead.push_back(target);
          }
        }
        if (!dead.empty() && wishes.assume_profile) {
          prune_at(place);
        } else if (wishes.outline) {
          outline_at(place, dead);
        }
        if (block.ending != spirv::Ending::Switch) {
          continue;
        }
        const bool peeled = peel_at(place);
        const auto selector = selector_by_counts(module_, place, counts_);
        if (!peeled && !wishes.assume_profile && selector) {
          specialise_at(place, {0, {*selector}});
        }
      }
    }
    // Last, since it moves the branch of the load's block to a block of another label.
    for (const auto& [place, load] : observed_.uniform_addresses) {
      if (wishes.scalar) {
        attempt(
            "scalar load", place, true,
            [function = place.function, id = load](Module& module, Counts& counts, CopyLimits& limits,
                                                   std::string& said) {
              return scalarise_load(module, function, id, counts, limits, said);
            },
            Worth::UniformSlots);
      }
    }
  }

  /// The last step. Its passes save what they save only once: what a step of Worth::Slots has of it already is not the
  /// passes' own. Without them no step has anything of it.
  void simplify_all() {
    const std::size_t others = steps_.size();
    const bool simplified = attempt("simplify", {}, true, [&](Module& module, Counts&, CopyLimits&, std::string& said) {
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
    for (std::size_t s = 0; s < others; ++s) {
      const double credited = steps_[s].done ? steps_[s].slots_saved - plain_saved_[s] : 0;
      (simplified ? steps_.back() : steps_[s]).slots_saved -= credited;
    }
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
  /// Sets what the step is expected to gain. False: it is not worth its guard.
  bool judge(Worth worth, const Module& changed, const Counts& counts, const CopyLimits& limits, Step& step) const {
    if (worth == Worth::Slots) {
      // Later passes remove code that the known value makes superfluous, so they run on both.
      const auto before = simplified(module_), after = simplified(changed);
      step.slots_saved = before && after ? size_of(*before, counts_).slots - size_of(*after, counts).slots : 0;
      return step.slots_saved > 0;
    }
    if (worth == Worth::UniformSlots) {
      step.slots_made_uniform = limits.uniform_slots;
      return step.slots_made_uniform > 0;
    }
    return true;
  }

  static std::optional<Module> simplified(const Module& module) {
    const auto words = simplify(module.serialise());
    std::string reason;
    return words ? spirv::parse(*words, reason) : std::nullopt;
  }

  /// Cases in falling frequency, while each has more than half of the executions that remain. Tests after the first
  /// must save slots by themselves.
  bool peel_at(Place place) {
    for (int peeled = 0; peeled < kMostPeeledCases; ++peeled) {
      Id rest = 0;
      const bool is_first = peeled == 0;
      const bool done =
          attempt("peel", place, is_first, [&](Module& module, Counts& counts, CopyLimits&, std::string& said) {
            return peel(module, place, counts, rest, said) &&
                   (is_first || size_of(module, counts).slots < size_of(module_, counts_).slots);
          });
      if (!done) {
        return !is_first;
      }
      place.label = rest;
    }
    return true;
  }

  bool scalarise_at(const Place& place) {
    return attempt(
        "scalar", place, true,
        [&](Module& module, Counts& counts, CopyLimits& limits, std::string& said) {
          return scalarise(module, place, observed_.uniform_loads, counts, limits, said);
        },
        Worth::UniformSlots);
  }

  bool specialise_at(const Place& place, const KnownValue& value) {
    const auto with = [&](bool keep_switch) {
      return attempt(
          "specialise", place, keep_switch,
          [&](Module& module, Counts& counts, CopyLimits& limits, std::string& said) {
            return specialise(module, place, value, keep_switch, counts, limits, said);
          },
          Worth::Slots);
    };
    return with(false) || with(true);
  }

  bool specialise_loads_at(const Place& place) {
    if (observed_.constants.empty()) {
      return false;
    }
    const auto conditions = conditions_of(module_, place);
    return std::any_of(observed_.constants.begin(), observed_.constants.end(), [&](const auto& known) {
      return known.first == place.function && conditions.contains(known.second.value) &&
             specialise_at(place, known.second);
    });
  }

  void specialise_loop_at(const Place& place) {
    for (const auto& known : observed_.constants) {
      if (known.first == place.function) {
        attempt(
            "specialise", place, true,
            [&, value = known.second](Module& module, Counts& counts, CopyLimits& limits, std::string& said) {
              return specialise_loop(module, place, value, counts, limits, said);
            },
            Worth::Slots);
      }
    }
  }

  void prune_at(const Place& place) {
    const auto with = [&](bool keep_switch) {
      return attempt("prune", place, keep_switch, [&](Module& module, Counts& counts, CopyLimits&, std::string& said) {
        return prune(module, place, counts, keep_switch, said);
      });
    };
    if (!with(false)) {
      static_cast<void>(with(true));
    }
  }

  void outline_at(const Place& place, const std::vector<Id>& dead) {
    for (const Id target : dead) {
      attempt("outline", place, true, [&](Module& module, Counts& counts, CopyLimits&, std::string& said) {
        return outline(module, place, target, counts, said);
      });
    }
  }

  Module module_;
  Counts counts_;
  const Observed& observed_;
  CopyLimits limits_;
  std::vector<Step> steps_;
  std::vector<double>
      plain_saved_;  ///< by step: slots of the module as it was, less those of the module as it came out
  bool validates_;
  std::multiset<std::vector<Word>> surface_;
};

/// Places that the module has, as ids; others are left out.
Observed observed_in(const Module& module, const Observations& observations) {
  Observed observed;
  const auto instruction = [&](std::uint32_t function, std::uint32_t place) -> const Instruction* {
    return function < module.functions.size() && place < module.functions[function].body.size()
               ? &module.functions[function].body[place]
               : nullptr;
  };
  for (const UniformPlace& of : observations.uniform) {
    const Instruction* i = instruction(of.function, of.instruction);
    if (i == nullptr) {
      continue;
    }
    const auto& body = module.functions[of.function].body;
    std::size_t label = of.instruction;
    while (label > 0 && !body[label].is(spv::Op::OpLabel)) {
      --label;
    }
    if (i->is(spv::Op::OpLoad) && of.address) {
      observed.uniform_addresses.emplace_back(Place{of.function, body[label][1]}, i->result());
    } else if (i->is(spv::Op::OpLoad)) {
      observed.uniform_loads.insert(i->result());
    } else if (i->is(spv::Op::OpBranchConditional) || i->is(spv::Op::OpSwitch)) {
      observed.uniform_branches.insert(body[label][1]);
    }
  }
  const spirv::ModuleIndex index(module);
  std::unordered_map<Id, std::size_t> known;  // by result: its place in `constants`
  for (const ConstantLoad& of : observations.constants) {
    const Instruction* i = instruction(of.function, of.instruction);
    if (i == nullptr || !i->is(spv::Op::OpLoad)) {
      continue;
    }
    const auto type = number_type(index, i->result_type());
    const std::size_t components = type ? type->components : 1;
    if (of.component >= components) {
      continue;
    }
    const auto [found, fresh] = known.try_emplace(i->result(), observed.constants.size());
    if (fresh) {
      observed.constants.emplace_back(of.function, KnownValue{i->result(), Components(components)});
    }
    observed.constants[found->second].second.bits[of.component] = of.bits;
  }
  return observed;
}

}  // namespace

Optimised optimise(std::span<const spirv::Word> words, std::span<const BlockExecutions> executions,
                   const Wishes& wishes, const Observations& observations) {
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
  const Observed observed = observed_in(*module, observations);
  auto work = std::make_unique<Work>(*module, counts, observed, false);
  work->run(wishes);
  if (wishes.validate_each || !work->fault_in(work->module()).empty()) {
    work = std::make_unique<Work>(std::move(*module), std::move(counts), observed, true);
    work->run(wishes);
  }
  if (!work->did_something()) {
    out.steps = work->steps();
    out.why = "the profile gives nothing to change";
    return out;
  }
  work->validate_from_now();
  work->simplify_all();
  out.steps = work->steps();
  const Size after = work->size();
  out.instructions_after = after.instructions;
  out.slots_after = after.slots;
  out.words = work->module().serialise();
  return out;
}

}  // namespace rayreplay::optimise
