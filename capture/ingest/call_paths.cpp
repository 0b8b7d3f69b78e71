#include "capture/ingest/call_paths.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/count_text.hpp"
#include "capture/ingest/counted_module.hpp"

namespace rayreplay::ingest {
namespace {

constexpr std::uint32_t kBytesOfWord = 4;

}  // namespace

std::size_t CallPaths::Hash::operator()(const Counters& counters) const {
  std::uint64_t hash = counters.size();
  for (const std::uint32_t number : counters) {
    hash = (hash ^ number) * 0x9E37'79B9'7F4A'7C15U;
    hash ^= hash >> 29U;
  }
  return static_cast<std::size_t>(hash);
}

CallPaths::CallPaths(const SpoolContents& contents, std::vector<std::string>& remarks, std::uint64_t most)
    : remarks_(remarks), most_(most) {
  for (const auto& [module, layout] : contents.paths) {
    add_module(contents, layout);
  }
}

void CallPaths::add_module(const SpoolContents& contents, const spool::Paths& layout) {
  const auto left_out = [&](const std::string& why) {
    remarks_.push_back(fmt::format("paths of the module of shader {}: {}", layout.module, why));
  };
  const auto source = contents.shaders.find(layout.module);
  std::string reason = "it is not in the spool";
  std::optional<spirv::Module> parsed;
  if (source != contents.shaders.end()) {
    parsed = spirv::parse(source->second.spirv, reason);
  }
  if (!parsed) {
    return left_out(reason);
  }
  const CountedModule module(std::move(*parsed));
  std::map<std::uint16_t, Shader> shaders;
  for (const std::uint16_t shader : layout.shaders) {
    if (contents.shaders.contains(shader) && !shaders_.contains(shader)) {
      shaders[shader];
    }
  }
  std::uint32_t next = 0;  // the functions ascend
  for (const spool::PathFunction& part : layout.functions) {
    if (part.function < next || part.function >= module.module.functions.size()) {
      return left_out(
          fmt::format("function {} is out of order, or of {}", part.function, module.module.functions.size()));
    }
    next = part.function + 1;
    const spirv::Function& function = module.module.functions[part.function];
    auto flow = spirv::control_flow(function, module.selectors, reason);
    if (!flow) {
      return left_out(reason);
    }
    auto known = std::make_shared<Function>();
    known->number = part.function;
    known->may_end = module.ends.blocks_of(function, *flow);
    known->flow = std::move(*flow);
    for (const spool::PathSite& site : part.sites) {
      known->sites.push_back({site.from, site.to});
    }
    for (const std::uint16_t shader : part.shaders) {
      if (const auto of = shaders.find(shader); of != shaders.end()) {
        of->second.functions.push_back(known);
        of->second.counters += static_cast<std::uint32_t>(part.sites.size());
      }
    }
  }
  for (auto& [id, shader] : shaders) {
    if (shader.counters == 0 || shader.counters > RR_MAX_PATH_COUNTERS) {
      left_out(fmt::format("shader {} would have {}", id, counted(shader.counters, "counter")));
    } else {
      shaders_.emplace(id, std::move(shader));
    }
  }
}

bool CallPaths::read(const Shader& shader, const Chunk& chunk, std::uint32_t rank, Counters& counters) {
  const bool bytes = chunk.kind == RR_PATH_BYTES;
  const std::uint32_t words = bytes ? (shader.counters + kBytesOfWord - 1) / kBytesOfWord : shader.counters;
  if (chunk.path_words() != words) {
    return false;
  }
  counters.resize(shader.counters);
  for (std::uint32_t i = 0; i < shader.counters; ++i) {
    counters[i] =
        bytes ? chunk.field(1 + i / kBytesOfWord, rank) >> (8 * (i % kBytesOfWord)) & 0xFFU : chunk.field(1 + i, rank);
  }
  return true;
}

void CallPaths::add(const Chunk& chunk) {
  const auto found = shaders_.find(chunk.shader);
  if (found == shaders_.end()) {
    unfit_ += chunk.lanes;
    return;
  }
  Shader& shader = found->second;
  for (std::uint32_t rank = 0; rank < chunk.lanes; ++rank) {
    if (!read(shader, chunk, rank, scratch_)) {
      ++unfit_;
    } else if (!shader.known.contains(scratch_)) {
      if (numbers_ + scratch_.size() > most_) {
        ++beyond_;
      } else {
        numbers_ += scratch_.size();
        shader.known.emplace(scratch_, 0);
      }
    }
  }
}

std::optional<CallPaths::Counters> CallPaths::blocks_of(const Shader& shader, const Counters& counters,
                                                        std::string& fault) {
  Counters blocks;
  std::vector<std::uint64_t> counts;
  std::size_t first = 0;
  for (const auto& function : shader.functions) {
    counts.assign(counters.begin() + static_cast<std::ptrdiff_t>(first),
                  counters.begin() + static_cast<std::ptrdiff_t>(first + function->sites.size()));
    first += function->sites.size();
    auto derived = block_counts::derive_counts(function->flow, function->may_end, function->sites, counts);
    if (!derived.fault.empty()) {
      fault = fmt::format("in function {}: {}", function->number, derived.fault);
      return std::nullopt;
    }
    for (const std::uint64_t count : derived.blocks) {
      if (count > std::numeric_limits<std::uint32_t>::max()) {
        fault = fmt::format("in function {}: a count has more than 32 bits", function->number);
        return std::nullopt;
      }
      blocks.push_back(static_cast<std::uint32_t>(count));
    }
  }
  return blocks;
}

void CallPaths::finish(std::uint16_t id, Shader& shader) {
  std::map<Counters, std::vector<std::uint32_t*>> rows;  // by the blocks' counts: counters that mean them
  std::string fault;
  std::uint64_t faults = 0;
  // In the order of the counters, so that the fault is the same each time.
  std::vector<std::pair<const Counters*, std::uint32_t*>> all;
  for (auto& [counters, row] : shader.known) {
    all.emplace_back(&counters, &row);
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return *a.first < *b.first; });
  for (const auto& [counters, row] : all) {
    std::string why;
    if (const auto blocks = blocks_of(shader, *counters, why)) {
      rows[*blocks].push_back(row);
    } else if (++faults == 1) {
      fault = why;
    }
  }
  if (faults != 0) {
    remarks_.push_back(fmt::format("{} of shader {} contradict themselves: {}", counted(faults, "path"), id, fault));
  }
  for (const auto& [blocks, same] : rows) {
    paths_.shader.push_back(id);
    paths_.counts.insert(paths_.counts.end(), blocks.begin(), blocks.end());
    for (std::uint32_t* row : same) {
      *row = static_cast<std::uint32_t>(paths_.size());
    }
  }
  if (rows.empty()) {
    return;
  }
  for (const auto& function : shader.functions) {
    for (std::uint32_t b = 0; b < function->flow.blocks.size(); ++b) {
      paths_.block_shader.push_back(id);
      paths_.function.push_back(function->number);
      paths_.block.push_back(b);
    }
  }
}

void CallPaths::finish() {
  for (auto& [id, shader] : shaders_) {
    finish(id, shader);
  }
  paths_.calls.assign(paths_.size(), 0);
  if (unfit_ != 0) {
    remarks_.push_back(
        fmt::format("{} of shaders without paths, or of another number of counters", counted(unfit_, "path record")));
  }
  if (beyond_ != 0) {
    remarks_.push_back(fmt::format("{} of more than {} have no path", counted(beyond_, "call"),
                                   counted(most_, "counter of different paths", "counters of different paths")));
  }
}

std::uint32_t CallPaths::path_of(const Chunk& chunk, std::uint32_t rank, std::vector<std::uint32_t>& scratch) const {
  const auto shader = shaders_.find(chunk.shader);
  if (shader == shaders_.end() || !read(shader->second, chunk, rank, scratch)) {
    return 0;
  }
  const auto known = shader->second.known.find(scratch);
  return known == shader->second.known.end() ? 0 : known->second;
}

}  // namespace rayreplay::ingest
