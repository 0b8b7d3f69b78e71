#!/usr/bin/env python3
"""The numbers of many runs, kept: a change of structure must keep each, or change it on purpose.

  golden.py record RAYREPLAY FOLDER [--runs FILE] [NAME...]   write FOLDER/NAME.json for each run
  golden.py check  RAYREPLAY FOLDER [--runs FILE] [NAME...]   run again; every number and text must be the same

FILE (runs.txt) has one run a line: NAME: ARGUMENTS of rayreplay. $data stands for tests/data, $here for this folder,
$scratch for an empty folder; `A && B` runs A first, whose output does not count. Lines that begin with # are comments.

Kept is the JSON on standard output without what differs between machines, versions and times (DROPPED). Of lists of more
than MOST_ITEMS items the first, the length and the hash of all are kept. Exit codes: 0: all the same, 1: some differ (each difference is
printed: run, place, old and new value), 2: wrong arguments.
"""
import hashlib
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
# Versions, devices, times, and paths of this machine.
DROPPED = {"tool_version", "tool", "version", "device", "devices", "seconds", "wall_seconds", "trace", "path", "file",
           "store", "threads", "output", "database"}
MOST_DIFFERENCES = 20
MOST_ITEMS = 24
FIRST_ITEMS = 2


def read_runs(file):
    runs = {}
    for number, line in enumerate(file.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, colon, arguments = line.partition(":")
        if not colon or not name.strip() or name.strip() in runs:
            sys.exit(f"{file}:{number}: expected 'NAME: ARGUMENTS' with a name of its own")
        runs[name.strip()] = arguments.strip()
    return runs


def stripped(value):
    if isinstance(value, dict):
        return {key: stripped(item) for key, item in value.items() if key not in DROPPED}
    if isinstance(value, list):
        items = [stripped(item) for item in value]
        if len(items) > MOST_ITEMS:
            digest = hashlib.sha256(json.dumps(items).encode()).hexdigest()
            return [*items[:FIRST_ITEMS], f"{len(items)} items, SHA-256 of all {digest}"]
        return items
    return value


def outcome(rayreplay, arguments):
    """The JSON of the last command of a line, or what it printed and its exit code."""
    with tempfile.TemporaryDirectory() as scratch:
        places = {"data": HERE.parent / "data", "here": HERE, "scratch": scratch}
        environment = {**os.environ, "RAYREPLAY_STORE": "none", "RAYREPLAY_DEVICE": "cpu"}
        for command in arguments.split("&&"):
            words = shlex.split(command)
            for place, path in places.items():
                words = [word.replace(f"${place}", str(path)) for word in words]
            result = subprocess.run([rayreplay, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                    env=environment, cwd=scratch, check=False)
            if result.returncode != 0:
                break
        printed = result.stdout if result.returncode == 0 else result.stderr
        for place, path in places.items():
            printed = printed.replace(str(path), f"${place}")
        if result.returncode != 0:
            return {"exit": result.returncode, "error": printed}
        return stripped(json.loads(printed))


def differences(old, new, place=""):
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*old, *(key for key in new if key not in old)]:
            if key not in new or key not in old:
                yield f"{place}.{key}", "kept" if key in old else "absent", "absent" if key in old else "new"
            else:
                yield from differences(old[key], new[key], f"{place}.{key}")
    elif isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            yield f"{place} (length)", len(old), len(new)
        for index, (left, right) in enumerate(zip(old, new)):
            yield from differences(left, right, f"{place}[{index}]")
    elif old != new or type(old) is not type(new):
        yield place, old, new


def main():
    arguments = sys.argv[1:]
    runs_file = HERE / "runs.txt"
    if "--runs" in arguments[:-1]:
        at = arguments.index("--runs")
        runs_file = pathlib.Path(arguments[at + 1])
        del arguments[at:at + 2]
    if len(arguments) < 3 or arguments[0] not in ("record", "check"):
        print(__doc__, file=sys.stderr)
        return 2
    action, rayreplay, folder, *names = arguments
    rayreplay, folder = str(pathlib.Path(rayreplay).resolve()), pathlib.Path(folder)
    runs = read_runs(runs_file)
    unknown = [name for name in names if name not in runs]
    if unknown:
        print(f"golden.py: no run is called {', '.join(unknown)}; there are: {', '.join(runs)}", file=sys.stderr)
        return 2
    different = 0
    for name in names or runs:
        found = outcome(rayreplay, runs[name])
        kept = folder / f"{name}.json"
        if action == "record":
            folder.mkdir(parents=True, exist_ok=True)
            kept.write_text(json.dumps(found, indent=0, ensure_ascii=False) + "\n")
            print(f"{name}: {kept.stat().st_size} bytes" + (f", exit {found['exit']}" if "exit" in found else ""))
            continue
        if not kept.exists():
            print(f"{name}: not recorded: {kept} is missing")
            different += 1
            continue
        found = json.loads(json.dumps(found))
        changes = list(differences(json.loads(kept.read_text()), found))
        different += bool(changes)
        for place, old, new in changes[:MOST_DIFFERENCES]:
            print(f"{name}{place}: was {old}, is {new}")
        if len(changes) > MOST_DIFFERENCES:
            print(f"{name}: and {len(changes) - MOST_DIFFERENCES} more")
    if action == "check":
        print(f"{len(names or runs) - different} runs as recorded, {different} not")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
