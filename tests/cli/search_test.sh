#!/usr/bin/env bash
# ridge search, fold, periods, dedisperse and beamform: files, pipes, masks, one-line errors.
source "$(dirname "${BASH_SOURCE[0]}")/../support/prelude.sh"

small=(--channels 128 --bandwidth 32 --interval 256e-6 --seconds 8)
"$ridge" search signal test.fil "${small[@]}" --pulse 120:2:8:25 --pulse 60:5:4:20 --truth truth.json >/dev/null || fail "signal"
has '"samples": 8' truth.json

# --- search ----------------------------------------------------------------------------------------------------------
expect '2 candidates above 7 sigma' "$ridge" search test.fil --dm 0..200 --device host --out found.json --svg all.svg --plots plots
has '"dm": ' found.json && has '"snr": ' found.json && has '"width": ' found.json && has '"time": 2.00' found.json
has '<circle' all.svg
[ "$(ls plots | wc -l)" -eq 2 ] || fail "plots: $(ls plots)"
"$ridge" search test.fil --dm 0:200 --device host --out found.csv --quiet >/dev/null || fail "csv"
[ "$(wc -l <found.csv)" -eq 3 ] || fail "csv: $(cat found.csv)"
# A pipe and two threads give the same candidates.
"$ridge" search - --dm 0..200 --device host --out - --threads 2 <test.fil >piped.json || fail "pipe"
same found.json piped.json "a pipe or threads change the candidates"
# Blocks and boxcars are no longer than the file: 64 of these boxcars would be 4 GB of samples.
expect '2 candidates above 7 sigma' timeout 60 "$ridge" search test.fil --dm 0..200 --device host --widest 1000000
# Reading and searching are stages of a graph.
"$ridge" search test.fil --dm 0..200 --device host --out - --schedule - 2>schedule.txt >again.json || fail "schedule"
same found.json again.json "a schedule changes the candidates"
has 'read' schedule.txt && has 'search' schedule.txt
# Programs write whole paths into the header.
python3 -c "
import struct, sys
data = open('test.fil', 'rb').read()
path = b'/' * 200
sys.stdout.buffer.write(data[:16] + struct.pack('<i', 11) + b'rawdatafile' + struct.pack('<i', 200) + path + data[16:])" >path.fil
expect '2 candidates above 7 sigma' "$ridge" search path.fil --dm 0..200 --device host
# Floats may have any unit; constant channels are reported.
python3 -c "
import array, struct, sys
data = bytearray(open('test.fil', 'rb').read())
end = data.index(b'HEADER_END') + 10
at = data.index(b'nbits') + 5
data[at:at + 4] = struct.pack('<i', 32)
values = array.array('f', [1e-26 * (96 if i % 128 == 5 else x) for i, x in enumerate(data[end:])])
sys.stdout.buffer.write(data[:end] + values.tobytes())" >unit.fil
expect '2 candidates above 7 sigma' "$ridge" search unit.fil --dm 0..200 --device host
expect 'left out: 0.781 % of the channels, constant or flagged throughout' "$ridge" search unit.fil --dm 0..200 --device host
# Every number of bits; one pulse of S/N 25 each.
for bits in 1 2 4 16 32; do
  "$ridge" search signal - "${small[@]}" --bits $bits --pulse 120:3:16:25 >bits.fil || fail "signal of $bits bits"
  expect '^1 candidate above' "$ridge" search bits.fil --dm 0..200 --device host
done
# PSRFITS: written from the .fil file, read back with the same candidates and to the same header.
"$ridge" search convert test.fil test.fits || fail "convert"
[ "$(head -c 9 test.fits)" = 'SIMPLE  =' ] || fail "test.fits is not FITS"
if "$ridge" search convert test.fits back.fil 2>cfitsio.txt; then
  expect '2 candidates above 7 sigma' "$ridge" search test.fits --dm 0..200 --device host --out fits.json
  python3 - found.json fits.json <<'EOF' || fail "candidates of test.fits"
import json, sys
ours, theirs = (json.load(open(name)) for name in sys.argv[1:])
assert [one["sample"] for one in ours] == [one["sample"] for one in theirs]
assert all(abs(a[k] - b[k]) < 1e-3 * a[k] for a, b in zip(ours, theirs) for k in ("dm", "time", "snr", "mjd"))
EOF
  [ "$(size back.fil)" -gt $((8 * 31250 / 8 * 128 * 4)) ] || fail "back.fil has $(size back.fil) bytes"
  mistake 'cannot be read from a pipe' "$ridge" search - <test.fits
else
  has 'libcfitsio-dev' cfitsio.txt
fi
# Flags are written as a file of the same shape, and can be applied again.
expect 'flagged: ' "$ridge" search test.fil --dm 0..200 --device host --flag 4.5 --flags-out flags.fil
[ "$(size flags.fil)" -ge $((8 * 31250 * 128 / 256 / 8)) ] || fail "flags.fil has $(size flags.fil) bytes"
expect 'flagged: ' "$ridge" search test.fil --dm 0..200 --device host --mask flags.fil
# The picture has flagged cells in red: here the upper half of the channels, and a pulse in the lower half is bright.
python3 -c '
data = open("flags.fil", "rb").read()
end = data.index(b"HEADER_END") + 10
open("half.fil", "wb").write(data[:end] + (b"\xff" * 8 + bytes(8)) * ((len(data) - end) // 16))' || fail "half.fil"
"$ridge" search test.fil --dm 0..200 --device host --mask half.fil --waterfall fall.png >/dev/null || fail "waterfall"
python3 - fall.png <<'EOF' || fail "fall.png"
import struct, sys, zlib
data, at, packed = open(sys.argv[1], "rb").read(), 8, b""
while at < len(data):
    size, kind = struct.unpack(">I4s", data[at:at + 8])
    if kind == b"IHDR": width, height = struct.unpack(">II", data[at + 8:at + 16])
    if kind == b"IDAT": packed += data[at + 8:at + 8 + size]
    at += size + 12
raw, before, red, bright = zlib.decompress(packed), bytearray(3 * width), [], 0
for y in range(height):
    method, line = raw[y * (3 * width + 1)], bytearray(raw[y * (3 * width + 1) + 1:(y + 1) * (3 * width + 1)])
    for i in range(3 * width):
        a, b, c = (line[i - 3] if i > 2 else 0), before[i], (before[i - 3] if i > 2 else 0)
        p = a + b - c
        nearest = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
        line[i] = (line[i] + (0, a, b, (a + b) // 2, nearest)[method]) % 256
    red.append(sum(line[i:i + 3] == b"\xc8\0\0" for i in range(0, 3 * width, 3)))
    bright += sum(line[i] == 255 for i in range(1, 3 * width, 3))
    before = line
assert red == [width] * 64 + [0] * 64, red
assert bright > 0
EOF
mistake 'must end in .png' "$ridge" search test.fil --waterfall fall.svg

mistake 'needs a range such as 0..3000' "$ridge" search test.fil --dm 5..x
mistake 'needs the smaller number first: 0..500' "$ridge" search test.fil --dm 500..0
: >empty.fil
mistake 'empty.fil: not a SIGPROC file that can be used: it is empty' "$ridge" search empty.fil
mistake 'a memory limit of' "$ridge" search test.fil --memory 1
head -c 1000000 test.fil >some.fil  # fewer samples than a block
mistake 'a memory limit of' "$ridge" search some.fil --memory 1K
mistake '--kurtosis 65536: the input has' "$ridge" search some.fil --kurtosis 65536
mistake 'half of the sampling rate' "$ridge" periods some.fil --lowest 1e9 --device host
expect 'bins hold no sample: the input is shorter than the period' "$ridge" fold some.fil profile.npy --period 1000
mistake '--dm needs a value' "$ridge" search test.fil --dm
mistake '--dm was given 2 times, needs one value' "$ridge" search test.fil --dm 5 --dm 6
mistake 'unexpected argument: test.fil' "$ridge" search test.fil test.fil
mistake 'must end in .npy' "$ridge" fold test.fil profile.png --period 0.1
mistake 'must end in .npy' "$ridge" beamform test.fil power.fil
mistake 'needs a filterbank file' "$ridge" search
mistake 'not a SIGPROC file that can be used' "$ridge" search truth.json
mistake '--plots reads the input again' "$ridge" search - --plots plots </dev/null
mistake '--plots test.fil: needs a folder' "$ridge" search test.fil --plots test.fil
mistake 'needs a folder, but' "$ridge" search test.fil --plots test.fil/below
mistake 'the file has 1 IFs' "$ridge" search test.fil --if 1
mistake 'is the largest that fits' "$ridge" search test.fil --dm 1e6..2e6 --device host
# Dispersion measures whose sweep exceeds the file are left out of a range.
expect 'left out: DM above' "$ridge" search test.fil --dm 0..100000 --device host
mistake 'is the largest that fits' "$ridge" periods test.fil --dm 1e5 --device host
mistake 'that of light' "$ridge" periods test.fil --acceleration -1e9..1e9 --device host
mistake 'an epoch near the first sample' "$ridge" fold test.fil out.npy --period 0.1 --epoch 1e300
mistake 'must be positive' "$ridge" fold test.fil out.npy --period 0.1 --pdot 1
mistake 'needs DM:SECONDS:SAMPLES:S/N' "$ridge" search signal out.fil --pulse 3:4
mistake 'needs 1, 2, 4, 8, 16 or 32 bits' "$ridge" search signal out.fil --bits 3

# Joined files are an error wherever the second header is, for every command that reads them; also with nsamples.
rows() { head -c $(($(size test.fil) - 31250 * 128 + $1)) test.fil; }  # the header and $1 bytes of rows
[ "$(rows 0 | tail -c 10)" = HEADER_END ] || fail "the header of test.fil is not 31250 rows before its end"
python3 -c "
import struct, sys
data = open('test.fil', 'rb').read()
end = data.index(b'\x0a\x00\x00\x00HEADER_END')
sys.stdout.buffer.write(data[:end] + struct.pack('<I', 8) + b'nsamples' + struct.pack('<i', 31250) + data[end:])" >counted.fil
cat test.fil test.fil >joined.fil
{ rows 400050; cat test.fil; } >cut-joined.fil  # within a row
cat counted.fil test.fil >counted-joined.fil
for file in joined.fil cut-joined.fil counted-joined.fil; do
  mistake 'another SIGPROC header follows' "$ridge" search $file --dm 0..20 --device host
  mistake 'another SIGPROC header follows' "$ridge" search - --dm 0..20 --device host <$file
  mistake 'another SIGPROC header follows' "$ridge" fold $file no.npy --period 0.1
  mistake 'another SIGPROC header follows' "$ridge" periods $file --device host
done
# Of a truncated file the whole rows are searched, and the rest is reported.
rows 2560050 >cut.fil
expect 'the last row is incomplete, 50 of 128 bytes' "$ridge" search cut.fil --dm 0..20 --device host
head -c $(($(size counted.fil) - 1250 * 128)) counted.fil >short.fil
expect 'short.fil: ends after 30000 of the 31250 samples of its header' "$ridge" search short.fil --dm 0..20 --device host
expect 'ends after 30000 of the 31250 samples of its header' "$ridge" fold short.fil profile.npy --period 0.1
python3 -c "
import struct
data = bytearray(open('test.fil', 'rb').read())
at = data.index(b'fch1') + 4
data[at:at + 8] = struct.pack('<d', 1e6 * struct.unpack('<d', data[at:at + 8])[0])
open('hertz.fil', 'wb').write(data)"
mistake 'fch1 is in MHz' "$ridge" search hertz.fil --dm 0..20 --device host
{ cat counted.fil; head -c 500 /dev/zero; } >longer.fil
expect 'more samples follow the nsamples 31250' "$ridge" search longer.fil --dm 0..20 --device host
# A mask has as many rows as the input; one row in the last block has flags too.
rows $((20000 * 128)) >fewer.fil
"$ridge" search fewer.fil --dm 0..20 --device host --flag 6 --flags-out fewer-flags.fil >/dev/null || fail "fewer.fil"
mistake 'holds 20000 rows, and test.fil holds 31250' "$ridge" search test.fil --dm 0..20 --device host --mask fewer-flags.fil
mistake 'ends before the input' bash -c "cat test.fil | '$ridge' search - --dm 0..20 --device host --mask fewer-flags.fil"
rows $((16385 * 128)) >one-more.fil
"$ridge" search one-more.fil --dm 0..20 --device host --block 16384 --flag 6 --flags-out one-more-flags.fil >/dev/null || fail "one-more.fil"
expect 'candidates? above' "$ridge" search one-more.fil --dm 0..20 --device host --mask one-more-flags.fil

# --- fold, periods ---------------------------------------------------------------------------------------------------
pulses=()
for i in $(seq 0 60); do pulses+=(--pulse "30:$(awk -v i="$i" 'BEGIN { printf "%.6f", 0.1 + i * 0.123456 }'):10:12"); done
"$ridge" search signal pulsar.fil "${small[@]}" "${pulses[@]}" >/dev/null || fail "pulsar"
expect '64 bins, 2 sub-bands: S/N [5-9][0-9]' "$ridge" fold pulsar.fil profile.npy --period 0.123456 --dm 30 --bins 64 --subbands 2 --png profile.png
[ "$(size profile.npy)" -eq $((128 + 2 * 64 * 8)) ] || fail "profile.npy has $(size profile.npy) bytes"
expect '0\.123[0-9]* +8\.[01]' "$ridge" periods pulsar.fil --dm 30 --device host --out periods.json
has '"period": 0.123' periods.json
mistake 'needs --period SECONDS or --polyco FILE' "$ridge" fold pulsar.fil out.npy
mistake 'needs 1, 2, 4, 8, 16 or 32 harmonics, got 3' "$ridge" periods pulsar.fil --harmonics 3 --device host
printf 'a b c\n' >bad.polyco
mistake 'not a polyco file' "$ridge" fold pulsar.fil out.npy --polyco bad.polyco

# --- voltages --------------------------------------------------------------------------------------------------------
head -c 80000 /dev/zero | tr '\0' '\1' | npy volts.npy '<c8' '(10000,)'
expect '10000 samples, transforms of ' "$ridge" dedisperse volts.npy out.npy --dm 3 --centre 1400 --rate 6.25 --device host
same <(head -c 128 volts.npy) <(head -c 128 out.npy) "the header of dedispersed samples"
[ "$(size out.npy)" -eq "$(size volts.npy)" ] || fail "out.npy has $(size out.npy) bytes"
tail -c 80000 volts.npy >volts.raw
"$ridge" dedisperse - - --dm 3 --centre 1400 --rate 6.25 --device host <volts.raw >out.raw || fail "a pipe of voltages"
same <(tail -c 80000 out.npy) out.raw "a pipe of voltages differs"
head -c 79996 volts.raw >odd.raw
mistake 'odd.raw ends 4 bytes into a sample of 8' "$ridge" dedisperse odd.raw no.raw --dm 3 --centre 1400 --rate 6.25 --device host
mistake 'test.fil is a SIGPROC file, not raw samples' "$ridge" dedisperse test.fil no.raw --dm 3 --centre 1400 --rate 6.25 --device host
mistake 'is the largest that fits' "$ridge" dedisperse volts.npy no.npy --dm 1e5 --centre 1400 --rate 6.25 --device host
mistake 'needs a band above 0 MHz' "$ridge" dedisperse volts.npy no.npy --dm 3 --centre 1 --rate 6.25 --device host
head -c $((2 * 8 * 3 * 8)) /dev/zero | npy stations.npy '<c8' '(2, 8, 3)'
head -c $((4 * 3 * 8)) /dev/zero | npy weights.npy '<c8' '(4, 3)'
expect '5 beams of 3 stations' "$ridge" beamform stations.npy beams.npy --weights weights.npy --integrate 4 --incoherent --device host
[ "$(size beams.npy)" -eq $((128 + 2 * 5 * 2 * 4)) ] || fail "beams.npy has $(size beams.npy) bytes"
# Flagged voltages are left out: one station of three at four times of eight; all of the second channel's first four.
python3 -c "
import struct, sys
sys.stdout.buffer.write(struct.pack('<96f', *[1, 0] * 48))" | npy ones.npy '<c8' '(2, 8, 3)'
python3 -c "
import struct, sys
sys.stdout.buffer.write(struct.pack('<6f', *[1, 0] * 3))" | npy one.npy '<c8' '(1, 3)'
python3 -c "
import sys
sys.stdout.buffer.write(bytes([0, 0, 1] * 4 + [0, 0, 0] * 4 + [1, 1, 1] * 4 + [0, 0, 0] * 4))" | npy flags.npy '|u1' '(2, 8, 3)'
"$ridge" beamform ones.npy beams.npy --weights one.npy --integrate 4 --flags flags.npy --shares shares.npy --device host >/dev/null ||
  fail "flags of voltages"
python3 -c "
import struct
read = lambda name: struct.unpack('<4f', open(name, 'rb').read()[128:])
power, shares = read('beams.npy'), read('shares.npy')
assert power[:2] == (16, 36) and power[2] != power[2] and power[3] == 36, power
assert all(abs(a - b) < 1e-6 for a, b in zip(shares, (2 / 3, 1, 0, 1))), shares" || fail "beams without flagged voltages"
head -c 8 /dev/zero | npy few.npy "|u1" "(8,)"
mistake 'needs uint8 of the shape (2, 8) or (2, 8, 3)' "$ridge" beamform ones.npy no.npy --weights one.npy --flags few.npy --device host
python3 -c 'import struct; open("nan", "wb").write(struct.pack("<6f", 1, 0, float("nan"), 0, 1, 0))'
npy nan.npy "<c8" "(1, 3)" <nan
mistake 'holds a weight that is not finite' "$ridge" beamform stations.npy no.npy --weights nan.npy --device host
# Voltages, weights and positions of other types; a frequency in Hz.
python3 -c "
import struct, sys
sys.stdout.buffer.write(struct.pack('<96d', *[1, 0] * 48))" | npy wide.npy '<c16' '(2, 8, 3)'
python3 -c "
import struct, sys
sys.stdout.buffer.write(struct.pack('<3d', 1, 1, 1))" | npy real.npy '<f8' '(1, 3)'
"$ridge" beamform ones.npy beams.npy --weights one.npy --integrate 4 --device host >/dev/null || fail "beams of complex64"
"$ridge" beamform wide.npy wide_beams.npy --weights real.npy --integrate 4 --device host >/dev/null || fail "beams of complex128"
same beams.npy wide_beams.npy "beams of complex128"
head -c 36 /dev/zero | npy places.npy '<f4' '(3, 3)'
python3 -c "
import struct, sys
sys.stdout.buffer.write(struct.pack('<3f', 0, 0, 1))" | npy zenith.npy '<f4' '(1, 3)'
expect '1 beams of 3 stations' "$ridge" beamform ones.npy sky.npy --positions places.npy --directions zenith.npy --frequency 1400 --device host
mistake '--frequency: 1.4e9 is not in the range 0.001 to' "$ridge" beamform ones.npy no.npy --positions places.npy --directions zenith.npy --frequency 1.4e9
mistake '--centre: 1.4e9 is not in the range 0.001 to' "$ridge" dedisperse volts.npy no.npy --dm 3 --centre 1.4e9 --rate 6.25 --device host
"$ridge" channelize signal frames.vdif --format vdif --seconds 0.1 2>/dev/null || fail "VDIF"
mistake 'frames.vdif is a VDIF file, not raw samples' "$ridge" dedisperse frames.vdif no.raw --dm 3 --centre 1400 --rate 6.25 --device host
# Bytes as they are, and complex voltages rounded to bytes: the same powers. Three stations of 1 + 0 i, weights of 1.
python3 -c "
import sys
sys.stdout.buffer.write(bytes([1, 0] * 48))" | npy bytes.npy '|i1' '(2, 8, 3, 2)'
for arithmetic in int8 float16 float32; do
  "$ridge" beamform bytes.npy "$arithmetic.npy" --weights one.npy --integrate 4 --incoherent --arithmetic "$arithmetic" --device host >/dev/null ||
    fail "beams of bytes, $arithmetic"
done
expect 'int8: voltages times 24, 0 of 96 parts limited' "$ridge" beamform ones.npy scaled.npy --weights one.npy --integrate 4 --incoherent --arithmetic int8 --scale 24 --device host
python3 -c "
import struct
for name in ('int8', 'float16', 'float32', 'scaled'):
    power = struct.unpack('<8f', open(name + '.npy', 'rb').read()[128:])
    assert all(abs(found - exact) < 1e-4 for found, exact in zip(power, (36, 36, 12, 12) * 2)), (name, power)" || fail "powers of bytes"
"$ridge" beamform bytes.npy beams.npy --weights one.npy --integrate 4 --flags flags.npy --arithmetic int8 --device host >/dev/null || fail "flags of bytes"
python3 -c "
import struct
power = struct.unpack('<4f', open('beams.npy', 'rb').read()[128:])
assert abs(power[0] - 16) < 1e-4 and power[2] != power[2] and abs(power[3] - 36) < 1e-4, power" || fail "beams without flagged bytes"
mistake '--scale needs complex voltages' "$ridge" beamform bytes.npy no.npy --weights one.npy --arithmetic int8 --scale 2 --device host
mistake '--scale needs complex voltages' "$ridge" beamform ones.npy no.npy --weights one.npy --scale 2 --device host
mistake 'or int8 of (channels, times, stations, 2), got uint8 of 3 axes' "$ridge" beamform flags.npy no.npy --weights one.npy --device host
mistake 'voltages need the arithmetic float32' "$ridge" beamform bytes.npy no.npy --weights one.npy --arithmetic int8 --voltages --device host
mistake 'below the' "$ridge" fold test.fil no.npy --period 1e-6
mistake 'needs --weights FILE, or --positions' "$ridge" beamform stations.npy no.npy --device host
finish
