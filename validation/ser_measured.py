#!/usr/bin/env python3
"""SER on the RTX 4060 Laptop with nothing fitted: instructions, paths, accesses and live state of captured shaders.

Captures one_weekend (on the present Vulkan device) with all that a capture can say of its shaders, and asks the fluid model
and memory time for the published variants. Prints the table of docs/validation-ser.md, the origin of each number, and the
numbers on which each verdict hangs.

usage: validation/ser_measured.py [PATH OF rayreplay] [--application PATH] [--size 640x360] [--verdict-size 320x180] [--keep DIR]
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
SAMPLES = 4
MODELS = "plain,ser:scope=warp,withheld=0,live_state=0,ser:scope=sm"
PUBLISHED_SAMPLES = 1280 * 720 * 8  # rays of a launch grow with these

# In memory time with captured accesses an instruction takes 4 cycles by default. The 6 of the fluid model have a share for
# waits that these accesses add again.
FLUID = {"blocks": ["--cost-source", "blocks"], "paths": ["--cost-source", "paths"]}
# In memory time lanes run calls together only if these have the same number, of rays of the same number. The default policy
# of the fluid model gathers more calls, these policies gather fewer.
POLICIES = ("independent", "trace-barrier")
MEMORY_TIME = {
    "paths and accesses, memory time": ["--cost-source", "paths"],
    "the same, 6 cycles an instruction": ["--cost-source", "paths", "--cycles-per-instruction", "6"],
    "the same as the first, without accesses of shaders": ["--cost-source", "paths", "--shader-accesses", "off"],
    "the same as the first, payload in registers": ["--cost-source", "paths", "--payload-bytes", "0"],
    "the same as the first, blocks": ["--cost-source", "blocks"],
}


def run(*command):
    result = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if result.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{result.stderr}")
    return result.stdout


def row(*cells):
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def head(*cells):
    print()
    row(*cells)
    row(*["---"] * len(cells))


class Launch:
    """A captured launch, and what-ifs of it."""

    def __init__(self, program, application, size, folder, machine):
        self.program, self.size = program, size
        self.trace = folder / f"one-weekend-{size}.rrt"
        width, height = (int(part) for part in size.split("x"))
        self.scale = PUBLISHED_SAMPLES / (width * height * SAMPLES)
        if not self.trace.exists():
            run(program, "capture", "--profile", "blocks,paths,memory", "--memory", "2GiB", "-o", self.trace, "--",
                application, "--size", size, "--spp", SAMPLES, "--image", folder / f"one-weekend-{size}.png")
        launches = [line for line in run(program, "info", self.trace).splitlines() if line.startswith("not captured")]
        if launches:
            sys.exit(f"the capture is not complete: {launches}")
        self.command = ["whatif", self.trace, "--models", MODELS, "--machine", machine, "--warp-size", 32, "--order", "z-order",
                        "--replay-steps"]

    def figures(self, *options):
        """JSON of a what-if without verdict."""
        return json.loads(run(self.program, *self.command, *options, "--no-break-even", "--format", "json"))

    def answers(self, *options):
        """The verdict's own lines: answers, and the numbers that move or decide the sign."""
        lines = run(self.program, *self.command, *options).splitlines()
        start = next(i for i, line in enumerate(lines) if "what the verdict hangs on" in line or
                     (line.startswith("variant") and "break-even" in line))
        end = next(i for i in range(start, len(lines)) if not lines[i].strip())
        return [line for line in lines if line.startswith("answer")], lines[start:end]


def times(label, launch, rows, key):
    plain, split, ser = rows
    ms = plain[key]
    row(label, f"{ms:.3f}", f"{ms * launch.scale:.2f}", f"{ms / split[key]:.3f}", f"{ms / ser[key]:.3f}")


def by_origin(title, numbers):
    """Numbers of a what-if, grouped by how they are known."""
    known = {}
    for number in numbers:
        value = number["value"]
        text = "no limit" if value is None else f"{value:,.4g}" if value < 1e6 else f"{value:,.0f}"
        variant = f", {number['variant']}" if number.get("variant") else ""
        known.setdefault(number["origin"] or "not known", []).append(f"{number['name']} {text}{variant}")
    head(f"{title}: origin", "numbers")
    for origin in sorted(known):
        row(origin, "; ".join(known[origin]))


def verdict(title, launch, *options):
    answers, table = launch.answers(*options)
    print(f"\n{title} ({launch.size})\n\n```")
    print("\n".join(line.rstrip() for line in [*answers, "", *table]))
    print("```", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program", nargs="?", type=pathlib.Path, default=pathlib.Path("build/release/rayreplay"))
    parser.add_argument("--application", type=pathlib.Path, help="one_weekend; default: beside rayreplay")
    parser.add_argument("--size", default="640x360", help="of the picture")
    parser.add_argument("--no-memory-time", action="store_true", help="print the first rows alone, those of the fluid model")
    parser.add_argument("--no-verdict", action="store_true", help="print the figures alone")
    parser.add_argument("--verdict-size", default="320x180", help="of the picture of memory time's verdict, which takes hundreds of memory times: 22 minutes of processor time")
    parser.add_argument("--verdict-numbers", default="all", help="keys that it varies, between commas")
    parser.add_argument("--keep", type=pathlib.Path, help="folder for the traces, which are taken from there if they exist")
    options = parser.parse_args()
    application = options.application or options.program.parent / "one_weekend"
    study = tomllib.loads((HERE / "published" / "ser.toml").read_text())["laptop"]
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or pathlib.Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        launch = Launch(options.program, application, options.size, folder, study["machine"])
        print(f"{study['title']}; captured: one_weekend {options.size}, {SAMPLES} samples, of whose time the published launch "
              f"takes {launch.scale:g} times")
        head("inputs", "plain, ms", f"times {launch.scale:g}", "split, speed-up", "SER, speed-up")
        row("published", "", f"{1e3 / study['plain_fps']:.2f}", f"{study['split_fps'] / study['plain_fps']:.3f}",
            f"{study['ser_fps'] / study['plain_fps']:.3f}")
        for label, arguments in FLUID.items():
            fluid = launch.figures(*arguments, "--no-sensitivity")
            times(f"{label}, fluid model", launch, fluid["rows"], "milliseconds")
        for policy in POLICIES:
            fluid = launch.figures(*FLUID["paths"], "--policy", policy, "--no-sensitivity")
            times(f"paths, fluid model, policy `{policy}`", launch, fluid["rows"], "milliseconds")
        if options.no_memory_time:
            return
        numbers = None
        parts = {}
        for label, arguments in MEMORY_TIME.items():
            made = launch.figures("--outputs", "time", *arguments)
            numbers = numbers or made["numbers"]
            times(label, launch, made["rows"], "milliseconds")
            parts[label] = made["rows"]
        head("SM-cycles in memory time", "variant", "SIMT", "issue", "traversal", "load unit", "L1", "L2", "DRAM", "idle")
        for label, rows in parts.items():
            for name, one in zip(("plain", "split", "SER"), rows):
                row(label, name, *[f"{100 * one[key]:.1f} %" for key in
                                   ("time_efficiency", "issue", "traversal", "load_unit", "l1_wait", "l2_wait", "dram_wait", "idle")])
        by_origin("fluid model, paths", launch.figures(*FLUID["paths"])["quantities"])
        by_origin("memory time, paths and accesses", numbers)
        if options.no_verdict:
            return
        for label, arguments in FLUID.items():
            verdict(f"Verdict of the fluid model, {label}", launch, *arguments)
        small = launch if options.verdict_size == options.size else \
            Launch(options.program, application, options.verdict_size, folder, study["machine"])
        head(f"memory time, paths and accesses, {small.size}", "plain, ms", f"times {small.scale:g}", "split, speed-up", "SER, speed-up")
        # The cycles of an instruction are the default, which is assumed, so that the verdict varies them.
        chosen = ["--outputs", "time", "--cost-source", "paths"]
        times("4 cycles an instruction", small, small.figures(*chosen)["rows"], "milliseconds")
        numbers = [] if options.verdict_numbers == "all" else ["--break-even", options.verdict_numbers]
        verdict("Verdict of memory time, paths and accesses", small, *chosen, *numbers)


if __name__ == "__main__":
    main()
