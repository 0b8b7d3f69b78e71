#include "tests/apps/run_program.hpp"

#include <fcntl.h>
#include <stb/stb_image.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>

#include "tests/support/temporary_folder.hpp"

namespace rayreplay::test {
namespace {

std::string read_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw std::runtime_error("cannot read " + path.string());
  }
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

Outcome run_program(const std::string& path, const std::vector<std::string>& arguments,
                    const Environment& environment) {
  std::vector<std::string> words = arguments;
  words.insert(words.begin(), path);
  std::vector<char*> pointers;
  for (std::string& word : words) {
    pointers.push_back(word.data());
  }
  pointers.push_back(nullptr);
  // Files, not pipes: no output is too long for them.
  const TemporaryFolder folder;
  const int output = ::open((folder / "output").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  const int errors = ::open((folder / "errors").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(output, STDOUT_FILENO);
    ::dup2(errors, STDERR_FILENO);
    for (const auto& [name, value] : environment) {
      ::setenv(name.c_str(), value.c_str(), 1);
    }
    ::execv(path.c_str(), pointers.data());
    ::_exit(127);
  }
  ::close(output);
  ::close(errors);
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child) {
    throw std::runtime_error("cannot run " + path);
  }
  Outcome outcome;
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  outcome.output = read_bytes(folder / "output");
  outcome.errors = read_bytes(folder / "errors");
  return outcome;
}

Pixels render(const std::string& path, std::vector<std::string> arguments, const Environment& environment) {
  const TemporaryFolder folder;
  const std::string image = folder / "picture.png";
  arguments.insert(arguments.end(), {"--device", "llvmpipe", "--image", image});
  const Outcome outcome = run_program(path, arguments, environment);
  if (outcome.code != 0) {
    throw std::runtime_error("exit code " + std::to_string(outcome.code) + ": " + outcome.errors);
  }
  return decode_png(read_bytes(image));
}

Pixels decode_png(const std::string& bytes) {
  int width = 0;
  int height = 0;
  int channels = 0;
  const std::unique_ptr<stbi_uc, void (*)(void*)> data(
      stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(bytes.data()), static_cast<int>(bytes.size()), &width,
                            &height, &channels, 3),
      stbi_image_free);
  if (data == nullptr) {
    throw std::runtime_error("not a picture");
  }
  const auto count = static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3;
  return {static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(height), {data.get(), data.get() + count}};
}

double mean_difference(const Pixels& a, const Pixels& b) {
  if (a.width != b.width || a.height != b.height) {
    throw std::runtime_error("pictures of different sizes");
  }
  double sum = 0;
  for (std::size_t i = 0; i < a.rgb.size(); ++i) {
    sum += std::abs(static_cast<double>(a.rgb[i]) - static_cast<double>(b.rgb[i]));
  }
  return sum / static_cast<double>(a.rgb.size());
}

}  // namespace rayreplay::test
