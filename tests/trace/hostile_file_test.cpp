// Files with a valid seal whose HDF5 structure claims what it should not: made by editing sound ones through libhdf5.
#include <hdf5.h>

#include "capture/trace/file/envelope.hpp"
#include "capture/trace/file/storage.hpp"
#include "capture/trace/seal.hpp"
#include "tests/trace/support.hpp"

namespace rayreplay::trace {
namespace {

using test::random_trace;
using testing::HasSubstr;

class HostileFileTest : public TraceFileTest {
 protected:
  HostileFileTest() {
    write(random_trace({.seed = 31, .size = {20, 10, 1}, .geometry = true, .group = true, .warps = true}), file(),
          {.overwrite = false, .chunk_rows = 300});
  }
  /// Edits the file through libhdf5, seals it unseen, and gives the error of loading it.
  Error error_after(const std::function<void(hid_t)>& edit) {
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
    const hid_t opened = H5Fopen(file().c_str(), H5F_ACC_RDWR, access);
    EXPECT_GE(opened, 0);
    edit(opened);
    EXPECT_GE(H5Fclose(opened), 0);
    H5Pclose(access);
    write_envelope(FileDescriptor(file(), FileDescriptor::Mode::ReadWrite));
    const Error error = error_of([&] { static_cast<void>(load(file())); });
    EXPECT_EQ(error.kind(), ErrorKind::Input);
    // Sealing looks at the same rules: it must not bless the file.
    EXPECT_EQ(error_of([&] { seal(file()); }).info().what, error.info().what);
    return error;
  }
  /// Replaces a dataset by one of this type, shape and chunk, with nothing stored.
  static void replace(hid_t root, const char* name, hid_t type, std::vector<hsize_t> extent,
                      std::vector<hsize_t> chunk) {
    if (H5Lexists(root, name, H5P_DEFAULT) > 0) {
      H5Ldelete(root, name, H5P_DEFAULT);
    }
    const hid_t space = H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr);
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    if (!chunk.empty()) {
      H5Pset_chunk(properties, static_cast<int>(chunk.size()), chunk.data());
      H5Pset_deflate(properties, 1);
    }
    const hid_t dataset = H5Dcreate2(root, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    EXPECT_GE(dataset, 0);
    H5Dclose(dataset);
    H5Pclose(properties);
    H5Sclose(space);
  }
};

constexpr hsize_t kFourBillion = hsize_t{1} << 32;

TEST_F(HostileFileTest, FourBillionEvents) {
  const Error error = error_after([](hid_t root) {
    for (const char* name : {"kind", "shader", "accepted", "hit_kind"}) {
      replace(root, (std::string("/launch/0/events/") + name).c_str(), H5T_STD_U8LE, {kFourBillion}, {1 << 18});
    }
  });
  EXPECT_THAT(error.info().where, HasSubstr("/launch/0/events/kind"));
  EXPECT_THAT(error.info().what, HasSubstr("claims 4294967296 rows, but chunks of it are missing"));
}

TEST_F(HostileFileTest, BlockCountsThatCannotBe) {
  Trace trace = random_trace({.seed = 31, .size = {2, 1, 1}});
  trace.block_counts = {{0, 0}, {0, 0}, {0, 0}, {0, 1}, {8, 4}, {1, 1}};
  write(trace, file(), {.overwrite = true});
  const auto set = [](hid_t root, const char* name, std::uint64_t value) {
    const hid_t dataset = H5Dopen2(root, name, H5P_DEFAULT);
    const std::vector<std::uint64_t> both = {value, value};
    EXPECT_GE(H5Dwrite(dataset, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, both.data()), 0);
    H5Dclose(dataset);
  };
  EXPECT_THAT(error_after([&](hid_t root) { set(root, "/profile/blocks/lanes", 0); }).info().where,
              HasSubstr("/profile/blocks/groups[0]"));
  EXPECT_EQ(error_of([&] { static_cast<void>(load_profile(file())); }).info().what,
            "so many lanes cannot have run in so many groups");
  EXPECT_THAT(error_after([&](hid_t root) {
                set(root, "/profile/blocks/lanes", 8);
                set(root, "/profile/blocks/shader", 999);
              })
                  .info()
                  .where,
              HasSubstr("/profile/blocks/shader[0]"));
  EXPECT_THAT(error_after([](hid_t root) { H5Ldelete(root, "/profile/blocks/block", H5P_DEFAULT); }).info().where,
              HasSubstr("/profile/blocks"));
}

TEST_F(HostileFileTest, AccessesThatCannotBe) {
  Trace trace = random_trace({.seed = 31, .size = {2, 1, 1}});
  trace.access_sites = {
      {0, 0}, {0, 0}, {0, 0}, {1, 2}, {AccessKind::Load, AccessKind::Store}, {AccessSpace::Device, AccessSpace::Device},
      {0, 0}, {0, 0}, {0, 0}, {4, 4}};
  for (Launch& launch : trace.launches) {
    launch.data.accesses = {{0, 1, 2}, {0, 0}, {0, 1}, {64, 1}, {0, 1}};
  }
  const auto set = [](hid_t root, const char* name, std::uint64_t value) {
    const hid_t dataset = H5Dopen2(root, name, H5P_DEFAULT);
    const std::vector<std::uint64_t> both = {value, value};
    EXPECT_GE(H5Dwrite(dataset, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, both.data()), 0);
    H5Dclose(dataset);
  };
  for (const auto& [dataset, value, what] :
       {std::tuple("/launch/0/accesses/site", 2U, "there is no such site"),
        std::tuple("/launch/0/accesses/group", 9U, "the groups are not dense"),
        std::tuple("/launch/0/accesses/event", 1000U, "the events before the access"),
        std::tuple("/profile/access_sites/kind", 4U, "there is no such value"),
        std::tuple("/profile/access_sites/kind", 3U, "only images are sampled"),
        std::tuple("/profile/access_sites/shader", 999U, "the shader id is out of range")}) {
    write(trace, file(), {.overwrite = true});
    const Error error = error_after([&](hid_t root) { set(root, dataset, value); });
    EXPECT_THAT(error.info().where, HasSubstr(dataset));
    EXPECT_THAT(error.info().what, HasSubstr(what));
  }
  for (const char* dataset : {"/launch/0/accesses/address", "/launch/0/accesses", "/profile/access_sites/bytes"}) {
    write(trace, file(), {.overwrite = true});
    EXPECT_THAT(error_after([&](hid_t root) { H5Ldelete(root, dataset, H5P_DEFAULT); }).info().where,
                HasSubstr(dataset));
  }
  write(trace, file(), {.overwrite = true});
  EXPECT_THAT(error_after([&](hid_t root) { H5Ldelete(root, "/profile/access_sites", H5P_DEFAULT); }).info().what,
              "the launch has accesses, but there is no table of their sites");
}

TEST_F(HostileFileTest, ImagesThatCannotBe) {
  const Trace trace = random_trace({.seed = 31, .size = {2, 1, 1}, .capture = true});
  const Images& images = trace.launches[0].images;
  ASSERT_GT(images.size(), 4U);  // of two sets
  const auto fill = [&](hid_t root, const std::string& name, std::uint64_t value) {
    const hid_t dataset = H5Dopen2(root, name.c_str(), H5P_DEFAULT);
    const std::vector<std::uint64_t> rows(images.size(), value);
    EXPECT_GE(H5Dwrite(dataset, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows.data()), 0);
    H5Dclose(dataset);
  };
  const std::string folder = "/launch/0/images/";
  visit_images(images, [&](const std::string& name, const auto& column) {
    const std::string dataset = folder + name;
    write(trace, file(), {.overwrite = true});
    EXPECT_THAT(error_after([&](hid_t root) { H5Ldelete(root, dataset.c_str(), H5P_DEFAULT); }).info().where,
                HasSubstr(dataset));
    // Another number of rows.
    write(trace, file(), {.overwrite = true});
    EXPECT_THAT(error_after([&](hid_t root) {
                  const hid_t old = H5Dopen2(root, dataset.c_str(), H5P_DEFAULT);
                  const hid_t type = H5Dget_type(old);
                  const hid_t create = H5Dget_create_plist(old);
                  const hsize_t rows = column.size() + 1;
                  const hid_t space = H5Screate_simple(1, &rows, nullptr);
                  H5Dclose(old);
                  H5Ldelete(root, dataset.c_str(), H5P_DEFAULT);
                  const hid_t made = H5Dcreate2(root, dataset.c_str(), type, space, H5P_DEFAULT, create, H5P_DEFAULT);
                  H5Dclose(made);
                  H5Sclose(space);
                  H5Pclose(create);
                  H5Tclose(type);
                })
                    .info()
                    .where,
                HasSubstr(folder));
  });
  for (const auto& [name, value, where, what] :
       {std::tuple("set", 0U, "element", "the rows do not ascend"),
        std::tuple("image", 1U, "image", "the numbers of images are not dense"),
        std::tuple("width", 0U, "image", "the image's size is out of range"),
        std::tuple("height", 0U, "image", "the image's size is out of range"),
        std::tuple("depth", kNone, "image", "the image's size is out of range"),
        std::tuple("layers", 0U, "image", "the image's size is out of range"),
        std::tuple("levels", 40U, "image", "the image's levels are out of range"),
        std::tuple("base_layer", 6U, "image", "the view's first layer is out of range"),
        std::tuple("base_level", kNone, "image", "the view's first level is out of range"),
        std::tuple("block_width", 17U, "image", "the image's blocks are out of range"),
        std::tuple("block_height", 0U, "image", "the image's blocks are out of range"),
        std::tuple("block_bytes", 4096U, "image", "the image's blocks are out of range"),
        std::tuple("filter", 3U, "filter", "there is no such filter")}) {
    write(trace, file(), {.overwrite = true});
    const Error error = error_after([&](hid_t root) { fill(root, folder + name, value); });
    EXPECT_THAT(error.info().where, HasSubstr(folder + where)) << name;
    EXPECT_THAT(error.info().what, HasSubstr(what)) << name;
  }
}

TEST_F(HostileFileTest, PipelineFactsThatCannotBe) {
  Trace trace = sound_trace();
  trace.pipeline_facts = sound_pipeline_facts();
  const auto fill = [](hid_t root, const char* name, std::uint64_t value) {
    const hid_t dataset = H5Dopen2(root, name, H5P_DEFAULT);
    const hid_t space = H5Dget_space(dataset);
    const std::vector<std::uint64_t> all(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)), value);
    EXPECT_GE(H5Dwrite(dataset, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, all.data()), 0);
    H5Sclose(space);
    H5Dclose(dataset);
  };
  for (const auto& [dataset, value, what] :
       {std::tuple("/pipelines/pipeline", 3U, "the rows do not ascend"),
        std::tuple("/pipelines/dynamic_stack", 2U, "there is no such value"),
        std::tuple("/pipelines/group_offset", 3U, "the offsets do not cut the array into pieces"),
        std::tuple("/pipelines/executable_offset", 9U, "the offsets do not cut the array into pieces"),
        std::tuple("/pipelines/executables/statistic_offset", 1U, "the offsets do not cut the array into pieces"),
        std::tuple("/pipelines/groups/general", 999U, "the group's shader id is out of range"),
        std::tuple("/pipelines/groups/closest_hit_bytes", 1U, "a stack size without a shader"),
        std::tuple("/pipelines/statistics/format", 4U, "there is no such value")}) {
    write(trace, file(), {.overwrite = true});
    const Error error = error_after([&](hid_t root) { fill(root, dataset, value); });
    EXPECT_THAT(error.info().where, HasSubstr(dataset));
    EXPECT_THAT(error.info().what, HasSubstr(what));
    // What load refuses, info refuses too.
    EXPECT_EQ(error_of([&] { static_cast<void>(read_info(file())); }).info().what, error.info().what);
    EXPECT_EQ(error_of([&] { static_cast<void>(load_profile(file())); }).info().what, error.info().what);
  }
  for (const char* dataset :
       {"/pipelines/pipeline", "/pipelines/set_stack", "/pipelines/group_offset", "/pipelines/groups",
        "/pipelines/groups/any_hit_bytes", "/pipelines/executables", "/pipelines/executables/name",
        "/pipelines/statistics", "/pipelines/statistics/value", "/pipelines/statistics/description"}) {
    write(trace, file(), {.overwrite = true});
    EXPECT_THAT(error_after([&](hid_t root) { H5Ldelete(root, dataset, H5P_DEFAULT); }).info().where,
                HasSubstr(dataset));
  }
}

TEST_F(HostileFileTest, PathsThatCannotBe) {
  Trace trace = random_trace({.seed = 31, .size = {2, 1, 1}});
  trace.paths = {{0, 0}, {0, 0}, {1, 2}, {0}, {0}, {0}};
  for (Launch& launch : trace.launches) {
    launch.data.events.path.assign(launch.data.events.size(), 0);
    launch.thread_path.assign(launch.size.threads(), 0);
  }
  write(trace, file(), {.overwrite = true});
  const auto set = [](hid_t root, const char* name, std::uint32_t value) {
    const hid_t dataset = H5Dopen2(root, name, H5P_DEFAULT);
    const std::vector<std::uint32_t> both = {value, value};
    EXPECT_GE(H5Dwrite(dataset, H5T_NATIVE_UINT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, both.data()), 0);
    H5Dclose(dataset);
  };
  EXPECT_THAT(error_after([&](hid_t root) { set(root, "/profile/paths/counts", 7); }).info().where,
              HasSubstr("/profile/paths/counts[1]"));
  EXPECT_EQ(error_of([&] { static_cast<void>(load_profile(file())); }).info().what,
            "the paths of a shader do not ascend by their counts");
  EXPECT_THAT(error_after([&](hid_t root) {
                set(root, "/profile/paths/counts", 7);
                set(root, "/profile/paths/shader", 999);
              })
                  .info()
                  .where,
              HasSubstr("/profile/paths/shader[0]"));
  EXPECT_THAT(error_after([](hid_t root) { H5Ldelete(root, "/profile/paths/counts", H5P_DEFAULT); }).info().where,
              HasSubstr("/profile/paths/counts"));
  write(trace, file(), {.overwrite = true});
  EXPECT_THAT(error_after([](hid_t root) { H5Ldelete(root, "/profile/path_blocks", H5P_DEFAULT); }).info().where,
              HasSubstr("/profile/paths/counts"));
  write(trace, file(), {.overwrite = true});
  EXPECT_THAT(error_after([&](hid_t root) { set(root, "/launch/0/threads/path", 3); }).info().where,
              HasSubstr("/launch/0/threads/path[0]"));
}

TEST_F(HostileFileTest, BranchAndLoadCountsThatCannotBe) {
  Trace trace = random_trace({.seed = 31, .size = {2, 1, 1}});
  trace.branch_counts = {{0, 0}, {0, 0}, {0, 0}, {0, 1}, {3, 9}, {8, 4}, {1, 1}, {0, 1}, {}};
  trace.load_counts = {{0, 0}, {0, 0}, {0, 0}, {0, 1}, {3, 9}, {8, 4}, {1, 1}, {0, 1}, {1, kNotCompared}};
  for (const std::string kind : {"branches", "loads"}) {
    write(trace, file(), {.overwrite = true});
    const std::string path = "/profile/" + kind;
    EXPECT_EQ(error_after([&](hid_t root) {
                const hid_t dataset = H5Dopen2(root, (path + "/uniform").c_str(), H5P_DEFAULT);
                const std::vector<std::uint64_t> both = {1, 2};
                EXPECT_GE(H5Dwrite(dataset, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, both.data()), 0);
                H5Dclose(dataset);
              })
                  .info()
                  .what,
              "more executions were uniform than there are");
    EXPECT_THAT(
        error_after([&](hid_t root) { H5Ldelete(root, (path + "/instruction").c_str(), H5P_DEFAULT); }).info().where,
        HasSubstr(path));
  }
}

TEST_F(HostileFileTest, FourBillionEventsInStoredChunksThatAreTooSmall) {
  const Error error = error_after([](hid_t root) {
    replace(root, "/launch/0/events/kind", H5T_STD_U8LE, {kFourBillion}, {hsize_t{1} << 26});
    const hid_t dataset = H5Dopen2(root, "/launch/0/events/kind", H5P_DEFAULT);
    const std::string bytes(100, 'x');
    for (hsize_t at = 0; at < kFourBillion; at += hsize_t{1} << 26) {
      H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, &at, bytes.size(), bytes.data());
    }
    H5Dclose(dataset);
  });
  EXPECT_THAT(error.info().where, HasSubstr("/launch/0/events/kind"));
  EXPECT_THAT(error.info().what, HasSubstr("cannot hold what the dataset claims"));
}

TEST_F(HostileFileTest, FourBillionThreads) {
  const Error error = error_after([](hid_t root) {
    const std::uint32_t width = 1U << 31;
    const hid_t launch = H5Gopen2(root, "/launch/0", H5P_DEFAULT);
    const hid_t attribute = H5Aopen(launch, "width", H5P_DEFAULT);
    H5Awrite(attribute, H5T_NATIVE_UINT32, &width);
    H5Aclose(attribute);
    const std::uint32_t height = 1;
    const hid_t other = H5Aopen(launch, "height", H5P_DEFAULT);
    H5Awrite(other, H5T_NATIVE_UINT32, &height);
    H5Aclose(other);
    H5Gclose(launch);
    for (const char* name : {"ray_offset", "event_offset"}) {
      replace(root, (std::string("/launch/0/threads/") + name).c_str(), H5T_STD_U64LE, {(hsize_t{1} << 31) + 1},
              {1 << 18});
    }
  });
  EXPECT_THAT(error.info().where, HasSubstr("/launch/0/threads/event_offset"));
}

/// Writes a byte that is no UTF-8 into the first text of an attribute or dataset.
void break_text(hid_t object, bool is_attribute) {
  const hid_t type = is_attribute ? H5Aget_type(object) : H5Dget_type(object);
  const hid_t space = is_attribute ? H5Aget_space(object) : H5Dget_space(object);
  std::string bytes(H5Tget_size(type) * static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)), '\0');
  if (is_attribute) {
    H5Aread(object, type, bytes.data());
    bytes[0] = '\xC3';
    EXPECT_GE(H5Awrite(object, type, bytes.data()), 0);
  } else {
    H5Dread(object, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data());
    bytes[0] = '\xC3';
    EXPECT_GE(H5Dwrite(object, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()), 0);
  }
  H5Sclose(space);
  H5Tclose(type);
}

TEST_F(HostileFileTest, TextsThatAreNotUtf8) {
  const std::string sound = read_bytes(file());
  for (const char* name : {"tool", "tool_version", "application", "device", "driver", "configuration"}) {
    write_bytes(file(), sound);
    const Error error = error_after([name](hid_t root) {
      const hid_t attribute = H5Aopen(root, name, H5P_DEFAULT);
      break_text(attribute, true);
      H5Aclose(attribute);
    });
    EXPECT_EQ(error.info().what, "the text is not UTF-8");
    EXPECT_THAT(error.info().where, HasSubstr(std::string("attribute '") + name + "'"));
    EXPECT_THAT(error.info().found, HasSubstr("0xc3 at byte 0"));
    EXPECT_THROW(static_cast<void>(read_info(file())), Error) << name;
  }
  for (const char* name : {"/shaders/name", "/shaders/entry", "/scene/geometries/name"}) {
    write_bytes(file(), sound);
    const Error error = error_after([name](hid_t root) {
      const hid_t dataset = H5Dopen2(root, name, H5P_DEFAULT);
      break_text(dataset, false);
      H5Dclose(dataset);
    });
    EXPECT_EQ(error.info().what, "the text is not UTF-8");
    EXPECT_THAT(error.info().where, HasSubstr(std::string(name) + "[0]"));
  }
}

TEST_F(HostileFileTest, NoThreads) {
  const Error error = error_after([](hid_t root) {
    const std::uint32_t none = 0;
    const hid_t launch = H5Gopen2(root, "/launch/0", H5P_DEFAULT);
    const hid_t attribute = H5Aopen(launch, "width", H5P_DEFAULT);
    H5Awrite(attribute, H5T_NATIVE_UINT32, &none);
    H5Aclose(attribute);
    H5Gclose(launch);
  });
  EXPECT_THAT(error.info().what, HasSubstr("the launch has no threads: its size is 0x10x1"));
}

TEST_F(HostileFileTest, RowsThatDoNotMatchTheirTable) {
  const Error error =
      error_after([](hid_t root) { replace(root, "/launch/0/events/t", H5T_IEEE_F32LE, {1'000'000'000}, {1 << 18}); });
  EXPECT_THAT(error.info().where, HasSubstr("/launch/0/events/t"));
  EXPECT_THAT(error.info().what, HasSubstr("another number of rows"));
}

TEST_F(HostileFileTest, MoreRaysThanEvents) {
  const Error error = error_after([](hid_t root) {
    H5Ldelete(root, "/launch/0/rays", H5P_DEFAULT);
    H5Gclose(H5Gcreate2(root, "/launch/0/rays", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    for (const char* name :
         {"origin_x", "origin_y", "origin_z", "direction_x", "direction_y", "direction_z", "t_min", "t_max"}) {
      replace(root, (std::string("/launch/0/rays/") + name).c_str(), H5T_IEEE_F32LE, {1'000'000'000}, {1 << 18});
    }
    for (const char* name : {"flags", "cull_mask", "sbt_offset", "sbt_stride", "miss_index"}) {
      replace(root, (std::string("/launch/0/rays/") + name).c_str(), H5T_STD_U8LE, {1'000'000'000}, {1 << 18});
    }
  });
  EXPECT_THAT(error.info().what, HasSubstr("more rays than events"));
}

TEST_F(HostileFileTest, MoreLaunchesThanTheFileHasRoomFor) {
  const Error error = error_after([](hid_t root) {
    const hid_t launches = H5Gopen2(root, "/launch", H5P_DEFAULT);
    for (int i = 1; i < 20000; ++i) {
      H5Lcreate_hard(launches, "0", launches, std::to_string(i).c_str(), H5P_DEFAULT, H5P_DEFAULT);
    }
    H5Gclose(launches);
  });
  EXPECT_THAT(error.info().where, HasSubstr(":/launch"));
  EXPECT_THAT(error.info().what, HasSubstr("claims more launches than the file holds"));
  EXPECT_EQ(error.info().found, "20000");
}

TEST_F(HostileFileTest, MissingDataset) {
  const Error error = error_after([](hid_t root) { H5Ldelete(root, "/launch/0/events/shader", H5P_DEFAULT); });
  EXPECT_THAT(error.what(), HasSubstr("/launch/0/events/shader: the dataset is missing"));
}

TEST_F(HostileFileTest, MissingGroup) {
  const Error error = error_after([](hid_t root) { H5Ldelete(root, "/scene", H5P_DEFAULT); });
  EXPECT_THAT(error.what(), HasSubstr("/scene: the group is missing"));
}

TEST_F(HostileFileTest, MissingAttribute) {
  const Error error = error_after([](hid_t root) { H5Adelete(root, "device"); });
  EXPECT_THAT(error.what(), HasSubstr("the attribute 'device' is missing"));
}

TEST_F(HostileFileTest, DatasetWhereAGroupShouldBe) {
  const Error error = error_after([](hid_t root) { replace(root, "/launch/0/rays", H5T_STD_U8LE, {4}, {4}); });
  EXPECT_THAT(error.what(), HasSubstr("/launch/0/rays: this is not a sound group"));
}

TEST_F(HostileFileTest, WrongTypes) {
  for (const hid_t type : {H5T_STD_I8LE, H5T_STD_U16LE, H5T_STD_U8LE, H5T_IEEE_F64LE, H5T_STD_U32BE}) {
    const bool right = type == H5T_STD_U8LE;
    const Error error = error_after([&](hid_t root) {
      // U8 is what `accepted` has on disk: only its rows are then wrong.
      replace(root, "/launch/0/events/accepted", type, {7}, {7});
    });
    EXPECT_THAT(error.info().what, HasSubstr(right ? "another number of rows" : "the dataset has another type"));
  }
}

TEST_F(HostileFileTest, WrongRank) {
  const Error error = error_after([](hid_t root) {
    replace(root, "/launch/0/events/kind", H5T_STD_U8LE, {4, 4}, {4, 4});
  });
  EXPECT_THAT(error.info().what, HasSubstr("the dataset has another shape"));
}

TEST_F(HostileFileTest, WrongWidth) {
  const Error error = error_after([](hid_t root) {
    replace(root, "/scene/geometries/vertices", H5T_IEEE_F32LE, {4, 4}, {4, 4});
  });
  EXPECT_THAT(error.what(), HasSubstr("expected rows of 3 numbers"));
}

TEST_F(HostileFileTest, NotChunked) {
  const Error error = error_after([](hid_t root) { replace(root, "/launch/0/events/kind", H5T_STD_U8LE, {4}, {}); });
  EXPECT_THAT(error.info().what, HasSubstr("not stored in chunks"));
}

TEST_F(HostileFileTest, UnknownFilter) {
  const Error error = error_after([](hid_t root) {
    H5Ldelete(root, "/launch/0/events/kind", H5P_DEFAULT);
    const hsize_t rows = 4;
    const hid_t space = H5Screate_simple(1, &rows, nullptr);
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(properties, 1, &rows);
    H5Pset_fletcher32(properties);
    H5Dclose(H5Dcreate2(root, "/launch/0/events/kind", H5T_STD_U8LE, space, H5P_DEFAULT, properties, H5P_DEFAULT));
    H5Pclose(properties);
    H5Sclose(space);
  });
  EXPECT_THAT(error.info().what, HasSubstr("a filter that the format does not know"));
}

TEST_F(HostileFileTest, LinksToElsewhere) {
  const Error external = error_after([](hid_t root) {
    H5Ldelete(root, "/launch/0/events/kind", H5P_DEFAULT);
    H5Lcreate_external("/etc/passwd", "/x", root, "/launch/0/events/kind", H5P_DEFAULT, H5P_DEFAULT);
  });
  EXPECT_THAT(external.what(), HasSubstr("/launch/0/events/kind: this is a link to somewhere else"));
}

TEST_F(HostileFileTest, DamagedChunk) {
  const Error error = error_after([](hid_t root) {
    const hid_t dataset = H5Dopen2(root, "/launch/0/events/shader", H5P_DEFAULT);
    const std::string noise(60, '\x5A');
    const hsize_t at = 300;
    H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, &at, noise.size(), noise.data());
    H5Dclose(dataset);
  });
  EXPECT_THAT(error.what(), HasSubstr("/launch/0/events/shader[300..599]: the compressed data of a chunk is damaged"));
}

TEST_F(HostileFileTest, TextsWithZeroBytes) {
  const auto zero_in = [](hid_t root, const char* dataset_name) {
    const hid_t dataset = H5Dopen2(root, dataset_name, H5P_DEFAULT);
    const hid_t type = H5Dget_type(dataset);
    std::string bytes(static_cast<std::size_t>(H5Sget_simple_extent_npoints(H5Dget_space(dataset))) * H5Tget_size(type),
                      'a');
    ASSERT_GE(H5Tget_size(type), 3U);
    bytes[1] = '\0';
    H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data());
    H5Tclose(type);
    H5Dclose(dataset);
  };
  const Error error = error_after([&](hid_t root) { zero_in(root, "/shaders/entry"); });
  EXPECT_THAT(error.info().where, HasSubstr("/shaders/entry"));
  EXPECT_THAT(error.info().what, HasSubstr("a text holds a zero byte"));
}

TEST_F(HostileFileTest, LaunchesThatAreNotNumbered) {
  const Error error =
      error_after([](hid_t root) { H5Lmove(root, "/launch/0", root, "/launch/one", H5P_DEFAULT, H5P_DEFAULT); });
  EXPECT_THAT(error.what(), HasSubstr("/launch/0: the group is missing"));
}

TEST_F(HostileFileTest, AValueThatBreaksARule) {
  const Error error = error_after([](hid_t root) {
    const hid_t dataset = H5Dopen2(root, "/launch/0/events/shader", H5P_DEFAULT);
    const hid_t space = H5Dget_space(dataset);
    const hsize_t at = 17;
    const hsize_t one = 1;
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &at, nullptr, &one, nullptr);
    const hid_t memory = H5Screate_simple(1, &one, nullptr);
    const std::uint8_t wrong = 200;
    EXPECT_GE(H5Dwrite(dataset, H5T_NATIVE_UINT8, memory, space, H5P_DEFAULT, &wrong), 0);
    H5Sclose(memory);
    H5Sclose(space);
    H5Dclose(dataset);
  });
  EXPECT_THAT(error.what(), HasSubstr("t.rrt:/launch/0/events/shader[17]: the event's shader id is out of range (found "
                                      "200; expected less than"));
}

TEST_F(HostileFileTest, MemoryLimit) {
  const Error error = error_of([&] { static_cast<void>(load(file(), {.max_bytes = 1000})); });
  EXPECT_EQ(error.kind(), ErrorKind::Resource);
  EXPECT_THAT(error.info().found, HasSubstr("bytes needed"));
  EXPECT_THAT(error.info().expected, HasSubstr("at most 1000 bytes"));
  // Just enough is enough.
  const std::uint64_t needed = std::stoull(error.info().found);
  EXPECT_NO_THROW(static_cast<void>(load(file(), {.max_bytes = needed})));
  EXPECT_THROW(static_cast<void>(load(file(), {.max_bytes = needed - 1})), Error);
}

}  // namespace
}  // namespace rayreplay::trace
