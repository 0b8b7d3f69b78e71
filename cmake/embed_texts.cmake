# cmake -DOUTPUT=… -DSYMBOL=… -DHEADER=… "-DINPUTS=a;b" -P embed_texts.cmake: text files as a C++ array of (stem, text),
# sorted by stem. Quotes, semicolons and backslashes of the files are kept as they are.
set(rows "")
list(SORT INPUTS)
foreach(input IN LISTS INPUTS)
  get_filename_component(stem ${input} NAME_WLE)
  file(READ ${input} hex HEX)
  string(REGEX REPLACE "(..)" "\\\\x\\1\"\"" escaped "${hex}")
  string(APPEND rows "    {\"${stem}\", \"${escaped}\"},\n")
endforeach()
list(LENGTH INPUTS count)
file(WRITE ${OUTPUT}.tmp "#include \"${HEADER}\"\n// clang-format off\nnamespace rayreplay::machine {\nconst std::array<ShippedText, ${count}> kTexts = {{\n${rows}}};\nstd::span<const ShippedText> ${SYMBOL}() {\n  return kTexts;\n}\n}  // namespace rayreplay::machine\n")
file(RENAME ${OUTPUT}.tmp ${OUTPUT})
