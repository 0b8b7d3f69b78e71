#include "tests/instrument/support/corpus.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <spirv-tools/libspirv.hpp>

namespace rayreplay::test {

namespace {

std::vector<CorpusModule> read_corpus() {
  std::vector<CorpusModule> modules;
  std::ifstream list(RR_CORPUS "/list.txt");
  for (std::string path; std::getline(list, path);) {
    std::ifstream file(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    CorpusModule module;
    module.name = std::filesystem::path(path).filename().string();
    const std::size_t at = module.name.find("vulkan1.");
    module.environment = module.name.substr(at, std::string_view("vulkan1.x").size());
    module.words.resize(bytes.size() / 4);
    std::memcpy(module.words.data(), bytes.data(), module.words.size() * 4);
    modules.push_back(std::move(module));
  }
  if (modules.empty()) {
    throw std::runtime_error("no corpus in " RR_CORPUS);
  }
  std::sort(modules.begin(), modules.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return modules;
}

spv_target_env environment_of(const std::string& name) {
  spv_target_env environment = SPV_ENV_UNIVERSAL_1_0;
  if (!spvParseTargetEnv(name.c_str(), &environment)) {
    throw std::runtime_error("no target environment: " + name);
  }
  return environment;
}

}  // namespace

const std::vector<CorpusModule>& corpus() {
  static const std::vector<CorpusModule> kModules = read_corpus();
  return kModules;
}

const CorpusModule& corpus_module(std::string_view start_of_name) {
  for (const CorpusModule& module : corpus()) {
    if (module.name.starts_with(start_of_name)) {
      return module;
    }
  }
  throw std::runtime_error("not in the corpus: " + std::string(start_of_name));
}

instrument::Options plain_options() {
  instrument::Options options;
  options.events_address = 0x1'2345'6780;
  options.events_words = 1U << 20;
  options.control_address = 0x2'0000'0000;
  options.first_shader_id = 5;
  return options;
}

std::vector<NamedOptions> option_sets() {
  std::vector<NamedOptions> sets;
  const auto add = [&](const std::string& name, const auto& change) {
    sets.push_back({name, plain_options()});
    change(sets.back().options);
  };
  const auto keep_flags = [](instrument::Options& o) {
    o.ray_flags_address = 0x5'0000'0000;
    o.ray_flags_threads = 64 * 32;
  };
  const auto all = [&](instrument::Options& o) {
    o.clock = o.sm = o.wide_subgroups = o.gate = o.observe_all = true;
    o.every = 3;
    o.window = instrument::Window{1, 2, 3, 4};
    o.events_words = std::uint64_t{1} << 34;
    o.opacity_address = 0x3'0000'0000;
    keep_flags(o);
    o.swizzle = instrument::SwizzleTable{0x4'0000'0000, 64, 32, 1};
  };
  add("plain", [](instrument::Options&) {});
  add("clock", [](instrument::Options& o) { o.clock = true; });
  add("sm", [](instrument::Options& o) { o.sm = true; });
  add("wide", [](instrument::Options& o) { o.wide_subgroups = true; });
  add("gate", [](instrument::Options& o) { o.gate = true; });
  add("window", [](instrument::Options& o) { o.window = instrument::Window{1, 2, 3, 4}; });
  add("every", [](instrument::Options& o) { o.every = 7; });
  add("large", [](instrument::Options& o) { o.events_words = std::uint64_t{1} << 34; });
  add("observe_all", [](instrument::Options& o) { o.observe_all = true; });
  add("observe_all_with_flags", [&](instrument::Options& o) {
    o.observe_all = true;
    keep_flags(o);
  });
  add("opacity", [&](instrument::Options& o) {
    o.observe_all = true;
    o.opacity_address = 0x3'0000'0000;
    keep_flags(o);
  });
  add("opacity_without_flags", [](instrument::Options& o) {
    o.observe_all = true;
    o.opacity_address = 0x3'0000'0000;
  });
  add("swizzle", [](instrument::Options& o) { o.swizzle = instrument::SwizzleTable{0x4'0000'0000, 64, 32, 1}; });
  add("all", all);
  add("all_without_records", [&](instrument::Options& o) {
    all(o);
    o.record = false;
  });
  add("swizzle_without_records", [&](instrument::Options& o) {
    o.record = false;
    o.swizzle = instrument::SwizzleTable{0x4'0000'0000, 64, 32, 1};
  });
  add("count_all", [](instrument::Options& o) { o.count_blocks = block_counts::CounterSet::All; });
  add("count_minimal", [](instrument::Options& o) { o.count_blocks = block_counts::CounterSet::Minimal; });
  add("count_sparse", [](instrument::Options& o) { o.count_blocks = block_counts::CounterSet::Sparse; });
  add("count_all_and_everything", [&](instrument::Options& o) {
    all(o);
    o.count_blocks = block_counts::CounterSet::All;
  });
  add("count_in_copies", [](instrument::Options& o) {
    o.sm = true;
    o.counter_copies = 16;
    o.count_blocks = block_counts::CounterSet::All;
  });
  const auto count_everything = [](instrument::Options& o) {
    o.count_blocks = block_counts::CounterSet::All;
    o.count_branches = o.count_loads = true;
  };
  add("count_branches", [](instrument::Options& o) { o.count_branches = true; });
  add("count_loads", [](instrument::Options& o) { o.count_loads = true; });
  add("count_blocks_branches_and_loads", count_everything);
  add("count_everything_by_extension", [&](instrument::Options& o) {
    count_everything(o);
    o.ballot_extension = true;
  });
  add("count_everything_in_copies_and_everything_else", [&](instrument::Options& o) {
    all(o);
    count_everything(o);
    o.counter_copies = 8;
  });
  add("count_without_analysis", [&](instrument::Options& o) {
    o.record = false;
    count_everything(o);
    o.trust_analysis = false;
  });
  add("count_minimal_blocks_and_branches", [&](instrument::Options& o) {
    count_everything(o);
    o.count_blocks = block_counts::CounterSet::Minimal;
  });
  add("count_minimal_without_records", [](instrument::Options& o) {
    o.record = false;
    o.count_blocks = block_counts::CounterSet::Minimal;
  });
  add("count_sparse_in_copies_and_everything_else", [&](instrument::Options& o) {
    all(o);
    count_everything(o);
    o.count_blocks = block_counts::CounterSet::Sparse;
    o.counter_copies = 8;
    o.value_slots = 5;
  });
  add("values", [](instrument::Options& o) { o.value_slots = 32; });
  add("values_by_extension_in_copies", [](instrument::Options& o) {
    o.sm = o.wide_subgroups = o.ballot_extension = true;
    o.counter_copies = 8;
    o.value_slots = 7;
  });
  add("values_and_everything", [&](instrument::Options& o) {
    all(o);
    count_everything(o);
    o.record_paths = true;
    o.value_slots = 1;
  });
  add("paths", [](instrument::Options& o) { o.record_paths = true; });
  add("paths_by_extension", [&](instrument::Options& o) {
    all(o);
    o.record_paths = o.ballot_extension = true;
  });
  add("accesses", [](instrument::Options& o) { o.record_accesses = true; });
  add("accesses_and_everything", [&](instrument::Options& o) {
    all(o);
    count_everything(o);
    o.record_paths = o.record_accesses = true;
    o.access_every = 5;
  });
  add("paths_and_minimal_blocks", [](instrument::Options& o) {
    o.record_paths = true;
    o.count_blocks = block_counts::CounterSet::Minimal;
  });
  add("paths_and_everything", [&](instrument::Options& o) {
    all(o);
    count_everything(o);
    o.record_paths = true;
  });
  return sets;
}

std::string validate(std::span<const std::uint32_t> words, const std::string& environment) {
  spvtools::SpirvTools tools(environment_of(environment));
  std::string messages;
  tools.SetMessageConsumer([&](spv_message_level_t, const char*, const spv_position_t& at, const char* message) {
    messages += std::to_string(at.index) + ": " + message + "\n";
  });
  if (tools.Validate(words.data(), words.size())) {
    return {};
  }
  return messages.empty() ? "invalid" : messages;
}

}  // namespace rayreplay::test
