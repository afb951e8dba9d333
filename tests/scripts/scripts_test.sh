#!/usr/bin/env bash
# ./run and ./test with a PATH of fake commands only (dpkg-query, apt-get, sudo, cmake, ctest),
# so that nothing is installed or built and every failure can be tested.   scripts_test.sh SOURCE-FOLDER
set -euo pipefail
source_folder=$(cd "$1" && pwd -P)
world=$(mktemp -d)
trap 'rm -rf "$world"' EXIT
failures=0

fake() {  # fake NAME: a command with the script on stdin
  { echo '#!/bin/bash' && cat; } >"$world/bin/$1"
  chmod +x "$world/bin/$1"
}

# A tree with the scripts, and a system on which every package is installed.
fresh_world() {
  rm -rf "${world:?}"/*
  mkdir -p "$world"/{bin,tree/.ci,home}
  cp -r "$source_folder"/{run,test,cmake} "$world/tree"
  cp "$source_folder/.ci/run" "$world/tree/.ci"
  local tool
  for tool in bash env sed awk grep head tail wc mkdir rm cat chmod readlink dirname nproc sort tee tr true; do
    ln -s "$(type -P "$tool")" "$world/bin/$tool"
  done
  sed -n 's/^[a-z][a-z]* *\([^ ]*\).*/\1/p' "$source_folder/cmake/packages.txt" >"$world/installed"
  fake dpkg-query <<'FAKE'
shift 3
for package; do
  if grep -qxF -- "$package" "$WORLD/installed"; then echo "$package installed"; else rc=1; fi
done
exit ${rc:-0}
FAKE
  fake apt-get <<'FAKE'
echo "apt-get $*" >>"$WORLD/calls"
for word; do case $word in install) install=yes ;; -* | *::*) ;; *) packages+=" $word" ;; esac; done
[[ ! -e $WORLD/apt-is-broken ]] || { echo "E: no network here" >&2; exit 100; }
[[ -z ${install:-} ]] || printf '%s\n' $packages | while read -r package; do
  if [[ -e $WORLD/lacks-$package ]]; then echo "E: Unable to locate package $package" >&2; exit 100; fi
  echo "$package" >>"$WORLD/installed"
done
FAKE
  fake sudo <<'FAKE'
echo "sudo $*" >>"$WORLD/calls"
[[ $1 == -n ]] && shift
exec "$@"
FAKE
  fake cmake <<'FAKE'
echo "cmake $*" >>"$WORLD/calls"
[[ $1 == --build ]] || exit 0
if [[ -e $WORLD/build-is-broken ]]; then
  printf '[1/2] fine\nFAILED: thing.o\nthing.cpp:3: error: no such thing\n'
  exit 1
fi
printf '#!/bin/bash\necho "ridge in $PWD:" "$@"\n' >"$2/ridge"
chmod +x "$2/ridge"
FAKE
  fake ctest <<'FAKE'
echo "ctest $*" >>"$WORLD/calls"
[[ ! -e $WORLD/tests-fail ]] || exit 8
FAKE
  echo : | fake ninja
  echo : | fake c++
  : >"$world/calls"
}

uninstall() { local package; for package; do sed -i "/^$package\$/d" "$world/installed"; rm -f "$world/bin/$package"; done; }

# call COMMAND...: in an empty environment, from the current folder; sets rc, and leaves out and err.
call() {
  rc=0
  env -i PATH="$world/bin" HOME="$world/home" WORLD="$world" ${variables:-} "$@" >"$world/out" 2>"$world/err" \
    </dev/null || rc=$?
}

check() {  # check WHAT CONDITION...
  local what=$1
  shift
  if ! "$@"; then
    echo "$case_name: $what"
    sed 's/^/    out: /' "$world/out"
    sed 's/^/    err: /' "$world/err"
    sed 's/^/    call: /' "$world/calls"
    failures=$((failures + 1))
  fi
}
exits() { [[ $rc == "$1" ]]; }
says() { grep -qF -- "$1" "$world/err"; }
called() { grep -qE -- "$1" "$world/calls"; }
not() { ! "$@"; }
begin() {
  case_name=$1
  fresh_world
  cd "$world/tree"
  variables=
}

begin "everything is here"
call ./run --quick --out "a file.html"
check "exits 0" exits 0
check "gives tour its options" grep -qxF "ridge in $world/tree: tour --quick --out a file.html" "$world/out"
check "keeps stdout to ridge" [ "$(wc -l <"$world/out")" = 1 ]
check "leaves apt alone" not called "^apt-get|^sudo"
check "does not make warnings errors" not called "RIDGE_WERROR"
check "makes a release build" called "^cmake -S $world/tree -B $world/tree/build .*CMAKE_BUILD_TYPE=Release"

begin "./test --mutants"
fake python3 <<'FAKE'
echo "python3 $*" >>"$WORLD/calls"
[[ ! -e $WORLD/mutants-live ]] || exit 1
FAKE
call ./test --mutants --only vdif
check "exits 0" exits 0
check "runs the script with the rest" called "^python3 $world/tree/tests/mutants/mutants.py run $world/tree $world/tree/build/mutants --jobs [0-9]+ --only vdif$"
check "runs no other test" not called "^ctest"
touch "$world/mutants-live"
call ./test --mutants
check "fails where too many are not noticed" exits 1

begin "from another folder, through a link"
ln -s "$world/tree/run" "$world/home/measure"
cd "$world/home"
call ./measure
check "exits 0" exits 0
check "stays in the caller's folder" grep -qxF "ridge in $world/home: tour" "$world/out"

begin "a required and an optional package missing, no apt"
uninstall libhwy-dev libfmt-dev pocl-opencl-icd
rm "$world/bin/apt-get"
call ./run
check "exits 1" exits 1
check "lists the required" says "Required packages are missing: apt-get install libhwy-dev libfmt-dev"
check "lists the optional apart" says "Optional packages are missing: apt-get install pocl-opencl-icd"
check "builds nothing" not called "^cmake"

begin "only optional packages missing, no apt"
uninstall pocl-opencl-icd
rm "$world/bin/apt-get"
call ./run
check "exits 0" exits 0
check "lists them" says "Optional packages are missing: apt-get install pocl-opencl-icd"
check "says nothing of required ones" not says "Required"

begin "RIDGE_INSTALL=never"
uninstall libhwy-dev
variables=RIDGE_INSTALL=never
call ./run
check "exits 1" exits 1
check "lists what is missing" says "apt-get install libhwy-dev"
check "leaves apt alone" not called "^apt-get"

begin "RIDGE_INSTALL=skip"
uninstall libhwy-dev
variables=RIDGE_INSTALL=skip
call ./run
check "exits 0" exits 0
check "says nothing of packages" not says "missing"

begin "RIDGE_INSTALL=lean"
uninstall libisl-dev libtiff-dev
variables=RIDGE_INSTALL=lean
call ./run
check "exits 0" exits 0
check "leaves the placement compiler out" not called "libisl-dev"
check "says so" says "packages of the placement compiler are left out"
check "installs the rest" called "^apt-get .*install .*libtiff-dev"

begin "large peers are installed only on request"
uninstall libopencv-dev libisl-dev
call ./run
check "exits 0" exits 0
check "installs the placement compiler's" called "^apt-get .*install .*libisl-dev"
check "leaves the peers" not called "libopencv-dev"
variables=RIDGE_INSTALL=peers
call ./run
check "exits 0 again" exits 0
check "installs the peers" called "^apt-get .*install .*libopencv-dev"

begin "RIDGE_INSTALL with an unknown word"
variables=RIDGE_INSTALL=perhaps
call ./run
check "exits 1" exits 1
check "names the words it knows" says "RIDGE_INSTALL=perhaps: not one of never, skip, lean, peers"

begin "a package of another machine"
sed -i 's/^optional libne10-dev.*/optional libne10-dev [no-such-machine]/' cmake/packages.txt
uninstall libne10-dev
call ./run
check "exits 0" exits 0
check "is not asked for" not called "^apt-get"

begin "missing packages are installed, once"
uninstall libhwy-dev ccache
call ./run
check "exits 0" exits 0
check "updates the lists" called "^apt-get .*update"
check "installs both" called "^apt-get .*install .*libhwy-dev ccache"
: >"$world/calls"
call ./run
check "a second start exits 0" exits 0
check "a second start leaves apt alone" not called "^apt-get"

begin "the release lacks an optional package"
uninstall libhwy-dev pocl-opencl-icd
: >"$world/lacks-pocl-opencl-icd"
call ./run
check "exits 0" exits 0
check "installs the required one" grep -qx libhwy-dev "$world/installed"
check "says what is missing" says "Optional packages are missing: apt-get install pocl-opencl-icd"
: >"$world/calls"
call ./run
check "a second start leaves apt alone" not called "^apt-get"

begin "apt is broken, a required package missing"
uninstall libhwy-dev
: >"$world/apt-is-broken"
call ./run
check "exits 1" exits 1
check "lists it" says "Required packages are missing: apt-get install libhwy-dev"
check "says what apt said" says "E: no network here"

begin "apt is broken, everything here"
: >"$world/apt-is-broken"
call ./run
check "exits 0" exits 0

begin "a command installed from elsewhere replaces its package"
uninstall ninja-build
call ./run
check "exits 0" exits 0
check "installs nothing" not called "^apt-get"

begin "not a Debian system"
rm "$world/bin/dpkg-query"
call ./run
check "goes on" exits 0
check "says so" says "is not a Debian system"
rm "$world/bin/ninja"
call ./run
check "exits 1 without ninja" exits 1
check "names it" says "These commands are missing: ninja"

begin "the build fails"
: >"$world/build-is-broken"
call ./run
check "exits 1" exits 1
check "shows the error" says "thing.cpp:3: error: no such thing"
check "names the log" says "$world/tree/build/log"
check "keeps the whole log" grep -qF "[1/2] fine" "$world/tree/build/log"
check "does not run" [ ! -s "$world/out" ]

begin "the folder cannot be written"
: >build
call ./run
check "exits 1" exits 1
check "says so" says "cannot write to $world/tree/build"

begin "./run --help"
uninstall libhwy-dev
call ./run --help
check "exits 0" exits 0
check "installs and builds nothing" [ ! -s "$world/calls" ]

begin "./test"
call ./test -R some_name
check "exits 0" exits 0
check "builds the tests" called "^cmake .*RIDGE_TESTS=ON"
check "does not make warnings errors" not called "RIDGE_WERROR"
check "gives ctest its arguments" called "^ctest .*--output-on-failure .*-R some_name"
: >"$world/tests-fail"
call ./test
check "fails as ctest does" exits 8

begin "./test --all where one stage fails"
for tool in xargs printf; do ln -s "$(type -P "$tool")" "$world/bin/$tool"; done
for tool in git clang-format; do echo : | fake "$tool"; done
echo 'shift && "$@"' | fake setarch
fake cmake <<'FAKE'
echo "cmake $*" >>"$WORLD/calls"
[[ $1 != --build || $2 != */asan ]] || exit 1
FAKE
mkdir fuzz
printf '#!/bin/bash\necho "fuzz $*" >>"$WORLD/calls"\n' >fuzz/run
chmod +x fuzz/run
call ./test --all
check "exits 1" exits 1
check "runs what comes after it" called "^ctest --preset tsan"
check "fuzzes" called "^fuzz 60"
check "builds as users do" called "^cmake --build $world/tree/build/plain"
check "names it" grep -qE "^asan +[0-9]+ s +FAILED" "$world/err"
check "says what passed" grep -qE "^clang +[0-9]+ s +passed" "$world/err"

begin "./test without GoogleTest"
uninstall libgtest-dev
variables=RIDGE_INSTALL=never
call ./test
check "exits 1" exits 1
check "lists it" says "Required packages are missing: apt-get install libgtest-dev"

# ci_world: an environment in which .ci/run finds everything installed.
ci_world() {
  fake cmake <<'FAKE'
echo "cmake $*" >>"$WORLD/calls"
if [[ $1 != --build ]]; then
  [[ -e $WORLD/no-png ]] || echo "PNG_LIBRARY_RELEASE:FILEPATH=/usr/lib/libpng.so" >>"$WORLD/tree/build/CMakeCache.txt"
  exit 0
fi
printf '#!/bin/bash\n[ -e "$WORLD/no-device" ] || echo "opencl:0  pocl"\n' >"$2/ridge"
chmod +x "$2/ridge"
FAKE
  fake ctest <<'FAKE'
echo "ctest $*" >>"$WORLD/calls"
mkdir -p "$WORLD/tree/build/Testing/Temporary"
cat >"$WORLD/tree/build/Testing/Temporary/LastTest.log" <<'LOG'
[ RUN      ] DeviceFft.One
[       OK ] DeviceFft.One (4 ms)
[  SKIPPED ] Names/DeviceFft.Two/3 (0 ms)
[       OK ] OpenClKernels.Three (10 ms)
[       OK ] Threads.Four (10 ms)
[       OK ] HostDevice.Five (1 ms)
LOG
FAKE
  echo : | fake chromium
}

begin ".ci/run where everything is"
ci_world
call .ci/run
check "exits 0" exits 0
check "runs the tests" called "^ctest"
check "makes warnings errors" called "^cmake .*RIDGE_WERROR=ON"
check "counts them" says "2 device tests ran, 1 were skipped for lack of a device"

begin ".ci/run without a browser"
ci_world
uninstall chromium
variables=RIDGE_INSTALL=never
call .ci/run
check "exits 1" exits 1
check "lists it" says "Optional packages are missing: apt-get install chromium"
check "says so" says "needs a browser"
check "tests nothing" not called "^ctest"
variables="RIDGE_INSTALL=never CI=false"
call .ci/run
check "continues without it" exits 0

for missing in no-device no-png; do
  begin ".ci/run with $missing"
  ci_world
  : >"$world/$missing"
  call .ci/run
  check "exits 1" exits 1
  check "says so" says "CI=true needs"
done

begin ".ci/run where no test ran on a device"
ci_world
fake ctest <<'FAKE'
mkdir -p "$WORLD/tree/build/Testing/Temporary"
echo "[  SKIPPED ] DeviceFft.One (0 ms)" >"$WORLD/tree/build/Testing/Temporary/LastTest.log"
FAKE
call .ci/run
check "exits 1" exits 1
check "says so" says "none ran"

if ((EUID == 0)) && setpriv --reuid=65534 --clear-groups true 2>/dev/null; then
  begin "an ordinary user without sudo"
  uninstall libhwy-dev
  rm "$world/bin/sudo"
  chmod -R a+rwX "$world"
  call "$(command -v setpriv)" --reuid=65534 --clear-groups ./run
  check "exits 1" exits 1
  check "lists what is missing" says "apt-get install libhwy-dev"
  check "leaves apt alone" not called "^apt-get"

  begin "an ordinary user with sudo"
  uninstall libhwy-dev
  chmod -R a+rwX "$world"
  call "$(command -v setpriv)" --reuid=65534 --clear-groups ./run
  check "exits 0" exits 0
  check "installs through sudo" called "^sudo -n env DEBIAN_FRONTEND=noninteractive apt-get .*install .*libhwy-dev"
fi

((failures == 0)) || { echo "$failures checks failed" && exit 1; }
echo "all as they should be"
