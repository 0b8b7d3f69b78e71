// Replacement of kernels/ in builds without GPU support.
#include <algorithm>
#include <cctype>

#include "kernels/accelerator.hpp"

namespace rayreplay::kernels {
namespace {

Error no_support(const std::string& where) {
  return {ErrorKind::Missing,
          {"this program was built without GPU support", where, "", "",
           "build it with -DRAYREPLAY_GPU=ON, or run on the processor with --device cpu"}};
}

}  // namespace

std::vector<DeviceInfo> list_devices() {
  throw no_support("");
}

std::unique_ptr<Accelerator> make_accelerator(const std::string& choice, const DeviceOptions&, Accelerator::Log) {
  std::string word = choice;
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (word != "auto" && word != "cpu") {
    throw no_support("--device " + choice);
  }
  return std::make_unique<Accelerator>();
}

}  // namespace rayreplay::kernels
