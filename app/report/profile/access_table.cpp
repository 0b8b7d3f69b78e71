#include "app/report/profile/access_table.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <tuple>

#include "capture/trace/image_shape.hpp"

namespace rayreplay::report {

using output::Cell;
using output::Show;
using output::Table;

namespace {

Cell text_cell(const std::string& text) {
  return text.empty() ? Cell{} : Cell{text};
}

const char* name_of(trace::Filter filter) {
  constexpr std::array<const char*, trace::kFilters> kNames = {"no sampler", "nearest", "linear"};
  return kNames.at(static_cast<std::size_t>(filter));
}

/// Whether bytes of the site are known: those of images without a layout are not.
bool has_bytes(const profile::SiteAccesses& of) {
  return of.bytes != 0 || of.nowhere != 0;
}

}  // namespace

Table access_table(const std::vector<trace::Shader>& shaders, const trace::AccessSites& sites,
                   const AccessDetails& details) {
  const bool has_source = std::ranges::any_of(details.names, [](const auto& name) { return !name.source.empty(); });
  Table table;
  table.columns = {{"shader", "shader"},
                   {"stage", "stage", {}, 0, true},
                   {"name", "name"},
                   {"function", "function", {}, 0, true},
                   {"function_name", "function"},
                   {"block", "block", {}, 0, true},
                   {"label", "label", {}, 0, true},
                   {"instruction", "instruction"},
                   {"kind", "kind"},
                   {"memory", "memory"},
                   {"subject", "accesses"},
                   {"source", "source", {}, 0, !has_source},
                   {"set", "set", {}, 0, true},
                   {"binding", "binding", {}, 0, true},
                   {"element", "element", {}, 0, true},
                   {"bytes", "bytes"},
                   {"executions", "executions"},
                   {"warp_instructions", "warp instructions"},
                   {"asked_bytes", "bytes asked for"},
                   {"sectors", "32-byte sectors"},
                   {"lines", "128-byte lines"},
                   {"transactions", "transactions (sectors)"},
                   {"sectors_per_instruction", "sectors per instruction", Show::Plain, 2},
                   {"lines_per_instruction", "lines per instruction", Show::Plain, 2},
                   {"sectors_share", "of all transactions", Show::Percent, 1},
                   {"outside", "outside of images", {}, 0, true}};
  double all = 0;
  for (const profile::SiteAccesses& of : details.accesses) {
    all += static_cast<double>(of.group_sectors);
  }
  std::vector<std::size_t> order = details.order;
  if (order.empty()) {
    order.resize(sites.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
  }
  for (const std::size_t row : order) {
    const profile::SiteAccesses& of = details.accesses[row];
    const profile::AccessName& name = details.names[row];
    const trace::Shader& shader = shaders[sites.shader[row]];
    const bool buffer = sites.space[row] == trace::AccessSpace::Descriptor;
    const bool image = sites.space[row] == trace::AccessSpace::Image;
    const auto where = [](bool known, std::uint64_t number) { return known ? Cell{number} : Cell{}; };
    const auto sectors = static_cast<double>(of.group_sectors);
    const auto groups = static_cast<double>(of.groups);
    const bool placed = !image || of.lanes == 0 || has_bytes(of);
    const bool ran = of.groups != 0 && placed;
    table.rows.push_back({std::uint64_t{sites.shader[row]},
                          std::string(to_string(shader.stage)),
                          shader.name,
                          std::uint64_t{sites.function[row]},
                          text_cell(name.function),
                          std::uint64_t{sites.block[row]},
                          text_cell(name.label),
                          std::uint64_t{sites.instruction[row]},
                          std::string(to_string(sites.kind[row])),
                          std::string(to_string(sites.space[row])),
                          text_cell(name.place),
                          text_cell(name.source),
                          where(buffer || image, sites.set[row]),
                          where(buffer || image, sites.binding[row]),
                          where(buffer, sites.element[row]),
                          where(!image, sites.bytes[row]),
                          of.lanes,
                          of.groups,
                          where(placed, of.bytes),
                          where(placed, of.sectors),
                          where(placed, of.lines),
                          where(placed, of.group_sectors),
                          ran ? Cell{sectors / groups} : Cell{},
                          ran ? Cell{static_cast<double>(of.group_lines) / groups} : Cell{},
                          placed && all > 0 ? Cell{sectors / all} : Cell{},
                          where(image && placed, of.nowhere)});
  }
  return table;
}

std::vector<std::size_t> by_transactions(const std::vector<profile::SiteAccesses>& accesses) {
  std::vector<std::size_t> order(accesses.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t row) {
    return std::tuple(accesses[row].group_sectors, accesses[row].lanes);
  });
  return order;
}

Table image_table(const trace::Trace& trace, const std::vector<profile::AccessName>& names) {
  Table table;
  table.columns = {{"set", "set"},
                   {"binding", "binding"},
                   {"element", "element"},
                   {"subject", "name"},
                   {"image", "image"},
                   {"width", "width"},
                   {"height", "height"},
                   {"depth", "depth"},
                   {"layers", "layers"},
                   {"levels", "levels"},
                   {"base_layer", "first layer of the view", {}, 0, true},
                   {"base_level", "first level of the view", {}, 0, true},
                   {"block_width", "texels of a block", {}, 0, true},
                   {"block_height", "rows of a block", {}, 0, true},
                   {"block_bytes", "bytes of a block"},
                   {"filter", "filter"},
                   {"launches", "launches"}};
  const trace::AccessSites& sites = trace.access_sites;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> accessed;  // by set and binding
  for (std::size_t row = 0; row < sites.size(); ++row) {
    if (sites.space[row] == trace::AccessSpace::Image) {
      std::string& name = accessed[{sites.set[row], sites.binding[row]}];
      name = name.empty() ? names[row].place : name;
    }
  }
  using View = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, trace::ImageShape, std::uint32_t,
                          std::uint32_t, trace::Filter>;
  std::map<View, std::uint64_t> views;
  for (const trace::Launch& launch : trace.launches) {
    const trace::Images& images = launch.images;
    for (std::size_t row = 0; row < images.size(); ++row) {
      if (accessed.contains({images.set[row], images.binding[row]})) {
        ++views[{images.set[row], images.binding[row], images.element[row], images.image[row],
                 trace::image_shape(images, row), images.base_layer[row], images.base_level[row], images.filter[row]}];
      }
    }
  }
  for (const auto& [view, launches] : views) {
    const auto& [set, binding, element, image, shape, base_layer, base_level, filter] = view;
    const auto number = [](std::uint32_t value) { return Cell{std::uint64_t{value}}; };
    table.rows.push_back({number(set), number(binding), number(element), text_cell(accessed[{set, binding}]),
                          number(image), number(shape.width), number(shape.height), number(shape.depth),
                          number(shape.layers), number(shape.levels), number(base_layer), number(base_level),
                          number(shape.block_width), number(shape.block_height), number(shape.block_bytes),
                          std::string(name_of(filter)), launches});
  }
  return table;
}

}  // namespace rayreplay::report
