#!/usr/bin/env bash
# Texts put a number and a noun together by base/count_text.hpp, so that no user reads "1 launches". Numbers in limits
# ("at most", "more than") are constants above one.
set -euo pipefail
cd "$1"
nouns='launches|events|rays|threads|frames|rows|runs|lines|files|words|lanes|warps|SMs|accesses|candidates|pixels|bytes'
nouns+='|records|groups|places|blocks|instances|calls|tests|traces|points|primitives|nodes|requests|transactions|boxes|hints'
if grep -rnE "\"[^\"]*\{\}( more)? ($nouns)\b" app capture/ingest capture/trace/rules/notes.cpp --include=*.cpp |
    grep -vE '(at most|more than) \{\}'; then
  echo "these texts read wrong for a count of one: use counted() of base/count_text.hpp"
  exit 1
fi
