#!/usr/bin/env python3
"""Is the weighted efficiency of One Weekend nearer to measured times by counted blocks, by paths, or by calls?

Efficiencies of the six swizzles of docs/validation-swizzles.md, beside times measured on an H200
(validation/published/ser.toml). If warps' issue slots alone took time, the time would change as 1 / efficiency. Nothing is fitted.

usage: validation/swizzle_efficiency.py TRACE [PATH OF rayreplay]
TRACE: rayreplay capture --profile blocks,paths --memory 3500MiB -o TRACE -- one_weekend --size 1280x720 --spp 6 --depth 16
"""
import csv
import io
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
WARP = 32
STAGES = ("ray-generation", "intersection", "closest-hit", "miss")


def run(*command):
    result = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if result.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{result.stderr}")
    return result.stdout


def row(*cells):
    print("| " + " | ".join(str(cell) for cell in cells) + " |")


def ranks(values):
    """From 1; equal values share their mean rank."""
    return [sum(other < value for other in values) + (sum(other == value for other in values) + 1) / 2 for value in values]


def correlation(xs, ys):
    x_mean, y_mean = sum(xs) / len(xs), sum(ys) / len(ys)
    covariance = sum((x - x_mean) * (y - y_mean) for x, y in zip(xs, ys))
    return covariance / math.sqrt(sum((x - x_mean) ** 2 for x in xs) * sum((y - y_mean) ** 2 for y in ys))


def lanes_instructions(program, trace, source):
    """Instructions of all lanes, and the mean of each stage: what no packing changes."""
    costs = json.loads(run(program, "whatif", trace, "--models", "plain", "--machine", "h200", "--warp-size", WARP,
                           "--order", "morton-groups", "--cost-source", source, "--no-break-even", "--no-sensitivity", "--format", "json"))["costs"]
    if sorted(cost["stage"] for cost in costs) != sorted(STAGES):
        sys.exit(f"one shader of each of {STAGES} expected: {costs}")
    return sum(cost["calls"] * cost["issue"] for cost in costs), {cost["stage"]: cost["issue"] for cost in costs}


def check_blocks(program, trace, policy, expected, means):
    """The replay's own weighted efficiency, with the means as costs of shaders, must be the one from issue slots.

    Within 0.05 %: the model's cycles have a few more for each warp."""
    costs = [part for stage, mean in means.items() for part in ("--cost", f"{stage}={round(1000 * mean)}")]  # whole numbers
    rows = json.loads(run(program, "whatif", trace, "--packing", "identity", "--warp-size", WARP, "--order", "morton-groups",
                          "--policy", policy, *costs, "--format", "json"))["rows"]
    found = rows[0]["weighted_efficiency"]
    if abs(found / expected - 1) > 5e-4:
        sys.exit(f"{policy}: weighted efficiency {found} by replay, {expected} by issue slots")


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: validation/swizzle_efficiency.py TRACE [PATH OF rayreplay]")
    trace = pathlib.Path(sys.argv[1]).resolve()
    program = sys.argv[2] if len(sys.argv) > 2 else "build/release/rayreplay"
    measured = tomllib.loads((HERE / "published" / "ser.toml").read_text())["h200"]["packings"]
    with tempfile.TemporaryDirectory() as folder:
        database = pathlib.Path(folder, "slots.db")
        run(program, "sweep", HERE / "swizzle_efficiency.toml", "--set", f"trace={trace}", "-o", database)
        table = list(csv.DictReader(io.StringIO(run(
            program, "results", database, "--format", "csv", "--columns",
            "packing,policy,scheduler.cost_source,model_cycles,simt_efficiency"))))
    slots, calls = {}, {}
    for line in table:
        packing = line["packing"].split(":")[0]
        slots[line["policy"], line["scheduler.cost_source"], packing] = float(line["model_cycles"])
        calls[line["policy"], packing] = float(line["simt_efficiency"])
    lanes, means = lanes_instructions(program, trace, "blocks")
    lanes_of_paths, _ = lanes_instructions(program, trace, "paths")
    print(f"Launch of {trace.name}: {lanes:,.0f} instructions of lanes by blocks, {lanes_of_paths:,.0f} by paths")
    for policy in ("trace-barrier", "stage-majority"):
        efficiency = {
            "calls": {packing: calls[policy, packing] for packing in measured},
            "blocks": {packing: lanes / (WARP * slots[policy, "blocks", packing]) for packing in measured},
            "paths": {packing: lanes_of_paths / (WARP * slots[policy, "paths", packing]) for packing in measured},
        }
        check_blocks(program, trace, policy, efficiency["blocks"]["identity"], means)
        print(f"\nPolicy `{policy}`: efficiency, and the change of time that it means, 1 / efficiency\n")
        row("packing", "measured", *[cell for name in efficiency for cell in (f"η by {name}", "change of time")])
        row(*["---"] * 8)
        others = [packing for packing in measured if packing != "identity"]
        time = {packing: measured[packing] / measured["identity"] for packing in measured}
        said = {name: {packing: of["identity"] / of[packing] for packing in measured} for name, of in efficiency.items()}
        for packing in measured:
            percent = lambda ratio: "" if packing == "identity" else f"{100 * (ratio - 1):+.1f} %"  # noqa: E731
            row(packing, percent(time[packing]),
                *[cell for name in efficiency for cell in (f"{100 * efficiency[name][packing]:.2f} %", percent(said[name][packing]))])
        print()
        row("over the five changes", *efficiency)
        row(*["---"] * 4)
        row("mean distance, points", *[f"{100 * sum(abs(of[p] - time[p]) for p in others) / len(others):.1f}" for of in said.values()])
        row("largest distance, points", *[f"{100 * max(abs(of[p] - time[p]) for p in others):.1f}" for of in said.values()])
        row("RMS of the ratio predicted / measured, in logarithms",
            *[f"{math.sqrt(sum(math.log(of[p] / time[p]) ** 2 for p in others) / len(others)):.3f}" for of in said.values()])
        row("wrong signs", *[sum((of[p] - 1) * (time[p] - 1) < 0 for p in others) for of in said.values()])
        row("rank correlation of all six (Spearman)",
            *[f"{correlation(ranks([of[p] for p in measured]), ranks([time[p] for p in measured])):.2f}" for of in said.values()])
        row("correlation of the logarithms of all six (Pearson)",
            *[f"{correlation([math.log(of[p]) for p in measured], [math.log(time[p]) for p in measured]):.3f}" for of in said.values()])


if __name__ == "__main__":
    main()
