#include "capture/instrument/ser/insert.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "capture/instrument/rewriter.hpp"
#include "capture/instrument/ser/hint_code.hpp"
#include "capture/instrument/ser/hit_object_words.hpp"
#include "capture/instrument/ser/left_alone.hpp"
#include "capture/spirv/trace_calls.hpp"
#include "capture/spirv/trace_sites.hpp"

namespace rayreplay::instrument {

using spv::Op;

namespace {

// Operands of OpTraceRayKHR, numbered from 1.
constexpr std::size_t kFlags = 2;
constexpr std::size_t kTMax = 10;
constexpr std::size_t kPayload = 11;

class Insertion {
 public:
  Insertion(Module& module, Rewriter& rewriter, const LeftAlone& left, const std::optional<HintProgram>& hint,
            HitObjectForm form)
      : module_(module),
        rewriter_(rewriter),
        left_(left),
        hint_(hint),
        words_(hit_object_words(form)),
        numbers_(rewriter.analysis.shaders.size()) {}

  /// False: an entry point's interface grew too long.
  [[nodiscard]] bool run(InsertResult& result) {
    const std::size_t given = module_.functions.size();
    for (std::size_t f = 0; f < given; ++f) {
      const std::vector<std::uint32_t>& shaders = rewriter_.analysis.reached_by[f];
      if (shaders.empty()) {
        continue;
      }
      std::vector<Instruction> body;
      for (const Instruction& i : module_.functions[f].body) {
        if (!is_trace_call(i.op())) {
          body.push_back(i);
          continue;
        }
        const std::uint8_t site = numbers_.next(shaders).number;
        const Id bounce = count_ray(body, shaders);
        if (const std::string why = left_.reason(f, i); !why.empty()) {
          ++reasons_[why];
          body.push_back(i);
        } else {
          take_apart(body, i, shaders, site, bounce);
          ++result.inserted;
        }
      }
      module_.functions[f].body = std::move(body);
    }
    for (const auto& [why, calls] : reasons_) {
      result.notes.push_back("insert-ser: " + std::to_string(calls) +
                             (calls == 1 ? " trace call stays as it is: " : " trace calls stay as they are: ") + why);
    }
    return result.inserted == 0 || finish();
  }

 private:
  [[nodiscard]] bool generates(std::span<const std::uint32_t> shaders) const {
    return std::any_of(shaders.begin(), shaders.end(), [this](std::uint32_t shader) {
      return rewriter_.analysis.shaders[shader].stage == Stage::RayGeneration;
    });
  }

  /// The number of this ray among those of the ray-generation shader; 0: nobody asks for it.
  [[nodiscard]] Id count_ray(std::vector<Instruction>& out, std::span<const std::uint32_t> shaders) {
    if (!hint_ || !hint_->uses(HintField::Bounce) || !generates(shaders)) {
      return 0;
    }
    Linker& linker = rewriter_.linker;
    if (ray_counter_ == 0) {
      ray_counter_ = rewriter_.private_uint(linker.constant(0U));
    }
    const Id ray = rewriter_.load(out, linker.type_uint(), ray_counter_);
    const Id next = linker.fresh();
    out.emplace_back(Op::OpIAdd, std::initializer_list<Word>{linker.type_uint(), next, ray, linker.constant(1U)});
    rewriter_.store(out, ray_counter_, next);
    return ray;
  }

  void name(Id id, std::string_view text) {
    Instruction instruction(Op::OpName, {id});
    for (const Word word : string_words(text)) {
      instruction.add(word);
    }
    module_.debug.push_back(std::move(instruction));
  }

  Id hit_object() {
    if (hit_object_ == 0) {
      Linker& linker = rewriter_.linker;
      linker.capability(static_cast<spv::Capability>(words_.capability));
      linker.extension(words_.extension);
      const Id type = linker.fresh();
      module_.globals.emplace_back(words_.type, std::initializer_list<Word>{type});
      hit_object_ = linker.variable(spv::StorageClass::Private, type);
      name(hit_object_, "rr_hit_object");
    }
    return hit_object_;
  }

  void take_apart(std::vector<Instruction>& out, const Instruction& call, std::span<const std::uint32_t> shaders,
                  std::uint8_t site, Id bounce) {
    const Id object = hit_object();
    Instruction trace(words_.trace, {object});
    for (std::size_t i = 1; i <= kPayload; ++i) {
      trace.add(call[i]);
    }
    out.push_back(std::move(trace));
    Instruction reorder(words_.reorder, {object});
    if (hint_) {
      reorder.add(hint_of(out, call, shaders, site, bounce));
      reorder.add(rewriter_.linker.constant(hint_->bits));
    }
    out.push_back(std::move(reorder));
    if (left_.closest_hits(call[kFlags]) == ClosestHits::Called) {
      out.emplace_back(words_.execute, std::initializer_list<Word>{object, call[kPayload]});
    } else {
      const std::array<Id, 1> arguments = {rewriter_.as_uint(out, call[kFlags])};
      (void)rewriter_.call(out, rewriter_.linker.type_void(), execute_function(call[kPayload]), arguments);
    }
  }

  [[nodiscard]] Id hint_of(std::vector<Instruction>& out, const Instruction& call,
                           std::span<const std::uint32_t> shaders, std::uint8_t site, Id bounce) {
    Linker& linker = rewriter_.linker;
    if (!hint_function_) {
      hint_function_.emplace(linker, *hint_, hit_object_, words_);
      name(hint_function_->id(), "rr_hint_of_hit");
    }
    Id launch = 0;
    const auto coordinate = [&](std::uint32_t component) {
      if (launch == 0) {
        launch = rewriter_.builtin(out, spv::BuiltIn::LaunchIdKHR, shaders);
      }
      const Id id = linker.fresh();
      out.emplace_back(Op::OpCompositeExtract, std::initializer_list<Word>{linker.type_uint(), id, launch, component});
      return id;
    };
    std::vector<Id> arguments;
    for (const HintField field : hint_function_->arguments()) {
      switch (field) {
        case HintField::X:
        case HintField::Y:
        case HintField::Z:
          arguments.push_back(coordinate(static_cast<std::uint32_t>(field) - static_cast<std::uint32_t>(HintField::X)));
          break;
        case HintField::Bounce:
          arguments.push_back(bounce);
          break;
        case HintField::Site:
          arguments.push_back(linker.constant(std::uint32_t{site}));
          break;
        case HintField::Flags:
          arguments.push_back(rewriter_.as_uint(out, call[kFlags]));
          break;
        default:
          arguments.push_back(call[kTMax]);
          break;
      }
    }
    return rewriter_.call(out, linker.type_uint(), hint_function_->id(), arguments);
  }

  /// A function of the ray's flags that executes the hit object's shader, unless they skip it.
  [[nodiscard]] Id execute_function(Id payload) {
    Id& id = execute_functions_[payload];
    if (id != 0) {
      return id;
    }
    Linker& linker = rewriter_.linker;
    id = linker.fresh();
    name(id, "rr_execute_hit_object");
    const Id boolean = linker.type_bool();
    const Id integer = linker.type_uint();
    const Id none = linker.type_void();
    const std::array<Id, 1> parameters = {integer};
    const Id flags = linker.fresh(), entry = linker.fresh(), run = linker.fresh(), end = linker.fresh();
    const Id bit = linker.fresh(), skips = linker.fresh(), is_hit = linker.fresh(), left_out = linker.fresh();
    Function function;
    const auto add = [&function](auto op, std::initializer_list<Word> operands) {
      function.body.emplace_back(op, operands);
    };
    add(Op::OpFunction, {none, id, 0, linker.type_function(none, parameters)});
    add(Op::OpFunctionParameter, {integer, flags});
    add(Op::OpLabel, {entry});
    add(Op::OpBitwiseAnd, {integer, bit, flags, linker.constant(kSkipsClosestHit)});
    add(Op::OpINotEqual, {boolean, skips, bit, linker.constant(0U)});
    add(words_.is_hit, {boolean, is_hit, hit_object_});
    add(Op::OpLogicalAnd, {boolean, left_out, skips, is_hit});
    add(Op::OpSelectionMerge, {end, 0});
    add(Op::OpBranchConditional, {left_out, end, run});
    add(Op::OpLabel, {run});
    add(words_.execute, {hit_object_, payload});
    add(Op::OpBranch, {end});
    add(Op::OpLabel, {end});
    add(Op::OpReturn, {});
    add(Op::OpFunctionEnd, {});
    linker.add_function(std::move(function));
    return id;
  }

  [[nodiscard]] bool finish() {
    for (const Shader& shader : rewriter_.analysis.shaders) {
      // SPIR-V 1.4 and later list all variables that an entry point reaches.
      if (shader.stage == Stage::RayGeneration) {
        module_.entry_points[shader.entry_point].add(hit_object_);
      }
    }
    const bool fits = rewriter_.finish_interfaces() &&
                      std::all_of(module_.entry_points.begin(), module_.entry_points.end(),
                                  [](const Instruction& i) { return i.size() <= kMaxInstructionWords; });
    rewriter_.linker.finish();
    return fits;
  }

  Module& module_;
  Rewriter& rewriter_;
  const LeftAlone& left_;
  const std::optional<HintProgram>& hint_;
  const HitObjectWords& words_;
  SiteNumbers numbers_;
  std::map<std::string, std::uint32_t> reasons_;
  Id hit_object_ = 0;
  Id ray_counter_ = 0;
  std::optional<HintFunction> hint_function_;
  std::map<Id, Id> execute_functions_;  ///< by payload
};

bool traces(const Module& module) {
  return std::any_of(module.functions.begin(), module.functions.end(), [](const Function& function) {
    return std::any_of(function.body.begin(), function.body.end(),
                       [](const Instruction& i) { return is_trace_call(i.op()); });
  });
}

InsertResult insert(Module module, const std::optional<HintProgram>& hint, HitObjectForm form) {
  InsertResult result;
  std::vector<Shader> shaders = shaders_of(module, 0);
  if (shaders.empty() || !traces(module)) {
    return result;
  }
  if (const std::string why = whole_module_left_alone(module); !why.empty()) {
    result.notes.push_back("insert-ser: the shader stays as it is: " + why);
    return result;
  }
  Options options;
  options.record = false;
  Result ignored;
  Rewriter rewriter(module, options, analyse(module, std::move(shaders)), FrozenConstants{}, ignored);
  const LeftAlone left(module, rewriter.analysis);
  if (!Insertion(module, rewriter, left, hint, form).run(result) || module.bound > kMaxBound) {
    return {{}, 0, {"insert-ser: the shader stays as it is: with hit objects it is beyond SPIR-V's limits"}};
  }
  if (result.inserted != 0) {
    result.spirv = module.serialise();
  }
  return result;
}

}  // namespace

InsertResult insert_reordering(std::span<const std::uint32_t> spirv, const std::optional<HintProgram>& hint,
                               HitObjectForm form) try {
  std::string reason;
  std::optional<Module> module = parse(spirv, reason);
  return module && !module->memory_model.empty() ? insert(std::move(*module), hint, form) : InsertResult{};
} catch (...) {
  try {
    return {{}, 0, {"insert-ser: the shader stays as it is: out of memory"}};
  } catch (...) {
    return {};  // no memory for the reason, either
  }
}

}  // namespace rayreplay::instrument
