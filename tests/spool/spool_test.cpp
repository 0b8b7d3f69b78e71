// Spools: what is written is what is read; damage costs the damaged blocks alone; the writer never disturbs.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "capture/spool/payload.hpp"
#include "capture/spool/reader.hpp"
#include "capture/spool/writer.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/file_bytes.hpp"
#include "tests/support/random_trace.hpp"
#include "tests/support/temporary_folder.hpp"

namespace rayreplay::spool {
namespace {

namespace fs = std::filesystem;
using test::Random;
using test::read_bytes;
using test::write_bytes;
using testing::HasSubstr;

template <class T>
std::vector<std::byte> encoded(const T& x) {
  Encoder encoder;
  visit_fields(encoder, x);
  std::vector<std::byte> bytes;
  encoder.for_each_piece([&](const void* data, std::size_t count) {
    const auto* first = static_cast<const std::byte*>(data);
    bytes.insert(bytes.end(), first, first + count);
  });
  EXPECT_EQ(bytes.size(), encoder.bytes());
  return bytes;
}

/// Fills every field with something else.
class Filler {
 public:
  explicit Filler(std::uint64_t seed) : random_(seed) {}
  template <class T>
  void operator()(T& x) {
    if constexpr (std::is_enum_v<T>) {
      x = static_cast<T>(random_.below(2));
    } else if constexpr (std::is_floating_point_v<T>) {
      x = static_cast<T>(random_.unit());
    } else if constexpr (std::is_arithmetic_v<T>) {
      x = static_cast<T>(random_.bits());
    } else {
      visit_fields(*this, x);
    }
  }
  void operator()(std::string& text) {
    text.assign(random_.below(40), static_cast<char>('a' + random_.below(26)));
  }
  template <class T>
  void operator()(std::vector<T>& elements) {
    // Some long enough to be borrowed.
    elements.resize(random_.one_in(3) && std::is_arithmetic_v<T> ? 5000 : random_.below(4));
    for (T& element : elements) {
      (*this)(element);
    }
  }

 private:
  Random random_;
};

template <class T>
T filled(std::uint64_t seed) {
  Filler filler(seed);
  T x;
  visit_fields(filler, x);
  return x;
}

template <class T>
class PayloadTest : public testing::Test {};
using Payloads =
    testing::Types<Process, Device, Shader, Pipeline, Structure, Launch, Events, Note, End, PipelineFacts, Images>;
TYPED_TEST_SUITE(PayloadTest, Payloads);

TYPED_TEST(PayloadTest, ComesBackAsItWas) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto bytes = encoded(filled<TypeParam>(seed));
    TypeParam back;
    ASSERT_TRUE(decode(bytes, back));
    EXPECT_EQ(encoded(back), bytes);
  }
}

TYPED_TEST(PayloadTest, CutOrLongerIsRefused) {
  auto bytes = encoded(filled<TypeParam>(3));
  TypeParam back;
  for (std::size_t cut = 1; cut <= bytes.size(); cut += 1 + cut / 8) {
    EXPECT_FALSE(decode(std::span(bytes).first(bytes.size() - cut), back)) << cut;
  }
  bytes.push_back(std::byte{0});
  EXPECT_FALSE(decode(bytes, back));
}

TYPED_TEST(PayloadTest, RandomBytesAreSafe) {
  Random random(9);
  for (int round = 0; round < 2000; ++round) {
    auto bytes = encoded(filled<TypeParam>(static_cast<std::uint64_t>(round) % 5));
    for (std::uint32_t n = 1 + random.below(4); n > 0; --n) {
      bytes[random.below(bytes.size())] = static_cast<std::byte>(random.one_in(2) ? 0xFF : random.bits() & 0xFFU);
    }
    TypeParam back;
    if (decode(bytes, back)) {
      EXPECT_EQ(encoded(back).size(), bytes.size());
    }
  }
}

TEST(PayloadTest, UnknownEnumerationsAreRefused) {
  Table table;
  auto bytes = encoded(table);
  bytes[0] = std::byte{4};
  EXPECT_FALSE(decode(bytes, table));
  Images images;
  images.descriptors.emplace_back();
  bytes = encoded(images);
  EXPECT_TRUE(decode(bytes, images));
  bytes.back() = std::byte{3};  // the filter
  EXPECT_FALSE(decode(bytes, images));
}

class SpoolFileTest : public testing::Test {
 protected:
  [[nodiscard]] fs::path file(const std::string& name = "a.rrspool") const {
    return folder_ / name;
  }
  /// Ten notes and 600 words.
  void write_some() {
    SpoolWriter writer;
    ASSERT_TRUE(writer.open(file().string()));
    const std::vector<std::uint32_t> words(600, 7);
    for (std::uint32_t i = 0; i < 10; ++i) {
      ASSERT_TRUE(writer.append(Note{i, std::string(i * 3, 'x')}));
    }
    ASSERT_TRUE(writer.append_events(4, 100, words.data(), words.size()));
    EXPECT_EQ(writer.bytes(), fs::file_size(file()));
  }

 private:
  test::TemporaryFolder folder_;
};

TEST_F(SpoolFileTest, BlocksComeBackInOrder) {
  write_some();
  const SpoolReader reader(file());
  ASSERT_EQ(reader.blocks().size(), 11U);
  for (std::uint32_t i = 0; i < 10; ++i) {
    Note note;
    ASSERT_TRUE(decode(reader.blocks()[i].payload, note));
    EXPECT_EQ(note.launch, i);
    EXPECT_EQ(note.text.size(), i * 3);
    EXPECT_EQ(reader.blocks()[i].sequence, i);
  }
  const auto view = view_events(reader.blocks()[10].payload);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->launch, 4U);
  EXPECT_EQ(view->first_word, 100U);
  EXPECT_EQ(view->words.size(), 600U);
  EXPECT_EQ(view->words[599], 7U);
  EXPECT_EQ(reader.lost_bytes() + reader.cut_bytes() + reader.damaged_places(), 0U);
}

TEST_F(SpoolFileTest, EveryCutKeepsWhatWasWhole) {
  write_some();
  const std::string bytes = read_bytes(file());
  std::vector<std::uint64_t> ends;
  {
    const SpoolReader reader(file());
    for (const Block& block : reader.blocks()) {
      ends.push_back(block.position + sizeof(BlockHeader) + block.payload.size());
    }
  }
  for (std::size_t cut = 16; cut < bytes.size(); cut += 3) {
    write_bytes(file("cut"), bytes.substr(0, cut));
    const SpoolReader reader(file("cut"));
    const auto whole = static_cast<std::size_t>(
        std::count_if(ends.begin(), ends.end(), [&](std::uint64_t end) { return end <= cut; }));
    ASSERT_EQ(reader.blocks().size(), whole) << cut;
    EXPECT_EQ(reader.lost_bytes(), 0U);
  }
}

TEST_F(SpoolFileTest, DamageCostsOneBlock) {
  write_some();
  const std::string bytes = read_bytes(file());
  for (std::size_t at = 16; at < bytes.size(); at += 3) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x21);
    write_bytes(file("damaged"), damaged);
    const SpoolReader reader(file("damaged"));
    // Padding is no part of a block.
    EXPECT_GE(reader.blocks().size(), 10U) << at;
    if (reader.blocks().size() == 10U) {
      EXPECT_GT(reader.lost_bytes() + reader.cut_bytes(), 0U) << at;
    }
  }
}

TEST_F(SpoolFileTest, OtherFilesAreRefused) {
  const auto message = [&](const std::string& bytes) -> std::string {
    write_bytes(file("other"), bytes);
    return test::message_of(ErrorKind::Input, [&] { const SpoolReader reader(file("other")); });
  };
  EXPECT_THAT(message(""), HasSubstr("the spool is empty"));
  EXPECT_THAT(message("RRSPOOL"), HasSubstr("not a spool"));
  EXPECT_THAT(message("something else altogether"), HasSubstr("not a spool"));
  EXPECT_THAT(message(std::string("RRSPOOL\n\x09\0\0\0\0\0\0\0", 16)), HasSubstr("another version (found 9"));
  EXPECT_THROW(SpoolReader(file("missing")), Error);
  EXPECT_THROW(SpoolReader(file("").parent_path()), Error);
}

TEST_F(SpoolFileTest, HeadersMadeToOverlapCostLittle) {
  // Every 32 bytes a header that claims the rest of the file.
  std::string bytes(std::size_t{1} << 22, '\0');
  std::memcpy(bytes.data(), kMagic, sizeof kMagic);
  bytes[8] = static_cast<char>(kVersion);
  for (std::size_t at = 16; at + 32 <= bytes.size(); at += 32) {
    BlockHeader header;
    header.bytes = bytes.size() - at - 32;
    std::memcpy(bytes.data() + at, &header, sizeof header);
  }
  write_bytes(file("hostile"), bytes);
  const SpoolReader reader(file("hostile"));
  EXPECT_TRUE(reader.blocks().empty());
  EXPECT_EQ(reader.cut_bytes(), bytes.size() - 16);
}

TEST_F(SpoolFileTest, ManyThreadsAppendWholeBlocks) {
  SpoolWriter writer;
  ASSERT_TRUE(writer.open(file().string()));
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint32_t i = 0; i < 200; ++i) {
        EXPECT_TRUE(writer.append(Note{t, std::string(i % 50, 'y')}));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  writer.close();
  EXPECT_FALSE(writer.append(Note{}));
  EXPECT_EQ(SpoolReader(file()).blocks().size(), 800U);
}

TEST_F(SpoolFileTest, AnExistingFileIsNeverTouched) {
  write_bytes(file(), "mine");
  SpoolWriter writer;
  EXPECT_FALSE(writer.open(file().string()));
  EXPECT_THAT(writer.error(), HasSubstr("File exists"));
  EXPECT_FALSE(writer.append(Note{}));
  EXPECT_EQ(read_bytes(file()), "mine");
}

TEST_F(SpoolFileTest, AChildWritesNothing) {
  SpoolWriter writer;
  ASSERT_TRUE(writer.open(file().string()) && writer.append(Note{1, "parent"}));
  const pid_t child = fork();
  if (child == 0) {
    _exit(writer.append(Note{2, "child"}) ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(writer.append(Note{3, "parent"}));
  EXPECT_EQ(SpoolReader(file()).blocks().size(), 2U);
}

TEST_F(SpoolFileTest, AClosedDescriptorIsNotWrittenTo) {
  SpoolWriter writer;
  ASSERT_TRUE(writer.open(file().string()));
  // What a careless application does: close what it did not open, and get the number for a file of its own.
  for (int descriptor = 3; descriptor < 64; ++descriptor) {
    char target[512] = {};
    const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
    if (readlink(link.c_str(), target, sizeof target - 1) > 0 && file().string() == target) {
      close(descriptor);
    }
  }
  std::ofstream mine(file("mine"));
  EXPECT_FALSE(writer.append(Note{1, "x"}));
  EXPECT_THAT(writer.error(), HasSubstr("closed the spool's descriptor"));
  writer.close();
  mine << "text" << std::flush;
  EXPECT_EQ(read_bytes(file("mine")), "text");
}

TEST_F(SpoolFileTest, TheFileSizeLimitEndsItWithoutASignal) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit{10'000, 10'000};
    setrlimit(RLIMIT_FSIZE, &limit);
    SpoolWriter writer;
    bool sound = writer.open(file().string());
    int whole = 0;
    while (whole < 1000 && writer.append(Note{1, std::string(1000, 'z')})) {
      ++whole;
    }
    sound = sound && whole == 9 && !writer.append(End{}) && writer.error().find("RLIMIT_FSIZE") != std::string::npos;
    _exit(sound ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  const SpoolReader reader(file());
  EXPECT_EQ(reader.blocks().size(), 9U);
  EXPECT_EQ(reader.cut_bytes(), 0U);
}

TEST_F(SpoolFileTest, AKilledWriterLeavesWholeBlocks) {
  const pid_t child = fork();
  if (child == 0) {
    SpoolWriter writer;
    writer.open(file().string());
    for (;;) {
      writer.append(Note{1, std::string(5000, 'k')});
    }
  }
  while (!fs::exists(file()) || fs::file_size(file()) < 200'000) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  const SpoolReader reader(file());
  EXPECT_GE(reader.blocks().size(), 30U);
  EXPECT_EQ(reader.lost_bytes(), 0U);
}

}  // namespace
}  // namespace rayreplay::spool
