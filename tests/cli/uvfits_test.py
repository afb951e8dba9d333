"""Visibilities of ridge channelize --correlate OUT.uvfits:  uvfits_test.py RIDGE [CASA_READER]

A plane wave of one tone per channel reaches four stations. Every visibility must have the phase that the source's
direction and the file's own u, v, w imply, and the amplitude of its channel; lost samples must lower the weights. With
CASA_READER (casa_reader.cpp) casacore must read the same baselines, frequencies, values and weights.
"""
import cmath
import math
import os
import struct
import subprocess
import sys
import tempfile

RIDGE = os.path.abspath(sys.argv[1])
LIGHT, CHANNELS, TAPS, TIMES, RATE, CENTRE = 299792458.0, 8, 8, 16, 800e3, 150e6
STATIONS = [(0.0, 0.0, 0.0), (70.0, 10.0, 1.0), (-35.0, 55.0, 0.5), (15.0, -80.0, 2.0)]
failures = []


def check(good, what):
    if not good:
        failures.append(what)
        print("FAILED:", what)


def ridge(*words):
    done = subprocess.run([RIDGE, *map(str, words)], capture_output=True, text=True, timeout=100, check=False)
    return done.returncode, done.stdout + done.stderr


def frequency(channel):
    """Of a channel in order of frequency."""
    return CENTRE + (channel - CHANNELS // 2) * RATE / CHANNELS


def write_npy(name, rows):
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({len(rows)}, 3), }}".ljust(117) + "\n"
    with open(name, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        for row in rows:
            out.write(struct.pack("<3d", *row))


def write_samples(name, source, spectra):
    """One tone per channel of amplitude 1 + channel; blocks of CHANNELS samples per station."""
    with open(name, "wb") as out:
        waves = []
        for station in STATIONS:
            ahead = sum(a * b for a, b in zip(station, source)) / LIGHT
            tones = [(1 + c) * cmath.exp(2j * math.pi * frequency(c) * ahead) for c in range(CHANNELS)]
            # The samples repeat after CHANNELS, because the tones are in the middle of the channels.
            values = [sum(tone * cmath.exp(2j * math.pi * (c - CHANNELS // 2) * n / CHANNELS)
                          for c, tone in enumerate(tones)) for n in range(CHANNELS)]
            waves.append(b"".join(struct.pack("<2f", v.real, v.imag) for v in values))
        out.write(b"".join(waves) * spectra)


def read_uvfits(name):
    with open(name, "rb") as file:
        data = file.read()
    keys, at = {}, 0
    while not data[at:at + 80].startswith(b"END "):
        card = data[at:at + 80].decode()
        keys[card[:8].strip()] = card[10:].strip()
        at += 80
    at = (at // 2880 + 1) * 2880
    groups = []
    values = 3 * int(keys["NAXIS3"]) * int(keys["NAXIS4"])
    for _ in range(int(keys["GCOUNT"])):
        numbers = struct.unpack_from(f">{7 + values}f", data, at)
        groups.append((numbers[:7], numbers[7:]))
        at += 4 * (7 + values)
    check(len(data) % 2880 == 0, "whole FITS blocks")
    check(data.find(b"'AIPS AN '") > 0, "an antenna table")
    return keys, groups


def compare_with_casa(name, keys, groups):
    done = subprocess.run([sys.argv[2], name, name + ".ms"], capture_output=True, text=True, timeout=300, check=False)
    check(done.returncode == 0, f"casacore reads {name}: {done.stderr[-500:]}")
    lines = [line.split() for line in done.stdout.splitlines()]
    said = {line[0]: line[1:] for line in lines if line and line[0] != "row"}
    rows = [[float(word) for word in line[1:]] for line in lines if line and line[0] == "row"]
    check(said.get("telescope") == ["LOFAR"] and said.get("antennas") == ["4"], f"casacore: {said}")
    frequencies = [float(word) for word in said["frequencies"]]
    check(frequencies == [frequency(c) for c in range(CHANNELS)], f"casacore: {frequencies}")
    right_ascension = float(said["direction"][0]) - float(keys["CRVAL6"])
    check(abs(right_ascension - 360 * round(right_ascension / 360)) < 1e-9, "casacore: the right ascension")
    check(abs(float(said["direction"][1]) - float(keys["CRVAL7"])) < 1e-9, "casacore: the declination")
    check(len(rows) == len(groups), f"casacore: {len(rows)} rows instead of {len(groups)}")
    start = 86400 * (60735 + 0.5)  # 2025-03-01T12:00:00
    for i, (row, (parameters, values)) in enumerate(zip(rows, groups)):
        one, two = divmod(int(parameters[5]), 256)
        check(row[:2] == [one - 1, two - 1], f"casacore: antennas of row {i}")
        check(abs(row[2] - start - (i // 10 + 0.5) * TIMES * CHANNELS / RATE) < 2e-5, f"casacore: time of row {i}: {row[2]}")
        for k in range(3):
            check(abs(row[3 + k] - parameters[k] * LIGHT) < 1e-4, f"casacore: u, v, w of row {i}")
        check(row[6] == sum(values[2::3]), f"casacore: weight of row {i}")
        for c in range(CHANNELS):
            got, expected = complex(*row[7 + 2 * c:9 + 2 * c]), complex(values[3 * c], values[3 * c + 1])
            check(abs(got - expected) <= 1e-6 * abs(expected), f"casacore: visibility of row {i}, channel {c}: {got}, {expected}")


def main():
    source = (0.3, -0.2)
    source = (*source, math.sqrt(1 - source[0] ** 2 - source[1] ** 2))
    write_npy("xyz.npy", STATIONS)
    write_samples("in.raw", source, 5 * TIMES)
    bank = ["--stations", 4, "--polarizations", 1, "--samples", "f32", "--block", CHANNELS, "--channels", CHANNELS,
            "--taps", TAPS, "--correlate", "--times", TIMES, "--rate", RATE, "--frequency", CENTRE / 1e6]
    site = ["--positions", "xyz.npy", "--site", "6.87,52.91,10", "--start", "2025-03-01T12:00:00"]
    code, text = ridge("channelize", "in.raw", "vis.uvfits", *bank, *site, "--source", "test", "--telescope", "LOFAR")
    check(code == 0, f"correlate: {text}")
    keys, groups = read_uvfits("vis.uvfits")
    check(len(groups) == 5 * 10, f"10 baselines, 5 integrations: {len(groups)}")
    check(float(keys["CRVAL4"]) == frequency(0) and float(keys["CDELT4"]) == RATE / CHANNELS, "the frequency axis")
    check(keys["TELESCOP"].startswith("'LOFAR"), "the telescope")
    check(float(keys["CRVAL7"]) == 52.91, "the zenith is the phase centre")
    worst = 0
    for parameters, values in groups[10:]:  # the first window reaches before the first sample
        u, v, w = parameters[:3]
        one, two = divmod(int(parameters[5]), 256)
        check(one <= two, f"station order {one} {two}")
        apart = [a - b for a, b in zip(STATIONS[one - 1], STATIONS[two - 1])]
        check(abs(math.hypot(u, v, w) * LIGHT - math.hypot(*apart)) < 1e-4, "the length of a baseline")
        for c in range(CHANNELS):
            got = complex(values[3 * c], values[3 * c + 1])
            phase = -2 * math.pi * frequency(c) * (u * source[0] + v * source[1] + w * (source[2] - 1))
            expected = cmath.exp(1j * phase) * (1 + c) ** 2
            scale = abs(groups[10][1][0])  # the bank's gain, from an autocorrelation of channel 0
            worst = max(worst, abs(got / scale - expected) / abs(expected))
            check(values[3 * c + 2] == TIMES, "the weight of whole integrations")
    check(worst < 2e-3, f"visibilities differ from the sky by {worst}")

    # 3 spectra of samples are lost in the third integration: TAPS - 1 more windows contain them.
    frame = CHANNELS * 4 * 8
    with open("lost.csv", "w", encoding="ascii") as out:
        out.write(f"byte,bytes,counter,stream\n{(2 * TIMES + 5) * frame},{3 * frame},0,0\n")
    code, text = ridge("channelize", "in.raw", "lost.uvfits", *bank, *site, "--lost", "lost.csv")
    check(code == 0, f"correlate with losses: {text}")
    _, lost_groups = read_uvfits("lost.uvfits")
    weights = [values[2] for _, values in lost_groups[::10]]
    check(weights == [TIMES, TIMES, TIMES - 3 - (TAPS - 1), TIMES, TIMES], f"weights of lost samples: {weights}")

    if len(sys.argv) > 2:
        compare_with_casa("vis.uvfits", keys, groups)
        return

    for words, message in [([], "--positions"), (site[:2], "--site"), (site[:4], "--start"),
                           ([*site, "--phase-centre", "1,x"], "RA,DEC"), (["--output-format", "fil"], "correlate")]:
        code, text = ridge("channelize", "in.raw", "no.uvfits", *bank, *words)
        check(code == 1 and message in text and not os.path.exists("no.uvfits"), f"{words}: {code} {text}")
    # An odd number of summed channels needs --centred. A tone in channel 0 must then be found in the sum that contains it.
    with open("tone.raw", "wb") as out:
        out.write(struct.pack("<2f", 1, 0) * 6 * 4 * TIMES * 4)
    odd = ["--stations", 4, "--polarizations", 1, "--samples", "f32", "--block", 6, "--channels", 6, "--correlate", "--times",
           TIMES, "--sum-channels", 2, "--rate", 6e6, "--frequency", 100, *site]
    code, text = ridge("channelize", "tone.raw", "no.uvfits", *odd)
    check(code == 1 and "--centred" in text, f"an odd number of sums: {code} {text}")
    code, text = ridge("channelize", "tone.raw", "odd.uvfits", *odd, "--centred")
    check(code == 0, f"centred sums: {text}")
    keys, groups = read_uvfits("odd.uvfits")
    powers = groups[-1][1][::3]
    strongest = float(keys["CRVAL4"]) + powers.index(max(powers)) * float(keys["CDELT4"])
    check(abs(strongest - 100e6) <= 1e6, f"a tone at 100 MHz is in the channel at {strongest}")
    code, text = ridge("channelize", "in.raw", "no.uvfits", *bank, *site, "--site", "6.87,91")
    check(code != 0, "a latitude of 91 degrees")


if len(sys.argv) > 2 and not os.path.exists(sys.argv[2]):
    print("skipped: built without casacore (casacore-dev)")
    sys.exit(77)
sys.argv[1:] = [os.path.abspath(word) for word in sys.argv[1:]]
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    main()
print("ok" if not failures else f"{len(failures)} failures")
sys.exit(1 if failures else 0)
