"""Runs a program without and with the capture layer, and says what differs. See --help."""
import argparse
import json
import os
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pictures
import traces

SAME, DIFFERS, USAGE = 0, 1, 2
APPLICATION_FAILED = 14  # docs/exit-codes.md
LAYER = "VK_LAYER_RAYREPLAY_capture"
MOST_RUNS = 1000
MOST_SECONDS = 1_000_000
CHILD = "--run-as-child"  # how the captured run calls this script again
ABOUT = """\
Runs PROGRAM twice or more without the capture layer and once under 'rayreplay capture', and compares exit code (or
signal), standard output and the files that it writes. Differences between the runs without the layer are
not counted, and are listed. Then the trace is checked: 'rayreplay validate' finds no fault; rays, events and events by kind
are the same for the capture, 'validate' and 'info'; every ray has a closest hit, a miss or a reason for having neither;
every thread is in the trace or listed as missing."""
CODES = """\
exit codes: 0 the same · 1 something differs (what, and where the streams and files of both runs are kept) · 2 wrong use,
or nothing could be compared. Standard error is kept but not compared: the layer writes there."""


def say(text):
    print("same_with_layer: " + text, file=sys.stderr, flush=True)


def cannot(text):
    say("error: " + text)
    sys.exit(USAGE)


def parse(arguments):
    parser = argparse.ArgumentParser(prog="same_with_layer.sh",
                                     usage="%(prog)s [OPTIONS] [--] PROGRAM [ARGS ...]", description=ABOUT, epilog=CODES,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", action="append", default=[], metavar="FILE",
                        help="a file that the program writes; may be repeated. Pictures (PNG, PPM) are compared by pixel "
                             "where their bytes differ")
    parser.add_argument("--force", action="store_true", help="an --output that is there already may be replaced")
    parser.add_argument("--runs", type=int, default=2, metavar="N", help="runs without the layer, 2 or more (default 2)")
    parser.add_argument("--capture", action="append", default=[], metavar="OPTIONS",
                        help="options of 'rayreplay capture', such as --capture='--frames 0..2 --memory 1GiB'")
    parser.add_argument("--no-trace", action="store_true",
                        help="compare the program alone: it traces no rays, or --capture has '--record off'")
    parser.add_argument("--rayreplay", metavar="PATH", help="the command; default: build/release/rayreplay of this "
                                                            "repository, else PATH")
    parser.add_argument("--timeout", type=float, default=600, metavar="S", help="seconds for each run (default 600)")
    parser.add_argument("--keep", action="store_true", help="keep streams, files and trace also where all is the same")
    parser.add_argument("program", metavar="PROGRAM", help="a program, found by PATH; its arguments follow")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="ARGS", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if not 2 <= options.runs <= MOST_RUNS:
        parser.error(f"--runs: 2 to {MOST_RUNS} runs: two are needed to tell what the program itself changes")
    if not 0 < options.timeout <= MOST_SECONDS:  # not a number is refused, too
        parser.error(f"--timeout: more than 0 and at most {MOST_SECONDS} seconds are needed")
    try:
        options.capture = [word for text in options.capture for word in shlex.split(text)]
    except ValueError as error:
        parser.error(f"--capture: {error}")
    if any(word in ("--output", "--format") or word.startswith(("-o", "--output=", "--format=")) for word in options.capture):
        parser.error("--capture: the trace and its format are chosen here")
    if "--" in options.capture:
        parser.error("--capture: options of 'rayreplay capture' alone; the program follows behind them")
    return options


def find_rayreplay(options):
    built = Path(__file__).resolve().parents[2] / "build" / "release" / "rayreplay"
    chosen = options.rayreplay or (str(built) if built.exists() else shutil.which("rayreplay"))
    if not chosen or not Path(chosen).is_file() or not os.access(chosen, os.X_OK):
        cannot(f"{chosen or 'rayreplay'} cannot be run: build it, or name it by --rayreplay PATH")
    return str(Path(chosen).resolve())


def plain_environment():
    """Our environment, without requests for the layer."""
    environment = dict(os.environ)
    for name, separator in (("VK_INSTANCE_LAYERS", ":"), ("VK_LOADER_LAYERS_ENABLE", ",")):
        if name in environment:
            layers = [layer for layer in environment[name].split(separator) if layer != LAYER]
            environment[name] = separator.join(layers)
    return environment


def run_program(command, folder, environment, timeout):
    """Streams go to files in `folder`. The result is an exit code, or -N for signal N; None: it did not end in time."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "stdout", "wb") as output, open(folder / "stderr", "wb") as errors:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, env=environment,
                                   start_new_session=timeout is not None)
        try:
            return process.wait(timeout)
        except BaseException as error:  # a session of its own does not get our Ctrl-C
            if timeout is not None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            if isinstance(error, subprocess.TimeoutExpired):
                return None
            raise


def be_child(folder, command):
    """Runs between `rayreplay capture` and the program: keeps the program's streams and exit status apart."""
    if not command or not Path(folder).is_dir():
        cannot(f"{CHILD} is for the captured run alone")
    status = run_program(command, Path(folder), None, None)
    (Path(folder) / "status").write_text(str(status))
    if status < 0:  # end as the program did: the capture reports it
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if -status != signal.SIGKILL:
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    return status


def status_text(status):
    if status >= 0:
        return f"exit code {status}"
    return f"signal {-status} ({signal.strsignal(-status)})"


def take_files(outputs, folder):
    """Moves the program's output files into the run's folder. None for a file that was not written."""
    kept = []
    for number, output in enumerate(outputs):
        target = folder / f"{number}-{Path(output).name}"
        if Path(output).is_file():
            shutil.move(output, target)
            kept.append(target.read_bytes())
        else:
            kept.append(None)
    return kept


class Run:
    def __init__(self, folder, status, outputs):
        self.folder, self.status = folder, status
        self.files = take_files(outputs, folder)
        self.output = (folder / "stdout").read_bytes() if (folder / "stdout").exists() else b""


def run_plain(options, folder):
    runs = []
    for number in range(options.runs):
        here = folder / f"without-{number + 1}"
        status = run_program([options.program] + options.arguments, here, plain_environment(), options.timeout)
        if status is None:
            cannot(f"without the layer the program did not end within {options.timeout:g} s (--timeout); see {here}")
        runs.append(Run(here, status, options.output))
        for output, data in zip(options.output, runs[-1].files):
            if data is None:
                cannot(f"without the layer the program does not write {output}; see {here}")
    return runs


def run_captured(options, rayreplay, folder):
    """The run, the output of the capture, and its exit code."""
    here = folder / "with"
    here.mkdir()
    words = [""] + options.capture
    records = "--record=off" not in words and ("--record", "off") not in zip(words, words[1:])
    command = [rayreplay, "capture", *options.capture, "--format", "json"]
    command += ["-o", str(folder / "t.rrt")] if records else []
    command += ["--", sys.executable, "-B", str(Path(__file__).parent), CHILD, str(here), options.program, *options.arguments]
    code = run_program(command, folder / "capture", None, options.timeout)
    if code is None:
        return None, b"", code
    status = here / "status"
    ended = int(status.read_text()) if status.exists() else None
    run = Run(here, ended, options.output) if ended is not None else None
    return run, (folder / "capture" / "stdout").read_bytes(), code


def text_difference(plain, found):
    """Lines that all runs without the layer agree on; (difference or "", whether they agree on all)."""
    texts = [run.output.split(b"\n") for run in plain]
    if len({len(text) for text in texts}) != 1:
        return "", False
    lines = found.split(b"\n")
    stable = [len(set(column)) == 1 for column in zip(*texts)]
    if len(lines) != len(texts[0]):
        return f"{len(texts[0]) - 1} lines without the layer, {len(lines) - 1} with it", all(stable)
    for number, (line, sure) in enumerate(zip(lines, stable)):
        if sure and line != texts[0][number]:
            return f"line {number + 1}: {texts[0][number]!r} without the layer, {line!r} with it", all(stable)
    return "", all(stable)


def compare(options, plain, found):
    """Faults, and results that could not be compared because the program itself changes them."""
    faults, unstable = [], []
    if len({run.status for run in plain}) != 1:
        unstable.append("how it ends: " + ", ".join(status_text(run.status) for run in plain))
    elif found.status != plain[0].status:
        faults.append(f"{status_text(plain[0].status)} without the layer, {status_text(found.status)} with it")
    difference, stable = text_difference(plain, found.output)
    if difference:
        faults.append("standard output: " + difference)
    if not stable:
        unstable.append("standard output, as far as the runs without the layer differ in it")
    for number, output in enumerate(options.output):
        own = next((text for run in plain[1:] if (text := pictures.difference(plain[0].files[number], run.files[number]))), "")
        if own:
            unstable.append(f"{output}: {own.replace('without the layer', 'in one run').replace('with it', 'in another')}")
        elif found.files[number] is None:
            faults.append(f"{output}: not written with the layer")
        elif difference := pictures.difference(plain[0].files[number], found.files[number]):
            faults.append(f"{output}: {difference}")
    return faults, unstable


def check_trace(rayreplay, printed, code, status):
    """Faults, notes, summary. None for the summary: there is no trace to check."""
    document = None
    try:
        document = json.loads(printed)
    except ValueError:
        pass
    if document is None or not document.get("traces"):
        return [], [], None
    faults, notes, summary = traces.check(rayreplay, document)
    expected = 0 if status == 0 else APPLICATION_FAILED
    if code != expected:
        faults.append(f"rayreplay capture ended with exit code {code}, expected {expected}")
    return faults, notes, summary


def judge(options, rayreplay, folder):
    plain = run_plain(options, folder)
    found, printed, code = run_captured(options, rayreplay, folder)
    errors = (folder / "capture" / "stderr").read_text(errors="replace").strip()
    if found is None:
        if code is None:
            return [f"with the layer the program did not end within {options.timeout:g} s"], [], ""
        cannot(f"'rayreplay capture' did not run the program: {errors}")
    faults, unstable = compare(options, plain, found)
    for text in unstable:
        say("not compared, as the program itself changes it: " + text)
    summary = "no trace was asked for"
    if not options.no_trace:
        more, notes, summary = check_trace(rayreplay, printed, code, found.status)
        faults += more
        for note in notes:
            say(note)
        if summary is None and not faults:
            cannot(f"the program is the same, but there is no trace to check (--no-trace: none is needed): {errors}")
    whole = f"{status_text(found.status)}, {len(found.output)} bytes of standard output, {len(options.output)} of its files"
    return faults, unstable, f"{whole}; trace: {summary}"


def check_outputs(options, rayreplay):
    """Outputs are removed before and moved away after each run."""
    known = {os.path.realpath(path) for path in (shutil.which(options.program), rayreplay)}
    for output in options.output:
        if not output or os.path.realpath(output) in known:
            cannot(f"--output '{output}' is the program, an output that was named before, or no name")
        known.add(os.path.realpath(output))


def main(arguments):
    if arguments[:1] == [CHILD]:
        return be_child("".join(arguments[1:2]), arguments[2:])
    options = parse(arguments)
    rayreplay = find_rayreplay(options)
    if shutil.which(options.program) is None:
        cannot(f"{options.program} is no program that can be run")
    check_outputs(options, rayreplay)
    for output in options.output:
        if os.path.lexists(output):
            if not options.force or not Path(output).is_file():
                cannot(f"{output} is there already: remove it, or give --force")
            os.unlink(output)
    folder = Path(tempfile.mkdtemp(prefix="same-with-layer-"))
    faults, keep = [], True
    try:
        faults, _, summary = judge(options, rayreplay, folder)
        keep = bool(faults) or options.keep
    finally:
        if keep:
            say(f"streams, files and trace are in {folder}")
        else:
            shutil.rmtree(folder)
    for fault in faults:
        say("differs: " + fault)
    if not faults:
        print("same: " + summary)
    return DIFFERS if faults else SAME


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except OSError as failure:  # a program that cannot be run, a full disk: nothing was compared
        cannot(str(failure))
