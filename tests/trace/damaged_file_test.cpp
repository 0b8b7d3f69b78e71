// Files that are not what was written: each gets a message of its own before libhdf5 sees a byte.
#include <hdf5.h>

#include "capture/trace/file/envelope.hpp"
#include "tests/trace/support.hpp"

namespace rayreplay::trace {
namespace {

using test::Random;
using test::random_trace;
using testing::HasSubstr;

class DamagedFileTest : public TraceFileTest {
 protected:
  DamagedFileTest() {
    write(random_trace({.seed = 21, .size = {30, 20, 1}, .geometry = true, .group = true, .warps = true}), file(),
          {.overwrite = false, .chunk_rows = 500});
    sound_ = read_bytes(file());
  }
  /// The error of loading `bytes`; info must never throw anything but Error either.
  [[nodiscard]] Error error_of_bytes(const std::string& bytes) const {
    write_bytes(file("bad.rrt"), bytes);
    const Error error = error_of([&] { static_cast<void>(load(file("bad.rrt"))); });
    EXPECT_EQ(error.kind(), ErrorKind::Input);
    EXPECT_THAT(error.what(), HasSubstr("bad.rrt"));
    return error;
  }
  /// As `error_of_bytes`, where the envelope or the hash tells: info must say the same as load.
  [[nodiscard]] Error error_of_envelope(const std::string& bytes) const {
    const Error error = error_of_bytes(bytes);
    EXPECT_STREQ(error_of([&] { static_cast<void>(read_info(file("bad.rrt"))); }).what(), error.what());
    return error;
  }
  std::string sound_;
};

TEST_F(DamagedFileTest, Missing) {
  EXPECT_THAT(error_of([&] { static_cast<void>(load(file("none.rrt"))); }).what(), HasSubstr("No such file"));
  EXPECT_THAT(error_of([&] { static_cast<void>(read_info(file("none.rrt"))); }).what(), HasSubstr("No such file"));
}

TEST_F(DamagedFileTest, Folder) {
  EXPECT_THAT(error_of([&] { static_cast<void>(load(file("").parent_path())); }).what(),
              HasSubstr("not a regular file"));
}

TEST_F(DamagedFileTest, Empty) {
  EXPECT_EQ(error_of_bytes("").info().what, "the file is empty");
}

TEST_F(DamagedFileTest, AnotherKindOfFile) {
  EXPECT_EQ(error_of_bytes("P6 640 480 255").info().what, "this is not a trace of rayreplay");
  EXPECT_EQ(error_of_bytes(std::string(5000, '\0')).info().what, "this is not a trace of rayreplay");
}

TEST_F(DamagedFileTest, AnotherHdf5File) {
  const hid_t other = H5Fcreate(file("bad.rrt").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  H5Fclose(other);
  const Error error = error_of([&] { static_cast<void>(load(file("bad.rrt"))); });
  EXPECT_EQ(error.info().what, "this is not a trace of rayreplay");
  EXPECT_THAT(error.info().found, HasSubstr("HDF5"));
}

TEST_F(DamagedFileTest, WrongVersion) {
  for (const char version : {'\0', '\2'}) {
    std::string bytes = sound_;
    bytes[12] = version;
    const Error error = error_of_bytes(bytes);
    EXPECT_EQ(error.info().what, "the trace has another format version");
    EXPECT_EQ(error.info().found, std::to_string(int{version}));
    EXPECT_EQ(error.info().expected, "1");
  }
}

TEST_F(DamagedFileTest, TruncatedAtAnyLength) {
  std::vector<std::size_t> lengths{1, 9, 10, 11, 40, 511, 512, 513, sound_.size() - 1};
  Random random(1);
  for (int i = 0; i < 40; ++i) {
    lengths.push_back(1 + random.below(sound_.size() - 1));
  }
  for (const std::size_t length : lengths) {
    const Error error = error_of_envelope(sound_.substr(0, length));
    EXPECT_EQ(error.info().what, "the trace is truncated") << length;
    EXPECT_EQ(error.info().found, std::to_string(length) + " bytes");
    if (length > kEnvelopeBytes) {
      EXPECT_EQ(error.info().expected, std::to_string(sound_.size()));
    }
  }
}

TEST_F(DamagedFileTest, Appended) {
  EXPECT_EQ(error_of_envelope(sound_ + "x").info().what, "the trace is longer than it was written");
}

TEST_F(DamagedFileTest, AnyFlippedBit) {
  Random random(2);
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < 64; ++i) {
    places.push_back(i);
  }
  for (int i = 0; i < 150; ++i) {
    places.push_back(random.below(sound_.size()));
  }
  for (const std::size_t place : places) {
    std::string bytes = sound_;
    bytes[place] = static_cast<char>(bytes[place] ^ (1 << random.below(8)));
    const Error error = error_of_envelope(bytes);
    if (place >= kEnvelopeBytes) {
      EXPECT_THAT(error.info().what, HasSubstr("the trace is damaged")) << place;
    }
  }
}

TEST_F(DamagedFileTest, BlocksChangePlaces) {
  // The blocks' own hashes stay what they were; their order must count.
  Trace trace;
  Shader shader;
  Random random(4);
  for (std::uint32_t i = 0; i < (3U << 20); ++i) {
    shader.spirv.push_back(static_cast<std::uint32_t>(random.bits()));
  }
  trace.shaders.push_back(shader);
  write(trace, file("large.rrt"));
  std::string bytes = read_bytes(file("large.rrt"));
  const std::size_t block = std::size_t{4} << 20;
  ASSERT_GT(bytes.size(), kEnvelopeBytes + 2 * block);
  for (std::size_t i = 0; i < block; ++i) {
    std::swap(bytes[kEnvelopeBytes + i], bytes[kEnvelopeBytes + block + i]);
  }
  EXPECT_THAT(error_of_envelope(bytes).info().what, HasSubstr("the trace is damaged"));
}

}  // namespace
}  // namespace rayreplay::trace
