#include "capture/instrument/rewriter.hpp"

#include <algorithm>
#include <utility>

#include "capture/instrument/probe_libraries.hpp"

namespace rayreplay::instrument {

using spv::BuiltIn;
using spv::Op;

Rewriter::Rewriter(Module& target, const Options& wishes, Analysis known, const FrozenConstants& frozen, Result& out)
    : module(target), options(wishes), linker(target, frozen), result(out), analysis(std::move(known)) {
  for (const Instruction& i : module.annotations) {
    if (!i.is(Op::OpDecorate) || i[2] != static_cast<Word>(spv::Decoration::BuiltIn)) {
      continue;
    }
    const Instruction* variable = global(i[1]);
    if (variable == nullptr || !variable->is(Op::OpVariable) ||
        (*variable)[3] != static_cast<Word>(spv::StorageClass::Input)) {
      continue;
    }
    const Instruction* pointer = global((*variable)[1]);
    if (pointer != nullptr && pointer->is(Op::OpTypePointer)) {
      variables_[static_cast<BuiltIn>(i[3])].push_back(i[1]);
      pointee_[i[1]] = (*pointer)[3];
    }
  }
  for (const Shader& shader : analysis.shaders) {
    const Instruction& entry = module.entry_points[shader.entry_point];
    const std::size_t first = entry.after_string(3);
    const auto ids = entry.operands();
    interfaces_.emplace_back(ids.begin() + static_cast<std::ptrdiff_t>(std::min(first - 1, ids.size())), ids.end());
  }
  added_.resize(interfaces_.size());
  const bool no_device_scope = module.memory_model.front()[2] == static_cast<Word>(spv::MemoryModel::Vulkan) &&
                               !module.has(spv::Capability::VulkanMemoryModelDeviceScope);
  clock_ = options.clock && !no_device_scope;
  if (options.record && options.clock && no_device_scope) {
    note("the Vulkan memory model without device scope: no device clock, recorded as 0");
  }
}

const Instruction* Rewriter::global(Id id) const {
  const auto found = analysis.globals.find(id);
  return found == analysis.globals.end() ? nullptr : &module.globals[found->second];
}

Id Rewriter::pointee(Id variable) const {
  const auto found = pointee_.find(variable);
  return found == pointee_.end() ? 0 : found->second;
}

Id Rewriter::component_type(Id vector) const {
  const Instruction* type = global(vector);
  return type != nullptr && type->is(Op::OpTypeVector) ? (*type)[2] : 0;
}

void Rewriter::note(const std::string& text) {
  if (std::find(result.notes.begin(), result.notes.end(), text) == result.notes.end()) {
    result.notes.push_back(text);
  }
}

Id Rewriter::load(std::vector<Instruction>& out, Id type, Id pointer) {
  const Id id = linker.fresh();
  out.emplace_back(Op::OpLoad, std::initializer_list<Word>{type, id, pointer});
  return id;
}

void Rewriter::store(std::vector<Instruction>& out, Id pointer, Id value) {
  out.emplace_back(Op::OpStore, std::initializer_list<Word>{pointer, value});
}

Id Rewriter::bitcast(std::vector<Instruction>& out, Id type, Id value) {
  const Id id = linker.fresh();
  out.emplace_back(Op::OpBitcast, std::initializer_list<Word>{type, id, value});
  return id;
}

Id Rewriter::call(std::vector<Instruction>& out, Id type, Id function, std::span<const Id> arguments) {
  const Id id = linker.fresh();
  Instruction instruction(Op::OpFunctionCall, {type, id, function});
  for (const Id argument : arguments) {
    instruction.add(argument);
  }
  out.push_back(std::move(instruction));
  return id;
}

void Rewriter::probe(std::vector<Instruction>& out, const char* name, std::span<const std::uint32_t> shaders,
                     std::span<const Id> more) {
  (void)probe(out, linker.type_void(), name, shaders, more);
}

Id Rewriter::probe(std::vector<Instruction>& out, Id type, const char* name, std::span<const std::uint32_t> shaders,
                   std::span<const Id> more) {
  return call_probe(out, type, event_function(name), shaders, more);
}

Id Rewriter::call_probe(std::vector<Instruction>& out, Id type, Id function, std::span<const std::uint32_t> shaders,
                        std::span<const Id> more) {
  std::vector<Id> arguments;
  arguments.reserve(kCommonArguments + more.size());
  arguments.push_back(shader_id(out, shaders));
  arguments.push_back(builtin(out, BuiltIn::LaunchIdKHR, shaders));
  arguments.push_back(builtin(out, BuiltIn::LaunchSizeKHR, shaders));
  arguments.push_back(options.sm ? builtin(out, BuiltIn::SMIDNV, shaders) : linker.constant(0));
  arguments.push_back(options.sm ? builtin(out, BuiltIn::WarpIDNV, shaders) : linker.constant(0));
  arguments.insert(arguments.end(), more.begin(), more.end());
  return call(out, type, function, arguments);
}

Id Rewriter::shader_id(std::vector<Instruction>& out, std::span<const std::uint32_t> shaders) {
  if (shaders.size() == 1) {
    return linker.constant(analysis.shaders[shaders[0]].id);
  }
  if (shader_variable_ == 0) {
    shader_variable_ = private_uint();
  }
  return load(out, linker.type_uint(), shader_variable_);
}

Id Rewriter::event_function(const char* name) {
  return linker.function(events_library(clock_, options.ballot_extension), name);
}

Id Rewriter::lookup(const char* name) {
  return linker.function(lookups_library(), name);
}

Id Rewriter::private_of(Id type, Id initializer) {
  const Id id = linker.variable(spv::StorageClass::Private, type, initializer);
  privates_.insert(id);
  return id;
}

Id Rewriter::as_uint(std::vector<Instruction>& out, Id value) {
  const Id type = linker.type_uint();
  const Id given = analysis.type_of(value);
  return given == 0 || given == type ? value : bitcast(out, type, value);
}

const std::vector<Id>& Rewriter::variables(BuiltIn which) const {
  static const std::vector<Id> kNone;
  const auto found = variables_.find(which);
  return found == variables_.end() ? kNone : found->second;
}

Id Rewriter::canonical_type(BuiltIn which) {
  switch (which) {
    case BuiltIn::LaunchIdKHR:
    case BuiltIn::LaunchSizeKHR:
      return linker.type_uvec(3);
    case BuiltIn::RayTmaxKHR:
      return linker.type_float();
    case BuiltIn::HelperInvocation:
      return linker.type_bool();
    default:
      return linker.type_uint();
  }
}

bool Rewriter::is_volatile(BuiltIn which) const {
  const auto is_intersection = [](const Shader& shader) { return shader.stage == Stage::Intersection; };
  return which == BuiltIn::SMIDNV || which == BuiltIn::WarpIDNV || which == BuiltIn::HelperInvocation ||
         (which == BuiltIn::RayTmaxKHR &&
          std::any_of(analysis.shaders.begin(), analysis.shaders.end(), is_intersection));
}

Id Rewriter::variable_of(BuiltIn which, std::uint32_t shader) {
  std::vector<Id>& all = variables_[which];
  for (const Id id : all) {
    if (interfaces_[shader].contains(id) || added_[shader].contains(id)) {
      return id;
    }
  }
  if (all.empty()) {
    const Id type = canonical_type(which);
    const Id id = linker.variable(spv::StorageClass::Input, type);
    linker.decorate(id, {static_cast<Word>(spv::Decoration::BuiltIn), static_cast<Word>(which)});
    if (which == BuiltIn::SMIDNV || which == BuiltIn::WarpIDNV) {
      linker.capability(spv::Capability::ShaderSMBuiltinsNV);
      linker.extension("SPV_NV_shader_sm_builtins");
    }
    if (is_volatile(which) && module.memory_model.front()[2] != static_cast<Word>(spv::MemoryModel::Vulkan)) {
      linker.decorate(id, {static_cast<Word>(spv::Decoration::Volatile)});
    }
    all.push_back(id);
    pointee_[id] = type;
  }
  added_[shader].insert(all.front());
  return all.front();
}

Id Rewriter::load_variable(std::vector<Instruction>& out, BuiltIn which, Id variable) {
  const Id given = pointee_[variable];
  const Id wanted = canonical_type(which);
  const Id value = load(out, given, variable);
  if (is_volatile(which) && module.memory_model.front()[2] == static_cast<Word>(spv::MemoryModel::Vulkan)) {
    out.back().add(static_cast<Word>(spv::MemoryAccessMask::Volatile));
  }
  return given == wanted ? value : bitcast(out, wanted, value);
}

Id Rewriter::builtin_of(std::vector<Instruction>& out, BuiltIn which, std::uint32_t shader) {
  return load_variable(out, which, variable_of(which, shader));
}

Id Rewriter::private_copy(BuiltIn which) {
  Id& id = private_copies_[which];
  if (id == 0) {
    id = private_of(canonical_type(which));
  }
  return id;
}

Id Rewriter::builtin(std::vector<Instruction>& out, BuiltIn which, std::span<const std::uint32_t> shaders) {
  if (private_copies_.contains(which)) {
    return load(out, canonical_type(which), private_copies_[which]);
  }
  Id variable = 0;
  bool agreed = true;
  for (const std::uint32_t shader : shaders) {
    const Id own = variable_of(which, shader);
    agreed = agreed && (variable == 0 || variable == own);
    variable = own;
  }
  // Shaders with variables of their own share this code.
  return agreed ? load_variable(out, which, variable) : load(out, canonical_type(which), private_copy(which));
}

bool Rewriter::finish_interfaces() {
  const bool all_globals = module.version >= 0x00010400;
  for (std::size_t s = 0; s < analysis.shaders.size(); ++s) {
    Instruction& entry = module.entry_points[analysis.shaders[s].entry_point];
    for (const Id id : added_[s]) {
      entry.add(id);
    }
    if (all_globals) {
      for (const Id id : privates_) {
        entry.add(id);
      }
    }
    if (entry.size() > kMaxInstructionWords) {
      return false;
    }
  }
  return true;
}

}  // namespace rayreplay::instrument
