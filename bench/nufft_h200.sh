#!/usr/bin/env bash
# Checks and times nonuniform transforms on a GPU: bench/nufft_h200.sh [BUILD] [DEVICE]. Compares every device variant with
# sums first, then times the problems of docs/measurements with 2^24 points, uniform and clustered.
set -eu
build=${1:-build} device=${2:-cuda:0}
ridge=$build/ridge
"$build"/tests/test_nufft --gtest_filter='NufftOnDevices.*' --gtest_brief=1
"$ridge" check nufft --device "$device" --seconds 60
bench() { "$ridge" bench nufft --device "$device" --points $((1 << 24)) --json "nufft-$1.json" "${@:2}" && grep -o '"sort_seconds": *[0-9.e-]*\|"mpoints_per_s": *[0-9.e-]*' "nufft-$1.json"; }
bench 3d-f32-1e-6 --modes 128x128x128 --eps 1e-6
bench 3d-f32-1e-6-large --modes 256x256x256 --eps 1e-6
bench 3d-f32-1e-6-cluster --modes 128x128x128 --eps 1e-6 --places cluster
bench 3d-f32-1e-3 --modes 128x128x128 --eps 1e-3
bench 3d-f64-1e-9 --modes 128x128x128 --eps 1e-9 --numbers f64
bench 2d-f32-1e-6 --modes 2048x2048 --eps 1e-6
bench 2d-f32-1e-6-cluster --modes 2048x2048 --eps 1e-6 --places cluster
bench 2d-f64-1e-9 --modes 2048x2048 --eps 1e-9 --numbers f64
bench 2d-f32-straight --modes 2048x2048 --eps 1e-6 --variant straight --type 1
bench 1d-f32-1e-6 --modes 1048576 --eps 1e-6
