#!/usr/bin/env bash
# ridge channelize on files and pipes: the same bytes for any division of the input, headers, resuming, one-line errors.
source "$(dirname "${BASH_SOURCE[0]}")/../support/prelude.sh"
# 2 stations, 64 channels, 2 polarizations of int8: 512 bytes per row
head -c $((512 * 300)) <(yes "the quick brown fox jumps over the lazy dog 0123456789" | tr -d '\n' | tr 'a-z' '\200-\232') >in.raw
bank="--channels 64 --taps 8 --stations 2 --quiet"

# --- the same bytes from a file, a pipe, little memory, one thread, and in two runs ------------------------------------
$ridge channelize in.raw whole.raw $bank || fail "file to file"
[ "$(size whole.raw)" -eq $((300 * 2 * 2 * 64 * 8)) ] || fail "size $(size whole.raw)"
cat in.raw | $ridge channelize - - $bank >piped.raw || fail "pipes"
same whole.raw piped.raw "through pipes"
for block in 1 1000 65536; do
  dd if=in.raw bs=$block 2>/dev/null | $ridge channelize - - $bank --memory 8K >small.raw || fail "blocks of $block"
  same whole.raw small.raw "written to the pipe $block bytes at a time"
done
$ridge channelize in.raw one.raw $bank --threads 1 || fail "one thread"
same whole.raw one.raw "one thread"
head -c $((512 * 100 + 77)) in.raw >cut.raw
$ridge channelize cut.raw first.raw $bank || fail "first part"
$ridge channelize in.raw rest.raw $bank --from-sample 6400 || fail "second part"
cat first.raw rest.raw >both.raw
same whole.raw both.raw "resumed at sample 6400"
$ridge channelize in.raw over.raw $bank --oversample 8/7 || fail "oversampled"
$ridge channelize in.raw over_rest.raw $bank --oversample 8/7 --from-sample $((56 * 33)) || fail "oversampled, resumed"
tail -c "$(size over_rest.raw)" over.raw >over_tail.raw
same over_tail.raw over_rest.raw "oversampled and resumed"
[ "$(size over.raw)" -eq $(((300 * 64 / 56) * 2 * 2 * 64 * 8)) ] || fail "oversampled size $(size over.raw)"

# --- .npy and power ----------------------------------------------------------------------------------------------------
$ridge channelize in.raw out.npy $bank || fail ".npy"
head -c 256 out.npy | grep -qF "(300, 2, 2, 64)" || fail ".npy header: $(head -c 128 out.npy)"
tail -c +257 out.npy >body.raw
same body.raw whole.raw ".npy"
$ridge channelize in.raw out.npy $bank --detect stokes --times 10 --sum-channels 4 || fail "stokes"
head -c 256 out.npy | grep -qF "(30, 2, 4, 16)" || fail "stokes header: $(head -c 128 out.npy)"
$ridge channelize in.raw out.fil --channels 64 --taps 8 --rate 1e6 --frequency 150 --times 4 >stdout 2>report || fail ".fil"
head -c 16 out.fil | grep -q HEADER_START || fail "no SIGPROC header"
grep -q "times real time" report || fail "no real-time margin: $(cat report)"
grep -q "lost" report && fail "raw samples have no counter: $(cat report)"
[ "$(wc -l <report)" -eq 1 ] || fail "more than a line: $(cat report)"

# --- order, factors, delays, correlation --------------------------------------------------------------------------------
$ridge channelize in.raw order.npy $bank --order channel --output-times 7 || fail "channel-major"
head -c 256 order.npy | grep -qF "(42, 64, 2, 2, 7)" || fail "channel-major header: $(head -c 128 order.npy)"
# Factors of 1 and delays of 0 change nothing.
head -c $((64 * 8)) <(while :; do printf '\0\0\200\77\0\0\0\0'; done) >ones.raw
$ridge channelize in.raw factors.raw $bank --bandpass ones.raw || fail "bandpass"
same whole.raw factors.raw "factors of 1"
printf '# sample, then X and Y of both stations\n0 0 0 0 0\n1000 0 0 0 0\n' >none.txt
$ridge channelize in.raw delays.raw $bank --delays none.txt || fail "delays"
same whole.raw delays.raw "delays of 0"
# A delay of three whole samples equals a file without its first three samples.
$ridge channelize signal one.raw --block 64 --seconds 0.1 || fail "signal"
tail -c +13 one.raw >late.raw
printf '0 3 3\n' >three.txt
$ridge channelize one.raw moved.raw --channels 64 --quiet --delays three.txt || fail "three samples"
$ridge channelize late.raw plain.raw --channels 64 --quiet || fail "three samples by hand"
# Only the first 16 rows differ, whose windows include samples before the first one.
tail -c +$((16 * 64 * 2 * 8 + 1)) moved.raw >moved_rest.raw
tail -c +$((16 * 64 * 2 * 8 + 1)) plain.raw | head -c "$(size moved_rest.raw)" >plain_rest.raw
[ "$(size moved_rest.raw)" -gt 100000 ] || fail "too few spectra to compare"
same moved_rest.raw plain_rest.raw "three whole samples of delay"
$ridge channelize in.raw vis.npy $bank --correlate --times 50 --sum-channels 2 || fail "correlate"
head -c 256 vis.npy | grep -qF "(6, 3, 32, 2, 2)" || fail "correlation header: $(head -c 128 vis.npy)"
$ridge channelize in.raw vis.raw $bank --correlate --times 50 --sum-channels 2 --memory 8K --threads 1 || fail "correlate"
tail -c +257 vis.npy >body.raw
same body.raw vis.raw "a correlation in small pieces"
$ridge channelize in.raw bytes.raw $bank --correlate --times 50 --arithmetic int8 --scale 2 || fail "products of bytes"
$ridge channelize in.raw bytes1.raw $bank --correlate --times 50 --arithmetic int8 --scale 2 --memory 8K --threads 1 || fail "products of bytes"
same bytes.raw bytes1.raw "products of bytes, little memory"
mistake "no arithmetic" $ridge channelize in.raw out.raw $bank --correlate --times 50 --arithmetic int9
mistake "scale is 2" $ridge channelize in.raw out.raw $bank --correlate --times 50 --scale 2
mistake "need --correlate" $ridge channelize in.raw out.raw $bank --times 50 --arithmetic int8

# --- killed and resumed, subbands, a digest -------------------------------------------------------------------------------
signal="signal - --stations 3 --block 64 --samples i16 --seconds 0.4"
run="--channels 64 --taps 8 --stations 3 --samples i16 --detect stokes --times 10"
$ridge channelize $signal | $ridge channelize - power.raw $run --quiet --digest 2>digest1 || fail "power"
$ridge channelize $signal --chunk 1001 | $ridge channelize - - $run --quiet --memory 8K --digest >power2.raw 2>digest2 ||
  fail "power in odd pieces"
same power.raw power2.raw "pieces of 1001 bytes"
same digest1 digest2 "digests"
grep -q "digest of all channels: [0-9a-f]\{32\}" digest1 || fail "no digest: $(cat digest1)"
# begun: a run with --resume, killed in the middle of a row
begun() {
  rm -f resumed.raw
  $ridge channelize $signal | head -c 900000 | $ridge channelize - resumed.raw $run --resume --quiet || fail "begin"
  truncate -s 123456 resumed.raw
}
begun
$ridge channelize $signal | $ridge channelize - resumed.raw $run --resume --quiet || fail "resume"
same power.raw resumed.raw "resumed"
for report in first second; do
  $ridge channelize in.raw complete.raw --channels 64 --resume 2>$report || fail "complete file, $report run"
done
grep -q "the input holds no further spectrum from sample" second && ! grep -q "fewer than" second ||
  fail "remark on a complete file: $(cat second)"
rows=$((123456 / (3 * 4 * 64 * 4)))
from=$(((rows * 10 - 8) * 64))
begun
rest=$(awk "BEGIN { print (78125 - $from) / 195312.5 }") # --seconds is the length, from --from-sample on
$ridge channelize ${signal/0.4/$rest} --from-sample $from | $ridge channelize - resumed.raw $run --resume --first-sample $from --quiet ||
  fail "resume of a pipe opened late"
same power.raw resumed.raw "resumed with a pipe opened late"
begun
cp resumed.raw before.raw
mistake "it holds \"64 channels" $ridge channelize in.raw resumed.raw --channels 64 --resume
mistake "it holds \"64 channels" $ridge channelize in.raw resumed.raw ${run/stokes/total} --resume # another product
printf 'x' | dd of=resumed.raw bs=1 seek=100 conv=notrunc 2>/dev/null
mistake "is not the file" $ridge channelize in.raw resumed.raw $run --resume
cp power.raw letter.raw
mistake "was not begun with --resume" $ridge channelize in.raw letter.raw $run --resume
same power.raw letter.raw "a file that is not ours"
mistake "too late" $ridge channelize in.raw out.raw --channels 64 --first-sample 640
mistake "too late" $ridge channelize in.raw out.raw --channels 64 --first-sample 640 --resume
for i in 3 4 5; do
  $ridge channelize signal "sb$i.raw" --block 64 --seconds 0.02 --seed $i || fail "signal $i"
  $ridge channelize "sb$i.raw" "alone$i.out" --channels 64 --quiet || fail "subband $i"
done
$ridge channelize 'sb{}.raw' 'sb{}.out' --subbands 3-4,5 --channels 64 --quiet || fail "subbands"
for i in 3 4 5; do same "alone$i.out" "sb$i.out" "subband $i"; done
$ridge channelize in.raw two.raw $bank --device host,host || fail "two devices"
same whole.raw two.raw "stations over two devices"

# --- GUPPI RAW with a block lost ---------------------------------------------------------------------------------------
guppi() { # PKTIDX
  local line
  for line in "OBSNCHAN= 2" "NPOL    = 4" "NBITS   = 8" "BLOCSIZE= 8192" "OBSFREQ = 1400.0" "OBSBW   = 2.0" \
    "TBIN    = 1.0E-06" "PIPERBLK= 16" "PKTIDX  = $1" "OVERLAP = 0" "END"; do
    printf '%-80s' "$line"
  done
  head -c 8192 in.raw
}
{ guppi 0; guppi 16; guppi 48; guppi 64; } >guppi.raw
$ridge channelize guppi.raw out.raw --channels 64 --taps 4 --flags flags.txt 2>report || fail "GUPPI: $(cat report)"
grep -q "1024 samples lost in 1 gaps" report || fail "gap not counted: $(cat report)"
# Block 2 of 5 is missing: samples 2048 to 3071, spectra 32 to 47 and three more whose windows include them.
grep -qx "32 50" flags.txt || fail "flags: $(cat flags.txt)"
[ "$(size out.raw)" -eq $((5 * 16 * 2 * 2 * 64 * 8)) ] || fail "GUPPI size $(size out.raw)"
$ridge channelize guppi.raw out.fil --channels 64 --taps 4 --quiet || fail "GUPPI to .fil"
# --- signals in instrument formats: the same channels as from raw samples --------------------------------------------------
for format in guppi dada vdif; do
  block=64
  [ $format = dada ] && block=1
  for samples in i8 i16; do
    made="--stations 2 --seconds 0.02 --rate 256000 --samples $samples --block $block"
    $ridge channelize signal plain.raw $made || fail "signal"
    $ridge channelize signal made.$format $made --format $format || fail "signal --format $format"
    $ridge channelize plain.raw plain.out --stations 2 --samples $samples --block $block --channels 64 --quiet || fail "raw"
    $ridge channelize made.$format made.out --format $format --channels 64 2>report || fail "$format: $(cat report)"
    same plain.out made.out "$format of $samples"
    grep -q "times real time" report || fail "no rate in the header of $format: $(cat report)"
  done
done
# VDIF has no signature: frames are recognized by two headers that follow each other, also in pipes.
cp made.vdif frames_without_ending
$ridge channelize frames_without_ending named.out --channels 64 --quiet || fail "VDIF without ending"
$ridge channelize - piped.out --channels 64 --quiet <made.vdif || fail "a pipe of VDIF"
same made.out named.out "VDIF without ending"
same made.out piped.out "a pipe of VDIF"
: >empty.raw
$ridge channelize empty.raw none.out --channels 64 2>report || fail "no samples: $(cat report)"
grep -q "holds fewer than the 64 samples of a spectrum" report || fail "no samples, no remark: $(cat report)"
# Channels written as PSRDADA and read again by a bank of one channel and one tap are unchanged.
$ridge channelize signal one.raw --block 64 --seconds 0.02 --rate 256000 || fail "signal"
$ridge channelize one.raw one.out --channels 64 --centred --quiet || fail "centred"
$ridge channelize one.raw one.dada --channels 64 --rate 256000 --frequency 150 --quiet || fail ".dada"
head -c 4096 one.dada | grep -aq "NCHAN *64" || fail "no NCHAN: $(head -c 4096 one.dada | tr -d '\0')"
head -c 4096 one.dada | grep -aq "TSAMP *250" || fail "no TSAMP of 250 us: $(head -c 4096 one.dada | tr -d '\0')"
$ridge channelize one.dada again.out --channels 1 --taps 1 --quiet || fail "channels from .dada"
same one.out again.out "channels through a .dada file"
# Frames are 32 + 64 x 4 bytes, four threads per block: blocks 25 and 26 are lost.
{ head -c $((288 * 100)) made.vdif; tail -c +$((288 * 108 + 1)) made.vdif; } >lost.vdif
$ridge channelize lost.vdif lost.out --channels 64 --taps 4 --flags flags.txt 2>report || fail "lost frames: $(cat report)"
grep -q "128 samples lost in 1 gaps, 5 spectra flagged" report || fail "frames lost: $(cat report)"
grep -qx "25 29" flags.txt || fail "flags: $(cat flags.txt)"
[ "$(size lost.out)" -eq "$(size made.out)" ] || fail "lost frames shift what follows"
# Correlations leave these spectra out: the same sums as of the others, and their counts.
for memory in 64M 8K; do
  $ridge channelize lost.vdif lost.vis --channels 64 --taps 4 --correlate --times 9 --flags counts.npy --memory $memory --quiet ||
    fail "correlations of lost frames"
  python3 - <<'END' || fail "correlations with --memory $memory"
from array import array
spectra, sums, counts = array("f"), array("f"), array("i")
spectra.frombytes(open("lost.out", "rb").read())
sums.frombytes(open("lost.vis", "rb").read())
counts.frombytes(open("counts.npy", "rb").read()[128:])
each, lost = 2 * 2 * 64 * 2, range(25, 30)  # floats per time: polarizations, stations, channels, parts
assert list(counts) == [9 - len([t for t in lost if t // 9 == i]) for i in range(len(counts))] and 7 in counts, counts
for i in range(len(counts)):
    for k in range(64):  # station 0 with itself, first polarization
        at = [t * each + 2 * k for t in range(9 * i, 9 * i + 9) if t not in lost]
        wanted = sum(spectra[a] ** 2 + spectra[a + 1] ** 2 for a in at)
        got = sums[i * 3 * 64 * 8 + k * 8]
        assert abs(got - wanted) <= 1e-5 * wanted, (i, k, got, wanted)
END
done
# --- two recordings in one stream, and every format with all defaults ----------------------------------------------------
for format in dada vdif; do
  $ridge channelize signal all.$format || fail "signal all.$format with all defaults"
  $ridge channelize all.$format all.out 2>report || fail "all.$format: $(cat report)"
  grep -q "nothing lost" report || fail "all.$format: $(cat report)"
  cat all.$format all.$format >twice.$format
done
mistake "runs back to second 0, frame 0" $ridge channelize twice.vdif out.raw
mistake "OBS_OFFSET is 0, before" $ridge channelize twice.dada out.raw
head -c 4096 all.dada | grep -aqx "FILE_SIZE 781252" || fail "no FILE_SIZE: $(head -c 4096 all.dada | tr -d '\0')"
head -c 4096 all.dada | grep -aqx "UTC_START 2025-01-01-00:00:00" || fail "no UTC_START: $(head -c 4096 all.dada | tr -d '\0')"
sed 's/^FILE_SIZE/FILE_SIZO/' all.dada >unsized.dada
cat unsized.dada all.dada >twice.dada
mistake "another header follows" $ridge channelize twice.dada out.raw
head -c 400000 all.dada >short.dada
$ridge channelize short.dada out.raw 2>report || fail "a short .dada: $(cat report)"
grep -q "the last file holds 385348 bytes less than its FILE_SIZE" report || fail "a short .dada: $(cat report)"
$ridge channelize signal all.guppi --format guppi --seconds 0.1 || fail "GUPPI RAW"
cat all.guppi all.guppi >twice.guppi
mistake "PKTIDX is 0 after 76" $ridge channelize twice.guppi out.raw
# The length is --seconds for any --from-sample, and the samples equal those of the whole signal.
$ridge channelize signal long.raw --seconds 0.02 --rate 256000 || fail "signal"
$ridge channelize signal late.raw --seconds 0.01 --rate 256000 --from-sample 2560 || fail "signal from a sample"
tail -c +$((2560 * 4 + 1)) long.raw >tail.raw
same tail.raw late.raw "signal --from-sample"
mistake "signal writes raw samples" $ridge channelize signal out.fil

# --- files of other formats are not accepted as raw samples ---------------------------------------------------------------
foreign() { # name, bytes for printf
  { printf "$2"; head -c 8000 in.raw; } >foreign.bin
  mistake "foreign.bin is a $1 file, not raw samples" $ridge channelize foreign.bin out.raw
  mistake "is a $1 file, not raw samples" sh -c "cat foreign.bin | $ridge channelize - out.raw"
  mistake "foreign.bin is a $1 file, not raw samples" $ridge channelize synthesize foreign.bin out.raw --oversample 8/7
}
foreign PNG '\211PNG\r\n\032\n'
foreign JPEG '\377\330\377\340'
foreign TIFF 'II*\0'
foreign TIFF 'MM\0*'
foreign gzip '\037\213\010\0'
foreign FITS 'SIMPLE  =                    T'
mistake "is a .npy file, not raw samples" $ridge channelize out.npy out.raw --format raw
mistake "is a PSRDADA file, not raw samples" $ridge channelize all.dada out.raw --format raw
mistake "is a GUPPI RAW file, not raw samples" $ridge channelize all.guppi out.raw --format raw
# The ending counts where the content says nothing: empty files, parts of files.
: >empty.dada
tail -c 3000 all.dada >end.dada
tail -c 3000 all.guppi >end.guppi
mistake "an empty PSRDADA stream" $ridge channelize empty.dada out.raw
mistake "not a PSRDADA stream that can be used" $ridge channelize end.dada out.raw
mistake "not a GUPPI RAW stream that can be used" $ridge channelize end.guppi out.raw

# --- headers: frequencies, times, 8 bits -----------------------------------------------------------------------------------
field() { # file, key, type for od: a value of a .fil header
  local at
  at=$(head -c 4096 "$1" | grep -abo "$2" | head -1 | cut -d: -f1)
  od -An -t "$3" -j $((at + ${#2})) -N "${3#?}" "$1" | tr -d ' '
}
fil="--channels 64 --taps 8 --rate 256000 --quiet"
mistake "needs the centre frequency of the band" $ridge channelize long.raw out.fil $fil
mistake "extends below 0 MHz" $ridge channelize long.raw out.fil $fil --frequency 0.1
mistake "needs the centre frequency of the band" $ridge channelize long.raw out.dada $fil
mistake "needs UTC as in" $ridge channelize long.raw out.fil $fil --frequency 1420 --start yesterday
$ridge channelize long.raw out.fil $fil --frequency 1420 --start 2025-03-01T12:00:00 --telescope GBT --source 3C48 \
  --from-sample 2560 || fail ".fil"
[ "$(field out.fil fch1 f8)" = 1419.872 ] || fail "fch1 is $(field out.fil fch1 f8)"
[ "$(field out.fil foff f8)" = 0.004 ] || fail "foff is $(field out.fil foff f8)"
[ "$(field out.fil tsamp f8)" = 0.00025 ] || fail "tsamp is $(field out.fil tsamp f8)"
[ "$(field out.fil tstart f8 | cut -c 1-14)" = 60735.50000011 ] || fail "tstart is $(field out.fil tstart f8)" # 10 ms later
[ "$(field out.fil telescope_id d4)" = 6 ] || fail "telescope_id is $(field out.fil telescope_id d4)"
head -c 400 out.fil | grep -aq 3C48 || fail "no source"
$ridge channelize long.raw out.dada $fil --frequency 1420 --start 60735.5 --telescope GBT || fail ".dada"
for line in "FREQ 1419.998" "BW 0.256" "TSAMP 250" "UTC_START 2025-03-01-12:00:00" "TELESCOPE GBT" "FILE_SIZE 81920"; do
  head -c 4096 out.dada | grep -aqx "$line" || fail "no \"$line\": $(head -c 4096 out.dada | tr -d '\0')"
done
for format in guppi dada vdif; do
  $ridge channelize signal made.$format --format $format --rate 256000 --seconds 0.02 --from-sample 5120 || fail "$format"
  $ridge channelize made.$format out.fil --format $format --channels 64 --quiet --frequency 1420 || fail "$format to .fil"
  [ "$(field out.fil tstart f8 | cut -c 1-14)" = 60676.00000023 ] || fail "$format: tstart is $(field out.fil tstart f8)" # 20 ms
done

# 8 bits: offset + scale * level equals the float output to half a step, except for clipped values.
$ridge channelize signal long.raw --seconds 0.3 --rate 256000 --tone 30000:0.02 || fail "signal"
for detect in total stokes; do
  eight="--channels 64 --taps 8 --rate 256000 --frequency 1420 --times 4 --detect $detect"
  $ridge channelize long.raw float.fil $eight --quiet || fail "floats"
  $ridge channelize long.raw eight.fil $eight --bits 8 2>report || fail "8 bits: $(cat report)"
  [ "$(field eight.fil nbits d4)" = 8 ] || fail "nbits is $(field eight.fil nbits d4)"
  products=1
  [ $detect = stokes ] && products=4
  rows=$((products * 64))
  [ "$(grep -vc '#' eight.fil.levels)" -eq $rows ] || fail "$(grep -vc '#' eight.fil.levels) levels"
  values=$((300 * rows))
  paste <(tail -c $((4 * values)) float.fil | od -An -v -w4 -tf4) <(tail -c $values eight.fil | od -An -v -w1 -tu1) |
    awk -v rows=$rows -v n=0 '
      NR == FNR { if ($1 != "#") { offset[n] = $1; scale[n++] = $2 } next }
      { i = (FNR - 1) % rows; step = scale[i]; e = $1 - offset[i] - step * $2; if (e < 0) e = -e
        if ($2 == 0 || $2 == 255) clipped++; else if (e > 0.501 * step) wrong++
        sum += $2; squares += $2 * $2 }
      END { m = sum / FNR; s = sqrt(squares / FNR - m * m)
        if (FNR != 300 * rows || wrong > 0 || clipped > 0.01 * FNR || m < 120 || m > 135 || s < 15 || s > 30) {
          printf "%d values, %d wrong, %d clipped, mean %g, deviation %g\n", FNR, wrong, clipped, m, s; exit 1 } }' \
      eight.fil.levels - || fail "8 bits of $detect are not the floats"
  $ridge channelize long.raw again.fil $eight --bits 8 --levels eight.fil.levels --quiet || fail "levels given"
  same eight.fil again.fil "levels from a file"
done
printf '%.0s0 1\n' $(seq 256) >steps.txt
$ridge channelize long.raw clipped.fil $eight --bits 8 --levels steps.txt 2>report || fail "levels"
grep -q "of 76800 values exceed 8 bits and were clipped" report || fail "no count of clipped values: $(cat report)"
mistake "holds 256 levels; products x channels need 64" $ridge channelize long.raw out.fil $fil --frequency 1420 --bits 8 --levels steps.txt
mistake "is for .fil files" $ridge channelize long.raw out.raw $fil --bits 8
mistake "line 1 needs an offset and a scale above 0" $ridge channelize long.raw out.fil $fil --frequency 1420 --bits 8 --levels <(echo 1 0)

# --- design ------------------------------------------------------------------------------------------------------------
$ridge channelize design response.svg --channels 64 --taps 16 --save h.raw >text || fail "design"
grep -q "leakage -12[0-9]" text || fail "leakage: $(cat text)"
grep -q "</svg>" response.svg || fail "no SVG"
$ridge channelize in.raw designed.raw --stations 2 --quiet --channels 64 --taps 16 || fail "designed"
$ridge channelize in.raw given.raw --stations 2 --quiet --channels 64 --taps 16 --weights h.raw || fail "given weights"
same designed.raw given.raw "weights from a file"

$ridge channelize design - --channels 16 --taps 16 --measure >text || fail "design --measure"
grep -q "measured with 33 tones: -1[0-9][0-9]" text || fail "no measured leakage: $(cat text)"
grep -q " 8/7 .* -[0-9][0-9]" text || fail "no reconstruction: $(cat text)"
grep -q " 7/6 " text && fail "16 channels cannot be oversampled by 7/6"
grep -q "critical sampling -[1-4]" text || fail "no word on critical sampling: $(cat text)"

# --- weights replaced during a stream, and synthesis -----------------------------------------------------------------------
$ridge channelize design - --channels 64 --taps 8 --window hamming --save other.f64 >text || fail "design"
$ridge channelize in.raw hamming.raw $bank --window hamming || fail "hamming"
$ridge channelize in.raw replaced.raw $bank --replace-weights 6400:other.f64 || fail "replaced"
times=$((2 * 2 * 64 * 8))
{ head -c $((100 * times)) whole.raw; tail -c +$((100 * times + 1)) hamming.raw; } >joined.raw
same joined.raw replaced.raw "weights replaced at sample 6400"
$ridge channelize in.raw replaced_rest.raw $bank --replace-weights 6400:other.f64 --from-sample 12800 || fail "replaced, late"
tail -c "$(size replaced_rest.raw)" hamming.raw >hamming_rest.raw
same hamming_rest.raw replaced_rest.raw "weights replaced before the first sample wanted"
$ridge channelize signal floats.raw --samples f32 --block 48 --seconds 0.05 --stations 2 || fail "signal of floats"
$ridge channelize floats.raw floats.npy --samples f32 --stations 2 --block 48 --channels 64 --oversample 4/3 --quiet || fail "floats"
$ridge channelize synthesize floats.npy back.raw --stations 2 --channels 64 --oversample 4/3 2>report || fail "back: $(cat report)"
tail -c +257 floats.npy | $ridge channelize synthesize - - --stations 2 --channels 64 --oversample 4/3 --memory 5K --quiet >back2.raw ||
  fail "back through pipes"
same back.raw back2.raw "synthesis in small pieces"
[ "$(size back.raw)" -gt 100000 ] || fail "only $(size back.raw) bytes came back"
# After the first windows (2000 samples of 2 stations x 2 polarizations) the samples agree to -90 dB.
paste <(od -An -v -w4 -tf4 -j $((2000 * 32)) -N 60000 floats.raw) <(od -An -v -w4 -tf4 -j $((2000 * 32)) -N 60000 back.raw) |
  awk '{ d = $1 - $2; e += d * d; s += $1 * $1 } END { exit !(NR == 15000 && s > 0 && e < 1e-9 * s) }' || fail "the samples are not reconstructed"

# --- the shape of a .npy file gives the layout ------------------------------------------------------------------------------
# in.raw as blocks of 64: (block, station, sample, polarization), then real and imaginary part.
npy blocks.npy '|i1' '(300, 2, 64, 2, 2)' <in.raw
$ridge channelize blocks.npy shaped.raw --channels 64 --taps 8 --quiet || fail "a .npy of blocks"
same whole.raw shaped.raw "the shape says 2 stations in blocks of 64"
npy times.npy '|i1' '(12800, 3, 2, 2)' <in.raw
$ridge channelize times.npy times.raw --channels 64 --taps 8 --quiet || fail "a .npy of times"
$ridge channelize in.raw block1.raw --channels 64 --taps 8 --stations 3 --block 1 --quiet || fail "raw in blocks of 1"
same block1.raw times.raw "(time, station, polarization)"
npy pairs.npy '|i1' '(38400, 2, 2)' <in.raw
$ridge channelize pairs.npy pairs.raw --channels 64 --taps 8 --quiet || fail "a .npy of one station"
$ridge channelize in.raw alone.raw --channels 64 --taps 8 --quiet || fail "raw, one station"
same alone.raw pairs.raw "(time, polarization)"
mistake "--stations 1 contradicts its shape (12800, 3, 2), which has 3" $ridge channelize times.npy out.raw --stations 1
mistake "--block 32 contradicts its shape" $ridge channelize blocks.npy out.raw --block 32
mistake "two polarizations need an axis" $ridge channelize <(npy /dev/stdout '|i1' '(76800, 2)' <in.raw) out.raw
mistake "have 3 polarizations" $ridge channelize <(npy /dev/stdout '|i1' '(25600, 3, 2)' <in.raw) out.raw
npy more.npy '|i1' '(400, 2, 64, 2, 2)' <in.raw
mistake "asks for 204800 bytes, and it ends 51200 bytes early" $ridge channelize more.npy out.raw --channels 64
mistake "ends 51200 bytes early" $ridge channelize <(cat more.npy) out.raw --channels 64
head -c -4096 floats.npy >fewer.npy
mistake "ends 4096 bytes early" $ridge channelize synthesize fewer.npy out.raw --stations 2 --channels 64 --oversample 4/3

# --- PSRDADA samples whose size does not divide the read blocks -------------------------------------------------------------
$ridge channelize signal six.dada --format dada --stations 6 --rate 256000 --seconds 1 || fail "six stations"
$ridge channelize six.dada six.raw --channels 64 --quiet || fail "a .dada of six stations"
[ "$(size six.raw)" -eq $((4000 * 6 * 2 * 64 * 8)) ] || fail "six stations: $(size six.raw) bytes"

# --- bench -------------------------------------------------------------------------------------------------------------
$ridge bench filterbank --shape 32x4 --size 20000 --seconds 0.001 --against liquid --json bench.json >text 2>&1 ||
  fail "bench: $(cat text)"
grep -q "filterbank int8 32x4" text || fail "bench without its rows: $(cat text)"
grep -q '"rows"' bench.json || fail "bench without JSON"

# --- mistakes ----------------------------------------------------------------------------------------------------------
mistake "IN and OUT" $ridge channelize
mistake "cannot read nowhere" $ridge channelize nowhere out.raw
mistake "no whole number" $ridge channelize in.raw out.raw --channels 64 --oversample 7/6
mistake "--oversample x" $ridge channelize in.raw out.raw --oversample x
mistake "a multiple of" $ridge channelize in.raw out.raw --channels 64 --from-sample 7
mistake "ends before sample" $ridge channelize in.raw out.raw --channels 64 --from-sample 6400000
mistake "give --rate" $ridge channelize in.raw out.fil --channels 64
mistake "one station" $ridge channelize in.raw out.fil --channels 64 --stations 2 --rate 1e6
mistake "does not hold" $ridge channelize in.raw out.raw --channels 64 --weights in.raw
mistake "NBITS is 5" $ridge channelize <(guppi 0 | sed 's/NBITS   = 8/NBITS   = 5/') out.raw
mistake "BLOCSIZE" $ridge channelize <(guppi 0 | head -c 5000) out.raw --channels 64
mistake "is not a number" $ridge channelize in.raw out.raw --delays <(echo "0 x y")
mistake "holds 2 numbers" $ridge channelize in.raw out.raw --delays <(echo "0 1")
mistake "factors" $ridge channelize in.raw out.raw --bandpass ones.raw
mistake "needs SAMPLE:FILE" $ridge channelize in.raw out.raw --replace-weights 6400
mistake "in ascending order" $ridge channelize in.raw out.raw $bank --replace-weights 64:other.f64 --replace-weights 0:other.f64
mistake "does not hold times of" $ridge channelize synthesize floats.npy out.raw --stations 3 --channels 64
mistake "ends within a spectrum" $ridge channelize synthesize in.raw out.raw --channels 62 --oversample 2
mistake "give --rate" $ridge channelize in.raw out.dada --channels 64
mistake "order of time" $ridge channelize in.raw out.dada --channels 64 --rate 1e6 --detect stokes
mistake "--rate must be a multiple" $ridge channelize signal out.vdif --format vdif --rate 195312.5
mistake "i4, i8 or i16" $ridge channelize signal out.raw --format guppi --samples f32
mistake "needs {}" $ridge channelize in.raw out.raw --subbands 1-2
mistake "needs numbers as in 0-7" $ridge channelize in.raw out.raw --subbands 5-2
mistake "needs a raw output file" $ridge channelize in.raw out.npy --resume
mistake "the sampling rate" $ridge channelize signal out.raw --tone 1e99
mistake "hold no sample" $ridge channelize signal out.raw --rate 1e-300
mistake "a multiple of --block" $ridge channelize signal out.raw --from-sample 7
mistake "need --detect or --correlate" $ridge channelize in.raw out.raw --times 4
mistake "no peer \"abacus\"" $ridge bench filterbank --against abacus

finish
