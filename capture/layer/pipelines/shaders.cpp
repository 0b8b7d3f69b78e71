#include "capture/layer/pipelines/shaders.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <optional>

#include "capture/layer/geometry/hooks.hpp"
#include "capture/layer/process.hpp"

namespace rayreplay::layer {
namespace {

constexpr std::array<const char*, 9> kStageNames = {"raygen",   "intersection", "anyhit",   "closesthit", "miss",
                                                    "callable", "vertex",       "fragment", "compute"};

/// More make no launch faster on an H200.
constexpr std::uint32_t kCounterCopies = 8;

/// `count` consecutive ids; nothing if there are not as many left.
std::optional<std::uint16_t> reserve_ids(std::size_t count) {
  auto& next = process().next_shader;
  auto first = next.load();
  do {
    if (first + count > spool::kNoShader) {
      return std::nullopt;
    }
  } while (!next.compare_exchange_weak(first, first + static_cast<std::uint32_t>(count)));
  return static_cast<std::uint16_t>(first);
}

/// The application's name of a shader, else its stage and number.
std::string name_of(const instrument::EntryPoint& entry, const std::string& given) {
  return given.empty()
             ? std::string(kStageNames.at(static_cast<std::size_t>(entry.stage))) + " " + std::to_string(entry.shader)
             : given;
}

/// Notes and logs the trace calls that were changed and left alone.
void tell(const instrument::InsertResult& inserted, const std::string& name) {
  for (const auto& line : inserted.notes) {
    note("shader " + name + ": " + line);
  }
  if (inserted.inserted != 0) {
    log(LogLevel::Info, "shader " + name + ": insert-ser: " + std::to_string(inserted.inserted) +
                            (inserted.inserted == 1 ? " trace call reorders threads" : " trace calls reorder threads"));
  }
}

/// Whether entry points of an execution model are observed.
bool is_observed(std::uint32_t model) {
  constexpr std::uint32_t kVertex = 0, kFragment = 4, kCompute = 5, kRayGeneration = 5313, kCallable = 5318;
  const auto& wanted = options();
  return (model >= kRayGeneration && model <= kCallable) || (wanted.profile_compute && model == kCompute) ||
         (wanted.profile_graphics && (model == kVertex || model == kFragment));
}

/// Whether a module declares an observed entry point. Reads only the words before the first function, so that modules
/// without one cost almost nothing.
bool names_observed(std::span<const std::uint32_t> words) {
  constexpr std::size_t kHeader = 5;
  constexpr std::uint32_t kOpEntryPoint = 15, kOpFunction = 54;
  for (std::size_t at = kHeader; at + 1 < words.size();) {
    const auto op = words[at] & 0xFFFFU;
    const auto count = words[at] >> 16U;
    if (op == kOpFunction || count == 0) {
      return false;
    }
    if (op == kOpEntryPoint && is_observed(words[at + 1])) {
      return true;
    }
    at += count;
  }
  return false;
}

/// Counted places of a module.
void spool_layout(const instrument::Result& result) {
  spool::Counters block;
  block.module = result.entry_points.front().shader;
  block.cells = result.counters.cells;
  for (const auto& counted : result.counters.functions) {
    spool::CountedFunction function{counted.function, counted.first, counted.cells, counted.shaders, {}};
    for (const auto& site : counted.sites) {
      function.sites.push_back({static_cast<spool::SiteKind>(site.kind), site.place.from, site.place.to,
                                site.instruction, site.cell, site.cells, site.always, site.component, site.slots});
    }
    block.functions.push_back(std::move(function));
  }
  spool_block(block);
}

/// What the paths of a module count.
void spool_paths(const instrument::Result& result) {
  spool::Paths block;
  block.module = result.entry_points.front().shader;
  block.shaders = result.paths.shaders;
  for (const auto& counted : result.paths.functions) {
    auto& function = block.functions.emplace_back(spool::PathFunction{counted.function, counted.shaders, {}});
    for (const auto& site : counted.sites) {
      function.sites.push_back({site.from, site.to});
    }
  }
  spool_block(block);
}

/// Which accesses to buffers and images a module's shaders record.
void spool_accesses(const instrument::Result& result) {
  spool::Accesses block;
  block.module = result.entry_points.front().shader;
  for (const auto& site : result.accesses) {
    block.sites.push_back({site.shaders, site.function, site.block, site.instruction,
                           static_cast<spool::AccessKind>(site.kind), static_cast<spool::AccessSpace>(site.space),
                           site.set, site.binding, site.element, site.bytes});
  }
  spool_block(block);
}

}  // namespace

Shaders::Shaders(Device& device) : device_(device) {}

void Shaders::created(VkShaderModule module, const VkShaderModuleCreateInfo& info) {
  const std::span<const std::uint32_t> words(info.pCode, info.codeSize / sizeof(std::uint32_t));
  if (instrument::uses_ray_queries(words)) {
    saw(spool::Sight::RayQueryShader);
    note("shaders trace by ray queries: those rays are not captured");
  }
  if (!names_observed(words)) {
    return;
  }
  auto copy = std::make_shared<const Words>(words.begin(), words.end());
  const std::scoped_lock lock(mutex_);
  modules_[module] = std::move(copy);
}

void Shaders::destroyed(VkShaderModule module) {
  const std::scoped_lock lock(mutex_);
  modules_.erase(module);
}

std::shared_ptr<const Words> Shaders::words(VkShaderModule module) {
  const std::scoped_lock lock(mutex_);
  const auto found = modules_.find(module);
  return found == modules_.end() ? nullptr : found->second;
}

instrument::Options Shaders::counting_options() const {
  const auto& wanted = options();
  instrument::Options result;
  result.record = false;
  result.sm = device_.has_sm;
  result.wide_subgroups = device_.wide_subgroups;
  result.ballot_extension = device_.has_ballot;
  if (wanted.profile_blocks) {
    result.count_blocks = wanted.block_counters == BlockCounters::All ? block_counts::CounterSet::Sparse
                                                                      : block_counts::CounterSet::Minimal;
  }
  result.count_branches = wanted.profile_branches;
  result.count_loads = wanted.profile_loads;
  result.value_slots = wanted.profile_values ? wanted.profile_value_slots : 0;
  result.trust_analysis = !wanted.profile_proven;
  result.counter_copies = kCounterCopies;
  return result;
}

instrument::Options Shaders::instrument_options(bool any_hits) const {
  const auto& wanted = options();
  instrument::Options result = device_.counters ? counting_options() : instrument::Options{};
  result.record = device_.records;
  result.events_address = device_.events.address;
  result.events_words = device_.events_words;
  result.control_address = device_.control.address;
  result.clock = device_.has_clock;
  result.sm = device_.has_sm;
  result.wide_subgroups = device_.wide_subgroups;
  result.ballot_extension = device_.has_ballot;
  result.gate = device_.gated;
  if (wanted.window) {
    result.window = instrument::Window{wanted.window->x, wanted.window->y, wanted.window->width, wanted.window->height};
  }
  result.every = wanted.every;
  result.opacity_address = any_hits && device_.geometry ? device_.geometry->opacity_address() : 0;
  result.ray_flags_address = device_.ray_flags.address;
  result.ray_flags_threads = static_cast<std::uint32_t>(device_.ray_flags.bytes / sizeof(std::uint32_t));
  // Without these the application's any-hit shaders would run on its opaque geometry.
  result.observe_all =
      wanted.observe_all && (!any_hits || (result.opacity_address != 0 && result.ray_flags_threads != 0));
  if (device_.swizzle.buffer != VK_NULL_HANDLE) {
    result.swizzle = instrument::SwizzleTable{device_.swizzle.address, wanted.swizzle_width, wanted.swizzle_height,
                                              wanted.swizzle_depth};
  }
  result.record_paths = wanted.profile_paths;
  result.record_accesses = wanted.profile_memory;
  result.access_every = wanted.profile_memory_sample;
  return result;
}

instrument::InsertResult Shaders::reordered(std::span<const std::uint32_t> words) const {
  return device_.inserts_ser ? instrument::insert_reordering(
                                   words, device_.hints_ser ? options().ser_hint : std::nullopt, *device_.inserts_ser)
                             : instrument::InsertResult{};
}

std::shared_ptr<const instrument::Result> Shaders::twin(std::span<const std::uint32_t> words, const std::string& name,
                                                        bool any_hits) {
  any_hits = any_hits && options().observe_all;
  return twin_of(words, name, any_hits ? TwinKind::WithAnyHits : TwinKind::Rays);
}

std::shared_ptr<const instrument::Result> Shaders::counting_twin(std::span<const std::uint32_t> words,
                                                                 const std::string& name) {
  return twin_of(words, name, TwinKind::Others);
}

std::shared_ptr<const instrument::Result> Shaders::twin_of(std::span<const std::uint32_t> words,
                                                           const std::string& name, TwinKind kind) {
  const auto hash = XXH3_128bits(words.data(), words.size_bytes());
  const Key key(hash.high64, hash.low64, kind);
  const bool rays = kind != TwinKind::Others;
  const auto stages = rays ? instrument::Stages::RayTracing : instrument::Stages::Others;
  std::shared_ptr<Twin> twin;
  {
    const std::scoped_lock lock(mutex_);
    auto& known = twins_[key];
    if (!known) {
      known = std::make_shared<Twin>();
    }
    twin = known;
  }
  // Threads that compile pipelines in parallel also rewrite their shaders in parallel.
  const std::scoped_lock lock(twin->mutex);
  if (twin->result) {
    return twin->result;
  }
  auto result = std::make_shared<instrument::Result>();
  const auto first = reserve_ids(instrument::entry_points(words, 0, stages).size());
  if (!first) {
    result->status = instrument::Status::Refused;
    result->reason = "all 65,535 shader numbers are used";
    note("shaders are left alone: " + result->reason);
    return result;
  }
  auto wanted = rays ? instrument_options(kind == TwinKind::WithAnyHits) : counting_options();
  wanted.stages = stages;
  wanted.first_shader_id = *first;
  // Counters and records refer to the module with reorder calls, so the spool gets that one.
  const auto inserted = rays ? reordered(words) : instrument::InsertResult{};
  const std::span<const std::uint32_t> given =
      inserted.inserted == 0 ? words : std::span<const std::uint32_t>(inserted.spirv);
  *result = instrument::instrument(given, wanted);
  if (result->entry_points.empty()) {
    result->entry_points = instrument::entry_points(words, *first, stages);
  }
  if (result->status == instrument::Status::Unchanged && inserted.inserted != 0) {
    result->status = instrument::Status::Instrumented;
    result->spirv = inserted.spirv;
  }
  // A module that cannot be instrumented stays as the application gave it, without reorder calls, too.
  const bool refused = result->status == instrument::Status::Refused;
  spool(refused ? words : given, name, *result, false);
  if (!refused && !result->entry_points.empty()) {
    tell(inserted, name_of(result->entry_points.front(), name));
  }
  twin->result = result;
  return result;
}

std::shared_ptr<const instrument::Result> Shaders::probe() {
  const std::scoped_lock lock(mutex_);
  if (probe_) {
    return probe_;
  }
  auto result = std::make_shared<instrument::Result>();
  if (const auto first = reserve_ids(1)) {
    auto wanted = instrument_options(false);
    wanted.first_shader_id = *first;
    result->spirv = instrument::recording_any_hit(wanted);
    result->status = instrument::Status::Instrumented;
    result->entry_points.push_back({instrument::Stage::AnyHit, "main", *first});
    spool(result->spirv, "observe-all", *result, true);
    probe_ = result;
  }
  return result;
}

void Shaders::spool(std::span<const std::uint32_t> words, const std::string& name, const instrument::Result& result,
                    bool added) {
  std::string shown = name;
  for (const auto& entry : result.entry_points) {
    spool::Shader block;
    block.shader = entry.shader;
    block.stage = static_cast<std::uint8_t>(entry.stage);
    block.status = added                                               ? spool::ShaderStatus::Added
                   : result.status == instrument::Status::Instrumented ? spool::ShaderStatus::Instrumented
                                                                       : spool::ShaderStatus::LeftAlone;
    block.entry = entry.name;
    block.name = name_of(entry, name);
    shown = shown.empty() ? block.name : shown;
    block.reason = result.reason;
    block.spirv.assign(words.begin(), words.end());
    for (const auto& site : result.sites) {
      if (site.shader == entry.shader) {
        block.sites.push_back({site.site, static_cast<std::uint8_t>(site.bound ? 1 : 0), site.set, site.binding});
      }
    }
    spool_block(block);
  }
  if (result.counters.cells != 0) {
    spool_layout(result);
  }
  if (!result.paths.shaders.empty()) {
    spool_paths(result);
  }
  if (!result.accesses.empty()) {
    spool_accesses(result);
  }
  if (result.status == instrument::Status::Refused) {
    note("shader " + shown + " left alone: " + result.reason);
  }
  for (const auto& line : result.notes) {
    note("shader " + shown + ": " + line);
  }
}

}  // namespace rayreplay::layer
