// The file of accesses, read back with libhdf5: batches join, offsets run on, nothing is there without commit.
#include "app/report/rays/access_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include <hdf5.h>

#include "base/error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace rayreplay::test {
namespace {

using traversal::Access;
using traversal::AccessKind;
using traversal::RayRows;

std::vector<std::uint64_t> read_column(hid_t file, const char* name) {
  const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
  const hid_t space = H5Dget_space(dataset);
  std::vector<std::uint64_t> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
  EXPECT_GE(H5Dread(dataset, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
  H5Sclose(space);
  H5Dclose(dataset);
  return values;
}

using Numbers = std::vector<std::uint64_t>;

TEST(AccessFile, BatchesJoin) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "a.h5";
  const RayRows<Access> first{{0, 2, 2}, {{0, 256, AccessKind::Node}, {4096, 64, AccessKind::Instance}}};
  const RayRows<Access> second{{0, 1}, {{0x1'0000'0000, 12, AccessKind::Vertex}}};
  {
    report::AccessFile file(path.string(), false, {}, 3, {"near-first", "ordered"});
    file.append(0, Numbers{7, 5}, first);
    file.append(1, Numbers{7, 5}, first);
    file.append(0, Numbers{6}, second);
    EXPECT_FALSE(std::filesystem::exists(path));
    file.commit();
  }
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  ASSERT_GE(file, 0);
  EXPECT_EQ(read_column(file, "0/ray"), (Numbers{7, 5, 6}));
  EXPECT_EQ(read_column(file, "0/offset"), (Numbers{0, 2, 2, 3}));
  EXPECT_EQ(read_column(file, "0/address"), (Numbers{0, 4096, 0x1'0000'0000}));
  EXPECT_EQ(read_column(file, "0/bytes"), (Numbers{256, 64, 12}));
  EXPECT_EQ(read_column(file, "0/kind"), (Numbers{0, 3, 2}));
  EXPECT_EQ(read_column(file, "1/offset"), (Numbers{0, 2, 2}));
  H5Fclose(file);
}

TEST(AccessFile, NothingWithoutCommitAndNothingIsReplacedUnasked) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "a.h5";
  { const report::AccessFile abandoned(path.string(), false, {}, 0, {"near-first"}); }
  EXPECT_TRUE(std::filesystem::is_empty(path.parent_path()));
  {
    report::AccessFile file(path.string(), false, {}, 0, {"near-first"});
    file.commit();
  }
  EXPECT_THROW(report::AccessFile(path.string(), false, {}, 0, {"near-first"}), Error);
  EXPECT_NO_THROW(report::AccessFile(path.string(), true, {}, 0, {"near-first"}));
}

}  // namespace
}  // namespace rayreplay::test
