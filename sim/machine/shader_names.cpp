#include "sim/machine/shader_names.hpp"

#include <algorithm>
#include <cctype>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/parameters.hpp"

namespace rayreplay::machine {

std::string word_of_call(trace::EventKind kind) {
  std::string word;
  for (const char c : std::string(trace::to_string(kind))) {
    if (std::isupper(static_cast<unsigned char>(c)) != 0) {
      word += word.empty() ? "" : "_";
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else {
      word += c;
    }
  }
  return word;
}

std::string key_of_call(std::size_t id, trace::EventKind kind) {
  return fmt::format("{}/{}", id, word_of_call(kind));
}

int match_rank(const std::string& key, const trace::Shader& shader, std::size_t id) {
  if (key == std::to_string(id)) {
    return 3;
  }
  if (key == shader.name) {
    return 2;
  }
  return key == trace::to_string(shader.stage) ? 1 : 0;
}

void unknown_shader(const std::string& key, const trace::Trace& trace, const std::string& where) {
  std::vector<std::string> known;
  for (const trace::Shader& shader : trace.shaders) {
    for (const std::string& word : {shader.name, std::string(trace::to_string(shader.stage))}) {
      if (!word.empty() && std::find(known.begin(), known.end(), word) == known.end()) {
        known.push_back(word);
      }
    }
  }
  const std::string near = nearest(key, known);
  throw Error(ErrorKind::Usage,
              {"a cost is given for a shader that the trace does not have", where, "'" + key + "'",
               fmt::format("one of {}, or an id below {}", fmt::join(known, ", "), trace.shaders.size()),
               near.empty() ? "" : "did you mean '" + near + "'?"});
}

}  // namespace rayreplay::machine
