// --insert-ser: from a formula to the program that the capture layer puts into reorder calls.
//
// Contract: `ser_setting` takes what the user gave: "off", "none", or a hint BITS=FORMULA (NAME:BITS=FORMULA, as
// `rayreplay advise` takes them, does, too), in the words of docs/hints.md. It returns the layer's value of the option
// insert_ser. Usage for anything else, for a formula with a fault, and for a field that is not known where a ray is
// traced, which names the fields that are. Linear in the text.
#pragma once

#include <string>
#include <string_view>

namespace rayreplay::app {

[[nodiscard]] std::string ser_setting(std::string_view given);

}  // namespace rayreplay::app
