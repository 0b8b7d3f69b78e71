#include "app/report/profile/profile_mix.hpp"

#include <algorithm>
#include <utility>

namespace rayreplay::report {
namespace {

using output::Cell;
using output::Table;
using spirv::InstructionClass;

/// Lanes that ran the block of an instruction; 0 where it is not counted.
class LanesOfPlaces {
 public:
  LanesOfPlaces(const spirv::Analysed& module, const profile::ShaderProfile& counts) : m_(module) {
    for (const profile::BlockProfile& block : counts.blocks) {
      lanes_[{block.function, block.block}] = static_cast<double>(block.lanes);
    }
  }
  [[nodiscard]] double at(spirv::Place place) const {
    const std::vector<spirv::Block>& blocks = m_.flows[place.function]->blocks;
    const auto behind = std::ranges::upper_bound(blocks, std::size_t{place.instruction}, {}, &spirv::Block::first);
    if (behind == blocks.begin()) {
      return 0;
    }
    const auto known = lanes_.find({place.function, static_cast<std::uint32_t>(behind - blocks.begin() - 1)});
    return known == lanes_.end() ? 0 : known->second;
  }

 private:
  const spirv::Analysed& m_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> lanes_;
};

void add(LevelCounts& counts, spirv::Level level, double lanes) {
  counts.code[static_cast<std::size_t>(level)] += 1;
  counts.executed[static_cast<std::size_t>(level)] += lanes;
}

/// A sum of counts: a whole number as long as it is exact.
Cell count_cell(double count) {
  constexpr double kExact = 9007199254740992;  // 2^53
  return count < kExact ? Cell{static_cast<std::uint64_t>(count)} : Cell{count};
}

ShaderMix mix_of(std::uint16_t shader, const ShaderRow& row, const Executions& executions) {
  ShaderMix mix;
  mix.shader = shader;
  const spirv::Analysed& module = row.known->analysed;
  for (const profile::BlockProfile& block : executions.profile.blocks) {
    const spirv::Block& place = module.flows[block.function]->blocks[block.block];
    for (std::size_t i = place.first; i <= place.last; ++i) {
      const InstructionClass of = module.classes.of(module.module.functions[block.function].body[i]);
      mix.executed[static_cast<std::size_t>(of)] += static_cast<double>(block.lanes);
    }
  }
  mix.has_levels = row.facts->has_divergence;
  if (mix.has_levels) {
    const LanesOfPlaces lanes(module, executions.profile);
    for (const spirv::UniformityFacts& branch : row.facts->branches) {
      add(mix.branches, branch.level, lanes.at(branch.place));
    }
    for (const spirv::UniformityFacts& load : row.facts->loads) {
      add(mix.values, load.level, lanes.at(load.place));
      add(mix.addresses, load.address, lanes.at(load.place));
    }
  }
  return mix;
}

}  // namespace

double ShaderMix::issued() const {
  double sum = 0;
  for (std::size_t c = 0; c < executed.size(); ++c) {
    sum += spirv::issues(static_cast<InstructionClass>(c)) ? executed[c] : 0;
  }
  return sum;
}

std::vector<ShaderMix> shader_mixes(const std::vector<ShaderRow>& rows,
                                    const std::map<std::uint16_t, Executions>& executions) {
  std::vector<ShaderMix> mixes;
  for (const auto& [shader, of] : executions) {
    if (rows[shader].facts != nullptr) {
      mixes.push_back(mix_of(shader, rows[shader], of));
    }
  }
  return mixes;
}

Table class_table(const std::vector<ShaderRow>& rows, const std::vector<ShaderMix>& mixes) {
  Table table;
  table.columns = {{"shader", "shader"},
                   {"stage", "stage"},
                   {"name", "name"},
                   {"executed", "executed", {}, 0},
                   {"executed_share", "of all", output::Show::Percent, 1}};
  for (std::size_t c = 0; c < spirv::kInstructionClasses; ++c) {
    if (const auto of = static_cast<InstructionClass>(c); spirv::issues(of)) {
      table.columns.push_back({std::string(to_string(of)), std::string(to_string(of)), output::Show::Percent, 1});
    }
  }
  double all = 0;
  for (const ShaderMix& mix : mixes) {
    all += mix.issued();
  }
  for (const ShaderMix& mix : mixes) {
    const double issued = mix.issued();
    const auto share = [](double part, double whole) { return whole > 0 ? Cell{part / whole} : Cell{}; };
    std::vector<Cell> cells = {std::uint64_t{mix.shader}, rows[mix.shader].stage, rows[mix.shader].name,
                               count_cell(issued), share(issued, all)};
    for (std::size_t c = 0; c < spirv::kInstructionClasses; ++c) {
      if (spirv::issues(static_cast<InstructionClass>(c))) {
        cells.push_back(share(mix.executed[c], issued));
      }
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

const char* level_name(std::size_t level) {
  constexpr std::array<const char*, kLevels> kNames = {"launch", "group", "may diverge"};
  return kNames.at(level);
}

Table level_table(const std::vector<ShaderRow>& rows, const std::vector<ShaderMix>& mixes) {
  Table table;
  table.columns = {{"shader", "shader"},
                   {"stage", "stage"},
                   {"name", "name"},
                   {"subject", "subject"},
                   {"launch", "launch", {}, 0},
                   {"group", "group", {}, 0},
                   {"may_diverge", "may diverge", {}, 0},
                   {"executed_launch", "executed: launch", {}, 0},
                   {"executed_group", "group", {}, 0},
                   {"executed_may_diverge", "may diverge", {}, 0}};
  for (const ShaderMix& mix : mixes) {
    for (const auto& [subject, counts] : {std::pair{"branches", &mix.branches}, std::pair{"loaded values", &mix.values},
                                          std::pair{"load addresses", &mix.addresses}}) {
      std::vector<Cell> cells = {std::uint64_t{mix.shader}, rows[mix.shader].stage, rows[mix.shader].name,
                                 std::string(subject)};
      for (const auto* list : {&counts->code, &counts->executed}) {
        for (const double count : *list) {
          cells.push_back(mix.has_levels ? count_cell(count) : Cell{});
        }
      }
      table.rows.push_back(std::move(cells));
    }
  }
  return table;
}

}  // namespace rayreplay::report
