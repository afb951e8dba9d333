#!/usr/bin/env bash
# ridge channelize on an OpenCL device: power, .fil and correlations are computed there and equal the host's.
source "$(dirname "${BASH_SOURCE[0]}")/../support/prelude.sh"
have_opencl || { echo "skipped: no OpenCL device here" && exit 77; }

bank="--channels 16 --taps 4 --stations 3"
"$ridge" channelize signal in.raw --stations 3 --block 16 --rate 48000 --seconds 0.1 --samples i8 --tone 3000:0.4 || fail "signal"

# compare NAME WORDS OPTIONS...: on the host, on the device in many blocks and in one; the device's report contains WORDS
compare() {
  local name=$1 words=$2 options
  shift 2
  "$ridge" channelize in.raw "host.$name" $bank --quiet --device host "$@" || fail "host $name $*"
  for options in "" "--memory 8K"; do
    "$ridge" channelize in.raw "device.$name" $bank --device opencl:0 $options "$@" 2>report || fail "device $name $*: $(cat report)"
    has "$words" report
    close_to "host.$name" "device.$name" 1e-5 || fail "device and host differ: $name $options $*"
  done
}
compare raw ""
compare raw "fused power" --detect stokes --times 12 --sum-channels 4
compare raw "correlator on the device" --correlate --times 24 --sum-channels 2
echo "5000,700" >lost.txt
compare raw "correlator on the device" --correlate --times 32 --lost lost.txt --flags counts.npy
"$ridge" channelize in.raw host.fil --channels 16 --taps 4 --rate 48000 --frequency 150 --times 8 --quiet --device host || fail ".fil on the host"
"$ridge" channelize in.raw device.fil --channels 16 --taps 4 --rate 48000 --frequency 150 --times 8 --device opencl:0 2>report || fail ".fil"
has "fused power" report
tail -c 4800 host.fil >host.power
tail -c 4800 device.fil >device.power
close_to host.power device.power 1e-5 || fail ".fil differs"

# Resumed in the middle: the same bytes as an uninterrupted run.
for what in "--detect stokes --times 12 --sum-channels 4" "--correlate --times 24 --sum-channels 2"; do
  "$ridge" channelize in.raw whole.raw $bank --quiet --device opencl:0 $what || fail "whole $what"
  "$ridge" channelize in.raw rest.raw $bank --quiet --device opencl:0 $what --from-sample $((96 * 16)) || fail "rest $what"
  tail -c "$(size rest.raw)" whole.raw >tail.raw
  same tail.raw rest.raw "begun at sample 1536: $what"
  head -c $((100 * 16 * 12 + 5)) in.raw >cut.raw
  "$ridge" channelize cut.raw resumed.raw $bank --quiet --device opencl:0 $what --resume || fail "first $what"
  "$ridge" channelize in.raw resumed.raw $bank --quiet --device opencl:0 $what --resume || fail "resumed $what"
  same whole.raw resumed.raw "resumed: $what"
  rm resumed.raw
done

# Options that need spectra use spectra.
for i in 0 1; do echo "$((i * 700)) 0 1.25 2 0.5 1 3"; done >delays.txt
compare raw "" --delays delays.txt --rate 48000 --frequency 150 --detect total --times 6
compare raw "" --delays delays.txt --rate 48000 --frequency 150 --correlate --times 16

# Both devices, with stations divided by their speed.
"$ridge" channelize in.raw host.raw $bank --quiet --detect total --times 6 || fail "one device"
"$ridge" channelize in.raw both.raw $bank --device host,opencl:0 --detect total --times 6 2>report || fail "two devices: $(cat report)"
close_to host.raw both.raw 1e-5 || fail "two devices differ"
"$ridge" channelize in.raw host.raw $bank --quiet || fail "one device"
"$ridge" channelize in.raw both.raw $bank --device host,opencl:0 --memory 10K 2>report || fail "two devices: $(cat report)"
close_to host.raw both.raw 1e-5 || fail "spectra of two devices differ"
finish
