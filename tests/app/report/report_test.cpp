// Is the report whole, well-formed, offline, and do its pictures show the numbers?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <regex>

#include <stb/stb_image.h>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/report/charts/heatmap.hpp"
#include "app/report/packings/launch_pictures.hpp"
#include "app/report/packings/published.hpp"
#include "app/report/packings/whatif_page.hpp"
#include "base/error.hpp"
#include "capture/trace/reader.hpp"
#include "scheduler-models/packing.hpp"
#include "sim/engine/stages/simt.hpp"
#include "tests/app/html_fault.hpp"
#include "tests/app/small_trace.hpp"
#include "tests/support/opened.hpp"

namespace rayreplay::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

namespace fs = std::filesystem;

class ReportTest : public SmallTrace {};

TEST_F(ReportTest, IsWholeWellFormedAndOffline) {
  const std::string folder = scratch_ / "report";
  const Outcome outcome = run_command({"whatif", trace(), "--report", folder, "--image", image(), "--compare",
                                       std::string(RAYREPLAY_SOURCE_DIR) + "/validation/published/one-weekend.toml"});
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_THAT(scratch_.names(), testing::ElementsAre("report"));
  const std::string html = read_bytes(folder + "/index.html");
  EXPECT_EQ(html_fault(html), "");
  EXPECT_THAT(html, Not(HasSubstr("http")));
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, HasSubstr("numrays"));
  EXPECT_THAT(html, HasSubstr("width: 64, published 1280"));
  EXPECT_THAT(html, HasSubstr(trace::load(trace()).hash));
  const std::regex source("src=\"([^\"]+)\"");
  std::size_t pictures = 0;
  for (auto match = std::sregex_iterator(html.begin(), html.end(), source); match != std::sregex_iterator(); ++match) {
    EXPECT_TRUE(fs::is_regular_file(fs::path(folder) / (*match)[1].str())) << (*match)[1];
    ++pictures;
  }
  const nlohmann::json data = nlohmann::json::parse(read_bytes(folder + "/whatif.json"));
  EXPECT_EQ(pictures, data["rows"].size() + 5);  // rays, intersections, any-hits, order, rendered
  EXPECT_TRUE(read_bytes(folder + "/rendered.png") == read_bytes(image()));
}

TEST_F(ReportTest, IsTheSameEveryTime) {
  ASSERT_EQ(run_command({"whatif", trace(), "--report", scratch_ / "a"}).code, 0);
  ASSERT_EQ(run_command({"whatif", trace(), "--report", scratch_ / "b", "--threads", "1"}).code, 0);
  for (const auto& entry : fs::directory_iterator(scratch_ / "a")) {
    const std::string name = entry.path().filename().string();
    EXPECT_TRUE(read_bytes(entry.path()) == read_bytes(scratch_ / "b/" + name)) << name;
  }
}

TEST_F(ReportTest, RefusesAFolderThatIsNotEmpty) {
  ASSERT_EQ(run_command({"whatif", trace(), "--report", scratch_ / "a"}).code, 0);
  const Outcome refused = run_command({"whatif", trace(), "--report", scratch_ / "a"});
  EXPECT_EQ(refused.code, 4);
  EXPECT_THAT(refused.errors, HasSubstr("--force"));
  EXPECT_EQ(run_command({"whatif", trace(), "--report", scratch_ / "a", "--force"}).code, 0);
  EXPECT_THAT(scratch_.names(), testing::ElementsAre("a"));
}

TEST_F(ReportTest, ForceSparesWhatIsNotAReport) {
  const std::string folder = scratch_ / "a";
  const auto refused = [&](const std::vector<std::string>& more, const std::string& named, int code) {
    std::vector<std::string> words = {"whatif", trace(), "--report", folder, "--force"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = run_command(words);
    EXPECT_EQ(outcome.code, code) << outcome.errors;
    EXPECT_THAT(outcome.errors, HasSubstr(named));
    EXPECT_THAT(outcome.errors, HasSubstr("choose another folder"));
  };
  ASSERT_EQ(run_command({"whatif", trace(), "--report", folder, "--image", image()}).code, 0);
  const auto names = [&folder] { return std::distance(fs::directory_iterator(folder), fs::directory_iterator()); };
  const auto before = names();
  // Inputs that lie in the folder, although they are files of a report.
  refused({"--image", folder + "/rendered.png"}, "rendered.png", 2);
  refused({"--config", folder + "/config.toml"}, "config.toml", 2);
  fs::copy_file(trace(), folder + "/t.rrt");
  refused({}, "'t.rrt'", 4);
  EXPECT_EQ(names(), before + 1);
  EXPECT_TRUE(read_bytes(folder + "/t.rrt") == read_bytes(trace()));
  fs::remove(folder + "/t.rrt");
  EXPECT_EQ(run_command({"whatif", trace(), "--report", folder, "--force"}).code, 0);
  EXPECT_EQ(names(), before - 1);  // the picture has gone
  EXPECT_THAT(scratch_.names(), testing::ElementsAre("a"));
}

TEST_F(ReportTest, PicturesShowTheNumbers) {
  ASSERT_EQ(
      run_command({"whatif", trace(), "--packing", "numrays", "--report", scratch_ / "a", "--colormap", "plasma"}).code,
      0);
  const trace::Trace loaded = trace::load(trace());
  Opened opened(loaded);
  const experiment::WhatIfResult result = experiment::what_if(
      opened.bench, opened.experiment, {.packings = {"numrays"}, .swizzles = {}, .pixel_maps = true});
  const experiment::PixelMap& map = result.rows[1].efficiency_map;
  int width = 0, height = 0, channels = 0;
  const std::unique_ptr<stbi_uc, void (*)(void*)> pixels(
      stbi_load((scratch_ / "a/efficiency-numrays.png").c_str(), &width, &height, &channels, 3), stbi_image_free);
  ASSERT_NE(pixels, nullptr);
  pictures::HeatMap heat;
  heat.width = map.width;
  heat.height = map.height;
  heat.values = map.values;
  heat.title = "title";
  heat.note = "note";
  const pictures::Area area = map_area(heat);
  for (std::uint32_t y = 0; y < map.height; ++y) {
    for (std::uint32_t x = 0; x < map.width; ++x) {
      const stbi_uc* p =
          pixels.get() +
          (std::size_t{area.y + y * area.scale} * static_cast<std::size_t>(width) + area.x + x * area.scale) * 3;
      const auto value = static_cast<double>(map.values[std::size_t{y} * map.width + x]);
      ASSERT_EQ((pictures::Rgb{p[0], p[1], p[2]}), color_at(pictures::Colormap::Plasma, value / 100)) << x << "," << y;
    }
  }
}

TEST(Html, TextIsEscaped) {
  EXPECT_EQ(report::escape_html("<a href=\"x\">&'\x01\n\t\xC2\x9B\xE2\x80\xAE\xFFä"),
            "&lt;a href=&quot;x&quot;&gt;&amp;&apos;\\x01\n\t\\u{9b}\\u{202e}\\xffä");
}

TEST(Html, NothingOfATraceGetsThroughUnescaped) {
  trace::Trace trace;
  trace.header.application = "<script>alert(1)</script>";
  trace.header.not_captured = {"<b>"};
  trace.launches.resize(1);
  experiment::WhatIfResult result;
  result.rows.resize(1);
  result.rows[0].packing = "file:<i>\"x\"";
  result.configuration.order = "<u>";
  result.configuration.warp_size = 32;
  const report::Context context{"<img src=x>", trace, result.configuration, {}};
  const std::vector<report::Picture> pictures = {{"a\"b.png", "<caption>", ""}};
  const report::Page page{context, result, pictures, "key = \"</pre>\"", "", "<title>", "", "", "<em>", {}};
  const std::string html = to_html(page);
  EXPECT_EQ(html_fault(html), "");
  for (const char* bad : {"<script", "<b>", "<i>", "<u>", "<img src=x", "<caption>", "<em>", "\"</pre>"}) {
    EXPECT_THAT(html, Not(HasSubstr(bad)));
  }
}

TEST(FileWord, IsSafeAsAFileName) {
  EXPECT_EQ(report::file_word("tiled-numrays:tile=3"), "tiled-numrays");
  EXPECT_EQ(report::file_word("file:../../etc/passwd"), "swizzle");
  EXPECT_EQ(report::file_word("a/b c"), "a-b-c");
}

TEST(Published, FaultsSayWhere) {
  const auto fault = [](const std::string& toml) {
    try {
      static_cast<void>(report::parse_published(toml, "p.toml"));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Input);
      return std::string(error.what());
    }
    return std::string();
  };
  const std::string head = "title = \"t\"\nsource = \"s\"\nnote = \"n\"\n";
  const std::string quantity = "[[quantity]]\nkey = \"k\"\ntitle = \"q\"\n";
  EXPECT_EQ(fault(head + quantity + "[[packing]]\nname = \"numrays\"\nk = 0.4\n"), "");
  EXPECT_THAT(fault(head), HasSubstr("[[quantity]]"));
  EXPECT_THAT(fault("titel = \"t\"\n"), HasSubstr("'title'"));
  EXPECT_THAT(fault(head + quantity + "[[packing]]\nname = \"numrays\"\nk = \"x\"\n"), HasSubstr("p.toml:9"));
  EXPECT_THAT(fault(head + quantity + "[[packing]]\nname = \"numrays\"\nj = 1\n"), HasSubstr("unknown key"));
  EXPECT_THAT(fault("= 3"), HasSubstr("not TOML"));
}

TEST(Published, PackingsMatchByTheirWholeSpec) {
  const std::string usual = scheduler::Packings::create("random").spec;
  const std::string other = scheduler::Packings::create("random:tiled=true").spec;
  ASSERT_NE(usual, other);
  const auto table_for = [&](const std::string& name) {
    const report::Published published = report::parse_published(
        "title = \"t\"\nsource = \"s\"\nnote = \"n\"\n[[quantity]]\nkey = \"k\"\ntitle = \"q\"\ncompare = true\n"
        "[[packing]]\nname = \"" +
            name + "\"\nk = -0.5\n[[packing]]\nname = \"absent\"\nk = 1\n",
        "p.toml");
    experiment::WhatIfResult result;
    result.rows.resize(3);
    result.rows[0].packing = "identity";
    result.rows[1].packing = usual;
    result.rows[1].change = -0.45;
    result.rows[2].packing = other;
    return report::compare(result, published);
  };
  const output::Table table = table_for("random");
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(std::get<std::string>(table.rows[0][0]), usual);
  EXPECT_DOUBLE_EQ(std::get<double>(table.rows[0][2]), -0.5);
  EXPECT_NEAR(std::get<double>(table.rows[0][3]), 5.0, 1e-9);
  const output::Table tiled = table_for("random:tiled=true");
  ASSERT_EQ(tiled.rows.size(), 1U);
  EXPECT_EQ(std::get<std::string>(tiled.rows[0][0]), other);
  EXPECT_THROW(static_cast<void>(table_for("random:tield=true")), Error);
}

TEST(Published, AnotherWorkloadIsNamed) {
  const std::string rest = "[[quantity]]\nkey = \"k\"\ntitle = \"q\"\n[[packing]]\nname = \"numrays\"\nk = 0.4\n";
  const auto parse = [&](const std::string& workload) {
    return report::parse_published("title = \"t\"\nsource = \"s\"\nnote = \"n\"\n" + workload + rest, "p.toml");
  };
  const report::Published published =
      parse("[workload]\nscene = \"one-weekend\"\nwidth = 1280\nnext_event = false\nhit_groups = \"single\"\n");
  trace::Header header;
  header.configuration =
      R"({"scene":"one-weekend:seed=42","width":1280,"next_event":false,"hit_groups":"single","seed":1})";
  EXPECT_THAT(report::differences(header, published), IsEmpty());
  EXPECT_EQ(report::workload_warning(header, published), "");
  header.configuration = R"({"scene":"cornell","width":64,"next_event":0})";
  EXPECT_THAT(report::differences(header, published),
              testing::ElementsAre("hit_groups: not in the trace, published single", "next_event: 0, published false",
                                   "scene: cornell, published one-weekend", "width: 64, published 1280"));
  for (const char* other : {"", "not JSON", "[]", "3"}) {
    header.configuration = other;
    EXPECT_THAT(report::workload_warning(header, published), HasSubstr("does not name"));
  }
  EXPECT_THAT(report::differences(header, parse("")), IsEmpty());
  EXPECT_THROW(static_cast<void>(parse("[workload]\nwidht = 3\n")), Error);
  EXPECT_THROW(static_cast<void>(parse("[workload]\nwidth = 3.5\n")), Error);
  EXPECT_THROW(static_cast<void>(parse("workload = 3\n")), Error);
}

}  // namespace
}  // namespace rayreplay::test
