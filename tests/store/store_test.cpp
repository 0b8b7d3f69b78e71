#include "sim/engine/store/store.hpp"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/temporary.hpp"
#include "sim/engine/store/result_file.hpp"

namespace rayreplay::experiment {
namespace {

namespace fs = std::filesystem;

std::string key_of(std::uint64_t number) {
  return fmt::format("{:032x}", number);
}

/// Other bytes for every number.
std::string bytes_of(std::uint64_t number, std::size_t count) {
  std::string bytes(count, '\0');
  for (std::size_t i = 0; i < count; ++i) {
    bytes[i] = static_cast<char>(static_cast<unsigned char>(number * 131 + i * 7 + (i >> 8U)));
  }
  return bytes;
}

class StoreTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::path(testing::TempDir()) / "store-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override {
    std::error_code ignored;
    fs::permissions(folder_, fs::perms::owner_all, ignored);
    fs::remove_all(folder_, ignored);
  }

  [[nodiscard]] StoreOptions options(std::uint64_t most = std::uint64_t{1} << 30U) {
    return {folder_, most, [this](const std::string& message) { messages_.push_back(message); }};
  }
  [[nodiscard]] fs::path file_of(std::uint64_t number) const {
    return folder_ / result_name("stream", key_of(number));
  }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
  std::vector<std::string> messages_;
};

TEST_F(StoreTest, WhatIsPutIsGot) {
  Store store(options());
  EXPECT_FALSE(store.get("stream", key_of(1)));
  EXPECT_FALSE(store.has("stream", key_of(1)));
  store.put("stream", key_of(1), bytes_of(1, 1000));
  store.put("metrics", key_of(1), "");
  EXPECT_EQ(store.get("stream", key_of(1)), bytes_of(1, 1000));
  EXPECT_EQ(store.get("metrics", key_of(1)), "");
  EXPECT_TRUE(store.has("stream", key_of(1)));
  EXPECT_FALSE(store.has("stream", key_of(2)));
  EXPECT_EQ(store.bytes(), 1000 + 2 * kHeaderBytes);
  Store other(options());
  EXPECT_EQ(other.get("stream", key_of(1)), bytes_of(1, 1000));
  other.clear();
  EXPECT_FALSE(store.get("stream", key_of(1)));
  EXPECT_EQ(store.bytes(), 0U);
  EXPECT_TRUE(messages_.empty());
}

TEST_F(StoreTest, MakesItsFolderOrSaysWhyNot) {
  const fs::path deep = folder_ / "a" / "b";
  Store store({deep});
  EXPECT_TRUE(fs::is_directory(deep));
  EXPECT_EQ(store.folder(), deep);
  std::ofstream(folder_ / "file") << "x";
  for (const fs::path& wrong : {folder_ / "file", folder_ / "file" / "below"}) {
    try {
      const Store none({wrong});
      ADD_FAILURE() << wrong;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Output);
      EXPECT_NE(std::string(error.what()).find(wrong.string()), std::string::npos) << error.what();
    }
  }
}

TEST_F(StoreTest, OtherFormsOfKeysAreFaultsOfOurs) {
  Store store(options());
  for (const char* key : {"", "1", "0000000000000000000000000000000G", "../000000000000000000000000000000"}) {
    EXPECT_THROW(store.put("stream", key, "x"), Error) << key;
    EXPECT_THROW(static_cast<void>(store.get("stream", key)), Error) << key;
  }
  for (const char* kind : {"", "a/b", "..", "Stream", "a-kind-of-seventeen"}) {
    EXPECT_THROW(store.put(kind, key_of(1), "x"), Error) << kind;
  }
}

TEST_F(StoreTest, LeastRecentlyUsedIsOut) {
  constexpr std::size_t kSize = 1000 - kHeaderBytes;
  Store store(options(10'000));
  for (std::uint64_t i = 0; i < 10; ++i) {
    store.put("stream", key_of(i), bytes_of(i, kSize));
  }
  EXPECT_EQ(store.bytes(), 10'000U);
  EXPECT_TRUE(store.get("stream", key_of(0)));  // used now: 1 is the oldest
  EXPECT_TRUE(store.get("stream", key_of(2)));
  store.put("stream", key_of(10), bytes_of(10, kSize));
  EXPECT_LE(store.bytes(), 10'000U);
  EXPECT_FALSE(store.has("stream", key_of(1)));
  for (const unsigned there : {0U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 9U, 10U}) {
    EXPECT_TRUE(store.has("stream", key_of(there))) << there;
  }
  // Three at once.
  store.put("stream", key_of(11), bytes_of(11, 3 * 1000 - kHeaderBytes));
  for (const unsigned gone : {3U, 4U, 5U}) {
    EXPECT_FALSE(store.has("stream", key_of(gone))) << gone;
  }
  for (const unsigned there : {0U, 2U, 6U, 7U, 8U, 9U, 10U, 11U}) {
    EXPECT_TRUE(store.has("stream", key_of(there))) << there;
  }
  EXPECT_EQ(store.bytes(), 10'000U);
}

TEST_F(StoreTest, WhatIsLargerThanTheStoreIsNotKeptAndPushesNothingOut) {
  Store store(options(1000));
  store.put("stream", key_of(1), bytes_of(1, 500));
  store.put("stream", key_of(2), bytes_of(2, 1000 - kHeaderBytes + 1));
  EXPECT_TRUE(store.has("stream", key_of(1)));
  EXPECT_FALSE(store.has("stream", key_of(2)));
  store.put("stream", key_of(3), bytes_of(3, 1000 - kHeaderBytes));
  EXPECT_FALSE(store.has("stream", key_of(1)));
  EXPECT_TRUE(store.has("stream", key_of(3)));
  Store none(options(0));
  none.put("stream", key_of(4), "");
  EXPECT_FALSE(none.has("stream", key_of(4)));
}

TEST_F(StoreTest, AnotherStoreOfTheFolderCounts) {
  Store one(options(10'000));
  Store two(options(10'000));
  for (std::uint64_t i = 0; i < 100; ++i) {
    (i % 2 == 0 ? one : two).put("stream", key_of(i), bytes_of(i, 1000 - kHeaderBytes));
    ASSERT_LE(one.bytes(), 10'000U);
  }
  EXPECT_GE(one.bytes(), 9000U);
}

TEST_F(StoreTest, EveryDamagedByteIsSeen) {
  Store store(options());
  store.put("stream", key_of(1), bytes_of(1, 40));
  std::ostringstream whole;
  whole << std::ifstream(file_of(1), std::ios::binary).rdbuf();
  const std::string good = whole.str();
  ASSERT_EQ(good.size(), kHeaderBytes + 40);
  const auto write = [&](const std::string& bytes) {
    std::ofstream(file_of(1), std::ios::binary | std::ios::trunc) << bytes;
  };
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    write(bad);
    EXPECT_FALSE(store.get("stream", key_of(1))) << i;
    EXPECT_FALSE(fs::exists(file_of(1))) << i;
  }
  for (std::size_t length = 0; length < good.size(); ++length) {
    write(good.substr(0, length));
    EXPECT_FALSE(store.get("stream", key_of(1))) << length;
    EXPECT_FALSE(fs::exists(file_of(1))) << length;
  }
  write(good + "x");
  EXPECT_FALSE(store.get("stream", key_of(1)));
  write(good);
  EXPECT_EQ(store.get("stream", key_of(1)), bytes_of(1, 40));
  // One file: told once.
  ASSERT_EQ(messages_.size(), 1U);
  EXPECT_NE(messages_.front().find(file_of(1).string()), std::string::npos) << messages_.front();
}

TEST_F(StoreTest, AResultUnderAnotherKeyOrKindIsNotThere) {
  Store store(options());
  store.put("stream", key_of(1), "one");
  fs::copy_file(file_of(1), file_of(2));
  fs::copy_file(file_of(1), folder_ / result_name("metrics", key_of(1)));
  EXPECT_FALSE(store.has("stream", key_of(2)));
  EXPECT_FALSE(store.get("stream", key_of(2)));
  EXPECT_FALSE(store.get("metrics", key_of(1)));
  EXPECT_EQ(store.get("stream", key_of(1)), "one");
  EXPECT_EQ(messages_.size(), 2U);
}

TEST_F(StoreTest, ForeignFilesStayAndDoNotCount) {
  std::ofstream(folder_ / "notes.txt") << std::string(5000, 'x');
  std::ofstream(folder_ / "stream-12.rrs") << std::string(5000, 'x');
  fs::create_directory(file_of(7));
  Store store(options(1000));
  for (std::uint64_t i = 0; i < 5; ++i) {
    store.put("stream", key_of(i), bytes_of(i, 500));
  }
  EXPECT_LE(store.bytes(), 1000U);
  EXPECT_FALSE(store.get("stream", key_of(7)));
  store.clear();
  EXPECT_EQ(store.bytes(), 0U);
  EXPECT_TRUE(fs::exists(folder_ / "notes.txt"));
  EXPECT_TRUE(fs::exists(folder_ / "stream-12.rrs"));
  EXPECT_TRUE(fs::is_directory(file_of(7)));
}

TEST_F(StoreTest, AFolderOfAResultsNameKeepsThatResultOutAlone) {
  Store store(options());
  fs::create_directory(file_of(1));
  store.put("stream", key_of(1), "one");
  ASSERT_EQ(messages_.size(), 1U);
  EXPECT_NE(messages_.front().find(file_of(1).string()), std::string::npos) << messages_.front();
  store.put("stream", key_of(1), "one");
  EXPECT_EQ(messages_.size(), 1U) << "told once";
  EXPECT_FALSE(store.has("stream", key_of(1)));
  EXPECT_FALSE(store.get("stream", key_of(1)));
  store.put("stream", key_of(2), "two");
  EXPECT_EQ(store.get("stream", key_of(2)), "two");
  EXPECT_EQ(files(), 2U) << "no part is left";
  EXPECT_TRUE(fs::is_directory(file_of(1)));
}

TEST_F(StoreTest, PartsOfTheDeadAreRemovedAndOfTheLivingNot) {
  const fs::path dead = folder_ / (result_name("stream", key_of(1)) + ".part-0123456789abcdef");
  std::ofstream(dead) << "half";
  Temporary alive = create_temporary_file(folder_ / result_name("stream", key_of(1)));
  ASSERT_EQ(alive.error, 0);
  const fs::path living = alive.path;
  // The store does not wait for a FIFO that has the name of a temporary.
  ASSERT_EQ(::mkfifo((folder_ / (result_name("stream", key_of(2)) + ".part-0123456789abcdef")).c_str(), 0600), 0);
  {
    const Store store(options());
    EXPECT_FALSE(fs::exists(dead));
    EXPECT_TRUE(fs::exists(living));
  }
  alive.file.close();
  const Store store(options());
  EXPECT_FALSE(fs::exists(living));
}

TEST_F(StoreTest, AFifoOfAResultsNameIsNoResult) {
  Store store(options());
  ASSERT_EQ(::mkfifo(file_of(1).c_str(), 0600), 0);
  EXPECT_FALSE(store.has("stream", key_of(1)));
  EXPECT_FALSE(store.get("stream", key_of(1)));
  store.put("stream", key_of(1), "one");
  EXPECT_EQ(store.get("stream", key_of(1)), "one");
}

TEST_F(StoreTest, ThreadsShareAStore) {
  Store store(options(200'000));
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < 200; ++i) {
        const std::uint64_t number = (i * 7 + t * 13) % 100;
        const std::string expected = bytes_of(number, 100 + number * 50);
        store.put("stream", key_of(number), expected);
        const auto got = store.get("stream", key_of(number));
        wrong += got && *got != expected ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(store.bytes(), 200'000U);
  EXPECT_TRUE(messages_.empty());
}

/// Runs in a process of its own; returns its id. The child never returns.
template <class Work>
pid_t in_child(Work work) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(work());
  }
  return child;
}

int status_of(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

TEST_F(StoreTest, ProcessesShareAFolder) {
  constexpr std::uint64_t kMax = 100'000;
  std::vector<pid_t> children;
  for (std::uint64_t p = 0; p < 4; ++p) {
    children.push_back(in_child([&, p] {
      Store store({folder_, kMax});
      for (std::uint64_t i = 0; i < 150; ++i) {
        const std::uint64_t number = (i * 11 + p * 29) % 80;
        const std::string expected = bytes_of(number, 500 + number * 40);
        store.put("stream", key_of(number), expected);
        if (const auto got = store.get("stream", key_of(number)); got && *got != expected) {
          return 1;
        }
      }
      return 0;
    }));
  }
  for (const pid_t child : children) {
    EXPECT_EQ(status_of(child), 0);
  }
  Store store(options(kMax));
  EXPECT_LE(store.bytes(), kMax + kMax / 64 * 4 + 4 * 4000);
  std::size_t there = 0;
  for (std::uint64_t number = 0; number < 80; ++number) {
    if (const auto got = store.get("stream", key_of(number))) {
      EXPECT_EQ(*got, bytes_of(number, 500 + number * 40)) << number;
      ++there;
    }
  }
  EXPECT_GT(there, 10U);
  EXPECT_TRUE(messages_.empty());
}

TEST_F(StoreTest, WhoIsKilledLeavesNothingHalf) {
  constexpr std::size_t kSize = 200'000;
  for (int round = 0; round < 20; ++round) {
    const pid_t child = in_child([&] {
      Store store({folder_, std::uint64_t{1} << 30U});
      for (std::uint64_t i = 0;; ++i) {
        store.put("stream", key_of(static_cast<std::uint64_t>(round) * 1000 + i % 1000), bytes_of(i % 1000, kSize));
      }
      return 0;
    });
    ::usleep(static_cast<useconds_t>(1000 + 1700 * round));
    ::kill(child, SIGKILL);
    EXPECT_TRUE(WIFSIGNALED(status_of(child)));
    Store store(options());
    for (const auto& entry : fs::directory_iterator(folder_)) {
      EXPECT_FALSE(is_part_name(entry.path().filename().string())) << entry.path();
    }
    for (std::uint64_t i = 0; i < 1000; ++i) {
      const std::string key = key_of(static_cast<std::uint64_t>(round) * 1000 + i);
      if (!store.has("stream", key)) {
        break;
      }
      ASSERT_EQ(store.get("stream", key), bytes_of(i, kSize));
    }
    EXPECT_TRUE(messages_.empty()) << messages_.front();
    store.clear();
  }
}

TEST_F(StoreTest, AFullDiskIsToldOnceAndNothingIsKept) {
  // In a process of its own: the limit stays.
  const pid_t child = in_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {10'000, 10'000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    int told = 0;
    Store store({folder_, std::uint64_t{1} << 30U, [&](const std::string& message) {
                   told += message.find("cannot be written") == std::string::npos ? 100 : 1;
                 }});
    store.put("stream", key_of(1), bytes_of(1, 5000));
    store.put("stream", key_of(2), bytes_of(2, 20'000));
    store.put("stream", key_of(3), bytes_of(3, 20'000));
    store.put("stream", key_of(4), bytes_of(4, 100));
    const bool right = told == 1 && store.get("stream", key_of(1)) == bytes_of(1, 5000) &&
                       !store.has("stream", key_of(2)) && !store.has("stream", key_of(4));
    return right ? 0 : 1;
  });
  EXPECT_EQ(status_of(child), 0);
  EXPECT_EQ(files(), 1U);
}

TEST_F(StoreTest, AReadOnlyFolderIsReadAndToldOnce) {
  {
    Store store(options());
    store.put("stream", key_of(1), "one");
  }
  fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
  if (::access(folder_.c_str(), W_OK) == 0) {
    // The superuser writes everywhere: as somebody else, who may not.
    constexpr uid_t kNobody = 65534;
    fs::permissions(folder_, static_cast<fs::perms>(0555));
    ASSERT_EQ(::chmod(file_of(1).c_str(), 0444), 0);
    const pid_t child = in_child([&] {
      if (::setuid(kNobody) != 0) {
        return 2;
      }
      int told = 0;
      Store store({folder_, 1 << 20, [&](const std::string&) { ++told; }});
      store.put("stream", key_of(2), "two");
      store.put("stream", key_of(3), "three");
      return told == 1 && store.get("stream", key_of(1)) == "one" && !store.has("stream", key_of(2)) ? 0 : 1;
    });
    EXPECT_EQ(status_of(child), 0);
    return;
  }
  Store store(options());
  store.put("stream", key_of(2), "two");
  store.put("stream", key_of(3), "three");
  EXPECT_EQ(messages_.size(), 1U);
  EXPECT_EQ(store.get("stream", key_of(1)), "one");
  EXPECT_FALSE(store.has("stream", key_of(2)));
}

TEST(StoreFolder, IsWhatTheEnvironmentSays) {
  const auto with = [](const char* own, const char* cache, const char* home) {
    const auto set = [](const char* name, const char* value) {
      value == nullptr ? ::unsetenv(name) : ::setenv(name, value, 1);
    };
    set("RAYREPLAY_STORE", own);
    set("XDG_CACHE_HOME", cache);
    set("HOME", home);
    return default_store_folder().string();
  };
  EXPECT_EQ(with("/own", "/cache", "/home/me"), "/own");
  EXPECT_EQ(with(nullptr, "/cache", "/home/me"), "/cache/rayreplay");
  EXPECT_EQ(with("", "relative", "/home/me"), "/home/me/.cache/rayreplay");
  EXPECT_EQ(with(nullptr, nullptr, nullptr), "");
}

}  // namespace
}  // namespace rayreplay::experiment
