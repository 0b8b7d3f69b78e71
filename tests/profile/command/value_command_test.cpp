// rayreplay profile on traces with values of loads: the rows that are chosen, and the page.
#include <algorithm>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "capture/trace/writer.hpp"
#include "tests/app/html_fault.hpp"
#include "tests/app/json_keys.hpp"
#include "tests/app/run_command.hpp"
#include "tests/profile/command/trace_commands.hpp"
#include "tests/profile/loading_shader.hpp"
#include "tests/profile/profile_maker.hpp"
#include "tests/support/file_bytes.hpp"

namespace rayreplay {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class ValueCommand : public test::TraceCommands {
 protected:
  /// Loads of a colour's component (30 lanes in 5 groups, 2 of them without a slot), of a float that is always -0.5,
  /// of a number that has two values, and a component that never ran.
  static trace::Trace with_values() {
    trace::Trace trace;
    trace.header.warp_size = 8;
    trace.header.configuration = "{}";
    trace.shaders = {{trace::ShaderStage::Miss, "main", "sky", test::loading_shader(true)}};
    test::add_place(trace.value_counts, 4, 3, 0, 0, 0, {});
    test::add_place(trace.value_counts, 4, 3, 2, 30, 5,
                    {{0, 5, 0, 5}, {0x3F800000, 9, 0, 9}, {0x40490FDB, 5, 1, 5}, {0x7FC00001, 9, 1, 9}});
    test::add_place(trace.value_counts, 4, 5, 0, 8, 2, {{0xBF000000, 8, 2, 8}});
    test::add_place(trace.value_counts, 4, 7, 0, 8, 2, {{7, 5, 1, 5}, {0xFFFFFFFE, 3, 0, 3}});
    return trace;
  }
  /// Subject, rank, value, lanes and uniform groups of each row; null where empty.
  static json brief(const json& rows) {
    json result = json::array();
    for (const json& row : rows) {
      result.push_back({row["subject"], row["rank"], row["value"], row["lanes"], row["uniform_groups"]});
    }
    return result;
  }
};

TEST_F(ValueCommand, RowsOfValuesAreTheMostFrequentOnes) {
  const std::string file = save("t.rrt", with_values());
  const auto rows_of = [&](const std::string& rows, const std::string& top) {
    const json document = json::parse(printed({"profile", file, "--rows", rows, "--top", top, "--format", "json"}));
    EXPECT_TRUE(document.contains(rows == "values" ? "values" : "uniform_values"));
    EXPECT_FALSE(document.contains(rows == "values" ? "uniform_values" : "values"));
    return brief(document[rows == "values" ? "values" : "uniform_values"]);
  };
  const json null;
  EXPECT_EQ(rows_of("values", "2"), json({{"table.colours[].x", null, null, 0, 0},
                                          {"table.colours[].z", 1, "1", 9, 0},
                                          {"table.colours[].z", 2, "nan (0x7fc00001)", 9, 1},
                                          {"table.colours[].z", null, "(others)", 12, nullptr},
                                          {"table.scale", 1, "-0.5", 8, 2},
                                          {"Push.level", 1, "7", 5, 1},
                                          {"Push.level", 2, "-2", 3, 0}}));
  const json first = rows_of("values", "1");
  EXPECT_EQ(first.size(), 6U);
  EXPECT_EQ(first.back(), json({"Push.level", null, "(others)", 3, 0})) << "no value was without a slot";
  // All values have a row: what is left are the lanes without a slot.
  const json all = rows_of("values", "4294967295");
  EXPECT_EQ(all.size(), 9U);
  EXPECT_EQ(all.at(5), json({"table.colours[].z", null, "(others)", 2, nullptr}));
  EXPECT_EQ(rows_of("uniform-values", "1"), json({{"table.colours[].x", null, null, 0, 0},
                                                  {"table.colours[].z", 1, "3.1415927", 5, 1},
                                                  {"table.colours[].z", null, "(others, or lanes that differ)", 25, 4},
                                                  {"table.scale", 1, "-0.5", 8, 2},
                                                  {"Push.level", 1, "7", 5, 1},
                                                  {"Push.level", null, "(others, or lanes that differ)", 3, 1}}));
}

TEST_F(ValueCommand, CsvAndTableHaveTheSameRows) {
  const std::string file = save("t.rrt", with_values());
  const std::string csv = printed({"profile", file, "--rows", "values", "--top", "1", "--format", "csv"});
  EXPECT_THAT(csv, testing::StartsWith(
                       "pipeline,shader,name,function,function_name,block,label,instruction,component,kind,subject,"
                       "rank,value,bits,lanes,lanes_share,most_lanes,uniform_groups,uniform_groups_share,place_lanes,"
                       "place_groups,untabled_lanes\r\n"));
  EXPECT_EQ(std::ranges::count(csv, '\n'), 7);
  EXPECT_THAT(csv, HasSubstr(",3,2,load,table.colours[].z,1,1,1065353216,9,0.3,9,0,0,30,5,2\r\n"));
  EXPECT_THAT(csv, HasSubstr(",3,2,load,table.colours[].z,,(others),,21,0.7,,,,30,5,2\r\n"));
  EXPECT_THAT(csv, HasSubstr(",3,0,load,table.colours[].x,,,,0,,,0,,0,0,0\r\n"));
  // Values alone: the rows are those that nobody has to ask for, eight of a load.
  EXPECT_EQ(printed({"profile", file, "--format", "csv"}),
            printed({"profile", file, "--rows", "values", "--top", "8", "--format", "csv"}));
  const std::string table = printed({"profile", file, "--top", "1"});
  EXPECT_EQ(table, printed({"profile", file, "--rows", "values", "--top", "1"}));
  EXPECT_THAT(table, AllOf(HasSubstr("table.scale"), HasSubstr("-0.5"), HasSubstr("30.0"), HasSubstr("(others)"),
                           Not(HasSubstr("3.1415927"))));
  EXPECT_THAT(printed({"profile", file, "--rows", "uniform-values"}), HasSubstr("(others, or lanes that differ)"));
  // Beside counts of blocks values stand below the shaders.
  trace::Trace trace = with_values();
  test::add_row(trace.block_counts, {4, 0, 0, 0, 30, 5});
  const std::string both = save("both.rrt", trace);
  EXPECT_THAT(printed({"profile", both, "--top", "1"}), testing::EndsWith("\n" + table));
  EXPECT_THAT(printed({"profile", both, "--format", "csv"}), Not(HasSubstr("table.scale")));
  EXPECT_THAT(printed({"profile", both, "--rows", "values", "--format", "csv"}), HasSubstr("table.scale"));
}

TEST_F(ValueCommand, BadNumbersAndMissingValuesAreRefused) {
  const std::string file = save("t.rrt", with_values());
  for (const char* bad : {"0", "-1", "4294967296", "99999999999999999999", "1.5", "x", ""}) {
    refused({"profile", file, "--rows", "values", "--top", bad}, 2, "--top");
  }
  refused({"profile", file, "--rows", "value"}, 2, "--rows");
  refused({"profile", file, "--rows", "values", "--blocks"}, 2, "--blocks");
  refused({"profile", file, "--blocks"}, 3, "no counts of basic blocks");
  trace::Trace trace = with_values();
  trace.value_counts = {};
  test::add_row(trace.block_counts, {4, 0, 0, 0, 30, 5});
  const std::string none = save("none.rrt", trace);
  for (const auto& words :
       {std::vector<std::string>{"--rows", "values"}, {"--rows", "uniform-values"}, {"--top", "3"}}) {
    std::vector<std::string> all = {"profile", none};
    all.insert(all.end(), words.begin(), words.end());
    refused(all, 3, "the trace has no counts of values of loads");
    refused(all, 3, "capture the application with --profile values");
  }
}

TEST_F(ValueCommand, ThePageShowsValuesByField) {
  trace::Trace trace = with_values();
  test::add_row(trace.block_counts, {4, 0, 0, 0, 30, 5});
  const std::string file = save("t.rrt", trace);
  const std::string folder = scratch_ / "report";
  printed({"profile", file, "--top", "2", "--report", folder});
  const std::string html = test::read_bytes(folder + "/index.html");
  EXPECT_EQ(test::html_fault(html), "");
  for (const char* text :
       {"<h2>Values of loads</h2>", "The 2 values that a load gave most often", "Most frequent values of loads",
        "Most frequent values that all lanes of a group had", "0 table.scale = -0.5", "0 Push.level = 7",
        "0 table.colours[].z = 1", "0 table.colours[].z = 3.1415927", "the second", "table.colours[].x",
        "<td>(others)</td>", "(others, or lanes that differ)", "values of 4 loaded numbers",
        "values.csv, uniform-values.csv"}) {
    EXPECT_THAT(html, HasSubstr(text));
  }
  // The table begins with the load that most lanes executed; the bar is the value's share of them.
  const std::string section = html.substr(html.find("<h2>Values of loads</h2>"));
  const std::string table = section.substr(section.find("<tbody>"));
  EXPECT_LT(table.find("table.colours[].z"), table.find("table.scale"));
  EXPECT_THAT(table, HasSubstr("style=\"width:30.00%\""));
  const json data = json::parse(test::read_bytes(folder + "/profile.json"));
  const std::string surfaces = test::read_bytes(std::string(RAYREPLAY_SOURCE_DIR) + "/docs/surfaces.md");
  for (const auto& [list, name] : {std::pair{"values", "values"}, std::pair{"uniform_values", "uniform-values"}}) {
    test::expect_named(data[list].at(0), surfaces);
    EXPECT_EQ(data[list],
              json::parse(printed({"profile", file, "--rows", name, "--top", "2", "--format", "json"}))[list]);
    const std::string csv = test::read_bytes(folder + "/" + name + ".csv");
    EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(csv, '\n')), data[list].size() + 1) << list;
  }
  printed({"profile", file, "--top", "2", "--report", folder, "--force"});
  EXPECT_EQ(test::read_bytes(folder + "/index.html"), html);

  // A trace with values alone has a page, too; one without values has no such section.
  printed({"profile", save("alone.rrt", with_values()), "--report", scratch_ / "alone"});
  const std::string alone = test::read_bytes(scratch_ / "alone/index.html");
  EXPECT_EQ(test::html_fault(alone), "");
  EXPECT_THAT(alone, AllOf(HasSubstr("0 table.scale = -0.5"), HasSubstr("the next 7"), Not(HasSubstr("<h2>Shaders"))));
  trace.value_counts = {};
  printed({"profile", save("none.rrt", trace), "--report", scratch_ / "none"});
  EXPECT_THAT(test::read_bytes(scratch_ / "none/index.html"),
              AllOf(Not(HasSubstr("Values of loads")), HasSubstr("values, memory (capture with --profile"),
                    Not(HasSubstr("values.csv"))));
  EXPECT_FALSE(std::filesystem::exists(scratch_ / "none/values.csv"));
}

TEST_F(ValueCommand, ThePageIsBoundedAndEscapesNames) {
  trace::Trace trace = with_values();
  // Fields with markup as names, and more rows than a page shows.
  std::string reason;
  spirv::Module module = *spirv::parse(trace.shaders[0].spirv, reason);
  for (spirv::Instruction& i : module.debug) {
    if (i.is(spv::Op::OpName)) {
      spirv::Instruction changed(i.op(), {i[1]});
      for (const spirv::Word word : spirv::string_words("<script>\x1b[31m" + std::string(3000, 'm'))) {
        changed.add(word);
      }
      i = changed;
    }
  }
  trace.shaders[0].spirv = module.serialise();
  trace.value_counts = {};
  for (std::uint32_t pipeline = 0; pipeline < 300; ++pipeline) {
    test::add_place(trace.value_counts, pipeline, 5, 0, 8 + pipeline, 8 + pipeline, {{pipeline, 8, 2, 8}});
  }
  printed({"profile", save("t.rrt", trace), "--report", scratch_ / "report"});
  const std::string html = test::read_bytes(scratch_ / "report/index.html");
  EXPECT_EQ(test::html_fault(html), "");
  EXPECT_THAT(html, AllOf(Not(HasSubstr("<script")), Not(HasSubstr("\x1b")),
                          HasSubstr("The 24 of 300 numbers that most lanes executed."),
                          HasSubstr("The first 200 of 599 rows are shown; values.csv has all")));
}

}  // namespace
}  // namespace rayreplay
