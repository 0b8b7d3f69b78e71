// PLY (Stanford polygon file): ascii, binary little-endian and big-endian. Reads the vertex element's x y z, nx ny nz
// and u v (or s t, texture_u texture_v), and the face element's vertex list; polygons become fans. Other elements and
// properties are skipped. The header's counts are checked against the file's size before memory is allocated.
#include <array>
#include <bit>
#include <charconv>
#include <cstring>

#include <fmt/format.h>

#include "capture/reference/meshes/mesh_file.hpp"

namespace rayreplay::reference {
namespace {

enum class Encoding { Ascii, Little, Big };
enum class Type { Int8, Uint8, Int16, Uint16, Int32, Uint32, Float32, Float64 };

constexpr std::array<std::pair<std::string_view, Type>, 16> kTypeNames{{{"char", Type::Int8},
                                                                        {"int8", Type::Int8},
                                                                        {"uchar", Type::Uint8},
                                                                        {"uint8", Type::Uint8},
                                                                        {"short", Type::Int16},
                                                                        {"int16", Type::Int16},
                                                                        {"ushort", Type::Uint16},
                                                                        {"uint16", Type::Uint16},
                                                                        {"int", Type::Int32},
                                                                        {"int32", Type::Int32},
                                                                        {"uint", Type::Uint32},
                                                                        {"uint32", Type::Uint32},
                                                                        {"float", Type::Float32},
                                                                        {"float32", Type::Float32},
                                                                        {"double", Type::Float64},
                                                                        {"float64", Type::Float64}}};
constexpr std::array<std::size_t, 8> kTypeBytes{1, 1, 2, 2, 4, 4, 4, 8};

struct Property {
  std::string name;
  Type type = Type::Float32;
  bool is_list = false;
  Type count_type = Type::Uint8;
};

struct Element {
  std::string name;
  std::uint64_t count = 0;
  std::vector<Property> properties;
};

template <class Bits>
Bits swapped(Bits bits) {
  const std::uint64_t wide = bits;
  std::uint64_t result = 0;
  for (std::size_t i = 0; i < sizeof(Bits); ++i) {
    result = result << 8U | (wide >> (8 * i) & 0xFFU);
  }
  return static_cast<Bits>(result);
}

class PlyImport {
 public:
  explicit PlyImport(const std::filesystem::path& path) : path_(path), text_(read_file(path)) {}

  RenderScene run() {
    read_header();
    SceneBuilder builder(path_.filename().string());
    const std::uint32_t material = builder.add_material({.name = "default", .color = {0.7F, 0.7F, 0.7F}});
    for (const Element& element : elements_) {
      require_bytes_for(element);
      if (element.properties.empty()) {
        continue;
      }
      if (element.name == "vertex") {
        read_vertices(element);
      } else if (element.name == "face") {
        read_faces(element, material);
      } else {
        skip(element);
      }
    }
    const std::uint64_t degenerate = count_degenerate(mesh_);
    builder.place(builder.add_object(path_.stem().string(), mesh_));
    return finish_import(builder, path_, std::nullopt, degenerate);
  }

 private:
  [[noreturn]] void fail(const std::string& place, std::string what, std::string found, std::string expected) const {
    bad_mesh(path_, place, std::move(what), std::move(found), std::move(expected));
  }

  std::string_view header_line() {
    const auto end = text_.find('\n', at_);
    if (end == std::string::npos) {
      fail(fmt::format("{}", line_ + 1), "the header is cut off", "the end of the file", "'end_header'");
    }
    std::string_view line(text_.data() + at_, end - at_);
    if (!line.empty() && line.back() == '\r') {
      line.remove_suffix(1);
    }
    at_ = end + 1;
    ++line_;
    return line;
  }

  static std::vector<std::string> words_of(std::string_view line) {
    std::vector<std::string> words;
    for (std::size_t at = line.find_first_not_of(" \t"); at < line.size(); at = line.find_first_not_of(" \t", at)) {
      const auto end = std::min(line.find_first_of(" \t", at), line.size());
      words.emplace_back(line.substr(at, end - at));
      at = end;
    }
    return words;
  }

  Type type_of(const std::string& name) const {
    for (const auto& [known, type] : kTypeNames) {
      if (known == name) {
        return type;
      }
    }
    fail(fmt::format("{}", line_), "a property's type is unknown", fmt::format("'{}'", name),
         "a PLY type such as float or uchar");
  }

  void read_header() {
    if (!text_.starts_with("ply\n") && !text_.starts_with("ply\r\n")) {
      fail("1", "the file is not a PLY file", text_.empty() ? "an empty file" : "other bytes",
           "'ply' in the first line");
    }
    (void)header_line();
    bool has_format = false;
    while (true) {
      const std::string_view line = header_line();
      const auto words = words_of(line);
      const std::string place = fmt::format("{}", line_);
      if (words.empty() || words[0] == "comment" || words[0] == "obj_info") {
        continue;
      }
      if (words[0] == "end_header") {
        break;
      }
      if (words[0] == "format" && words.size() == 3) {
        if (words[1] != "ascii" && words[1] != "binary_little_endian" && words[1] != "binary_big_endian") {
          fail(place, "the format is unknown", fmt::format("'{}'", words[1]),
               "ascii, binary_little_endian or binary_big_endian");
        }
        encoding_ = words[1] == "ascii"                  ? Encoding::Ascii
                    : words[1] == "binary_little_endian" ? Encoding::Little
                                                         : Encoding::Big;
        has_format = true;
      } else if (words[0] == "element" && words.size() == 3) {
        Element element{words[1], 0, {}};
        const char* end = words[2].data() + words[2].size();
        const auto [stop, error] = std::from_chars(words[2].data(), end, element.count);
        if (error != std::errc() || stop != end) {
          fail(place, "an element's count is not a whole number", fmt::format("'{}'", words[2]), "a count");
        }
        elements_.push_back(std::move(element));
      } else if (words[0] == "property" && !elements_.empty() && words.size() == 3) {
        elements_.back().properties.push_back({words[2], type_of(words[1]), false, Type::Uint8});
      } else if (words[0] == "property" && !elements_.empty() && words.size() == 5 && words[1] == "list") {
        const Type count_type = type_of(words[2]);
        if (count_type == Type::Float32 || count_type == Type::Float64) {
          fail(place, "a list's count is not of a whole type", fmt::format("'{}'", words[2]), "a type such as uchar");
        }
        elements_.back().properties.push_back({words[4], type_of(words[3]), true, count_type});
      } else {
        fail(place, "the header's line is not understood", fmt::format("'{}'", line.substr(0, 60)),
             "format, element, property, comment or end_header");
      }
    }
    if (!has_format) {
      fail("", "the header names no format", "no 'format' line", "'format ascii 1.0' or a binary one");
    }
  }

  /// Checks the least size of the element: a number in text takes a byte and a blank.
  void require_bytes_for(const Element& element) const {
    std::uint64_t row = 0;
    for (const Property& property : element.properties) {
      const Type type = property.is_list ? property.count_type : property.type;
      row += encoding_ == Encoding::Ascii ? 2 : kTypeBytes[static_cast<std::size_t>(type)];
    }
    const std::uint64_t left = text_.size() - at_ + (encoding_ == Encoding::Ascii ? 1 : 0);
    if (row > 0 && element.count > left / row) {
      fail(fmt::format("element {}", element.name), "the file is shorter than its header says",
           fmt::format("{} bytes left", left),
           fmt::format("at least {} bytes for each of {} rows", row, element.count));
    }
  }

  double read(Type type, const Element& element, std::uint64_t row) {
    if (encoding_ == Encoding::Ascii) {
      return read_text(element, row);
    }
    const std::size_t bytes = kTypeBytes[static_cast<std::size_t>(type)];
    if (text_.size() - at_ < bytes) {
      fail(fmt::format("{}[{}]", element.name, row), "the file is cut off", "the end of the file",
           fmt::format("{} rows", element.count));
    }
    const char* from = text_.data() + at_;
    at_ += bytes;
    switch (type) {
      case Type::Int8:
        return static_cast<double>(static_cast<std::int8_t>(load<std::uint8_t>(from)));
      case Type::Uint8:
        return static_cast<double>(load<std::uint8_t>(from));
      case Type::Int16:
        return static_cast<double>(static_cast<std::int16_t>(load<std::uint16_t>(from)));
      case Type::Uint16:
        return static_cast<double>(load<std::uint16_t>(from));
      case Type::Int32:
        return static_cast<double>(static_cast<std::int32_t>(load<std::uint32_t>(from)));
      case Type::Uint32:
        return static_cast<double>(load<std::uint32_t>(from));
      case Type::Float32:
        return static_cast<double>(std::bit_cast<float>(load<std::uint32_t>(from)));
      case Type::Float64:
        break;
    }
    return std::bit_cast<double>(load<std::uint64_t>(from));
  }

  template <class Bits>
  Bits load(const char* from) const {
    Bits bits{};
    std::memcpy(&bits, from, sizeof bits);
    const bool file_is_little = encoding_ == Encoding::Little;
    return file_is_little == (std::endian::native == std::endian::little) ? bits : swapped(bits);
  }

  double read_text(const Element& element, std::uint64_t row) {
    constexpr std::string_view kSpace = " \t\r\n";
    const auto start = text_.find_first_not_of(kSpace, at_);
    if (start == std::string::npos) {
      fail(fmt::format("{}[{}]", element.name, row), "the file is cut off", "the end of the file",
           fmt::format("{} rows", element.count));
    }
    const auto end = std::min(text_.find_first_of(kSpace, start), text_.size());
    std::string_view word(text_.data() + start, end - start);
    at_ = end;
    double value = 0;
    const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error == std::errc::invalid_argument || stop != word.data() + word.size()) {
      fail(fmt::format("{}[{}]", element.name, row), "a value is not a number", fmt::format("'{}'", word.substr(0, 40)),
           "a number");
    }
    return error == std::errc::result_out_of_range ? static_cast<double>(parse_float(word).value_or(0)) : value;
  }

  /// A list's length, which must fit into what is left of the file.
  std::uint64_t read_count(const Property& property, const Element& element, std::uint64_t row) {
    const double count = read(property.count_type, element, row);
    const std::size_t bytes = encoding_ == Encoding::Ascii ? 1 : kTypeBytes[static_cast<std::size_t>(property.type)];
    const double room = static_cast<double>((text_.size() - at_) / bytes);
    if (!(count >= 0 && count <= room) || count != std::floor(count)) {
      fail(fmt::format("{}[{}].{}", element.name, row, property.name), "a list's length is not possible",
           fmt::format("{}", count), "a whole number of at least 0 within the file");
    }
    return static_cast<std::uint64_t>(count);
  }

  void skip_property(const Property& property, const Element& element, std::uint64_t row) {
    const std::uint64_t count = property.is_list ? read_count(property, element, row) : 1;
    for (std::uint64_t i = 0; i < count; ++i) {
      (void)read(property.type, element, row);
    }
  }

  void skip(const Element& element) {
    for (std::uint64_t row = 0; row < element.count; ++row) {
      for (const Property& property : element.properties) {
        skip_property(property, element, row);
      }
    }
  }

  void read_vertices(const Element& element) {
    static constexpr std::array<std::string_view, 8> kNames{"x", "y", "z", "nx", "ny", "nz", "u", "v"};
    std::vector<std::size_t> slot;  // per property: index into kNames, or kNames.size()
    std::array<bool, 8> has{};
    for (const Property& property : element.properties) {
      const std::string_view name = property.name == "s" || property.name == "texture_u" ? "u"
                                    : property.name == "t" || property.name == "texture_v"
                                        ? "v"
                                        : std::string_view(property.name);
      const auto place = static_cast<std::size_t>(std::find(kNames.begin(), kNames.end(), name) - kNames.begin());
      slot.push_back(property.is_list ? kNames.size() : place);
      if (slot.back() < has.size()) {
        has[slot.back()] = true;
      }
    }
    if (!has[0] || !has[1] || !has[2]) {
      fail("element vertex", "the vertices have no place", "no x, y and z", "the properties x, y and z");
    }
    if (element.count >= trace::kNone || !mesh_.positions.empty()) {
      fail("element vertex", "the vertices cannot be numbered", fmt::format("{} rows", element.count),
           "one vertex element of less than 2^32 - 1 rows");
    }
    for (std::uint64_t row = 0; row < element.count; ++row) {
      std::array<float, 9> value{};
      for (std::size_t i = 0; i < slot.size(); ++i) {
        if (slot[i] == kNames.size()) {
          skip_property(element.properties[i], element, row);
          continue;
        }
        const double number = read(element.properties[i].type, element, row);
        if (!(std::fabs(number) <= static_cast<double>(std::numeric_limits<float>::max()))) {
          fail(fmt::format("vertex[{}].{}", row, element.properties[i].name), "a value is not finite",
               fmt::format("{}", number), "finite numbers that fit into 32 bits");
        }
        value[slot[i]] = static_cast<float>(number);
      }
      mesh_.positions.push_back({value[0], value[1], value[2]});
      if (has[3] && has[4] && has[5]) {
        mesh_.normals.push_back(normalize({value[3], value[4], value[5]}));
      }
      if (has[6] && has[7]) {
        mesh_.uvs.push_back({value[6], 1 - value[7]});
      }
    }
  }

  void read_faces(const Element& element, std::uint32_t material) {
    bool has_list = false;
    for (const Property& property : element.properties) {
      has_list = has_list || is_vertex_list(property);
    }
    if (!has_list) {
      fail("element face", "the faces name no vertices", "no such property", "a list vertex_indices or vertex_index");
    }
    std::vector<std::uint32_t> polygon;
    for (std::uint64_t row = 0; row < element.count; ++row) {
      for (const Property& property : element.properties) {
        if (is_vertex_list(property)) {
          read_polygon(property, element, row, polygon);
          for (std::size_t k = 2; k < polygon.size(); ++k) {
            mesh_.add_triangle(polygon[0], polygon[k - 1], polygon[k], material);
          }
        } else {
          skip_property(property, element, row);
        }
      }
    }
  }

  static bool is_vertex_list(const Property& property) {
    return property.is_list && (property.name == "vertex_indices" || property.name == "vertex_index");
  }

  void read_polygon(const Property& property, const Element& element, std::uint64_t row,
                    std::vector<std::uint32_t>& polygon) {
    polygon.clear();
    const std::uint64_t corners = read_count(property, element, row);
    if (corners < 3) {
      fail(fmt::format("face[{}]", row), "a face has too few corners", fmt::format("{}", corners), "at least 3");
    }
    for (std::uint64_t i = 0; i < corners; ++i) {
      const double index = read(property.type, element, row);
      if (!(index >= 0 && index < static_cast<double>(mesh_.positions.size())) || index != std::floor(index)) {
        fail(fmt::format("face[{}]", row), "a vertex index is out of range", fmt::format("{}", index),
             fmt::format("less than {}, the number of vertices read before", mesh_.positions.size()));
      }
      polygon.push_back(static_cast<std::uint32_t>(index));
    }
  }

  std::filesystem::path path_;
  std::string text_;
  std::size_t at_ = 0;
  std::uint64_t line_ = 0;
  Encoding encoding_ = Encoding::Ascii;
  std::vector<Element> elements_;
  TriangleMesh mesh_;
};

}  // namespace

RenderScene import_ply(const std::filesystem::path& path) {
  return PlyImport(path).run();
}

}  // namespace rayreplay::reference
