// Swizzle files: round trips, and files that hold no swizzle for the launch.
#include "scheduler-models/swizzle_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hdf5.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "tests/scheduler-models/support.hpp"
#include "tests/support/file_bytes.hpp"
#include "tests/support/temporary_folder.hpp"

namespace rayreplay::scheduler::test {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class SwizzleFile : public testing::Test {
 protected:
  [[nodiscard]] fs::path path(const std::string& name) const {
    return folder_ / name;
  }
  [[nodiscard]] fs::path write_bytes(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
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

  /// A dataset of these rows whose creation properties `edit` has changed.
  [[nodiscard]] fs::path write_edited(const std::string& name, const Swizzle& rows,
                                      const std::function<void(hid_t)>& edit) const {
    const hid_t file = H5Fcreate(path(name).c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hsize_t count = rows.size();
    const hid_t space = H5Screate_simple(1, &count, nullptr);
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    edit(properties);
    const hid_t data = H5Dcreate2(file, "swizzle", H5T_STD_U32LE, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    EXPECT_GE(data, 0);
    H5Dwrite(data, H5T_NATIVE_UINT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows.data());
    H5Dclose(data);
    H5Pclose(properties);
    H5Sclose(space);
    H5Fclose(file);
    return path(name);
  }

  static constexpr trace::LaunchSize kSize{3, 2, 1};
  const Swizzle swizzle_{5, 3, 1, 0, 2, 4};

 private:
  rayreplay::test::TemporaryFolder folder_;
};

TEST_F(SwizzleFile, FlatIsLittleEndianAndNothingElse) {
  const Swizzle two{1, 0};
  write_swizzle(path("s.bin"), two, {2, 1, 1}, "random", "", false);
  EXPECT_EQ(rayreplay::test::read_bytes(path("s.bin")), std::string("\1\0\0\0\0\0\0\0", 8));
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
  H5G_stat_t status{};
  ASSERT_GE(H5Gget_objinfo(file, "swizzle", 0, &status), 0);
  EXPECT_EQ(status.mtime, 0) << "the same swizzle gives the same bytes whenever it is written";
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

TEST_F(SwizzleFile, Hdf5SaysWhichSizeItIsFor) {
  const Swizzle swizzle = {1, 0, 3, 2, 5, 4};
  write_swizzle(path("s.h5"), swizzle, {3, 1, 2}, "made up", "", false);
  write_swizzle(path("s.bin"), swizzle, {3, 1, 2}, "made up", "", false);
  EXPECT_EQ(swizzle_size(path("s.h5")), (trace::LaunchSize{3, 1, 2}));
  EXPECT_EQ(swizzle_size(path("s.bin")), std::nullopt);
  EXPECT_EQ(swizzle_size(write_dataset<std::uint32_t>("other.h5", H5T_STD_U32LE, {0, 1})), std::nullopt);
  EXPECT_THROW((void)swizzle_size(path("missing")), Error);
  const fs::path wrong = write_dataset<std::uint32_t>("wrong.h5", H5T_STD_U32LE, {0, 1}, "permutation");
  EXPECT_THROW((void)swizzle_size(wrong), Error);
}

TEST_F(SwizzleFile, ExistingFilesStayUnlessToldOtherwise) {
  for (const char* name : {"s.bin", "s.h5"}) {
    (void)write_bytes(name, "old");
    const Error error = error_of([&] { write_swizzle(path(name), swizzle_, kSize, "", "", false); });
    EXPECT_EQ(error.kind(), ErrorKind::Output);
    EXPECT_EQ(rayreplay::test::read_bytes(path(name)), "old");
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
  EXPECT_EQ(error_of([&] { (void)read_swizzle(name, {3, 1, 1}); }).info().what, "the dataset is missing");
}

TEST_F(SwizzleFile, CompressedChunksAreRead) {
  Swizzle large(1000);
  for (std::uint32_t i = 0; i < large.size(); ++i) {
    large[i] = 999 - i;
  }
  const hsize_t chunk = 300;
  const auto edit = [&](hid_t properties) {
    H5Pset_chunk(properties, 1, &chunk);
    H5Pset_shuffle(properties);
    H5Pset_deflate(properties, 4);
  };
  EXPECT_EQ(read_swizzle(write_edited("c.h5", large, edit), {1000, 1, 1}), large);
}

TEST_F(SwizzleFile, AttributesOfOtherTypesAreRefused) {
  // Thousands of numbers where one is expected: read into one, they would overwrite the stack.
  struct Case {
    hid_t type;
    std::vector<hsize_t> extent;
  };
  const hid_t text = H5Tcopy(H5T_C_S1);
  H5Tset_size(text, H5T_VARIABLE);
  const std::vector<Case> cases{
      {H5T_STD_U32LE, {16000}}, {H5T_STD_U32LE, {2}}, {H5T_STD_U32LE, {0}}, {H5T_STD_U32LE, {1, 1}},
      {H5T_STD_U64LE, {}},      {H5T_STD_I32LE, {}},  {H5T_IEEE_F32LE, {}}, {text, {}}};
  for (const Case& each : cases) {
    for (const char* name : {"width", "height", "depth"}) {
      write_swizzle(path("a.h5"), swizzle_, kSize, "", "", true);
      const hid_t file = H5Fopen(path("a.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
      const hid_t data = H5Dopen2(file, "swizzle", H5P_DEFAULT);
      H5Adelete(data, name);
      const hid_t space = each.extent.empty()
                              ? H5Screate(H5S_SCALAR)
                              : H5Screate_simple(static_cast<int>(each.extent.size()), each.extent.data(), nullptr);
      const hid_t attribute = H5Acreate2(data, name, each.type, space, H5P_DEFAULT, H5P_DEFAULT);
      ASSERT_GE(attribute, 0);
      H5Aclose(attribute);
      H5Sclose(space);
      H5Dclose(data);
      H5Fclose(file);
      const Error error = error_of([&] { (void)read_swizzle(path("a.h5"), kSize); });
      EXPECT_EQ(error.kind(), ErrorKind::Input);
      EXPECT_THAT(error.info().what, HasSubstr(std::string("the attribute '") + name + "' has another type"));
    }
  }
  H5Tclose(text);
}

TEST_F(SwizzleFile, LinksToOtherFilesAreRefused) {
  write_swizzle(path("target.h5"), swizzle_, kSize, "", "", false);
  const hid_t file = H5Fcreate(path("e.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_external(path("target.h5").c_str(), "/swizzle", file, "swizzle", H5P_DEFAULT, H5P_DEFAULT);
  H5Fclose(file);
  EXPECT_THAT(error_of([&] { (void)read_swizzle(path("e.h5"), kSize); }).info().what, HasSubstr("link to somewhere"));
  const hid_t soft = H5Fopen(path("target.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  H5Lmove(soft, "swizzle", soft, "other", H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_soft("/other", soft, "swizzle", H5P_DEFAULT, H5P_DEFAULT);
  H5Fclose(soft);
  EXPECT_THAT(error_of([&] { (void)read_swizzle(path("target.h5"), kSize); }).info().what,
              HasSubstr("link to somewhere"));
}

TEST_F(SwizzleFile, DataInOtherFilesAreRefused) {
  write_swizzle(path("flat"), swizzle_, kSize, "", "", false);
  write_swizzle(path("target.h5"), swizzle_, kSize, "", "", false);
  const std::string flat = path("flat").string();
  const fs::path external =
      write_edited("x.h5", swizzle_, [&](hid_t properties) { H5Pset_external(properties, flat.c_str(), 0, 24); });
  EXPECT_THAT(error_of([&] { (void)read_swizzle(external, kSize); }).info().what, HasSubstr("in other files"));
  const std::string target = path("target.h5").string();
  const hsize_t rows = swizzle_.size();
  const hid_t space = H5Screate_simple(1, &rows, nullptr);
  const fs::path mapped = write_edited(
      "v.h5", swizzle_, [&](hid_t properties) { H5Pset_virtual(properties, space, target.c_str(), "swizzle", space); });
  H5Sclose(space);
  EXPECT_THAT(error_of([&] { (void)read_swizzle(mapped, kSize); }).info().what, HasSubstr("in other files"));
  const fs::path compact =
      write_edited("c.h5", swizzle_, [](hid_t properties) { H5Pset_layout(properties, H5D_COMPACT); });
  EXPECT_THAT(error_of([&] { (void)read_swizzle(compact, kSize); }).info().what, HasSubstr("another layout"));
}

TEST_F(SwizzleFile, HugeClaimsAreRefusedBeforeAnythingIsAllocated) {
  // 8 GiB of rows that the file does not hold, for a launch of that many threads.
  constexpr trace::LaunchSize kHuge{1U << 31, 1, 1};
  const hsize_t rows = kHuge.threads();
  const hsize_t chunk = 1U << 20;
  for (const bool chunked : {false, true}) {
    const hid_t file = H5Fcreate(path("h.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = H5Screate_simple(1, &rows, nullptr);
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    if (chunked) {
      H5Pset_chunk(properties, 1, &chunk);
      H5Pset_deflate(properties, 1);
    }
    const hid_t data = H5Dcreate2(file, "swizzle", H5T_STD_U32LE, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    ASSERT_GE(data, 0);
    H5Dclose(data);
    H5Pclose(properties);
    H5Sclose(space);
    H5Fclose(file);
    const Error error = error_of([&] { (void)read_swizzle(path("h.h5"), kHuge); });
    EXPECT_EQ(error.kind(), ErrorKind::Input);
    EXPECT_THAT(error.info().what, HasSubstr("the dataset claims"));
    EXPECT_EQ(error_of([&] { (void)read_swizzle(path("h.h5"), kSize); }).info().found, "2147483648 rows");
  }
}

TEST_F(SwizzleFile, DamagedHdf5IsAnInputError) {
  write_swizzle(path("s.h5"), swizzle_, kSize, "", "", false);
  const std::string whole = rayreplay::test::read_bytes(path("s.h5"));
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
