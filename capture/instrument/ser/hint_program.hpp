// Programs of coherence hints for inserted reorder calls: a formula in postfix form.
//
// Contract: text "BITS: TERM TERM …", with blanks between the terms. A term is a number, a field that is known where a
// ray was just traced (kHintFields), or an operation, which takes its operands from the terms before it:
// "4: material 16 %" is material % 16. docs/insert-ser.md has the form. Operations and fields have the names of
// docs/hints.md, but for neg (the sign in front of a value) and hash2 (each further value of hash). BITS: 1 to 32. A
// program that is given here leaves one value, has at most kMaxHintTerms terms, and never holds more than
// kMaxHintValues values. `parse_hint_program` returns nothing, and says why, for any other text; it throws only where
// memory ends. Linear in the text. C++ standard library only: the capture layer runs inside applications.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rayreplay::instrument {

enum class HintField : std::uint8_t {
  // Of the hit; 0 of a miss.
  Instance,
  Primitive,
  Geometry,
  Material,
  CustomIndex,
  HitKind,
  FrontFace,
  Distance,
  PointX,
  PointY,
  PointZ,
  // Of the ray and its thread.
  Miss,
  X,
  Y,
  Z,
  Bounce,
  Site,
  Flags,
  OriginX,
  OriginY,
  OriginZ,
  DirectionX,
  DirectionY,
  DirectionZ,
  TMin,
  TMax,
};

/// By HintField, in the words of docs/hints.md.
inline constexpr std::array<const char*, 26> kHintFields = {
    "instance", "primitive", "geometry", "material", "custom_index", "hit_kind", "front_face",
    "distance", "px",        "py",       "pz",       "miss",         "x",        "y",
    "z",        "bounce",    "site",     "flags",    "ox",           "oy",       "oz",
    "dx",       "dy",        "dz",       "t_min",    "t_max"};

struct HintOperation {
  const char* name;      ///< in a program
  std::uint8_t takes;    ///< operands
  const char* function;  ///< of probes/formulas.comp
};

inline constexpr std::array<HintOperation, 31> kHintOperations = {{
    {"neg", 1, "rr_negate"},      {"!", 1, "rr_not"},
    {"*", 2, "rr_multiply"},      {"/", 2, "rr_divide"},
    {"%", 2, "rr_remainder"},     {"+", 2, "rr_add"},
    {"-", 2, "rr_subtract"},      {"<<", 2, "rr_shift_left"},
    {">>", 2, "rr_shift_right"},  {"&", 2, "rr_bit_and"},
    {"^", 2, "rr_bit_xor"},       {"|", 2, "rr_bit_or"},
    {"<", 2, "rr_less"},          {"<=", 2, "rr_less_equal"},
    {">", 2, "rr_greater"},       {">=", 2, "rr_greater_equal"},
    {"==", 2, "rr_equal"},        {"!=", 2, "rr_not_equal"},
    {"&&", 2, "rr_and"},          {"||", 2, "rr_or"},
    {"if", 3, "rr_if"},           {"min", 2, "rr_minimum"},
    {"max", 2, "rr_maximum"},     {"abs", 1, "rr_absolute"},
    {"floor", 1, "rr_floor"},     {"sqrt", 1, "rr_square_root"},
    {"log2", 1, "rr_floor_log2"}, {"clamp", 3, "rr_clamp"},
    {"bits", 3, "rr_take_bits"},  {"hash", 1, "rr_hash"},
    {"hash2", 2, "rr_hash_more"},
}};

inline constexpr std::size_t kMaxHintTerms = 4096;
inline constexpr std::size_t kMaxHintValues = 1024;
inline constexpr std::uint32_t kMaxHintBits = 32;

struct HintTerm {
  enum class Kind : std::uint8_t { Number, Field, Operation };
  Kind kind = Kind::Number;
  HintField field = HintField::Instance;  ///< Field
  std::uint8_t operation = 0;             ///< Operation: index in kHintOperations
  double number = 0;                      ///< Number; finite
};

struct HintProgram {
  std::uint32_t bits = 1;
  std::vector<HintTerm> terms;

  [[nodiscard]] bool uses(HintField field) const;
};

/// The field of a name.
[[nodiscard]] std::optional<HintField> hint_field(std::string_view name);

/// Nothing, with `reason` set, for text that is no program.
[[nodiscard]] std::optional<HintProgram> parse_hint_program(std::string_view text, std::string& reason);

}  // namespace rayreplay::instrument
