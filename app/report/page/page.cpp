#include "app/report/page/page.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <kainjow/mustache.hpp>

#include "app/report/charts/svg.hpp"
#include "app/report/page/templates.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"

namespace rayreplay::report {
namespace {

namespace mustache = kainjow::mustache;

std::string text_of(std::string_view name) {
  const auto texts = page_texts();
  const auto found = std::ranges::find(texts, name, &PageText::name);
  if (found == texts.end()) {
    throw Error(ErrorKind::Internal, {"a page has no template", std::string(name), "", "", ""});
  }
  return std::string(found->text);
}

mustache::data to_mustache(const PageData& value) {
  if (value.is_object()) {
    mustache::data object;
    for (const auto& [key, item] : value.items()) {
      object[key] = to_mustache(item);
    }
    return object;
  }
  if (value.is_array()) {
    mustache::data list(mustache::data::type::list);
    for (const PageData& item : value) {
      list.push_back(to_mustache(item));
    }
    return list;
  }
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    return text.empty() ? mustache::data(false) : mustache::data(text);
  }
  return value.is_number() ? mustache::data(json_text(value)) : mustache::data(value == true);
}

bool has_numbers(const output::Table& table, std::size_t column) {
  return std::ranges::any_of(table.rows, [column](const auto& row) {
    return std::holds_alternative<double>(row[column]) || std::holds_alternative<std::uint64_t>(row[column]);
  });
}

}  // namespace

std::string escape_html(std::string_view text) {
  std::string safe;
  for (std::size_t at = 0; at < text.size();) {
    const utf8::Decoded one = utf8::decode(text, at);
    const std::string_view bytes = text.substr(at, one.bytes);
    at += one.bytes;
    const bool shows = one.valid && (utf8::only_shows(one.code) || one.code == U'\n' || one.code == U'\t');
    safe += shows ? std::string(bytes) : text::printable(bytes);
  }
  return mustache::html_escape(safe);
}

std::string make_page(const std::string& name, PageData data) {
  data["version"] = RAYREPLAY_VERSION;
  data["style"] = chart_style() + text_of("style");
  mustache::data context = to_mustache(data);
  for (const char* part : {"start", "facts", "table", "charts", "figures", "configuration"}) {
    // An underscore: the data have keys of the same names.
    context[std::string("_") + part] = mustache::data(mustache::partial([part] { return text_of(part); }));
  }
  mustache::mustache page(text_of(name));
  page.set_custom_escape(escape_html);
  std::string html = page.render(context);
  if (!page.is_valid()) {
    throw Error(ErrorKind::Internal, {"a page cannot be made", name, page.error_message(), "", ""});
  }
  return html;
}

PageData page_table(const output::Table& table, const std::string& bar_key) {
  PageData columns = PageData::array(), rows = PageData::array();
  std::vector<bool> numbers;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const output::Column& column = table.columns[i];
    numbers.push_back(has_numbers(table, i));
    if (!column.detail) {
      columns.push_back({{"title", column.title}, {"number", bool{numbers[i]}}, {"bar", column.key == bar_key}});
    }
  }
  for (const auto& row : table.rows) {
    PageData cells = PageData::array();
    for (std::size_t i = 0; i < row.size(); ++i) {
      const output::Column& column = table.columns[i];
      if (!column.detail) {
        const auto* share = column.key == bar_key ? std::get_if<double>(&row[i]) : nullptr;
        cells.push_back({{"text", text::printable(output::cell_text(row[i], column))},
                         {"number", bool{numbers[i]}},
                         {"bar", share == nullptr ? "" : fmt::format("{:.2f}", std::clamp(*share, 0.0, 1.0) * 100)}});
      }
    }
    const auto* first = std::get_if<std::string>(&row.front());
    rows.push_back({{"bound", first != nullptr && *first == "bound"}, {"cells", std::move(cells)}});
  }
  return {{"columns", std::move(columns)}, {"rows", std::move(rows)}};
}

PageData page_facts(const Facts& facts) {
  PageData list = PageData::array();
  for (const auto& [name, value] : facts) {
    list.push_back({{"name", text::printable(name)}, {"value", text::printable(value)}});
  }
  return list;
}

PageData page_figures(const std::vector<Picture>& pictures) {
  PageData list = PageData::array();
  for (const Picture& picture : pictures) {
    list.push_back({{"file", picture.file}, {"caption", picture.caption}});
  }
  return list.empty() ? PageData() : PageData{{"pictures", std::move(list)}};
}

PageData page_charts(const std::vector<pictures::Chart>& charts) {
  PageData list = PageData::array();
  for (const pictures::Chart& chart : charts) {
    list.push_back(svg_figure(chart));
  }
  return list;
}

}  // namespace rayreplay::report
