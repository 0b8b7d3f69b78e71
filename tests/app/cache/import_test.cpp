// rayreplay import as a user runs it: checks, sums, both forms, and everything that can be asked wrongly.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include <nlohmann/json.hpp>

#include "tests/app/json_keys.hpp"
#include "tests/app/run_command.hpp"

namespace rayreplay::test {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr const char* kText =
    "rayreplay-memory-trace 1\n"
    "tool by hand\n"
    "sms 2\n"
    "frame 2 1\n"
    "allocation node 0x1000 4096 64 nodes\n"
    "allocation frame-buffer 0x4000 8 4 picture\n"
    "0 0 load 16 0x3 0x1000 0x1040\n"
    "1 5 store 4 0x5 0x4000 0x4004\n"
    "1 5 load 4 0x1 0x9000\n"
    "end 3\n";

class ImportTest : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(scratch_ / name, std::ios::binary) << bytes;
    return scratch_ / name;
  }

  Scratch scratch_;
};

TEST_F(ImportTest, SumsByAllocation) {
  const Outcome outcome = run_command({"import", write("t.txt", kText), "--format", "json"});
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_THAT(outcome.errors, HasSubstr("outside every allocation: 1 access of lanes"));
  const json result = json::parse(outcome.output);
  EXPECT_EQ(result["tool"], "by hand");
  EXPECT_EQ(result["records"], 3);
  EXPECT_EQ(result["lanes"], 5);
  EXPECT_EQ(result["width"], 2);
  const std::string surfaces = read_bytes(std::string(RAYREPLAY_SOURCE_DIR) + "/docs/surfaces.md");
  expect_named(result, surfaces);
  const json& rows = result["allocations"];
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0]["allocation"], "nodes");
  EXPECT_EQ(rows[0]["loads"], 2);
  EXPECT_EQ(rows[0]["bytes_read"], 32);
  EXPECT_EQ(rows[1]["stores"], 2);
  EXPECT_EQ(rows[1]["bytes_written"], 8);
  EXPECT_EQ(rows[2]["data"], "unallocated");
  EXPECT_EQ(rows[2]["loads"], 1);
  const Outcome table = run_command({"import", scratch_ / "t.txt"});
  EXPECT_THAT(table.output, HasSubstr("outside all"));
  EXPECT_THAT(run_command({"import", scratch_ / "t.txt", "--format", "csv"}).output,
              StartsWith("allocation,data,start,"));
}

TEST_F(ImportTest, FormsTurnIntoEachOther) {
  const std::string text = write("t.txt", kText);
  ASSERT_EQ(run_command({"import", text, "-o", scratch_ / "t.rrm"}).code, 0);
  const Outcome table = run_command({"import", text, "-o", scratch_ / "t.csv"});
  EXPECT_EQ(table.code, 2);
  EXPECT_THAT(table.errors, HasSubstr("the binary form of a memory trace would get a name of text"));
  EXPECT_EQ(run_command({"import", text, "--text", "-o", scratch_ / "t.csv"}).code, 0);
  EXPECT_THAT(read_bytes(scratch_ / "t.rrm"), StartsWith("RRMEMTR\n"));
  const Outcome back = run_command({"import", scratch_ / "t.rrm", "--text", "-o", "-"});
  ASSERT_EQ(back.code, 0) << back.errors;
  EXPECT_THAT(back.output, StartsWith("rayreplay-memory-trace 1\n"));
  // Written again from what was written: the same bytes.
  const Outcome again = run_command({"import", write("u.txt", back.output), "--text", "-o", "-"});
  EXPECT_EQ(again.output, back.output);
  ASSERT_EQ(run_command({"import", scratch_ / "u.txt", "-o", scratch_ / "u.rrm"}).code, 0);
  EXPECT_EQ(read_bytes(scratch_ / "u.rrm"), read_bytes(scratch_ / "t.rrm"));
}

TEST_F(ImportTest, WrongQuestionsAreRefused) {
  const std::string text = write("t.txt", kText);
  struct Case {
    std::vector<std::string> words;
    int code;
    const char* part;
  };
  for (const Case& wrong : std::vector<Case>{
           {{"import"}, 2, "trace"},
           {{"import", scratch_ / "nothing"}, 3, "nothing"},
           {{"import", text, "--text"}, 2, "--output"},
           {{"import", text, "-o", text, "--force"}, 2, "also an input"},
           {{"import", text, "--nvbit", text, "-o", text, "--force"}, 2, "also an input"},
           {{"import", text, "--format", "jsn"}, 2, "'json'"},
           {{"import", text, "-o", scratch_ / "nowhere/t.rrm"}, 4, "nowhere"},
           {{"import", text, "-o", "/dev/full"}, 4, "/dev/full"},
           {{"import", write("cut.txt", std::string(kText).substr(0, 205))}, 3, "cut.txt"},
           {{"import", write("zero.txt", "rayreplay-memory-trace 1\nsms 1\nallocation node 0 64 0 n\n")}, 3, "no size"},
           {{"import", write("other.txt", "hello\n")}, 3, "not a memory trace"},
       }) {
    const Outcome outcome = run_command(wrong.words);
    EXPECT_EQ(outcome.code, wrong.code) << outcome.errors;
    EXPECT_THAT(outcome.errors, HasSubstr(wrong.part));
    EXPECT_EQ(outcome.output, "");
  }
  write("there.rrm", "mine");
  EXPECT_EQ(run_command({"import", text, "-o", scratch_ / "there.rrm"}).code, 4);
  EXPECT_EQ(read_bytes(scratch_ / "there.rrm"), "mine");
  EXPECT_THAT(scratch_.names(), ElementsAre("cut.txt", "other.txt", "t.txt", "there.rrm", "zero.txt"));
}

TEST_F(ImportTest, ATraceWithoutRecordsIsWarnedOf) {
  const Outcome empty = run_command({"import", write("e.txt", "rayreplay-memory-trace 1\nsms 1\n")});
  EXPECT_EQ(empty.code, 0);
  EXPECT_THAT(empty.errors, HasSubstr("warning: the memory trace has no records"));
  EXPECT_THAT(run_command({"import", write("t.txt", kText)}).errors, Not(HasSubstr("no records")));
}

TEST_F(ImportTest, ADamagedTraceLeavesNoOutput) {
  const std::string text = write("t.txt", kText);
  ASSERT_EQ(run_command({"import", text, "-o", scratch_ / "t.rrm"}).code, 0);
  std::string bytes = read_bytes(scratch_ / "t.rrm");
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  const Outcome outcome = run_command({"import", write("bad.rrm", bytes), "-o", scratch_ / "out.rrm"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_EQ(outcome.output, "");
  EXPECT_THAT(scratch_.names(), ElementsAre("bad.rrm", "t.rrm", "t.txt"));
}

TEST_F(ImportTest, OutputOfMemTrace) {
  const std::string head = write("head.txt", "rayreplay-memory-trace 1\nsms 4\nallocation node 0x1000 4096 64 nodes\n");
  std::string line = "MEMTRACE: CTX 0x0 - grid_launch_id 0 - CTA 0,0,0 - warp 0 - LDG.E.64 - 0x1000 0x1008 ";
  for (int lane = 2; lane < 32; ++lane) {
    line += "0x0 ";
  }
  const std::string log = write("log.txt", line + "\nnothing of it\n");
  const Outcome outcome = run_command({"import", log, "--nvbit", head, "--format", "json"});
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_EQ(json::parse(outcome.output)["records"], 1);
  EXPECT_EQ(json::parse(outcome.output)["allocations"][0]["bytes_read"], 16);
  EXPECT_THAT(outcome.errors, HasSubstr("1 line that is not of mem_trace"));
  EXPECT_THAT(outcome.errors, HasSubstr("left out: 30 lanes with address 0"));
}

TEST_F(ImportTest, RecordsInTheHeaderForMemTraceWouldBeLost) {
  const std::string whole = write("whole.txt", kText);
  const std::string log = write("log.txt", "MEMTRACE: CTX 0x0 - LAUNCH - grid launch id 0 - grid size 1,1,1 - \n");
  const Outcome outcome = run_command({"import", log, "--nvbit", whole, "-o", scratch_ / "o.rrm"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.errors, HasSubstr("whole.txt"));
  EXPECT_THAT(outcome.errors, HasSubstr("has records, which would be lost"));
  const std::string head = write("head.txt", "rayreplay-memory-trace 1\nsms 4\n");
  const Outcome other = run_command({"import", whole, "--nvbit", head, "-o", scratch_ / "o.rrm"});
  EXPECT_EQ(other.code, 3);
  EXPECT_THAT(other.errors, HasSubstr("not the output of mem_trace"));
  EXPECT_THAT(scratch_.names(), ElementsAre("head.txt", "log.txt", "whole.txt"));
}

}  // namespace
}  // namespace rayreplay::test
