#include <array>

#include "capture/instrument/passes/passes.hpp"
#include "capture/instrument/probes/record.h"

namespace rayreplay::instrument {

using spv::Op;

namespace {

/// Bit of a shadow where the ray's flags begin.
constexpr std::uint32_t kShadowFlags = 24;

bool is_hit_object_type(Word op) {
  return op == number(Op::OpTypeHitObjectNV) || op == kOpTypeHitObjectEXT;
}

}  // namespace

std::vector<Instruction> unfused(const Instruction& i) {
  const auto words = i.operands();
  std::vector<Instruction> parts;
  const auto reorder_and_execute = [&](std::size_t payload) {
    Instruction reorder(kOpReorderThreadWithHitObjectEXT, {i[1]});
    for (std::size_t at = payload + 1; at < i.size(); ++at) {
      reorder.add(i[at]);  // hint and bits, both or neither
    }
    parts.push_back(std::move(reorder));
    parts.emplace_back(kOpHitObjectExecuteShaderEXT, std::initializer_list<Word>{i[1], i[payload]});
  };
  // Operands up to the payload, numbered from 1.
  constexpr std::size_t kTracePayload = 12;
  constexpr std::size_t kMotionPayload = 13;
  if (i.op() == kOpHitObjectReorderExecuteShaderEXT && words.size() >= 2) {
    reorder_and_execute(2);
  } else if (i.op() == kOpHitObjectTraceReorderExecuteEXT && words.size() >= kTracePayload) {
    parts.emplace_back(kOpHitObjectTraceRayEXT, words.first(kTracePayload));
    reorder_and_execute(kTracePayload);
  } else if (i.op() == kOpHitObjectTraceMotionReorderExecuteEXT && words.size() >= kMotionPayload) {
    parts.emplace_back(kOpHitObjectTraceRayMotionEXT, words.first(kMotionPayload));
    reorder_and_execute(kMotionPayload);
  } else {
    parts.push_back(i);
  }
  return parts;
}

HitObjects::HitObjects(Rewriter& rewriter) : rewriter_(rewriter) {
  std::unordered_set<Id> types;
  for (const Instruction& i : rewriter.module.globals) {
    if (is_hit_object_type(i.op())) {
      types.insert(i[1]);
    } else if (i.is(Op::OpTypePointer) && types.contains(i[3])) {
      pointers_.insert(i[1]);
    }
  }
  if (types.empty() || !rewriter.options.record) {
    pointers_.clear();
    return;
  }
  keeps_flags_ = rewriter.options.observe_all && rewriter.options.ray_flags_threads != 0;
  no_ray_ = rewriter.linker.constant(RR_NO_RAY);
  rewriter.trace_counter = rewriter.private_uint();
  const std::size_t given = rewriter.module.globals.size();
  for (std::size_t g = 0; g < given; ++g) {
    const Instruction& i = rewriter.module.globals[g];
    if (i.is(Op::OpVariable) && pointers_.contains(i[1])) {
      const Id variable = i[2];
      shadows_[variable] = rewriter.private_uint(no_ray_);
    }
  }
}

Id HitObjects::combine(const Place& place, Op op, Id a, Id b) {
  const Id id = rewriter_.linker.fresh();
  place.out.emplace_back(op, std::initializer_list<Word>{rewriter_.linker.type_uint(), id, a, b});
  return id;
}

Id HitObjects::ray_in(const Place& place, Id shadow) {
  return keeps_flags_ && shadow != no_ray_ ? combine(place, Op::OpBitwiseAnd, shadow, no_ray_) : shadow;
}

Id HitObjects::shadow_of(const Place& place, Id hit_object) {
  const auto shadow = shadows_.find(hit_object);
  if (shadow == shadows_.end()) {
    rewriter_.note("a hit object reached through a parameter or an array: which trace call made it is not recorded");
    return no_ray_;
  }
  return rewriter_.load(place.out, rewriter_.linker.type_uint(), shadow->second);
}

void HitObjects::set_shadow(const Place& place, Id hit_object, Id value) {
  if (const auto shadow = shadows_.find(hit_object); shadow != shadows_.end()) {
    rewriter_.store(place.out, shadow->second, value);
  }
}

void HitObjects::before(const Place& place, const Instruction& i, Id flags) {
  if (!active()) {
    return;
  }
  Rewriter& r = rewriter_;
  const Id type = r.linker.type_uint();
  if (const TraceLayout layout = trace_layout(i.op()); layout.acceleration_structure != 0) {
    const Id ray = r.load(place.out, type, r.trace_counter);
    r.store(place.out, r.trace_counter, combine(place, Op::OpIAdd, ray, r.linker.constant(1)));
    if (layout.hit_object && keeps_flags_) {
      // The flags for opacity and culling by opacity are in the low eight bits.
      const Id high =
          combine(place, Op::OpShiftLeftLogical, r.as_uint(place.out, flags), r.linker.constant(kShadowFlags));
      set_shadow(place, i[1], combine(place, Op::OpBitwiseOr, combine(place, Op::OpBitwiseAnd, ray, no_ray_), high));
    } else if (layout.hit_object) {
      set_shadow(place, i[1], ray);
    }
  } else if (makes_untraced(i.op())) {
    set_shadow(place, i[1], no_ray_);
  } else if (i.op() == number(Op::OpReorderThreadWithHintNV) || i.op() == kOpReorderThreadWithHintEXT) {
    const std::array<Id, 3> arguments = {r.as_uint(place.out, i[1]), r.as_uint(place.out, i[2]), no_ray_};
    r.probe(place.out, "rr_reorder", place.shaders, arguments);
  } else if (i.op() == number(Op::OpReorderThreadWithHitObjectNV) || i.op() == kOpReorderThreadWithHitObjectEXT) {
    const bool hint = i.size() > 3;
    const std::array<Id, 3> arguments = {hint ? r.as_uint(place.out, i[2]) : r.linker.constant(0),
                                         hint ? r.as_uint(place.out, i[3]) : r.linker.constant(0),
                                         ray_in(place, shadow_of(place, i[1]))};
    r.probe(place.out, "rr_reorder", place.shaders, arguments);
  } else if (i.op() == number(Op::OpHitObjectExecuteShaderNV) || i.op() == kOpHitObjectExecuteShaderEXT) {
    const Id shadow = shadow_of(place, i[1]);
    const std::array<Id, 1> arguments = {ray_in(place, shadow)};
    r.probe(place.out, "rr_execute", place.shaders, arguments);
    if (keeps_flags_ && shadow != no_ray_) {
      // The shader that runs next sees its own ray's flags, not those of the last trace call.
      keep_ray_flags(place, combine(place, Op::OpShiftRightLogical, shadow, r.linker.constant(kShadowFlags)));
    }
  } else if (i.is(Op::OpStore) && shadows_.contains(i[1])) {
    // A copy of a loaded hit object has the same origin.
    const auto loaded = loaded_.find(i[2]);
    set_shadow(place, i[1], loaded == loaded_.end() ? no_ray_ : loaded->second);
  }
}

void HitObjects::after(const Place& place, const Instruction& i) {
  if (!active()) {
    return;
  }
  if (i.is(Op::OpVariable) && pointers_.contains(i[1])) {
    Rewriter& r = rewriter_;
    const Id shadow = r.linker.fresh();
    const Id type = r.linker.type_pointer(spv::StorageClass::Function, r.linker.type_uint());
    place.out.emplace_back(Op::OpVariable, std::initializer_list<Word>{
                                               type, shadow, static_cast<Word>(spv::StorageClass::Function), no_ray_});
    shadows_[i[2]] = shadow;
  } else if (i.is(Op::OpLoad) && shadows_.contains(i[3])) {
    loaded_[i[2]] = shadow_of(place, i[3]);
  }
}

}  // namespace rayreplay::instrument
