#!/usr/bin/env python3
"""Published figures for shader execution reordering beside ours: the tables of docs/validation-ser.md.

Runs rayreplay on traces of the built-in tracer. Nothing is fitted here: what was fitted, once, stands in FITTED with the
figure that it was fitted to. usage: validation/ser_published.py [PATH OF rayreplay]
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
SPLIT = "ser:scope=warp,withheld=0,live_state=0"  # hit objects without the reorder call

# Counted in RayTracingInVulkan's shaders: optimised SPIR-V, each block once, vectors by component.
SPHERES = {"ray-generation": 120, "intersection": 56, "closest-hit": 234, "miss": 19}
# Nodes, instances and boxes that a near-first traversal of an 8-wide tree visits (rayreplay traverse).
SPHERE_STEPS = 8.25
FITTED = {
    # All shader costs of the first study times this, so that plain takes the published time.
    "spheres": 4.67,
    # Surrogates for TraceMain: the hall, one closest-hit shader for each kind of material, at most so many trace calls.
    # any-hit and the rare materials so that plain has 38 % and SER 70 % of lanes active, weighted; scale so that plain
    # takes the published time.
    "hall": {
        2: {"any-hit": 230, "rare": 7600, "scale": 9.46},
        3: {"any-hit": 170, "rare": 4800, "scale": 7.05},
        4: {"any-hit": 140, "rare": 3600, "scale": 5.72},
    },
}
HALL = {"ray-generation": 120, "common": 750, "miss": 20}


class Runner:
    def __init__(self, program, folder):
        self.program = program
        self.folder = pathlib.Path(folder)

    def trace(self, name, *arguments):
        path = self.folder / f"{name}.rrt"
        if not path.exists():
            subprocess.run([self.program, "trace", *arguments, "-o", path], check=True, stderr=subprocess.DEVNULL)
        return path

    def compare(self, trace, machine, models, costs, **keys):
        """Rows, plain first."""
        weights = "".join(f'"{shader}" = {round(cost)}\n' for shader, cost in costs.items())
        config = self.folder / "config.toml"
        settings = "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())
        config.write_text(f'machine.name = "{machine}"\n{settings}[costs]\n{weights}[shader_costs]\n{weights}')
        command = [self.program, "whatif", trace, "--config", config, "--models", ",".join(models), "--no-break-even",
                   "--format", "json"]
        result = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        rows = json.loads(result.stdout)["rows"]
        expected = len(models) + (0 if models[0] == "plain" else 1)
        if len(rows) != expected:
            sys.exit(f"{expected} rows expected, {len(rows)} found")
        return rows


def row(*cells):
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def head(*cells):
    print()
    row(*cells)
    row(*["---"] * len(cells))


def times(costs, factor):
    return {shader: cost * factor for shader, cost in costs.items()}


def spheres(runner):
    return runner.trace("spheres", "--scene", "one-weekend", "--size", "1280x720", "--spp", "8", "--depth", "16")


def laptop(runner, study):
    trace = spheres(runner)
    plain_ms = 1e3 / study["plain_fps"]
    published = [1, study["split_fps"] / study["plain_fps"], study["ser_fps"] / study["plain_fps"]]
    print(f"\n{study['title']}; published plain {plain_ms:.2f} ms")
    head("shader costs", "plain, ms", "split, speed-up", "SER", "plain weighted lanes", "split", "SER", "idle SMs under SER")
    row("published", f"{plain_ms:.2f}", f"{published[1]:.3f}", f"{published[2]:.3f}", "", "", "", study["idle_sms_ser"])
    for label, factor in (("counted", 1.0), (f"times {FITTED['spheres']} (fitted to plain)", FITTED["spheres"])):
        rows = runner.compare(trace, study["machine"], [SPLIT, "ser:scope=sm"], times(SPHERES, factor),
                              **{"scheduler.steps_per_ray": SPHERE_STEPS})
        row(label, f"{rows[0]['milliseconds']:.2f}", f"{rows[1]['speed_up']:.3f}", f"{rows[2]['speed_up']:.3f}",
            *[f"{100 * r['weighted_efficiency']:.1f} %" for r in rows], rows[2]["charge_withheld_sms"])


def laptop_sensitivity(runner, study):
    trace = spheres(runner)
    costs = times(SPHERES, FITTED["spheres"])
    models = {
        "as above: scope sm, live state 84 B": "ser:scope=sm",
        "live state 60 B": "ser:scope=sm,live_state=60",
        "live state 96 B": "ser:scope=sm,live_state=96",
        "live state 0": "ser:scope=sm,live_state=0",
        "live state 96 B, no SMs withheld": "ser:scope=sm,live_state=96,withheld=0",
        "no SMs withheld": "ser:scope=sm,withheld=0",
        "scope launch": "ser:scope=launch",
        "pools of 16 warps, all arrive": "ser:scope=pool",
        "sorted when 16 warps wait": "ser:scope=sm,arrival=full",
        "sorted after 2,000 cycles": "ser:scope=sm,arrival=timeout",
        "only threads that move spill": "ser:scope=sm,spill=moved",
        "state at the L2's bandwidth": "ser:scope=sm,bandwidth=28.99",
        "reorder_cycles 6,000": "ser:scope=sm,reorder_cycles=6000",
        "reorder_cycles 6,000, state 0": "ser:scope=sm,reorder_cycles=6000,live_state=0",
        "reorder_cycles 12,000, state 0": "ser:scope=sm,reorder_cycles=12000,live_state=0",
    }
    print("\nWhat moves SER on the laptop")
    head("variant", "split", "SER")
    row("published", f"{study['split_fps'] / study['plain_fps']:.3f}", f"{study['ser_fps'] / study['plain_fps']:.3f}")
    rows = runner.compare(trace, study["machine"], [SPLIT, *models.values()], costs, **{"scheduler.steps_per_ray": SPHERE_STEPS})
    for label, result in zip(models, rows[2:]):
        row(label, f"{rows[1]['speed_up']:.3f}", f"{result['speed_up']:.3f}")
    for label, keys in (("policy min-shader", {"policy": "min-shader"}), ("policy oldest-lane", {"policy": "oldest-lane"}),
                        ("policy independent", {"policy": "independent"}),
                        ("policy trace-barrier", {"policy": "trace-barrier"}), ("24 steps a ray", {"scheduler.steps_per_ray": 24}),
                        ("128 registers", {"registers_per_thread": 128}),
                        ("12 cycles an instruction", {"scheduler.cycles_per_instruction": 12})):
        rows = runner.compare(trace, study["machine"], [SPLIT, "ser:scope=sm"], costs,
                              **{"scheduler.steps_per_ray": SPHERE_STEPS, **keys})
        row(label, f"{rows[1]['speed_up']:.3f}", f"{rows[2]['speed_up']:.3f}")


def jungle(runner, study):
    gain = study["ser_ms"] / study["plain_ms"] - 1
    live, before = study["live_bytes"], study["before_live_bytes"]
    print(f"\n{study['title']}; surrogate: hall at {study['width']}x{study['height']}")
    head("trace calls at most", "plain, ms", "lanes, plain", "lanes, SER", f"time with SER, {live} B", f"{before} B",
         "reorders a pixel", "0 B, no SMs withheld", "lanes alone")
    row("published", study["plain_ms"], f"{100 * study['plain_active']:.0f} %", f"{100 * study['ser_active']:.0f} %",
        f"{100 * gain:+.1f} %", f"{-100 * study['before_gain']:+.1f} %", "", "",
        f"{100 * (study['plain_active'] / study['ser_active'] - 1):+.1f} %")
    for depth, fitted in FITTED["hall"].items():
        trace = runner.trace(f"hall-{depth}", "--scene", "hall", "--size", f"{study['width']}x{study['height']}", "--spp", "1",
                             "--depth", str(depth), "--hit-groups", "per-material")
        costs = times({"ray-generation": HALL["ray-generation"], "any-hit": fitted["any-hit"], "miss": HALL["miss"],
                       "closest-hit": fitted["rare"], "shading, diffuse": HALL["common"]}, fitted["scale"])
        rows = runner.compare(trace, study["machine"],
                              [f"ser:scope=sm,live_state={live}", f"ser:scope=sm,live_state={before}",
                               "ser:scope=sm,live_state=0,withheld=0"], costs)
        pixels = study["width"] * study["height"]
        row(depth, f"{rows[0]['milliseconds']:.2f}", f"{100 * rows[0]['weighted_efficiency']:.1f} %",
            f"{100 * rows[1]['weighted_efficiency']:.1f} %", f"{100 / rows[1]['speed_up'] - 100:+.1f} %",
            f"{100 / rows[2]['speed_up'] - 100:+.1f} %", f"{rows[1]['segments'] / pixels - 1:.2f}",
            f"{100 / rows[3]['speed_up'] - 100:+.1f} %",
            f"{100 * (rows[0]['weighted_efficiency'] / rows[1]['weighted_efficiency'] - 1):+.1f} %")


def jungle_choices(runner, study):
    """What the published slope over live state was used to choose between, and another way of arriving."""
    depth, fitted = 3, FITTED["hall"][3]
    trace = runner.folder / f"hall-{depth}.rrt"
    costs = times({"ray-generation": HALL["ray-generation"], "any-hit": fitted["any-hit"], "miss": HALL["miss"],
                   "closest-hit": fitted["rare"], "shading, diffuse": HALL["common"]}, fitted["scale"])
    sizes = (study["live_bytes"], study["before_live_bytes"])
    choices = {"only threads that move spill (`spill=moved`)": "spill=moved",
               "state at the bandwidth of L2": "bandwidth=16.4",
               "sorted when 16 warps wait (`arrival=full`)": "arrival=full"}
    models = [f"ser:scope=sm,live_state={size},{choice}" for choice in choices.values() for size in sizes]
    rows = runner.compare(trace, study["machine"], models, costs)
    head("three trace calls, other choices", *[f"{size} B" for size in sizes])
    for i, label in enumerate(choices):
        row(label, *[f"{100 / r['speed_up'] - 100:+.1f} %" for r in rows[1 + 2 * i:3 + 2 * i]])


def measured(runner, study):
    """Times of an H200, measured with the programs of this project: packings, and costly hit shaders."""
    settings = {"order": "morton-groups", "scheduler.steps_per_ray": SPHERE_STEPS}
    policies = ("stage-majority", "trace-barrier")
    trace = runner.trace("weekend", "--scene", "one-weekend", "--size", "1280x720", "--spp", "6")
    print(f"\n{study['title']}")
    head("packing", "measured, ms", "change", *[cell for policy in policies for cell in (f"`{policy}`, ms", "change")])
    base = {}
    for packing, ms in study["packings"].items():
        cells = []
        for policy in policies:
            plain = runner.compare(trace, "h200", ["plain"], {}, packing=packing, policy=policy, **settings)[0]
            ours = plain["milliseconds"]
            base.setdefault(policy, ours)
            cells += [f"{ours:.2f}", f"{100 * (ours / base[policy] - 1):+.1f} %"]
        row(packing, ms, f"{100 * (ms / study['packings']['identity'] - 1):+.1f} %", *cells)
    head("added to every closest hit", "measured, µs a multiply-add", "model, µs an instruction", "instructions a multiply-add")
    for label, groups in (("one closest-hit shader", "single"), ("one for each material", "per-material")):
        trace = runner.trace(groups, "--scene", "one-weekend", "--size", "1280x720", "--spp", "6", "--hit-groups", groups)
        ms = [runner.compare(trace, "h200", ["plain"], {"closest-hit": cost}, policy="trace-barrier", **settings)[0]
              ["milliseconds"] for cost in (250, 250 + 2560)]
        slope = 1e3 * (ms[1] - ms[0]) / 2560
        row(label, study["slopes"][groups], f"{slope:.3f}", f"{study['slopes'][groups] / slope:.2f}")


def slopes(figures):
    """Time per byte of live state, as published, and how many bytes a second that is if all threads write and read it."""
    print("\nLive state: published time per byte, and the bandwidth that it means")
    head("study", "bytes", "ms with SER", "µs a byte", "GB/s at 1, 2, 4, 6 reorders a thread", "DRAM, GB/s")
    jones, mdl = figures["indiana_jones"], figures["mdl_renderer"]
    before_ms = jones["plain_ms"] * (1 - jones["before_gain"])
    cases = (("Indiana Jones", [jones["before_live_bytes"], jones["live_bytes"]], [before_ms, jones["ser_ms"]], jones, 960),
             ("MDL_renderer", mdl["local_bytes"], [1e3 / fps for fps in mdl["ser_fps"]], mdl, 960),
             ("MDL_renderer, plain", mdl["local_bytes"], [1e3 / fps for fps in mdl["plain_fps"]], mdl, 960))
    for name, sizes, ms, study, dram in cases:
        slope = (ms[0] - ms[1]) / (sizes[0] - sizes[1])
        threads = study["width"] * study["height"]
        widths = ", ".join(f"{2 * threads * reorders / slope / 1e6:.0f}" for reorders in (1, 2, 4, 6))
        row(name, f"{sizes[0]} → {sizes[1]}", f"{ms[0]:.2f} → {ms[1]:.2f}", f"{1e3 * slope:.2f}", widths, dram)


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else "build/release/rayreplay"
    figures = tomllib.loads((HERE / "published" / "ser.toml").read_text())
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(program, folder)
        slopes(figures)
        laptop(runner, figures["laptop"])
        laptop_sensitivity(runner, figures["laptop"])
        jungle(runner, figures["indiana_jones"])
        jungle_choices(runner, figures["indiana_jones"])
        measured(runner, figures["h200"])


if __name__ == "__main__":
    main()
