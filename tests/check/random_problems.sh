#!/usr/bin/env bash
# random_problems.sh RIDGE DEVICE SECONDS: ridge check on a device, if it exists; one minute with RIDGE_SLOW.
ridge=$1 device=$2 seconds=${RIDGE_SLOW:+60}
[[ $device == host ]] || "$ridge" devices | grep -q "^opencl:.*PoCL" || { echo "no PoCL on this machine"; exit 77; }
exec "$ridge" check --device "$device" --seconds "${seconds:-$3}"
