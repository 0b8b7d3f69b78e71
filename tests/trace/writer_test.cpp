// The writer's promises besides the bytes: no file until it is whole, clear errors, nothing left behind.
#include <cstdlib>

#include <sys/wait.h>

#include "tests/trace/support.hpp"

namespace rayreplay::trace {
namespace {

using test::random_trace;
using testing::HasSubstr;

class WriterTest : public TraceFileTest {
 protected:
  [[nodiscard]] bool folder_is_empty() const {
    return fs::is_empty(file("x").parent_path());
  }
  const Trace trace_ = random_trace({.seed = 41});
};

TEST_F(WriterTest, NothingIsLeftWithoutFinish) {
  {
    Writer writer(file(), trace_.header, trace_.shaders, trace_.scene);
    writer.begin_launch(trace_.launches[0].size);
    writer.append(trace_.launches[0].data);
    EXPECT_FALSE(fs::exists(file()));
  }
  EXPECT_TRUE(folder_is_empty());
}

TEST_F(WriterTest, AnExistingFileIsKept) {
  write_bytes(file(), "mine");
  EXPECT_EQ(error_of([&] { write(trace_, file()); }).kind(), ErrorKind::Output);
  EXPECT_EQ(read_bytes(file()), "mine");
  write(trace_, file(), {.overwrite = true});
  EXPECT_NO_THROW(static_cast<void>(load(file())));
}

TEST_F(WriterTest, MissingFolder) {
  EXPECT_EQ(error_of([&] { write(trace_, file("none/t.rrt")); }).kind(), ErrorKind::Output);
}

TEST_F(WriterTest, MisuseIsInternal) {
  const auto expect_internal = [&](const char* what, const std::function<void(Writer&)>& use) {
    Writer writer(file(), trace_.header, trace_.shaders, trace_.scene);
    const Error error = error_of([&] { use(writer); });
    EXPECT_EQ(error.kind(), ErrorKind::Internal) << error.what();
    EXPECT_THAT(error.what(), HasSubstr(what));
  };
  const Launch& launch = trace_.launches[0];
  expect_internal("append outside a launch", [&](Writer& w) { w.append(launch.data); });
  expect_internal("end_launch outside a launch", [&](Writer& w) { w.end_launch(); });
  expect_internal("finish before the end of a launch", [&](Writer& w) {
    w.begin_launch(launch.size);
    w.finish();
  });
  expect_internal("begin_launch before the end", [&](Writer& w) {
    w.begin_launch(launch.size);
    w.begin_launch(launch.size);
  });
  expect_internal("the launch has no threads", [&](Writer& w) { w.begin_launch({0, 5, 1}); });
  expect_internal("more than 2^32 threads", [&](Writer& w) { w.begin_launch({1U << 31, 2, 1}); });
  expect_internal("the launch ended after 0 of 32 threads", [&](Writer& w) {
    w.begin_launch(launch.size);
    w.end_launch();
  });
  expect_internal("more threads appended", [&](Writer& w) {
    w.begin_launch({1, 1, 1});
    w.append(launch.data);
  });
  expect_internal("or from those announced", [&](Writer& w) {
    w.begin_launch(launch.size, {.geometry = true});
    w.append(launch.data);
  });
  expect_internal("offsets do not fit", [&](Writer& w) {
    ThreadData data = launch.data;
    data.event_offset.back() += 1;
    w.begin_launch(launch.size);
    w.append(data);
  });
  expect_internal("columns differ in length", [&](Writer& w) {
    ThreadData data = launch.data;
    data.rays.t_max.pop_back();
    w.begin_launch(launch.size);
    w.append(data);
  });
  expect_internal("after it had finished or failed", [&](Writer& w) {
    w.finish();
    w.begin_launch(launch.size);
  });
  EXPECT_TRUE(fs::exists(file()));  // from the last one
}

TEST_F(WriterTest, ValuesBeyondSceneAndShadersAreInternal) {
  Trace trace = trace_;
  trace.launches[0].data.events.shader.back() = 500;
  Error error = error_of([&] { write(trace, file()); });
  EXPECT_EQ(error.kind(), ErrorKind::Internal);
  EXPECT_THAT(error.what(), HasSubstr("t.rrt:/launch/0/events/shader: a value is beyond what scene and shaders allow"));
  trace = trace_;
  trace.scene.instances[0].blas = 77;
  error = error_of([&] { write(trace, file()); });
  EXPECT_EQ(error.kind(), ErrorKind::Internal);
  EXPECT_THAT(error.what(), HasSubstr("/scene/instances/blas[0]"));
  EXPECT_TRUE(folder_is_empty());
}

TEST_F(WriterTest, TextsThatAreNotUtf8AreNotWritten) {
  Trace trace = trace_;
  trace.header.application = "caf\xE9";
  const Error error = error_of([&] { write(trace, file()); });
  EXPECT_EQ(error.kind(), ErrorKind::Internal);
  EXPECT_THAT(error.what(), HasSubstr("the text is not UTF-8"));
  trace = trace_;
  trace.scene.geometries[0].name = "\xFF";
  EXPECT_THAT(error_of([&] { write(trace, file()); }).what(), HasSubstr("/scene/geometries/name[0]"));
  EXPECT_TRUE(folder_is_empty());
}

/// Exit code of write_with_limit.cpp.
int write_with_limit(const fs::path& path, std::uintmax_t limit) {
  const std::string command = std::string(RR_WRITE_WITH_LIMIT) + " '" + path.string() + "' " + std::to_string(limit);
  const int status = std::system(command.c_str());  // NOLINT(concurrency-mt-unsafe, cert-env33-c): a test
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(WriterTest, FullDisk) {
  const std::uintmax_t no_limit = std::uintmax_t{1} << 40;
  ASSERT_EQ(write_with_limit(file(), no_limit), 0);
  const std::uintmax_t bytes = fs::file_size(file());
  fs::remove(file());
  // At every stage: nothing, header, scene, chunks, the last metadata.
  std::vector<std::uintmax_t> limits{0, 100, 600, 2'000, bytes - 600};
  for (std::uintmax_t limit = 4'000; limit < bytes; limit += bytes / 12) {
    limits.push_back(limit);
  }
  for (const std::uintmax_t limit : limits) {
    EXPECT_EQ(write_with_limit(file(), limit), 1) << limit << " of " << bytes << " bytes";
    EXPECT_TRUE(folder_is_empty()) << limit;
  }
  EXPECT_EQ(write_with_limit(file(), bytes + 65536), 0);
  EXPECT_TRUE(fs::exists(file()));
}

}  // namespace
}  // namespace rayreplay::trace
