// Fuzz test of the reader: sound files are changed, sealed again so that the change gets past the content hash, and
// loaded. `load` must throw rayreplay::Error or give a trace that passes `check`; read_info must not do worse.
//
//   fuzz_reader [--seconds N] [--seed S]
//
// Changes: bytes anywhere (libhdf5's own checksums stand between most of these and us), bytes of stored chunks, values
// of datasets and attributes, datasets of other types, sizes and chunkings, chunks removed, doubled or cut, links
// moved. The number of a failing round is printed and its file kept; the same seed gives the same rounds.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <hdf5.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.hpp"
#include "capture/trace/envelope.hpp"
#include "capture/trace/reader.hpp"
#include "capture/trace/validate.hpp"
#include "capture/trace/writer.hpp"
#include "tests/support/fuzzing.hpp"
#include "tests/support/random_trace.hpp"

// What libhdf5 1.10 forgets when it refuses an object with a wrong checksum is not ours to free.
extern "C" const char* __lsan_default_suppressions();   // NOLINT(bugprone-reserved-identifier): its name
extern "C" const char* __lsan_default_suppressions() {  // NOLINT(bugprone-reserved-identifier)
  return "leak:libhdf5";
}

namespace {

namespace fs = std::filesystem;
using namespace rayreplay;
using test::Random;
using test::read_bytes;
using test::write_bytes;

std::vector<std::string> dataset_names(hid_t root) {
  std::vector<std::string> names;
  H5Ovisit2(
      root, H5_INDEX_NAME, H5_ITER_INC,
      [](hid_t, const char* name, const H5O_info_t* info, void* list) -> herr_t {
        if (info->type == H5O_TYPE_DATASET) {
          static_cast<std::vector<std::string>*>(list)->emplace_back(name);
        }
        return 0;
      },
      &names, H5O_INFO_BASIC);
  std::sort(names.begin(), names.end());
  return names;
}

class Mutator {
 public:
  Mutator(Random& random, fs::path path) : random_(random), path_(std::move(path)) {}

  void mutate() {
    if (random_.one_in(4)) {
      flip_bytes();
      return;
    }
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
    root_ = H5Fopen(path_.c_str(), H5F_ACC_RDWR, access);
    H5Pclose(access);
    names_ = dataset_names(root_);
    for (std::uint32_t n = 1 + random_.below(3); n > 0 && !names_.empty(); --n) {
      mutate_structure();
    }
    H5Fclose(root_);
  }

 private:
  void flip_bytes() {
    std::string bytes = read_bytes(path_);
    for (std::uint32_t n = 1 + random_.below(8); n > 0; --n) {
      // Half of them in the first pages, where the metadata of a small file is.
      const std::uint64_t range = random_.one_in(2) ? std::min<std::uint64_t>(bytes.size(), 8192) : bytes.size();
      bytes[trace::kEnvelopeBytes + random_.below(range - trace::kEnvelopeBytes)] = static_cast<char>(random_.bits());
    }
    write_bytes(path_, bytes);
  }

  const std::string& any_name() {
    return names_[random_.below(names_.size())];
  }

  void mutate_structure() {
    const std::string name = any_name();
    switch (random_.below(9)) {
      case 0:
      case 1:
        return change_values(name);
      case 2:
        return change_chunk(name);
      case 3:
        return change_extent(name);
      case 4:
        return replace_dataset(name);
      case 5:
        H5Ldelete(root_, name.c_str(), H5P_DEFAULT);
        break;
      case 6:
        move_link(name);
        break;
      case 7:
        return change_attribute();
      default:
        return change_texts();
    }
    names_ = dataset_names(root_);
  }

  std::uint64_t odd_number() {
    const std::uint64_t choices[] = {0,     1,          2,          7,          15,         16,         255,
                                     256,   65535,      65536,      0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 1ULL << 32,
                                     ~0ULL, 1ULL << 63, 1ULL << 40, 3,          10,         9,          64};
    return random_.one_in(3) ? random_.bits() : choices[random_.below(std::size(choices))];
  }

  void change_values(const std::string& name) {
    const hid_t dataset = H5Dopen2(root_, name.c_str(), H5P_DEFAULT);
    const hid_t type = H5Dget_type(dataset);
    const hid_t space = H5Dget_space(dataset);
    hsize_t extent[2] = {1, 1};
    const int rank = H5Sget_simple_extent_dims(space, extent, nullptr);
    if (H5Tget_class(type) != H5T_STRING && rank > 0 && extent[0] > 0 && extent[0] < (1U << 20)) {
      for (std::uint32_t n = 1 + random_.below(3); n > 0; --n) {
        const hsize_t at[2] = {random_.below(extent[0]), random_.below(extent[1])};
        const hsize_t one[2] = {1, 1};
        H5Sselect_hyperslab(space, H5S_SELECT_SET, at, nullptr, one, nullptr);
        const hid_t memory = H5Screate_simple(rank, one, nullptr);
        const std::uint64_t value = odd_number();
        H5Dwrite(dataset, type, memory, space, H5P_DEFAULT, &value);
        H5Sclose(memory);
      }
    }
    H5Sclose(space);
    H5Tclose(type);
    H5Dclose(dataset);
  }

  void change_chunk(const std::string& name) {
    const hid_t dataset = H5Dopen2(root_, name.c_str(), H5P_DEFAULT);
    const hid_t properties = H5Dget_create_plist(dataset);
    const hid_t space = H5Dget_space(dataset);
    hsize_t chunks = 0;
    if (H5Pget_layout(properties) == H5D_CHUNKED && H5Dget_num_chunks(dataset, space, &chunks) >= 0 && chunks > 0) {
      hsize_t offset[3] = {0, 0, 0};
      unsigned mask = 0;
      haddr_t address = 0;
      hsize_t bytes = 0;
      H5Dget_chunk_info(dataset, space, random_.below(chunks), offset, &mask, &address, &bytes);
      std::string data(bytes, '\0');
      if (bytes < (1U << 22) && H5Dread_chunk(dataset, H5P_DEFAULT, offset, &mask, data.data()) >= 0) {
        switch (random_.below(4)) {
          case 0:
            for (std::uint32_t n = 1 + random_.below(6); n > 0 && !data.empty(); --n) {
              data[random_.below(data.size())] = static_cast<char>(random_.bits());
            }
            break;
          case 1:
            data.resize(random_.below(data.size() + 1));
            break;
          case 2:
            data.append(random_.below(100), '\x55');
            break;
          default:
            mask = random_.below(4);
        }
        if (!data.empty()) {
          H5Dwrite_chunk(dataset, H5P_DEFAULT, mask, offset, data.size(), data.data());
        }
      }
    }
    H5Sclose(space);
    H5Pclose(properties);
    H5Dclose(dataset);
  }

  void change_extent(const std::string& name) {
    const hid_t dataset = H5Dopen2(root_, name.c_str(), H5P_DEFAULT);
    const hid_t space = H5Dget_space(dataset);
    hsize_t extent[2] = {1, 1};
    H5Sget_simple_extent_dims(space, extent, nullptr);
    // Shrinking walks over chunks one by one: only nearby.
    extent[0] = random_.one_in(2) ? extent[0] + odd_number() % (1ULL << 50)
                                  : extent[0] - std::min<hsize_t>(extent[0], random_.below(20));
    H5Dset_extent(dataset, extent);
    H5Sclose(space);
    H5Dclose(dataset);
  }

  void replace_dataset(const std::string& name) {
    const hid_t types[] = {H5T_STD_U8LE,  H5T_STD_U16LE,  H5T_STD_U32LE, H5T_STD_U64LE, H5T_IEEE_F32LE,
                           H5T_STD_I32LE, H5T_IEEE_F64LE, H5T_STD_U32BE, H5T_STD_B8LE,  H5T_C_S1};
    hid_t type = types[random_.below(std::size(types))];
    int rank = 1;
    hsize_t extent[3] = {1, 1, 1};
    {
      const hid_t old = H5Dopen2(root_, name.c_str(), H5P_DEFAULT);
      const hid_t space = H5Dget_space(old);
      rank = std::clamp(H5Sget_simple_extent_ndims(space), 1, 2);
      if (rank == H5Sget_simple_extent_ndims(space)) {
        H5Sget_simple_extent_dims(space, extent, nullptr);
      }
      if (random_.one_in(2)) {
        const hid_t same = H5Dget_type(old);
        type = H5Tequal(same, H5T_STD_U8LE) > 0    ? H5T_STD_U8LE
               : H5Tequal(same, H5T_STD_U16LE) > 0 ? H5T_STD_U16LE
               : H5Tequal(same, H5T_STD_U32LE) > 0 ? H5T_STD_U32LE
                                                   : type;
        H5Tclose(same);
      }
      H5Sclose(space);
      H5Dclose(old);
    }
    rank = random_.one_in(6) ? 1 + static_cast<int>(random_.below(3)) : rank;
    extent[0] = random_.one_in(2) ? extent[0] : odd_number() % (1ULL << 45);
    extent[1] = random_.one_in(6) ? random_.below(8) : extent[1];
    const hsize_t chunk[3] = {std::max<hsize_t>(1, random_.one_in(2) ? extent[0] : odd_number() % (1ULL << 31)),
                              std::max<hsize_t>(1, random_.one_in(6) ? random_.below(8) : extent[1]), 1};
    const hid_t space = H5Screate_simple(rank, extent, nullptr);
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    if (!random_.one_in(8)) {
      H5Pset_chunk(properties, rank, chunk);
      if (random_.one_in(2)) {
        H5Pset_shuffle(properties);
      }
      if (random_.one_in(2)) {
        H5Pset_deflate(properties, 1);
      }
      if (random_.one_in(8)) {
        H5Pset_fletcher32(properties);
      }
    }
    H5Ldelete(root_, name.c_str(), H5P_DEFAULT);
    const hid_t dataset = H5Dcreate2(root_, name.c_str(), type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    if (dataset >= 0) {
      for (std::uint32_t n = random_.below(3); n > 0 && !random_.one_in(3); --n) {
        const hsize_t offset[3] = {random_.below(4) * chunk[0], 0, 0};
        const std::string data(1 + random_.below(300), static_cast<char>(random_.bits()));
        H5Dwrite_chunk(dataset, H5P_DEFAULT, random_.below(4), offset, data.size(), data.data());
      }
      H5Dclose(dataset);
    }
    H5Pclose(properties);
    H5Sclose(space);
    names_ = dataset_names(root_);
  }

  void move_link(const std::string& name) {
    const std::string other = any_name();
    if (random_.one_in(3)) {
      H5Ldelete(root_, name.c_str(), H5P_DEFAULT);
      H5Lcreate_soft(("/" + other).c_str(), root_, name.c_str(), H5P_DEFAULT, H5P_DEFAULT);
    } else if (name != other) {
      // Two names for one dataset: its chunks would be counted twice.
      H5Ldelete(root_, name.c_str(), H5P_DEFAULT);
      H5Lcreate_hard(root_, other.c_str(), root_, name.c_str(), H5P_DEFAULT, H5P_DEFAULT);
    }
  }

  void change_attribute() {
    const char* const objects[] = {"/", "/launch/0", "/launch/1"};
    const char* const names[] = {"width", "height", "depth", "warp_size", "format_version", "tool", "not_captured"};
    const char* object = objects[random_.below(std::size(objects))];
    const char* name = names[random_.below(std::size(names))];
    const hid_t of = H5Oopen(root_, object, H5P_DEFAULT);
    if (of < 0) {
      return;
    }
    if (H5Aexists(of, name) > 0) {
      const hid_t attribute = H5Aopen(of, name, H5P_DEFAULT);
      const auto value = static_cast<std::uint32_t>(odd_number());
      if (random_.one_in(4)) {
        H5Aclose(attribute);
        H5Adelete(of, name);
        const hsize_t count = random_.below(4);
        const hid_t space = H5Screate_simple(1, &count, nullptr);
        H5Aclose(
            H5Acreate2(of, name, random_.one_in(2) ? H5T_STD_U32LE : H5T_STD_U64LE, space, H5P_DEFAULT, H5P_DEFAULT));
        H5Sclose(space);
      } else {
        H5Awrite(attribute, H5T_NATIVE_UINT32, &value);
        H5Aclose(attribute);
      }
    }
    H5Oclose(of);
  }

  void change_texts() {
    const char* const names[] = {"/shaders/entry", "/shaders/name", "/scene/geometries/name"};
    const char* name = names[random_.below(std::size(names))];
    if (H5Lexists(root_, name, H5P_DEFAULT) <= 0) {
      return;
    }
    H5Ldelete(root_, name, H5P_DEFAULT);
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, random_.one_in(3) ? H5T_VARIABLE : 1 + odd_number() % (1U << 30));
    const hsize_t count = random_.below(30);
    const hid_t space = H5Screate_simple(1, &count, nullptr);
    const hid_t dataset = H5Dcreate2(root_, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (dataset >= 0) {
      H5Dclose(dataset);
    }
    H5Sclose(space);
    H5Tclose(type);
    names_ = dataset_names(root_);
  }

  Random& random_;
  fs::path path_;
  hid_t root_ = H5I_INVALID_HID;
  std::vector<std::string> names_;
};

constexpr std::uint64_t kRoundsTogether = 16;
// Fewer files than these say nothing, however little time there is; so many tries must do for them.
constexpr std::uint64_t kLeastFiles = 128;
constexpr std::uint64_t kMostTries = 4 * kLeastFiles;

/// Makes the files of the rounds [first, first + kRoundsTogether), in a process of its own: libhdf5 does not always
/// survive writing what we ask of it, and need not. What it leaves behind is as good a file to load as any. Whether the
/// process came to its end.
bool mutate_apart(std::uint64_t first, const fs::path& folder, const std::vector<std::string>& seeds) {
  const pid_t child = ::fork();
  if (child < 0) {
    throw std::system_error(errno, std::generic_category(), "fork");
  }
  if (child == 0) {
    const int nowhere = ::open("/dev/null", O_RDWR);
    ::dup2(nowhere, STDERR_FILENO);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    ::alarm(60);
    for (std::uint64_t round = first; round < first + kRoundsTogether; ++round) {
      const fs::path path = folder / std::to_string(round);
      write_bytes(path, seeds[round % seeds.size()]);
      Random random(round);
      Mutator(random, path).mutate();
    }
    ::_exit(0);
  }
  int status = 0;
  if (::waitpid(child, &status, 0) != child) {
    throw std::system_error(errno, std::generic_category(), "waitpid");
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// A dataset that was grown may have left a file of terabytes, all holes, which would take its time to hash.
bool is_of_use(const fs::path& path) {
  return fs::exists(path) && fs::file_size(path) > trace::kEnvelopeBytes &&
         fs::file_size(path) < (std::uintmax_t{64} << 20);
}

std::vector<std::string> make_seeds(const fs::path& path) {
  std::vector<std::string> seeds;
  for (std::uint64_t s = 0; s < 12; ++s) {
    const trace::Trace trace = test::random_trace({.seed = s,
                                                   .size = {1 + static_cast<std::uint32_t>(s), 3, 1},
                                                   .launches = 1 + static_cast<std::uint32_t>(s % 2),
                                                   .scene = s % 3 != 0,
                                                   .geometry = s % 2 == 0,
                                                   .ray = s % 4 == 1,
                                                   .group = s % 3 == 1,
                                                   .warps = s % 5 < 3,
                                                   .capture = s % 4 >= 2});
    trace::write(trace, path, {.overwrite = true, .chunk_rows = s % 2 == 0 ? 32U : 1U << 18});
    seeds.push_back(read_bytes(path));
  }
  return seeds;
}

/// "" or what went wrong.
std::string try_file(const fs::path& path, std::uint64_t& loaded) {
  try {
    static_cast<void>(trace::read_info(path));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Input && error.kind() != ErrorKind::Resource) {
      return std::string("read_info: ") + error.what();
    }
  }
  trace::Trace trace;
  try {
    trace = trace::load(path, {.max_bytes = std::uint64_t{256} << 20});
  } catch (const Error& error) {
    const bool right = (error.kind() == ErrorKind::Input || error.kind() == ErrorKind::Resource) &&
                       error.info().where.find(path.string()) == 0;
    return right ? "" : std::string("load: ") + error.what();
  }
  ++loaded;
  try {
    trace::check(trace, path.string());
  } catch (const Error& error) {
    return std::string("loaded, but: ") + error.what();
  }
  return "";
}

}  // namespace

int main(int argc, char** argv) {
  const auto [seconds, seed] = test::fuzz_arguments(argc, argv);
  const fs::path folder = fs::temp_directory_path() / ("fuzz_reader-" + std::to_string(::getpid()));
  fs::create_directories(folder);
  const std::vector<std::string> seeds = make_seeds(folder / "seed");
  const auto start = std::chrono::steady_clock::now();
  std::uint64_t rounds = 0;
  std::uint64_t loaded = 0;
  std::uint64_t batches = 0;
  std::uint64_t whole_batches = 0;
  std::string failure;
  const auto over = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > seconds;
  };
  const auto enough = [&](std::uint64_t tries) { return rounds >= kLeastFiles || tries >= kMostTries; };
  // Each round has a seed of its own, so that a crash can be repeated: --seed with the last number printed.
  for (std::uint64_t round = seed; failure.empty() && !(over() && enough(round - seed)); ++round) {
    if ((round - seed) % kRoundsTogether == 0) {
      ++batches;
      whole_batches += mutate_apart(round, folder, seeds) ? 1U : 0U;
    }
    const fs::path path = folder / std::to_string(round);
    if (is_of_use(path)) {
      std::fprintf(stderr, "\rround %llu", static_cast<unsigned long long>(round));
      try {
        trace::write_envelope(trace::FileDescriptor(path, trace::FileDescriptor::Mode::ReadWrite));
        failure = try_file(path, loaded);
      } catch (const std::exception& error) {
        failure = std::string("not an Error of ours: ") + error.what();
      }
      if (!failure.empty()) {
        failure = path.string() + ": " + failure;
      }
      ++rounds;
    }
    if (failure.empty()) {
      fs::remove(path);
    }
  }
  std::fprintf(stderr, "\n");
  if (!failure.empty()) {
    std::printf("%s\n", failure.c_str());
    return 1;
  }
  fs::remove_all(folder);
  std::printf("%llu files, %llu of them sound after all; %llu of %llu batches made whole\n",
              static_cast<unsigned long long>(rounds), static_cast<unsigned long long>(loaded),
              static_cast<unsigned long long>(whole_batches), static_cast<unsigned long long>(batches));
  // A fuzzer that has no files, never gets past the first check, or never breaks anything, tests nothing; nor does one
  // whose changes are mostly never made.
  return rounds < kLeastFiles || loaded == 0 || loaded == rounds || whole_batches * 2 < batches ? 1 : 0;
}
