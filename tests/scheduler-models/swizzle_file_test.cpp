// Swizzle files: round trips, and files that hold no swizzle for the launch.
#include "scheduler-models/swizzle_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hdf5.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/scheduler-models/support.hpp"

namespace rayreplay::scheduler::test {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class SwizzleFile : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) /
              (std::string("swizzle_") + testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override {
    fs::remove_all(folder_);
  }
  [[nodiscard]] fs::path path(const std::string& name) const {
    return folder_ / name;
  }
  [[nodiscard]] fs::path write_bytes(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }
  [[nodiscard]] static std::string bytes_of(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  /// A dataset made by other hands: no attributes.
  template <class T>
  [[nodiscard]] fs::path write_dataset(const std::string& name, hid_t type, const std::vector<T>& rows,
                                       const char* dataset = "swizzle") const {
    const hid_t file = H5Fcreate(path(name).c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hsize_t count = rows.size();
    const hid_t space = H5Screate_simple(1, &count, nullptr);
    const hid_t data = H5Dcreate2(file, dataset, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows.data());
    H5Dclose(data);
    H5Sclose(space);
    H5Fclose(file);
    return path(name);
  }

  static constexpr trace::LaunchSize kSize{3, 2, 1};
  const Swizzle swizzle_{5, 3, 1, 0, 2, 4};

 private:
  fs::path folder_;
};

TEST_F(SwizzleFile, FlatIsLittleEndianAndNothingElse) {
  const Swizzle two{1, 0};
  write_swizzle(path("s.bin"), two, {2, 1, 1}, "random", "", false);
  EXPECT_EQ(bytes_of(path("s.bin")), std::string("\1\0\0\0\0\0\0\0", 8));
}

TEST_F(SwizzleFile, RoundTrips) {
  for (const char* name : {"s.bin", "s.h5", "s.hdf5", "s"}) {
    write_swizzle(path(name), swizzle_, kSize, "random:seed=1", "0123", false);
    EXPECT_EQ(read_swizzle(path(name), kSize), swizzle_) << name;
  }
  Swizzle large(100000);
  for (std::uint32_t i = 0; i < large.size(); ++i) {
    large[i] = (i + 77777) % 100000;
  }
  for (const char* name : {"l.bin", "l.h5"}) {
    write_swizzle(path(name), large, {1000, 100, 1}, "", "", false);
    EXPECT_EQ(read_swizzle(path(name), {1000, 100, 1}), large) << name;
  }
}

TEST_F(SwizzleFile, TheFormIsToldByTheContent) {
  write_swizzle(path("s.h5"), swizzle_, kSize, "p", "h", false);
  fs::rename(path("s.h5"), path("s.bin"));
  EXPECT_EQ(read_swizzle(path("s.bin"), kSize), swizzle_);
}

TEST_F(SwizzleFile, Hdf5SaysWhereItComesFrom) {
  write_swizzle(path("s.h5"), swizzle_, kSize, "random:seed=7", "00ff", false);
  const hid_t file = H5Fopen(path("s.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t data = H5Dopen2(file, "/swizzle", H5P_DEFAULT);
  const auto number = [data](const char* name) {
    std::uint32_t value = 0;
    const hid_t attribute = H5Aopen(data, name, H5P_DEFAULT);
    H5Aread(attribute, H5T_NATIVE_UINT32, &value);
    H5Aclose(attribute);
    return value;
  };
  const auto text = [data](const char* name) {
    char* value = nullptr;
    const hid_t attribute = H5Aopen(data, name, H5P_DEFAULT);
    const hid_t type = H5Aget_type(attribute);
    H5Aread(attribute, type, &value);
    std::string result(value);
    H5free_memory(value);
    H5Tclose(type);
    H5Aclose(attribute);
    return result;
  };
  EXPECT_EQ(number("width"), 3U);
  EXPECT_EQ(number("height"), 2U);
  EXPECT_EQ(number("depth"), 1U);
  EXPECT_EQ(text("packing"), "random:seed=7");
  EXPECT_EQ(text("trace_hash"), "00ff");
  H5Dclose(data);
  H5Fclose(file);
}

TEST_F(SwizzleFile, ExistingFilesStayUnlessToldOtherwise) {
  for (const char* name : {"s.bin", "s.h5"}) {
    (void)write_bytes(name, "old");
    const Error error = error_of([&] { write_swizzle(path(name), swizzle_, kSize, "", "", false); });
    EXPECT_EQ(error.kind(), ErrorKind::Output);
    EXPECT_EQ(bytes_of(path(name)), "old");
    write_swizzle(path(name), swizzle_, kSize, "", "", true);
    EXPECT_EQ(read_swizzle(path(name), kSize), swizzle_);
  }
}

TEST_F(SwizzleFile, NothingIsLeftInAFolderThatIsNotThere) {
  for (const char* name : {"missing/s.bin", "missing/s.h5"}) {
    EXPECT_EQ(error_of([&] { write_swizzle(path(name), swizzle_, kSize, "", "", false); }).kind(), ErrorKind::Output);
  }
}

TEST_F(SwizzleFile, OnlyBijectionsAreWritten) {
  const Error error = error_of([&] { write_swizzle(path("s.bin"), Swizzle{0, 0}, {2, 1, 1}, "", "", false); });
  EXPECT_EQ(error.kind(), ErrorKind::Input);
  EXPECT_FALSE(fs::exists(path("s.bin")));
}

TEST_F(SwizzleFile, FilesOfTheWrongSizeAreRejected) {
  const fs::path file = write_bytes("s.bin", std::string(23, '\0'));
  const Error error = error_of([&] { (void)read_swizzle(file, kSize); });
  EXPECT_EQ(error.kind(), ErrorKind::Input);
  EXPECT_EQ(error.info().found, "23 bytes");
  EXPECT_THAT(error.info().expected, HasSubstr("24 bytes"));
  EXPECT_EQ(error_of([&] { (void)read_swizzle(write_bytes("empty", ""), kSize); }).kind(), ErrorKind::Input);
  write_swizzle(path("s.h5"), swizzle_, kSize, "", "", false);
  const Error other = error_of([&] { (void)read_swizzle(path("s.h5"), {2, 3, 1}); });
  EXPECT_EQ(other.info().found, "3x2x1");
  EXPECT_EQ(other.info().expected, "2x3x1");
}

TEST_F(SwizzleFile, FilesThatAreNoBijectionNameTheRow) {
  const fs::path flat = write_bytes("s.bin", std::string("\1\0\0\0\2\0\0\0\1\0\0\0", 12));
  const Error error = error_of([&] { (void)read_swizzle(flat, {3, 1, 1}); });
  EXPECT_EQ(error.kind(), ErrorKind::Input);
  EXPECT_EQ(error.info().found, "row 2 repeats thread 1, first seen at row 0");
  EXPECT_EQ(error.info().where, flat.string() + "[2]");
  const fs::path hdf5 = write_dataset<std::uint32_t>("s.h5", H5T_NATIVE_UINT32, {0, 7, 1});
  const Error beyond = error_of([&] { (void)read_swizzle(hdf5, {3, 1, 1}); });
  EXPECT_EQ(beyond.info().where, hdf5.string() + ":/swizzle[1]");
}

TEST_F(SwizzleFile, Hdf5FilesOfOtherHandsAreReadOrRefusedWithAReason) {
  const fs::path good = write_dataset<std::uint32_t>("g.h5", H5T_NATIVE_UINT32, {2, 0, 1});
  EXPECT_EQ(read_swizzle(good, {3, 1, 1}), (Swizzle{2, 0, 1}));
  const fs::path type = write_dataset<std::int64_t>("t.h5", H5T_NATIVE_INT64, {2, 0, 1});
  EXPECT_THAT(error_of([&] { (void)read_swizzle(type, {3, 1, 1}); }).info().fix, HasSubstr("astype('uint32')"));
  const fs::path rows = write_dataset<std::uint32_t>("r.h5", H5T_NATIVE_UINT32, {1, 0});
  EXPECT_EQ(error_of([&] { (void)read_swizzle(rows, {3, 1, 1}); }).info().found, "2 rows");
  const fs::path name = write_dataset<std::uint32_t>("n.h5", H5T_NATIVE_UINT32, {2, 0, 1}, "permutation");
  EXPECT_EQ(error_of([&] { (void)read_swizzle(name, {3, 1, 1}); }).info().found, "no dataset /swizzle");
}

TEST_F(SwizzleFile, DamagedHdf5IsAnInputError) {
  write_swizzle(path("s.h5"), swizzle_, kSize, "", "", false);
  const std::string whole = bytes_of(path("s.h5"));
  for (const std::size_t kept : {std::size_t{8}, std::size_t{60}, whole.size() / 2, whole.size() - 1}) {
    const fs::path cut = write_bytes("cut.h5", whole.substr(0, kept));
    EXPECT_EQ(error_of([&] { (void)read_swizzle(cut, kSize); }).kind(), ErrorKind::Input) << kept;
  }
}

TEST_F(SwizzleFile, MissingFilesAndFoldersAreInputErrors) {
  EXPECT_EQ(error_of([&] { (void)read_swizzle(path("none.bin"), kSize); }).kind(), ErrorKind::Input);
  EXPECT_EQ(error_of([&] { (void)read_swizzle(path("."), kSize); }).kind(), ErrorKind::Input);
}

}  // namespace
}  // namespace rayreplay::scheduler::test
