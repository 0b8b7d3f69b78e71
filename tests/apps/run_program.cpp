#include "tests/apps/run_program.hpp"

#include <stb/stb_image.h>

#include <cstdlib>
#include <memory>
#include <stdexcept>

#include "tests/support/temporary_folder.hpp"

namespace rayreplay::test {

Outcome run_program(const std::string& path, std::vector<std::string> arguments, const Environment& environment) {
  arguments.insert(arguments.begin(), path);
  return Process(arguments, environment).wait();
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
