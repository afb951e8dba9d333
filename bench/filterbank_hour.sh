#!/usr/bin/env bash
# Channelizes an hour of one subband of 16 stations (195312.5 Hz, two polarizations, int16: 90 GB) through a pipe and
# writes power:
#   bench/filterbank_hour.sh [SECONDS OF DATA, 3600] [RIDGE]
# Runs once in pieces of 1 MiB while sampling the memory of the process, and once in pieces of 10007 bytes, killed
# halfway and resumed. Both outputs must be equal, and the memory must be constant within 1 %.
set -u
seconds=${1:-3600} ridge=${2:-ridge}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
rate=195312.5 times=763
signal="channelize signal - --stations 16 --samples i16 --rate $rate --seconds $seconds --block 256"
run="--channels 256 --taps 16 --stations 16 --samples i16 --rate $rate --detect stokes --times $times"
row=$((16 * 4 * 256 * 4))
pause=1
[ "$seconds" -ge 600 ] || pause=0.05

echo "$seconds s of 16 stations: $(awk "BEGIN { printf \"%.1f\", $seconds * $rate * 16 * 2 * 4 / 1e9 }") GB in"
# A named pipe, so that the process to be sampled is a direct child.
mkfifo "$folder/pipe"
"$ridge" $signal >"$folder/pipe" &
generator=$!
"$ridge" channelize "$folder/pipe" "$folder/one.raw" $run --digest 2>"$folder/report" &
bank=$!
: >"$folder/memory"
while kill -0 $bank 2>/dev/null; do
  awk '/^VmRSS/ { print $2 }' /proc/$bank/status 2>/dev/null >>"$folder/memory"
  sleep "$pause"
done
wait $bank || { echo "FAILED: $(cat "$folder/report")"; exit 1; }
wait $generator
cat "$folder/report"
# The first tenth is excluded: buffers are allocated and touched there.
awk '{ v[NR] = $1 } END {
  first = int(NR / 10) + 1; low = high = v[first]
  for (i = first; i <= NR; ++i) { if (v[i] < low) low = v[i]; if (v[i] > high) high = v[i] }
  printf "memory: %d samples, %.1f to %.1f MB, range %.2f %%\n", NR, low / 1000, high / 1000, 100 * (high - low) / low
  exit (high - low) * 100 > low
}' "$folder/memory" || { echo "FAILED: memory varies by more than 1 %"; exit 1; }

# Killed when about half of the output is written, at an arbitrary point.
half=$(($(stat -c %s "$folder/one.raw") / 2))
rm "$folder/pipe" && mkfifo "$folder/pipe"
"$ridge" $signal --chunk 10007 >"$folder/pipe" 2>/dev/null &
generator=$!
"$ridge" channelize "$folder/pipe" "$folder/two.raw" $run --resume --quiet &
bank=$!
while kill -0 $bank 2>/dev/null && [ "$(stat -c %s "$folder/two.raw" 2>/dev/null || echo 0)" -lt $half ]; do sleep 0.2; done
kill -KILL $bank 2>/dev/null
wait $bank $generator 2>/dev/null
rows=$(($(stat -c %s "$folder/two.raw") / row))
# The first window after the resume sample needs the 16 blocks before it.
from=$(((rows * times - 16) * 256))
[ $from -ge 0 ] || from=0
echo "killed with $rows rows written, resuming at sample $((rows * times * 256)) with a pipe that starts at sample $from"
rest=$(awk "BEGIN { printf \"%.12g\", $seconds - ($from + 0.25) / $rate }")  # up to the same last sample
"$ridge" ${signal/--seconds $seconds/--seconds $rest} --from-sample $from --chunk 10007 |
  "$ridge" channelize - "$folder/two.raw" $run --resume --first-sample $from || exit 1
cmp "$folder/one.raw" "$folder/two.raw" || { echo "FAILED: the outputs differ"; exit 1; }
echo "equal outputs: $(stat -c %s "$folder/one.raw") bytes"
