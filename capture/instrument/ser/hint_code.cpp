#include "capture/instrument/ser/hint_code.hpp"

#include <algorithm>
#include <utility>

#include "capture/instrument/probe_libraries.hpp"

namespace rayreplay::instrument {

using spv::Op;

namespace {

constexpr double kFrontFace = 254;  ///< the hit kind

constexpr std::size_t at(HintField field) {
  return static_cast<std::size_t>(field);
}

/// Writes the body of a hint function.
class HintBody {
 public:
  HintBody(Linker& linker, const HintProgram& program, Id hit_object, const HitObjectWords& words)
      : linker_(linker), program_(program), hit_object_(hit_object), words_(words), double_(linker.type_double()) {}

  std::vector<Instruction> code;
  HintValues values{};

  Id value(Op op, Id type, std::initializer_list<Word> operands) {
    return value(number(op), type, operands);
  }
  Id value(Word op, Id type, std::initializer_list<Word> operands) {
    const Id id = linker_.fresh();
    Instruction instruction(op, {type, id});
    for (const Word word : operands) {
      instruction.add(word);
    }
    code.push_back(std::move(instruction));
    return id;
  }

  [[nodiscard]] bool needs(std::initializer_list<HintField> fields) const {
    return std::any_of(fields.begin(), fields.end(), [this](HintField field) { return program_.uses(field); });
  }

  void argument(HintField field, Id parameter) {
    const bool real = field == HintField::TMax;
    values[at(field)] = value(real ? Op::OpFConvert : Op::OpConvertUToF, double_, {parameter});
  }

  /// Fields of every traced hit object.
  void ray() {
    using enum HintField;
    const auto vector = [this](Word op, HintField first) {
      const Id whole = value(op, linker_.type_vec(3), {hit_object_});
      for (std::uint32_t i = 0; i < 3; ++i) {
        const Id part = value(Op::OpCompositeExtract, linker_.type_float(), {whole, i});
        values[at(first) + i] = value(Op::OpFConvert, double_, {part});
      }
    };
    const bool points = needs({PointX, PointY, PointZ});
    if (points || needs({OriginX, OriginY, OriginZ})) {
      vector(words_.origin, OriginX);
    }
    if (points || needs({DirectionX, DirectionY, DirectionZ})) {
      vector(words_.direction, DirectionX);
    }
    if (needs({TMin})) {
      const Id least = value(words_.t_min, linker_.type_float(), {hit_object_});
      values[at(TMin)] = value(Op::OpFConvert, double_, {least});
    }
  }

  /// Fields of hits alone; 0 of a miss, which is not asked for them, because SPIR-V leaves its answer open.
  void hit(Id entry) {
    using enum HintField;
    const Id is_hit = value(words_.is_hit, linker_.type_bool(), {hit_object_});
    const Id zero = linker_.constant_double(0.0);
    if (needs({Miss})) {
      values[at(Miss)] = value(Op::OpSelect, double_, {is_hit, zero, linker_.constant_double(1.0)});
    }
    const bool points = needs({PointX, PointY, PointZ});
    std::vector<std::pair<HintField, Word>> wanted;
    const auto want = [&](HintField field, Word op, bool used) {
      if (used) {
        wanted.emplace_back(field, op);
      }
    };
    want(Instance, words_.instance, needs({Instance}));
    want(Primitive, words_.primitive, needs({Primitive}));
    want(Geometry, words_.geometry, needs({Geometry}));
    want(Material, words_.record_index, needs({Material}));
    want(CustomIndex, words_.custom_index, needs({CustomIndex}));
    want(HitKind, words_.hit_kind, needs({HitKind, FrontFace}));
    want(Distance, words_.t_max, points || needs({Distance}));
    if (wanted.empty()) {
      return;
    }
    const Id then = linker_.fresh();
    const Id end = linker_.fresh();
    code.emplace_back(Op::OpSelectionMerge, std::initializer_list<Word>{end, 0});
    code.emplace_back(Op::OpBranchConditional, std::initializer_list<Word>{is_hit, then, end});
    code.emplace_back(Op::OpLabel, std::initializer_list<Word>{then});
    for (const auto& [field, op] : wanted) {
      const bool real = field == Distance;
      const Id own = value(op, real ? linker_.type_float() : linker_.type_uint(), {hit_object_});
      values[at(field)] = value(real ? Op::OpFConvert : Op::OpConvertUToF, double_, {own});
    }
    code.emplace_back(Op::OpBranch, std::initializer_list<Word>{end});
    code.emplace_back(Op::OpLabel, std::initializer_list<Word>{end});
    for (const auto& [field, op] : wanted) {
      values[at(field)] = value(Op::OpPhi, double_, {values[at(field)], then, zero, entry});
    }
    if (needs({FrontFace})) {
      const Id front = linker_.constant_double(kFrontFace);
      const Id is_front = value(Op::OpFOrdEqual, linker_.type_bool(), {values[at(HitKind)], front});
      values[at(FrontFace)] = value(Op::OpSelect, double_, {is_front, linker_.constant_double(1.0), zero});
    }
    for (std::uint32_t i = 0; i < 3 && points; ++i) {
      const std::array<Id, 2> far = {values[at(Distance)], values[at(DirectionX) + i]};
      const std::array<Id, 2> sum = {values[at(OriginX) + i], call("rr_multiply", far)};
      values[at(PointX) + i] = value(Op::OpSelect, double_, {is_hit, call("rr_add", sum), zero});
    }
  }

 private:
  Id call(const char* function, const std::array<Id, 2>& operands) {
    const Id callee = linker_.function(formulas_library(), function);
    return value(Op::OpFunctionCall, double_, {callee, operands[0], operands[1]});
  }

  Linker& linker_;
  const HintProgram& program_;
  Id hit_object_;
  const HitObjectWords& words_;
  Id double_;
};

}  // namespace

Id formula_code(Linker& linker, std::vector<Instruction>& out, const HintProgram& program, const HintValues& values) {
  const auto call = [&](Id type, const char* function, std::span<const Id> operands) {
    const Id id = linker.fresh();
    Instruction instruction(Op::OpFunctionCall, {type, id, linker.function(formulas_library(), function)});
    for (const Id operand : operands) {
      instruction.add(operand);
    }
    out.push_back(std::move(instruction));
    return id;
  };
  const Id type = linker.type_double();
  std::vector<Id> stack;
  for (const HintTerm& term : program.terms) {
    if (term.kind == HintTerm::Kind::Number) {
      stack.push_back(linker.constant_double(term.number));
    } else if (term.kind == HintTerm::Kind::Field) {
      stack.push_back(values[at(term.field)]);
    } else {
      const HintOperation& operation = kHintOperations.at(term.operation);
      const std::size_t first = stack.size() - operation.takes;
      const Id result = call(type, operation.function, std::span(stack).subspan(first));
      stack.resize(first);
      stack.push_back(result);
    }
  }
  const std::uint64_t most = (std::uint64_t{1} << program.bits) - 1;
  const std::array<Id, 2> last = {stack.front(), linker.constant(static_cast<std::uint32_t>(most))};
  return call(linker.type_uint(), "rr_hint", last);
}

HintFunction::HintFunction(Linker& linker, const HintProgram& program, Id hit_object, const HitObjectWords& words)
    : id_(linker.fresh()) {
  using enum HintField;
  HintBody body(linker, program, hit_object, words);
  std::vector<Id> types;
  std::vector<Instruction> parameters;
  for (const HintField field : {X, Y, Z, Bounce, Site, Flags, TMax}) {
    if (program.uses(field)) {
      arguments_.push_back(field);
      types.push_back(field == TMax ? linker.type_float() : linker.type_uint());
      const Id parameter = linker.fresh();
      parameters.emplace_back(Op::OpFunctionParameter, std::initializer_list<Word>{types.back(), parameter});
      body.argument(field, parameter);
    }
  }
  const Id entry = linker.fresh();
  body.ray();
  body.hit(entry);
  const Id hint = formula_code(linker, body.code, program, body.values);
  Function function;
  const Id result = linker.type_uint();
  function.body.emplace_back(Op::OpFunction,
                             std::initializer_list<Word>{result, id_, 0, linker.type_function(result, types)});
  function.body.insert(function.body.end(), parameters.begin(), parameters.end());
  function.body.emplace_back(Op::OpLabel, std::initializer_list<Word>{entry});
  function.body.insert(function.body.end(), body.code.begin(), body.code.end());
  function.body.emplace_back(Op::OpReturnValue, std::initializer_list<Word>{hint});
  function.body.emplace_back(Op::OpFunctionEnd, std::initializer_list<Word>{});
  linker.add_function(std::move(function));
}

}  // namespace rayreplay::instrument
