#!/usr/bin/env bash
# ridge check on PoCL, where there is one.
ridge=$1
"$ridge" devices | grep -q "^opencl:.*PoCL" || { echo "no PoCL on this machine"; exit 77; }
exec "$ridge" check --device opencl:pocl --seconds 28
