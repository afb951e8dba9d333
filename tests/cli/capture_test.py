"""ridge capture, rings and ridge run on the loopback:  capture_test.py RIDGE

Packets are lost, duplicated, reordered, damaged and sent by two senders on purpose; every count must be exact, and the
output must equal the file that was sent, with zeros where a packet is reported as lost. Every process has a time limit.
"""
import json
import os
import random
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import time

RIDGE = os.path.abspath(sys.argv[1])
LIMIT = 120  # seconds: a process that takes longer hangs
PORT = 20000 + os.getpid() % 20000
failures = []


def check(good, what):
    if not good:
        failures.append(what)
        print("FAILED:", what)


def listening(port):
    with open("/proc/net/udp", encoding="ascii") as table:
        return any(line.split()[1].endswith(f":{port:04X}") for line in table.readlines()[1:])


def start(*words, **more):
    return subprocess.Popen([RIDGE, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)


def end(process):
    """The exit code and both outputs."""
    out, err = process.communicate(timeout=LIMIT)
    return process.returncode, out + err


def captured(out, sent, capture_options=(), replay_options=(), file="sent.raw", **more):
    """Captures what a replay sends. Returns the exit code, the text, and both reports."""
    global PORT
    PORT += 1
    address = f"udp://127.0.0.1:{PORT}"
    receiver = start("capture", address, out, "--idle", 1.5, "--report", "got.json", "--flags", "lost.csv",
                     *capture_options, **more)
    deadline = time.monotonic() + LIMIT
    while not listening(PORT) and receiver.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    if receiver.poll() is not None:
        return *end(receiver), {}, {}
    code, text = end(start("capture", address, "--replay", file, "--report", "sent.json", "--gbits", 0.5,
                           *replay_options))
    check(code == 0, f"replay: {text}")
    code, text = end(receiver)
    reports = []
    for name in ("got.json", "sent.json"):
        with open(name, encoding="utf-8") as report:
            reports.append(json.load(report))
    return code, text, *reports


def with_zeros(data, mark=None):
    """The data with the ranges of lost.csv set to zero, or to mark(byte, bytes)."""
    data = bytearray(data)
    with open("lost.csv", encoding="ascii") as lines:
        for line in lines.readlines()[1:]:
            first, count = map(int, line.split(",")[:2])
            data[first:first + count] = mark(first, count) if mark else bytes(count)
    return bytes(data)


def read(name):
    with open(name, "rb") as file:
        return file.read()


def exact(name, code, text, got, sent, lost=None):
    check(code == 0, f"{name}: exit {code}: {text}")
    check(got["kernel_drops"] == 0, f"{name}: the kernel dropped packets: {text}")
    check(got["received"] == sent["sent"], f"{name}: {got['received']} received, {sent['sent']} sent")
    check(got["lost"] == (sent["lost"] if lost is None else lost), f"{name}: {got['lost']} lost, {sent['lost']} on purpose")
    check(got["delivered"] + got["lost"] == sent["packets"] + (0 if lost is None else lost), f"{name}: {text}")
    for ours, theirs in (("duplicates", "duplicated"), ("damaged", "damaged"), ("foreign", "from_second")):
        check(got[ours] == sent[theirs], f"{name}: {got[ours]} {ours}, {sent[theirs]} on purpose")
    for none in ("late", "conflicts", "unconfirmed", "overrun", "unknown_stream", "dropped_blocks"):
        check(got[none] == 0, f"{name}: {got[none]} {none}")


DISORDER = ("--loss", 0.02, "--duplicate", 0.02, "--reorder", 0.05, "--damage", 0.01, "--second-sender", 0.01)


def formats(data):
    with open("described.txt", "w", encoding="ascii") as file:
        file.write("# an instrument\nkind counter\ncounter 6 6 big\nstream 2 2 little\nsamples 16\nstep 4\n")
    with open("spead.txt", "w", encoding="ascii") as file:
        file.write("kind spead\ncounter-item 0x1600\nstep 8\nstream-item 0x4101\n")
    for name, more in (("counter", ()), ("spead", ()), ("described.txt", ("--streams", 3)), ("spead.txt", ("--streams", 3))):
        code, text, got, sent = captured("got.raw", data, ("--format", name, "--block", 64, *more),
                                         (*DISORDER, "--format", name, "--payload", 1000, *more))
        exact(name, code, text, got, sent)
        check(sent["lost"] > 10 and sent["from_second"] > 3, f"{name}: hardly anything was lost: {sent}")
        check(read("got.raw") == with_zeros(data), f"{name}: the output differs")


def methods(data):
    """Packets that the kernel joined, and the packet ring: the same counts and bytes."""
    for method, known, join in (("socket", (), ("--join",)), ("ring", (), ()), ("ring", ("--payload", 1000), ("--join",))):
        code, text, got, sent = captured("got.raw", data, ("--format", "counter", "--block", 64, "--method", method, *known),
                                         (*DISORDER, "--format", "counter", "--payload", 1000, *join))
        if "CAP_NET_RAW" in text:
            print("skipped: --method ring needs the privilege CAP_NET_RAW")
            check(code == 1, f"ring without the privilege: exit {code}")
            continue
        exact(method, code, text, got, sent)
        check(read("got.raw") == with_zeros(data), f"--method {method}: the output differs")


def vdif():
    """Two threads, 100 frames per second, which the header does not give."""
    frames = []
    noise = random.Random(5)
    for n in range(600):
        for thread in (0, 1):
            head = struct.pack("<8I", 1000 + n // 100, 40 << 24 | n % 100, 1 << 29 | 1032 // 8, 1 << 31 | 7 << 26 | thread << 16,
                               0, 0, 0, 0)
            frames.append(head + noise.randbytes(1000))
    data = b"".join(frames)
    with open("sent.vdif", "wb") as file:
        file.write(data)
    options = ("--format", "vdif", "--streams", 2, "--frames-per-second", 100)
    code, text, got, sent = captured("got.vdif", data, options, (*DISORDER, "--format", "vdif", "--streams", 2), "sent.vdif")
    exact("vdif", code, text, got, sent)

    def invalid(first, count):
        return b"".join(struct.pack("<I", struct.unpack_from("<I", data, at)[0] | 1 << 31) + data[at + 4:at + 32] + bytes(1000)
                        for at in range(first, first + count, 1032))
    check(read("got.vdif") == with_zeros(data, invalid), "vdif: the output differs")
    check(got["start"].startswith("2020-01-01-00:16:40"), f"vdif: start {got['start']}")
    code, text = end(start("channelize", "got.vdif", "spectra.raw", "--channels", 20, "--taps", 2, "--rate", 50000))
    check(code == 0 and "samples lost in" in text, f"channelize of a capture: {text}")
    code, text, *_ = captured("no.vdif", data, ("--format", "vdif", "--streams", 2), ("--format", "vdif"), "sent.vdif")
    check(code == 1 and "--frames-per-second" in text, f"vdif without a rate: {text}")


def jumps(data):
    jump = ("--payload", 1000, "--jump-at", 1500)
    code, text, got, sent = captured("got.raw", data, (), (*jump, "--jump-by", 700))
    exact("gap", code, text, got, sent, 700)
    check(read("got.raw") == data[:1500000] + bytes(700000) + data[1500000:], "gap: the output differs")
    code, text, got, sent = captured("got.raw", data, (), (*jump, "--jump-by", 1 << 40))
    check(code == 1 and "another observation" in text, f"jump: exit {code}: {text}")
    check(got["delivered"] == 1500 and got["lost"] == 0, f"jump: {got}")
    check(read("got.raw") == data[:1500000], "jump: the output differs")


def full_disk(data):
    code, text, *_ = captured("/dev/full", data, ("--block", 16), ("--payload", 1000))
    check(code == 1 and "No space left" in text, f"full disk: exit {code}: {text}")

    def small_files():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100500, 100500))
    code, text, *_ = captured("cut.raw", data, ("--block", 16), ("--payload", 1000), preexec_fn=small_files)
    check(code == 1 and "96000 bytes of complete blocks" in text, f"file limit: exit {code}: {text}")
    check(read("cut.raw") == data[:96000], "file limit: the file is not cut after a block")


def killed(data):
    """kill -9 of a capture leaves whole blocks in its file; of one end of a ring, an error at the other end."""
    global PORT
    cases = []
    for victim in ("file", "writer", "reader"):
        PORT += 1
        address, ring = f"udp://127.0.0.1:{PORT}", f"ring:killed-{PORT}"
        capture = start("capture", address, "killed.raw" if victim == "file" else ring + ",blocks=2,block=8K", "--idle", 1.5,
                        "--block", 16)
        reader = start("channelize", ring, "killed.out", "--channels", 16, "--taps", 2) if victim != "file" else None
        deadline = time.monotonic() + LIMIT
        while not listening(PORT) and capture.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        sender = start("capture", address, "--replay", "sent.raw", "--payload", 1000, "--gbits", 0.02)
        cases.append((victim, ring, capture, reader, sender))
    time.sleep(0.5)
    for victim, _, capture, reader, _ in cases:
        (reader if victim == "reader" else capture).kill()
    for victim, ring, capture, reader, sender in cases:
        dead, alive = (reader, capture) if victim == "reader" else (capture, reader)
        code, text = end(sender)
        check(code == 0, f"sender to a killed capture: exit {code}: {text}")
        code, text = end(dead)
        check(code == -signal.SIGKILL, f"kill of the {victim}: exit {code}: {text}")
        if alive:
            code, text = end(alive)
            check(code == 1 and f"{ring}:" in text and ("killed" in text or "ended" in text),
                  f"kill of the {victim}: exit {code}: {text}")
    got = read("killed.raw")
    check(got and len(got) % 16000 == 0 and got == data[:len(got)], f"a killed capture left {len(got)} other bytes")


def slow_output(data):
    """A reader that stops: the receiver continues, and flags the packets that it cannot store."""
    os.mkfifo("slow")
    reader = subprocess.Popen(["bash", "-c", "exec <slow; sleep 3; cat >slow.raw"])
    code, text, got, sent = captured("slow", data, ("--block", 64, "--window", 64, "--memory", 400000), ("--payload", 1000))
    reader.wait(timeout=LIMIT)
    check(code == 0 and got["overrun"] > 0 and got["dropped_blocks"] > 0, f"slow output: {text}")
    check(got["lost"] == got["overrun"] and got["received"] == sent["packets"], f"slow output: {got}")
    check(read("slow.raw") == with_zeros(data), "slow output: the output differs")


def mistakes():
    for name, text in (("seven.txt", "NBIT 7\nNDIM 2\nNPOL 1\nNCHAN 1\n"), ("no.txt", "")):
        with open(name, "w", encoding="ascii") as file:
            file.write(text)
    for words, wanted in ((("127.0.0.1:4001",), "needs an output"), (("127.0.0.1", "x"), "an IPv4 address and a port"),
                          ((f"127.0.0.1:{PORT}", "x", "--idle", "0.2"), "no packet arrived"),
                          (("127.0.0.1:4001", "x", "--header", "seven.txt"), "NBIT is 7"),
                          (("127.0.0.1:4001", "x", "--header", "no.txt"), "holds no PSRDADA header"),
                          (("10.0.0.1:4001", "--replay", "sent.raw"), "loopback addresses"),
                          (("x", "udp://127.0.0.1:4001"), "an address is no output"),
                          (("127.0.0.1:4001", "x", "--format", "nothing"), "needs counter, vdif, spead or a file"),
                          (("127.0.0.1:4001", "--replay", "sent.raw", "--payload", "70000"), "--payload")):
        code, text = end(start("capture", *words))
        check(code == 1 and wanted in text and not os.path.exists("x"), f"{words}: exit {code}: {text}")


def whole_day():
    """capture, channelize and search, joined by rings: losses reach the search."""
    global PORT
    PORT += 1
    code, text = end(start("channelize", "signal", "volts.raw", "--rate", 1e6, "--seconds", 0.4, "--stations", 1,
                           "--polarizations", 1))
    check(code == 0, f"signal: {text}")
    with open("obs.txt", "w", encoding="ascii") as file:
        head = "HDR_SIZE 4096\nHDR_VERSION 1.0\nNBIT 8\nNDIM 2\nNPOL 1\nNCHAN 1\nTSAMP 1\nFREQ 1400\nBW 1\n"
        file.write(head + "\0" * (4096 - len(head)))
    with open("lines.txt", "w", encoding="ascii") as file:  # not padded
        file.write(head)
    with open("day.toml", "w", encoding="ascii") as file:
        file.write(f'''# a day
[[stage]]
run = "capture"
in = "udp://127.0.0.1:{PORT}"
header = "lines.txt"
idle = 2
ring = "blocks=4,block=64K"
[[stage]]
run = "channelize"
channels = 16
taps = 4
detect = "total"
times = 4
[[stage]]
name = "pulses"
run = "search"   # the last one
dm = "0..1"
device = "host"
widest = 16
out = "found.json"
''')
    pipeline = start("run", "day.toml", "--report", "day.json")
    deadline = time.monotonic() + LIMIT
    while not listening(PORT) and pipeline.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    code, text = end(start("capture", f"127.0.0.1:{PORT}", "--replay", "volts.raw", "--payload", 4000, "--loss", 0.03,
                           "--gbits", 0.2, "--report", "sent.json"))
    check(code == 0, f"replay of a day: {text}")
    code, text = end(pipeline)
    check(code == 0, f"run: exit {code}: {text}")
    with open("day.json", encoding="utf-8") as file:
        day = json.load(file)
    with open("sent.json", encoding="utf-8") as file:
        lost = json.load(file)["lost"]
    state = {stage["name"]: stage["status"] for stage in day["stages"]}
    check(state["capture"]["lost"] == lost > 0, f"run: {state['capture']}")
    # A lost packet is 2000 samples: 125 spectra and the window, in sums of 4.
    check(lost * 31 <= state["pulses"]["rows_lost"] <= lost * 34, f"{lost} packets, {state['pulses']['rows_lost']} rows")
    check(state["pulses"]["waterfall"]["rows"], "no waterfall")
    check(os.path.exists("found.json"), "no candidates")
    with open("bad.toml", "w", encoding="ascii") as file:
        file.write('[[stage]]\nrun = "search"\nin = "nothing.fil"\n')
    code, text = end(start("run", "bad.toml"))
    check(code == 1 and "stage search failed" in text and "cannot read nothing.fil" in text, f"bad stage: {text}")
    for line, wanted in (("run", "needs key"), ("[other]", "unknown section"), ('run = "fft"', "needs in"),
                         ('run = "search"\nin = "a.fil"\nin = "b.fil"', "in is given twice")):
        with open("bad.toml", "w", encoding="ascii") as file:
            file.write(f"[[stage]]\n{line}\n")
        code, text = end(start("run", "bad.toml"))
        check(code == 1 and wanted in text, f"{line}: {text}")


def piped_day():
    """channelize and search joined by a pipe: the candidates are those of a file between them."""
    options = ["--channels", 16, "--taps", 4, "--times", 4, "--rate", 1e6, "--frequency", 1400]
    code, text = end(start("channelize", "volts.raw", "power.fil", "--polarizations", 1, *options))
    check(code == 0, f"channelize to a file: {text}")
    code, text = end(start("search", "power.fil", "--dm", "0..1", "--device", "host", "--widest", 16, "--threshold", 4,
                           "--out", "file.json"))
    check(code == 0 and len(json.loads(read("file.json"))) > 0, f"search of a file: {text}")
    channelize = """[[stage]]
run = "channelize"
in = "volts.raw"
polarizations = 1
channels = 16
taps = 4
times = 4
rate = 1e6
frequency = 1400
link = "pipe"
"""
    search = '[[stage]]\nrun = "search"\ndm = "0..1"\ndevice = "host"\nwidest = 16\nthreshold = 4\n'
    for name, text, good, wanted in (
            ("pipe.toml", channelize + search + 'out = "pipe.json"\n', True, "search: finished"),
            ("flag.toml", channelize + search + "if = 3\n", False, "stage search failed"),
            ("lost.toml", '[[stage]]\nrun = "capture"\nin = "udp://127.0.0.1:9"\nlink = "pipe"\n' + search, False,
             "a pipe carries no flags of lost packets")):
        with open(name, "w", encoding="ascii") as file:
            file.write(text)
        code, text = end(start("run", name))
        check((code == 0) == good and wanted in text, f"{name}: exit {code}: {text}")
    check(read("pipe.json") == read("file.json"), "a pipe changes the candidates")


def listed_losses():
    """channelize flags the spectra of the bytes that capture listed as lost; a header before the samples is not counted."""
    for name, start_of in (("volts.raw", b""), ("volts.dada", read("obs.txt"))):
        if start_of:
            with open(name, "wb") as file:
                file.write(start_of + read("volts.raw"))
        with open("few.csv", "w", encoding="ascii") as file:
            file.write("byte,bytes,counter,stream\n32000,3200,5,0\n600000,2,6,0\n")
        code, text = end(start("channelize", name, "power.fil", "--polarizations", 1, "--channels", 16, "--taps", 4, "--times", 4,
                               "--rate", 1e6, "--frequency", 1400, "--lost", "few.csv", "--flags", "mask.fil"))
        check(code == 0 and "1601 samples lost in 2 gaps" in text, f"--lost {name}: {text}")
        mask, count = read("mask.fil"), os.path.getsize("volts.raw") // 2 // 64
        rows = [i for i in range(count) if mask[len(mask) - 2 * (count - i):][:2] == b"\xff\xff"]
        # Samples 16000 to 17600 are in spectra 1000 to 1102 (4 taps), sample 300000 in spectra 18750 to 18753.
        check(rows == list(range(250, 276)) + [4687, 4688], f"--lost {name}: rows {rows[:3]} to {rows[-3:]}")
    for text in ("byte,bytes\n5,0\n", "5\n", "a,b\n", "10,5\n3,1\n", "1,2x\n", "-1,5\n"):
        with open("few.csv", "w", encoding="ascii") as file:
            file.write(text)
        code, out = end(start("channelize", "volts.raw", "power.fil", "--rate", 1e6, "--frequency", 1400, "--lost", "few.csv"))
        check(code == 1 and "needs byte,bytes as ridge capture --flags writes" in out, f"{text}: {code}: {out}")


def kurtosis():
    """A steady tone is not noise: its channel is flagged, and hardly any other; a pipe carries the flags as NaN."""
    code, text = end(start("channelize", "signal", "tone.raw", "--rate", 1e6, "--seconds", 1, "--polarizations", 1, "--tone",
                           "125000:0.5"))
    check(code == 0, f"signal: {text}")
    options = ["--polarizations", 1, "--channels", 16, "--taps", 4, "--times", 64, "--rate", 1e6, "--frequency", 1400,
               "--kurtosis", 0.01]
    code, text = end(start("channelize", "tone.raw", "power.fil", *options, "--flags", "mask.fil"))
    check(code == 0 and "values flagged by their kurtosis" in text, f"--kurtosis: {text}")
    count = os.path.getsize("tone.raw") // 2 // 16 // 64
    mask = read("mask.fil")[-2 * count:]
    flagged = [sum(mask[2 * t + c // 8] >> c % 8 & 1 for t in range(count)) for c in range(16)]
    # 125 kHz is two channels above the centre, which is channel 8 of the file.
    check(flagged[10] >= count - 2, f"--kurtosis: the tone has {flagged[10]} of {count} flags")
    noise = [n for c, n in enumerate(flagged) if abs(c - 10) > 1]
    check(0 < sum(noise) < 0.02 * count * len(noise), f"--kurtosis: {flagged} of {count} times")
    with open("power.pipe", "wb") as out:
        code = subprocess.run([RIDGE, "channelize", "tone.raw", "-", "--output-format", "fil", *map(str, options)], stdout=out,
                              stderr=subprocess.PIPE, check=False, timeout=LIMIT).returncode
    values = struct.unpack(f"<{16 * count}f", read("power.pipe")[-64 * count:])
    same = all((v != v) == bool(mask[2 * (i // 16) + i % 16 // 8] >> i % 8 & 1) for i, v in enumerate(values))
    check(code == 0 and same, "a pipe does not carry the flags of --kurtosis")
    for more, wanted in ((("--oversample", "8/7"), "independent spectra"), (("--detect", "stokes"), "total or powers"),
                         (("--sum-channels", 1), "16 to")):
        short = [2 if wanted == "16 to" and one == 64 else one for one in options]
        code, text = end(start("channelize", "tone.raw", "no.fil", *short, *more))
        check(code == 1 and wanted in text, f"{more}: {code}: {text}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        data = random.Random(1).randbytes(3000 * 1000)
        with open("sent.raw", "wb") as file:
            file.write(data)
        formats(data)
        methods(data)
        vdif()
        jumps(data)
        full_disk(data)
        killed(data)
        slow_output(data)
        mistakes()
        whole_day()
        piped_day()
        listed_losses()
        kurtosis()
        os.chdir("/")
    print("\n".join(failures) or "all well")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
