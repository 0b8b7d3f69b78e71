// Wavefront OBJ: v, vt, vn, f with polygons and negative indices, mtllib, usemtl. Polygons become fans; o, g and s are
// ignored: the file has no instances. Own parser, because tinyobjloader reads "nan" as 0 and only warns, without a
// line, of an index out of range; materials are read by tinyobjloader.
#include <array>
#include <charconv>
#include <map>
#include <unordered_map>

#include <fmt/format.h>

#include "base/error.hpp"
#include "capture/reference/meshes/image.hpp"
#include "capture/reference/meshes/mesh_file.hpp"
#include "capture/reference/meshes/mtl.hpp"

namespace rayreplay::reference {
namespace {

constexpr std::string_view kBlank = " \t\r";

std::string_view next_word(std::string_view& rest) {
  const auto start = rest.find_first_not_of(kBlank);
  if (start == std::string_view::npos) {
    rest = {};
    return {};
  }
  rest.remove_prefix(start);
  const std::string_view word = rest.substr(0, rest.find_first_of(kBlank));
  rest.remove_prefix(word.size());
  return word;
}

std::string_view trimmed(std::string_view text) {
  const auto start = text.find_first_not_of(kBlank);
  return start == std::string_view::npos ? std::string_view()
                                         : text.substr(start, text.find_last_not_of(kBlank) - start + 1);
}

/// Rows of v, vt and vn; kNone where a corner gives none. `flat`: the corner needs the normal of its face.
struct Corner {
  std::uint32_t position = trace::kNone, uv = trace::kNone, normal = trace::kNone, flat = trace::kNone;
  bool operator==(const Corner&) const = default;
};

struct CornerHash {
  std::size_t operator()(const Corner& c) const {
    std::uint64_t h = c.position;
    for (const std::uint32_t part : {c.uv, c.normal, c.flat}) {
      h = (h ^ (h >> 29U)) * 0x9E37'79B9'7F4A'7C15U + part;
    }
    return static_cast<std::size_t>(h ^ (h >> 32U));
  }
};

class ObjImport {
 public:
  explicit ObjImport(const std::filesystem::path& path) : path_(path), builder_(path.filename().string()) {}

  RenderScene run() {
    const std::string text = read_file(path_);
    // A mesh without normals keeps its shared vertices and is shaded by face normals.
    has_normals_ = text.starts_with("vn") || text.find("\nvn") != std::string::npos;
    std::string_view rest = text;
    std::string joined;
    while (!rest.empty()) {
      const auto end = std::min(rest.find('\n'), rest.size());
      std::string_view line = trimmed(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
      ++line_;
      if (!line.empty() && line.back() == '\\' && !rest.empty()) {
        joined += std::string(line.substr(0, line.size() - 1)) + ' ';
        continue;
      }
      if (!joined.empty()) {
        joined += line;
        read_line(joined);
        joined.clear();
      } else {
        read_line(line);
      }
    }
    if (skipped_ > 0) {
      builder_.note(fmt::format("{}: {} points, lines, curves and surfaces are dropped", path_.string(), skipped_));
    }
    const std::uint64_t degenerate = count_degenerate(mesh_);
    builder_.place(builder_.add_object(path_.stem().string(), mesh_));
    return finish_import(builder_, path_, std::nullopt, degenerate);
  }

 private:
  [[noreturn]] void fail(std::string what, std::string found, std::string expected) const {
    bad_mesh(path_, std::to_string(line_), std::move(what), std::move(found), std::move(expected));
  }

  void read_line(std::string_view line) {
    const std::string_view key = next_word(line);
    if (key == "v") {
      const auto p = read_numbers<3>(line, 3);
      positions_.push_back({p[0], p[1], p[2]});
    } else if (key == "vt") {
      const auto t = read_numbers<2>(line, 1);
      // The scene's row 0 is at v = 0, here the picture's bottom row is.
      uvs_.push_back({t[0], 1 - t[1]});
    } else if (key == "vn") {
      const auto n = read_numbers<3>(line, 3);
      normals_.push_back({n[0], n[1], n[2]});
    } else if (key == "f") {
      read_face(line);
    } else if (key == "usemtl") {
      use_material(std::string(trimmed(line)));
    } else if (key == "mtllib") {
      read_library(std::string(trimmed(line)));
    } else if (key == "p" || key == "l" || key == "curv" || key == "curv2" || key == "surf") {
      ++skipped_;
    }
  }

  template <std::size_t N>
  std::array<float, N> read_numbers(std::string_view line, std::size_t required) const {
    std::array<float, N> numbers{};
    for (std::size_t i = 0; i < N; ++i) {
      const std::string_view word = next_word(line);
      if (word.empty()) {
        if (i < required) {
          fail("a line has too few numbers", fmt::format("{}", i), fmt::format("{} numbers", required));
        }
        break;
      }
      const auto number = parse_float(word);
      if (!number || !std::isfinite(*number)) {
        fail(number ? "a value is not finite" : "a value is not a number", std::string(word), "finite numbers");
      }
      numbers[i] = *number;
    }
    return numbers;
  }

  std::uint32_t read_index(std::string_view text, std::size_t count, const char* what) const {
    std::int64_t index = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
    if (error != std::errc() || end != text.data() + text.size()) {
      fail("a face's index is not a whole number", std::string(text), "v, v/vt, v//vn or v/vt/vn");
    }
    const auto limit = static_cast<std::int64_t>(count);
    const std::int64_t row = index < 0 ? limit + index : index - 1;
    if (row < 0 || row >= limit || row >= trace::kNone) {
      fail(fmt::format("a face's {} index is out of range", what), std::string(text),
           fmt::format("1 to {0} or -{0} to -1, the rows so far", count));
    }
    return static_cast<std::uint32_t>(row);
  }

  Corner read_corner(std::string_view word) const {
    Corner corner;
    const auto first = word.find('/');
    corner.position = read_index(word.substr(0, first), positions_.size(), "vertex");
    if (first == std::string_view::npos) {
      return corner;
    }
    word.remove_prefix(first + 1);
    const auto second = word.find('/');
    if (const auto uv = word.substr(0, second); !uv.empty()) {
      corner.uv = read_index(uv, uvs_.size(), "texture");
    }
    if (second != std::string_view::npos && second + 1 < word.size()) {
      corner.normal = read_index(word.substr(second + 1), normals_.size(), "normal");
    }
    return corner;
  }

  void read_face(std::string_view line) {
    std::vector<Corner> corners;
    for (std::string_view word = next_word(line); !word.empty() && word.front() != '#'; word = next_word(line)) {
      corners.push_back(read_corner(word));
    }
    if (corners.size() < 3) {
      fail("a face has too few corners", fmt::format("{}", corners.size()), "at least 3");
    }
    if (material_ == trace::kNone) {
      material_ = default_material();
    }
    const Vec3 a = positions_[corners[0].position];
    const Vec3 flat = normalize((positions_[corners[1].position] - a).cross(positions_[corners[2].position] - a));
    std::vector<std::uint32_t> vertex;
    for (Corner& corner : corners) {
      if (has_normals_ && corner.normal == trace::kNone) {
        corner.flat = static_cast<std::uint32_t>(faces_);
      }
      vertex.push_back(add_vertex(corner, flat));
    }
    ++faces_;
    for (std::size_t k = 2; k < vertex.size(); ++k) {
      mesh_.add_triangle(vertex[0], vertex[k - 1], vertex[k], material_);
    }
  }

  std::uint32_t add_vertex(const Corner& corner, const Vec3& flat_normal) {
    const auto [entry, added] = vertex_of_.emplace(corner, static_cast<std::uint32_t>(mesh_.positions.size()));
    if (added) {
      mesh_.positions.push_back(positions_[corner.position]);
      mesh_.uvs.push_back(corner.uv == trace::kNone ? Vec2{} : uvs_[corner.uv]);
      if (has_normals_) {
        mesh_.normals.push_back(corner.normal == trace::kNone ? flat_normal : normalize(normals_[corner.normal]));
      }
    }
    return entry->second;
  }

  std::uint32_t default_material() {
    const auto [entry, added] = materials_.emplace("", 0U);
    if (added) {
      entry->second = builder_.add_material({.name = "default", .color = {0.7F, 0.7F, 0.7F}});
    }
    return entry->second;
  }

  void use_material(const std::string& name) {
    const auto known = materials_.find(name);
    if (known != materials_.end()) {
      material_ = known->second;
      return;
    }
    builder_.note(fmt::format("{}:{}: material '{}' is not defined; grey is used", path_.string(), line_, name));
    material_ = default_material();
    materials_.emplace(name, material_);
  }

  void read_library(const std::string& names) {
    // A name with blanks is not quoted; several names are separated by blanks.
    std::vector<std::string> files;
    std::error_code ignored;
    if (std::filesystem::exists(sibling(names), ignored)) {
      files.push_back(names);
    } else {
      std::string_view rest = names;
      for (std::string_view word = next_word(rest); !word.empty(); word = next_word(rest)) {
        files.emplace_back(word);
      }
    }
    for (const std::string& file : files) {
      try {
        for (const MtlMaterial& parsed : parse_mtl(read_file(sibling(file)))) {
          add_material(parsed);
        }
      } catch (const Error& error) {
        builder_.note(fmt::format("material library dropped: {}", error.what()));
      }
    }
  }

  void add_material(const MtlMaterial& parsed) {
    if (materials_.contains(parsed.material.name)) {
      return;
    }
    Material material = parsed.material;
    bool alpha_tested = false;
    Texture texture;
    const bool has_color = load_texture(parsed.color_texture, texture);
    Texture alpha;
    if (load_texture(parsed.alpha_texture, alpha)) {
      put_alpha(texture, alpha);
    }
    if (!texture.rgba.empty() && material.kind != MaterialKind::Emissive) {
      alpha_tested = has_transparency(texture);
      if (has_color && material.color.maxCoeff() == 0) {
        material.color = {1, 1, 1};
      }
      material.texture = builder_.add_texture(std::move(texture));
    }
    materials_.emplace(material.name, builder_.add_material(material, alpha_tested));
  }

  bool load_texture(const std::string& name, Texture& texture) {
    if (name.empty()) {
      return false;
    }
    std::string reason;
    try {
      const std::string bytes = read_file(sibling(name));
      const std::vector<unsigned char> data(bytes.begin(), bytes.end());
      if (decode_image(data, texture, reason)) {
        return true;
      }
      reason = sibling(name).string() + ": " + reason;
    } catch (const Error& error) {
      reason = error.what();
    }
    builder_.note("texture dropped: " + reason);
    return false;
  }

  /// The alpha picture's red becomes the texture's alpha, at the texture's size (at its own for an empty texture).
  static void put_alpha(Texture& texture, const Texture& alpha) {
    if (texture.rgba.empty()) {
      texture.width = alpha.width;
      texture.height = alpha.height;
      texture.rgba.assign(alpha.rgba.size(), 255);
    }
    for (std::size_t y = 0; y < texture.height; ++y) {
      for (std::size_t x = 0; x < texture.width; ++x) {
        const std::size_t from = y * alpha.height / texture.height * alpha.width + x * alpha.width / texture.width;
        texture.rgba[(y * texture.width + x) * 4 + 3] = alpha.rgba[from * 4];
      }
    }
  }

  [[nodiscard]] std::filesystem::path sibling(std::string name) const {
    std::replace(name.begin(), name.end(), '\\', '/');
    return path_.parent_path() / name;
  }

  std::filesystem::path path_;
  SceneBuilder builder_;
  TriangleMesh mesh_;
  std::vector<Vec3> positions_;
  std::vector<Vec3> normals_;
  std::vector<Vec2> uvs_;
  std::unordered_map<Corner, std::uint32_t, CornerHash> vertex_of_;
  std::map<std::string, std::uint32_t> materials_;
  std::uint32_t material_ = trace::kNone;
  bool has_normals_ = false;
  std::uint64_t line_ = 0;
  std::uint64_t faces_ = 0;
  std::uint64_t skipped_ = 0;
};

}  // namespace

RenderScene import_obj(const std::filesystem::path& path) {
  return ObjImport(path).run();
}

}  // namespace rayreplay::reference
