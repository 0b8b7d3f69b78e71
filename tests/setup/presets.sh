#!/usr/bin/env bash
# docs/dependencies.md describes every preset and the part of it that ./rr test builds, and names no other.
set -euo pipefail
cd "$(dirname "$0")/../.."
offered=$(cmake --list-presets=configure | sed -n 's/^ *"\([^"]*\)".*/\1/p' | sort)
described=$(sed -n '/^| preset | what it is |/,/^$/s/^| `\([^`]*\)` |.*/\1/p' docs/dependencies.md | sort)
[ -n "$offered" ] || { echo "CMakePresets.json offers no preset"; exit 1; }
if [ "$offered" != "$described" ]; then
  echo "CMakePresets.json offers: $(xargs <<<"$offered"); docs/dependencies.md describes: $(xargs <<<"$described")"
  exit 1
fi
# The presets that the table marks as built by ./rr test are built there.
built=$(sed -n '/^run_tests()/,/^}/s/.*configure_and_build \([a-z-]*\).*/\1/p; s/^  test) .*configure_and_build \([a-z-]*\);.*/\1/p' rr | sort)
said=$(sed -n '/^| preset | what it is |/,/^$/s/^| `\([^`]*\)` |.*| \(every\|these\).*/\1/p' docs/dependencies.md | sort)
if [ "$built" != "$said" ]; then
  echo "./rr test builds: $(xargs <<<"$built"); docs/dependencies.md says: $(xargs <<<"$said")"
  exit 1
fi
echo "presets: $(xargs <<<"$offered"); ./rr test builds: $(xargs <<<"$built")"
