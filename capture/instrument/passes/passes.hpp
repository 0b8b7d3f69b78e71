// The rewriting passes. Each handles one kind of instruction in functions that ray-tracing shaders reach, or the entry
// points; `instrument.cpp` runs them in one pass over the module.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "capture/block_counts/invocation_ends.hpp"
#include "capture/instrument/launch_levels.hpp"
#include "capture/instrument/passes/comparison.hpp"
#include "capture/instrument/rewriter.hpp"
#include "capture/spirv/trace_calls.hpp"
#include "capture/spirv/trace_sites.hpp"

namespace rayreplay::instrument {

/// Target of a function's new instructions, and the shaders that run it.
struct Place {
  Rewriter& rewriter;
  std::span<const std::uint32_t> shaders;
  std::vector<Instruction>& out;
};

// --- trace_calls.cpp: records of trace calls, and their static sites

/// Numbers of trace calls (spirv/trace_sites.hpp), and where their acceleration structures are bound.
class TraceSites {
 public:
  explicit TraceSites(Rewriter& rewriter);
  /// The site of the next trace call of a function; also adds it to the result.
  [[nodiscard]] std::uint8_t add(const Instruction& call, std::size_t function);

 private:
  Rewriter& rewriter_;
  spirv::SiteNumbers numbers_;
  std::unordered_map<Id, Id> origins_;  ///< of loaded, chained or passed values and pointers
  std::unordered_map<Id, std::pair<std::uint32_t, std::uint32_t>> bindings_;
};

void record_trace_call(const Place& place, const Instruction& call, std::uint8_t site);

// --- reports.cpp: records of decisions of intersection and any-hit shaders

void record_before(const Place& place, const Instruction& instruction);
void record_after(const Place& place, const Instruction& instruction);

// --- hit_objects.cpp: which trace call made a hit object; reorder and execute calls

/// An instruction, or the parts of a fused one, so that each part's record has its own place.
[[nodiscard]] std::vector<Instruction> unfused(const Instruction& instruction);

/// Every hit-object variable gets a shadow variable with the number of the trace call that made the object and, where
/// ray flags are kept, the application's flags from bit 24 on.
class HitObjects {
 public:
  explicit HitObjects(Rewriter& rewriter);
  /// flags: of a trace call, as the application gave them.
  void before(const Place& place, const Instruction& instruction, Id flags);
  void after(const Place& place, const Instruction& instruction);

 private:
  [[nodiscard]] bool active() const {
    return !pointers_.empty();
  }
  [[nodiscard]] Id combine(const Place& place, spv::Op op, Id a, Id b);
  [[nodiscard]] Id shadow_of(const Place& place, Id hit_object);
  [[nodiscard]] Id ray_in(const Place& place, Id shadow);
  void set_shadow(const Place& place, Id hit_object, Id value);

  Rewriter& rewriter_;
  std::unordered_set<Id> pointers_;     ///< types: pointers to hit objects
  std::unordered_map<Id, Id> shadows_;  ///< hit-object variable -> shadow
  std::unordered_map<Id, Id> loaded_;   ///< loaded hit object -> what its shadow held
  Id no_ray_ = 0;
  bool keeps_flags_ = false;
};

// --- markers.cpp: a developer's hint for the next trace call

/// Records instruction 1 of the extended set NonSemantic.rayreplay, `Hint`, with one operand: a 32-bit integer. Any
/// other instruction of the set is left alone, with a note.
class Markers {
 public:
  explicit Markers(Rewriter& rewriter);
  /// The instruction comes next; `next`: the application's instruction behind it, null at the end.
  void before(const Place& place, const Instruction& instruction, const Instruction* next);

 private:
  /// Empty, or why the marker is left alone.
  [[nodiscard]] std::string fault(const Place& place, const Instruction& marker, const Instruction* next) const;

  Rewriter& rewriter_;
  std::unordered_set<Id> sets_;  ///< imports of the set
  bool in_block_ = false;
};

// --- replaced_builtins.cpp: application's reads of a built-in variable see a private one

class ReplacedBuiltins {
 public:
  void replace(Rewriter& rewriter, spv::BuiltIn which);
  /// Empty, or why a use cannot be replaced.
  [[nodiscard]] std::string rewrite(Rewriter& rewriter, Instruction& instruction);
  /// Before the wrappers are made: the private copies that they must set.
  void ask_for_copies(Rewriter& rewriter) const;
  /// In a wrapper, behind the private copies: those of other types.
  void store_copies(Rewriter& rewriter, std::vector<Instruction>& out) const;

 private:
  struct Copy {
    spv::BuiltIn which;
    Id type = 0;      ///< as the application declared it
    Id variable = 0;  ///< private; 0: not read so far
  };
  [[nodiscard]] static Id copy(Rewriter& rewriter, Copy& copy);

  std::map<Id, Copy> replaced_;
  std::unordered_set<Id> chains_;  ///< pointers to components
};

// --- swizzle.cpp

[[nodiscard]] Id swizzled_launch_id(Rewriter& rewriter, std::vector<Instruction>& out, std::uint32_t shader);

// --- observe_all.cpp

/// With observe_all: whether the shaders store or read ray flags, and so need their thread's index.
[[nodiscard]] bool looks_at_ray_flags(const Rewriter& rewriter);
void change_ray_flags(const Place& place, Instruction& call);
/// Stores the flags in the thread's word.
void keep_ray_flags(const Place& place, Id flags);
/// The flags as the application gave them to the trace call; the launch id's private copy, if any, is set before.
[[nodiscard]] Id incoming_ray_flags(Rewriter& rewriter, std::vector<Instruction>& out, std::uint32_t shader);
/// Whether the candidate of an any-hit shader is opaque to the application.
[[nodiscard]] Id is_opaque(Rewriter& rewriter, std::vector<Instruction>& out, std::uint32_t shader);

// --- paths.cpp

/// Shader calls count executions in private memory, and record the counts where they end.
class Paths {
 public:
  /// `given`: the module as the application gave it.
  Paths(Rewriter& rewriter, const Module& given);

  /// The counted places of a function of the module.
  [[nodiscard]] std::span<const block_counts::CounterSite> sites(std::size_t function) const {
    return functions_[function].sites;
  }
  /// Adds one to the counter of a place.
  void count(std::vector<Instruction>& out, std::size_t function, std::size_t site) const;
  /// Before an instruction of the application: the record, if the call may end there.
  void before(const Place& place, const Instruction& instruction);
  /// Behind the last function.
  void finish();
  /// At the start and the end of a shader's call.
  void begin(std::vector<Instruction>& out, std::uint32_t shader) const;
  void end(std::vector<Instruction>& out, std::uint32_t shader, bool goes_on) const;

 private:
  struct PerFunction {
    std::uint32_t first = 0;  ///< its first counter in the array
    std::vector<block_counts::CounterSite> sites;
  };
  struct PerShader {
    std::string left_out;                 ///< why it records no paths; "" if it does
    std::vector<std::uint32_t> counters;  ///< in the array, in the order of the record
    Id recorder = 0;                      ///< the function that records
    bool shared = false;                  ///< it is called where other shaders run, too
  };
  [[nodiscard]] Id counter(std::vector<Instruction>& out, std::uint32_t index) const;
  [[nodiscard]] Function recorder(std::uint32_t shader) const;
  void record(std::vector<Instruction>& body, std::uint32_t shader, Id goes_on) const;

  Rewriter& rewriter_;
  std::vector<PerFunction> functions_;  ///< of the module as it was given
  std::vector<PerShader> shaders_;
  Id array_ = 0;  ///< a private variable
};

// --- counters.cpp

/// Blocks, branches and loads of functions count their executions. A function's other passes come first: they add no
/// blocks.
class Counters {
 public:
  /// `given`: the module as the application gave it. It must outlive this, and so must `paths` (null: not wanted).
  Counters(Rewriter& rewriter, const Module& given, const Paths* paths);
  /// Adds the counters of a function of the module, which these shaders reach. `origins`: for each of its instructions
  /// the instruction of the given function that it is, or that it was added for.
  void add(std::size_t function, std::span<const std::uint32_t> shaders, std::span<const std::uint32_t> origins);
  /// Behind the last function.
  void finish();
  /// The constant that is the counters' address; 0: there are none.
  [[nodiscard]] Id address() const {
    return address_;
  }
  /// The constant that marks the keys of tables of values; 0: there are none.
  [[nodiscard]] Id table_mark() const {
    return table_mark_;
  }

 private:
  struct Edits;
  void add_blocks(std::uint32_t index, const spirv::ControlFlow& flow, CountedFunction& counted);
  [[nodiscard]] std::vector<std::size_t> add_instructions(std::uint32_t index, const spirv::ControlFlow& flow,
                                                          std::span<const std::uint32_t> origins,
                                                          CountedFunction& counted);
  [[nodiscard]] CounterSite branch_site(spirv::Place place) const;
  [[nodiscard]] CounterSite load_site(spirv::Place place, const Instruction& load);
  void add_values(spirv::Place place, spirv::Node block, const Instruction& load, CountedFunction& counted);
  [[nodiscard]] std::vector<Instruction> with_calls(std::size_t index, const Function& target,
                                                    const spirv::ControlFlow& flow, const CountedFunction& counted,
                                                    const std::vector<std::size_t>& instructions,
                                                    std::span<const std::uint32_t> shaders);
  void count(std::vector<Instruction>& out, const CountedFunction& counted, const CounterSite& site,
             std::span<const std::uint32_t> shaders, const Instruction& instruction);
  [[nodiscard]] Id helper(std::vector<Instruction>& out, std::span<const std::uint32_t> shaders);
  [[nodiscard]] Id call(std::vector<Instruction>& out, Id type, const std::string& probe, Id helper,
                        std::vector<Id> arguments, std::size_t helper_at);
  [[nodiscard]] Id cell(std::vector<Instruction>& out, const CountedFunction& counted, std::uint32_t cell, bool copied,
                        std::span<const std::uint32_t> shaders);

  Rewriter& rewriter_;
  const Module& given_;
  const Paths* paths_;
  spirv::WideSelectors selectors_;
  block_counts::InvocationEnds ends_;
  std::optional<LaunchLevels> levels_;
  std::optional<PointerDefinitions> definitions_;      ///< of the function that is being added
  std::map<std::string, std::size_t> without_values_;  ///< loads by reason
  Id address_ = 0;
  Id table_mark_ = 0;
  Id copy_size_ = 0;  ///< a constant: cells of a copy
};

// --- entry_probes.cpp: functions that stand before the entry points

/// Empty, or why it cannot be done.
/// `paths`: null where they are not wanted.
[[nodiscard]] std::string wrap_entry_points(Rewriter& rewriter, const ReplacedBuiltins& replaced, const Paths* paths);

}  // namespace rayreplay::instrument
