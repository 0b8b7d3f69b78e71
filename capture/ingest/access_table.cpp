#include "capture/ingest/access_table.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace rayreplay::ingest {
namespace {

/// Empty, or why a module's sites cannot be used.
std::string fault_of(const spool::Accesses& layout, const SpoolContents& contents) {
  if (layout.sites.size() > RR_MAX_ACCESS_SITES) {
    return fmt::format("it has {} sites, more than {}", layout.sites.size(), RR_MAX_ACCESS_SITES);
  }
  std::pair<std::uint32_t, std::uint32_t> before;
  for (std::size_t i = 0; i < layout.sites.size(); ++i) {
    const spool::AccessSite& site = layout.sites[i];
    const std::pair place(site.function, site.instruction);
    if (i > 0 && place <= before) {
      return fmt::format("site {} is out of order", i);
    }
    before = place;
    const auto& shaders = site.shaders;
    if (shaders.empty() ||
        std::adjacent_find(shaders.begin(), shaders.end(), std::greater_equal<>()) != shaders.end() ||
        !std::all_of(shaders.begin(), shaders.end(),
                     [&](std::uint16_t shader) { return contents.shaders.contains(shader); })) {
      return fmt::format("the shaders of site {} are not in the spool, or not in order", i);
    }
    const bool image = site.space == spool::AccessSpace::Image;
    const bool descriptor = site.space == spool::AccessSpace::Descriptor;
    const bool named = !descriptor && (site.element != 0 || (!image && (site.set != 0 || site.binding != 0)));
    if (site.kind == spool::AccessKind::Sample && !image) {
      return fmt::format("site {} samples a buffer", i);
    }
    if ((site.bytes == 0) != image || named) {
      return fmt::format("site {} has bytes or a descriptor that it cannot have, or lacks bytes", i);
    }
  }
  return {};
}

}  // namespace

AccessTable::AccessTable(const SpoolContents& contents, std::vector<std::string>& remarks) {
  std::map<std::uint16_t, const spool::Accesses*> module_of;  // by shader
  for (const auto& [module, layout] : contents.accesses) {
    if (const std::string why = fault_of(layout, contents); !why.empty()) {
      remarks.push_back(fmt::format("accesses to buffers and images of the module of shader {}: {}", module, why));
      continue;
    }
    for (const spool::AccessSite& site : layout.sites) {
      for (const std::uint16_t shader : site.shaders) {
        module_of.emplace(shader, &layout);  // a shader is of one module
      }
    }
  }
  for (const auto& [shader, layout] : module_of) {
    std::vector<std::uint32_t>& rows = rows_[shader];
    rows.assign(layout->sites.size(), trace::kNone);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const spool::AccessSite& site = layout->sites[i];
      if (!std::binary_search(site.shaders.begin(), site.shaders.end(), shader)) {
        continue;
      }
      rows[i] = static_cast<std::uint32_t>(sites_.size());
      sites_.shader.push_back(shader);
      sites_.function.push_back(site.function);
      sites_.block.push_back(site.block);
      sites_.instruction.push_back(site.instruction);
      sites_.kind.push_back(static_cast<trace::AccessKind>(site.kind));
      sites_.space.push_back(static_cast<trace::AccessSpace>(site.space));
      sites_.set.push_back(site.set);
      sites_.binding.push_back(site.binding);
      sites_.element.push_back(site.element);
      sites_.bytes.push_back(site.bytes);
    }
  }
}

std::optional<std::uint32_t> AccessTable::row_of(const Chunk& chunk) const {
  const auto rows = rows_.find(chunk.shader);
  const std::uint32_t site = chunk.access_site();
  if (rows == rows_.end() || site >= rows->second.size() || rows->second[site] == trace::kNone) {
    return std::nullopt;
  }
  const std::uint32_t row = rows->second[site];
  const trace::AccessSpace space = sites_.space[row];
  const std::uint32_t kind = space == trace::AccessSpace::Device  ? RR_ACCESS_ADDRESS
                             : space == trace::AccessSpace::Image ? RR_ACCESS_IMAGE
                                                                  : RR_ACCESS_OFFSET;
  return kind == chunk.kind ? std::optional(row) : std::nullopt;
}

}  // namespace rayreplay::ingest
