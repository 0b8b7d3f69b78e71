#!/usr/bin/env bash
# One case of optimised_shaders.sh's test: case.sh NAME SCRIPT RAYREPLAY ONE_WEEKEND
set -euo pipefail
name=$1 script=$2 rayreplay=$3 one_weekend=$4
run() { "$script" "$@"; }
. "$(dirname "$(readlink -f "$0")")/../support/script_case.sh"

# rows FORM…: of these forms, and of no other, the output says that there is nothing to change.
rows() {
  [ "$(sed -n 's/^\(.*\): nothing to change$/\1/p' said | paste -sd' ')" = "$*" ] || { cat said; exit 1; }
}
# timed FORM…: these forms were compared with the program's own shaders, and no other was.
timed() {
  [ "$(sed -n 's/^\([a-z]*\): --shaders .* confidence, .*$/\1/p' said | paste -sd' ')" = "$*" ] || { cat said; exit 1; }
}

# stub <<< LINES: makes stub/rayreplay, which runs LINES (the command is $1, the real program "$real") before the real one.
stub() {
  mkdir -p stub
  { echo '#!/bin/sh'; echo "real='$rayreplay'"; cat; echo 'exec "$real" "$@"'; } > stub/rayreplay
  chmod +x stub/rayreplay
}
# In 16x16 pixels some code never runs, and no switch has a hot case.
app=("$one_weekend" --size 16x16 --spp 1 --depth 4 --frames 2)

case $name in
  one_form)
    expect 0 "Pictures are equal bit for bit" --build "$(dirname "$rayreplay")" --rounds 2 -- "${app[@]}"
    rows exact outlined scalar
    timed assumed
    ;;
  no_form)
    # Lists without a module: only their first line is left.
    stub <<< 'if [ "$1" = optimise ]; then "$real" "$@" && sed -i 1q "$4/modules.list"; exit; fi'
    expect 0 "assumed: nothing to change" --build stub --rounds 2 -- "${app[@]}"
    rows exact outlined scalar assumed
    timed
    ;;
  picture)
    # A comparison that ends as one of other pictures does (tests/optimise/alternation_test.cpp makes such pictures).
    stub <<< 'for word; do case $word in --alternate) "$real" "$@"; exit 13 ;; esac; done'
    expect 1 "the comparison of assumed failed" --build stub --rounds 2 -- "${app[@]}"
    ;;
  wrong_use)
    expect 2 "a program is needed behind --" --rounds 2
    expect 2 "cannot read '--round'" --round 2 -- "${app[@]}"
    expect 1 "2 pairs of runs or more, not '1'" --rounds 1 -- "${app[@]}"
    ;;
  *) echo "no case $name"; exit 1 ;;
esac
