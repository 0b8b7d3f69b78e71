#include "capture/instrument/instrument.hpp"

#include <new>
#include <utility>

#include "capture/instrument/analysis.hpp"
#include "capture/instrument/passes/accesses.hpp"
#include "capture/instrument/passes/passes.hpp"
#include "capture/instrument/probe_libraries.hpp"
#include "capture/instrument/probes/constants.h"
#include "capture/instrument/probes/record.h"

namespace rayreplay::instrument {

namespace {

constexpr Word kVersion13 = 0x00010300;  ///< the first with subgroup operations

Result refused(std::string reason) {
  Result result;
  result.status = Status::Refused;
  result.reason = std::move(reason);
  return result;
}

FrozenConstants frozen_constants(const Options& options) {
  const Window everything{0, 0, 0xFFFFFFFF, 0xFFFFFFFF};
  const Window window = options.window.value_or(everything);
  const SwizzleTable swizzle = options.swizzle.value_or(SwizzleTable{});
  FrozenConstants values{};
  values[RR_CONST_EVENTS] = options.events_address;
  values[RR_CONST_EVENTS_WORDS] = options.events_words;
  values[RR_CONST_CONTROL] = options.control_address;
  values[RR_CONST_WIDE] = options.wide_subgroups ? 1 : 0;
  values[RR_CONST_GATE] = options.gate ? 1 : 0;
  values[RR_CONST_LARGE] = options.events_words > 0xFFFFFFFF ? 1 : 0;
  values[RR_CONST_SAMPLED] = options.window || options.every > 1 ? 1 : 0;
  values[RR_CONST_WINDOW_X] = window.x;
  values[RR_CONST_WINDOW_Y] = window.y;
  values[RR_CONST_WINDOW_WIDTH] = window.width;
  values[RR_CONST_WINDOW_HEIGHT] = window.height;
  values[RR_CONST_EVERY] = options.every > 1 ? options.every : 1;
  values[RR_CONST_ACCESS_SAMPLED] = options.window || options.every > 1 || options.access_every > 1 ? 1 : 0;
  values[RR_CONST_ACCESS_EVERY] = options.access_every > 1 ? options.access_every : 1;
  values[RR_CONST_SWIZZLE] = swizzle.address;
  values[RR_CONST_SWIZZLE_WIDTH] = swizzle.width;
  values[RR_CONST_SWIZZLE_HEIGHT] = swizzle.height;
  values[RR_CONST_SWIZZLE_DEPTH] = swizzle.depth;
  values[RR_CONST_OPACITY] = options.opacity_address;
  values[RR_CONST_RAY_FLAGS] = options.ray_flags_address;
  values[RR_CONST_RAY_FLAGS_THREADS] = options.ray_flags_threads;
  return values;
}

std::vector<EntryPoint> describe(const std::vector<Shader>& shaders) {
  std::vector<EntryPoint> points;
  points.reserve(shaders.size());
  for (const Shader& shader : shaders) {
    points.push_back({shader.stage, shader.name, shader.id});
  }
  return points;
}

/// Empty, or why the module stays unchanged.
std::string unsupported(const Module& module, std::size_t shaders, const Options& options) {
  if (options.first_shader_id + shaders > 0x10000) {
    return "shader ids beyond 16 bits";
  }
  const Word addressing = module.memory_model.front()[1];
  if (addressing != static_cast<Word>(spv::AddressingModel::Logical) &&
      addressing != static_cast<Word>(spv::AddressingModel::PhysicalStorageBuffer64)) {
    return "addressing model " + std::to_string(addressing) + " has no buffer device addresses";
  }
  return {};
}

bool counts(const Options& options) {
  return options.count_blocks || options.count_branches || options.count_loads || options.value_slots != 0 ||
         (options.record_paths && options.record);
}

/// Visits the code of ray-tracing shaders.
class Walk {
 public:
  Walk(Rewriter& rewriter, const Module& given)
      : rewriter_(rewriter), sites_(rewriter), hit_objects_(rewriter), markers_(rewriter) {
    if (rewriter.options.record_paths && rewriter.options.record) {
      paths_.emplace(rewriter, given);
    }
    if (rewriter.options.record_accesses && rewriter.options.record) {
      accesses_.emplace(rewriter);
    }
    if (counts(rewriter.options)) {
      counters_.emplace(rewriter, given, paths_ ? &*paths_ : nullptr);
    }
    if (rewriter.options.swizzle) {
      replaced_.replace(rewriter, spv::BuiltIn::LaunchIdKHR);
      if (rewriter.options.record || looks_at_ray_flags(rewriter)) {
        // Records name the thread that the application sees; ray flags are kept under one name in all shaders.
        (void)rewriter.private_copy(spv::BuiltIn::LaunchIdKHR);
      }
    }
    if (rewriter.options.observe_all && !rewriter.variables(spv::BuiltIn::IncomingRayFlagsKHR).empty()) {
      if (rewriter.options.ray_flags_threads != 0) {
        replaced_.replace(rewriter, spv::BuiltIn::IncomingRayFlagsKHR);
      } else if (rewriter.options.opacity_address == 0) {
        rewriter.note("observe_all: the shader reads its ray's flags, and sees NoOpaque in place of Opaque");
      }
    }
    if (rewriter.options.observe_all && rewriter.options.opacity_address != 0 &&
        rewriter.options.ray_flags_threads == 0) {
      rewriter.note(
          "observe_all: no memory for ray flags: with any-hit shaders of the application rays stay as they are");
    }
  }

  /// Empty, or why the module cannot be rewritten.
  [[nodiscard]] std::string run() {
    Module& module = rewriter_.module;
    for (std::size_t f = 0; f < module.functions.size(); ++f) {
      const std::vector<std::uint32_t>& shaders = rewriter_.analysis.reached_by[f];
      if (shaders.empty()) {
        continue;
      }
      std::vector<Instruction> body;
      std::vector<std::uint32_t> origins;
      const Place place{rewriter_, shaders, body};
      if (accesses_) {
        accesses_->enter(module.functions[f]);
      }
      for (std::uint32_t i = 0; i < module.functions[f].body.size(); ++i) {
        const std::vector<Instruction>& given = module.functions[f].body;
        markers_.before(place, given[i], i + 1 < given.size() ? &given[i + 1] : nullptr);
        for (Instruction& instruction : unfused(given[i])) {
          if (std::string reason = add(place, f, i, instruction); !reason.empty()) {
            return reason;
          }
        }
        origins.resize(body.size(), i);
      }
      module.functions[f].body = std::move(body);
      if (counters_) {
        counters_->add(f, shaders, origins);
      }
    }
    if (counters_) {
      counters_->finish();
    }
    if (paths_) {
      paths_->finish();
    }
    if (accesses_) {
      accesses_->finish();
    }
    return wrap_entry_points(rewriter_, replaced_, paths_ ? &*paths_ : nullptr);
  }

  /// The constant that marks the keys of tables; 0: none.
  [[nodiscard]] Id table_mark() const {
    return counters_ ? counters_->table_mark() : 0;
  }
  /// The constant with the address of the counters; 0: none.
  [[nodiscard]] Id counters_address() const {
    return counters_ ? counters_->address() : 0;
  }

 private:
  [[nodiscard]] std::string add(const Place& place, std::size_t function, std::uint32_t index,
                                Instruction& instruction) {
    if (std::string reason = replaced_.rewrite(rewriter_, instruction); !reason.empty()) {
      return reason;
    }
    const Options& options = rewriter_.options;
    Id flags = 0;
    if (const TraceLayout layout = trace_layout(instruction.op()); layout.acceleration_structure != 0) {
      flags = instruction[layout.acceleration_structure + 1];
      const std::uint8_t site = sites_.add(instruction, function);
      if (options.record) {
        record_trace_call(place, instruction, site);
      }
      if (options.observe_all) {
        change_ray_flags(place, instruction);
      }
    }
    if (!options.record) {
      place.out.push_back(std::move(instruction));
      return {};
    }
    hit_objects_.before(place, instruction, flags);
    record_before(place, instruction);
    if (paths_) {
      paths_->before(place, instruction);
    }
    if (accesses_) {
      accesses_->before(place, function, index, instruction);
    }
    place.out.push_back(instruction);
    record_after(place, instruction);
    hit_objects_.after(place, instruction);
    return {};
  }

  Rewriter& rewriter_;
  TraceSites sites_;
  HitObjects hit_objects_;
  Markers markers_;
  ReplacedBuiltins replaced_;
  std::optional<Paths> paths_;
  std::optional<Counters> counters_;
  std::optional<Accesses> accesses_;
};

/// The index of the first word of a constant's value in a serialised module.
std::size_t value_word(const std::vector<Word>& words, Id constant) {
  constexpr std::size_t kHeaderWords = 5;
  std::size_t at = kHeaderWords;
  while ((words[at] & 0xFFFF) != number(spv::Op::OpConstant) || words[at + 2] != constant) {
    at += words[at] >> 16;
  }
  return at + 3;
}

Result rewrite(Module module, std::vector<Shader> shaders, const Options& options) {
  if (std::string reason = unsupported(module, shaders.size(), options); !reason.empty()) {
    return refused(std::move(reason));
  }
  Result result;
  result.entry_points = describe(shaders);
  const std::vector<Word> given_words = module.serialise();
  const Module given = counts(options) ? module : Module{};
  const FrozenConstants frozen = frozen_constants(options);
  Analysis analysis = analyse(module, std::move(shaders));
  Rewriter rewriter(module, options, std::move(analysis), frozen, result);
  Walk walk(rewriter, given);
  if (std::string reason = walk.run(); !reason.empty()) {
    return refused(std::move(reason));
  }
  if (!rewriter.finish_interfaces()) {
    return refused("an entry point's interface exceeds an instruction's length");
  }
  rewriter.linker.finish();
  if ((options.record || walk.counters_address() != 0) && module.version < kVersion13) {
    module.version = kVersion13;
  }
  if (module.bound > kMaxBound) {
    return refused("more ids than SPIR-V allows");
  }
  result.spirv = module.serialise();
  if (result.spirv == given_words) {
    result.spirv.clear();  // without records: nothing that the options ask for
    return result;
  }
  if (walk.counters_address() != 0) {
    result.counters.address_word = value_word(result.spirv, walk.counters_address());
    result.counters.mark_word = walk.table_mark() != 0 ? value_word(result.spirv, walk.table_mark()) : 0;
  }
  result.status = Status::Instrumented;
  return result;
}

}  // namespace

Result instrument(std::span<const std::uint32_t> spirv, const Options& options) try {
  std::string reason;
  std::optional<Module> module = parse(spirv, reason);
  if (!module) {
    return refused(std::move(reason));
  }
  std::vector<Shader> shaders = shaders_of(*module, options.first_shader_id, options.stages);
  if (shaders.empty()) {
    return {};
  }
  if (options.stages == Stages::RayTracing) {
    return rewrite(std::move(*module), std::move(shaders), options);
  }
  Options counting;
  counting.stages = options.stages;
  counting.record = false;
  counting.sm = options.sm;
  counting.wide_subgroups = options.wide_subgroups;
  counting.ballot_extension = options.ballot_extension;
  counting.count_blocks = options.count_blocks;
  counting.count_branches = options.count_branches;
  counting.count_loads = options.count_loads;
  counting.trust_analysis = options.trust_analysis;
  counting.value_slots = options.value_slots;
  counting.counter_copies = options.counter_copies;
  return rewrite(std::move(*module), std::move(shaders), counting);
} catch (const std::bad_alloc&) {
  return refused("out of memory");
} catch (...) {
  return refused("an internal error");
}

std::vector<EntryPoint> entry_points(std::span<const std::uint32_t> spirv, std::uint16_t first_shader_id,
                                     Stages stages) try {
  std::string reason;
  const std::optional<Module> module = parse(spirv, reason);
  return module ? describe(shaders_of(*module, first_shader_id, stages)) : std::vector<EntryPoint>{};
} catch (...) {
  return {};  // out of memory
}

bool uses_ray_queries(std::span<const std::uint32_t> spirv) {
  constexpr std::size_t kHeaderWords = 5;
  if (spirv.size() < kHeaderWords || spirv[0] != spv::MagicNumber) {
    return false;
  }
  // Capabilities come first in a module.
  for (std::size_t at = kHeaderWords; at + 1 < spirv.size();) {
    const std::size_t words = spirv[at] >> 16U;
    if ((spirv[at] & 0xFFFFU) != number(spv::Op::OpCapability) || words == 0) {
      return false;
    }
    if (spirv[at + 1] == static_cast<Word>(spv::Capability::RayQueryKHR)) {
      return true;
    }
    at += words;
  }
  return false;
}

std::vector<std::uint32_t> recording_any_hit(const Options& options) {
  Options recording = options;
  recording.count_blocks.reset();  // it is none of the application's
  recording.count_branches = recording.count_loads = recording.record_paths = recording.record_accesses = false;
  recording.value_slots = 0;
  Result result = instrument(empty_any_hit(), recording);
  if (result.status == Status::Instrumented) {
    return std::move(result.spirv);
  }
  return {empty_any_hit().begin(), empty_any_hit().end()};  // nothing to record
}

}  // namespace rayreplay::instrument
