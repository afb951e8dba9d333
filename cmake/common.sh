# shellcheck shell=bash
# Functions of ./run, ./test and .ci/run: packages, configuring, building. Prints one line per phase on stderr; details
# are in build/log.
#
#   RIDGE_INSTALL=never   list missing packages and install nothing
#   RIDGE_INSTALL=skip    do not check packages: the libraries are elsewhere (CMAKE_PREFIX_PATH)
#   RIDGE_INSTALL=lean    omit the large packages of the placement compiler
#   RIDGE_INSTALL=peers   also the heavy libraries that only benchmarks compare with
set -euo pipefail
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd -P)
build=$root/build
log=$build/log
exec 3>&2  # phases report here while their command's output goes to the log

say() { printf '%s\n' "$*" >&3; }
die() {
  say "$*"
  exit 1
}

# Truncates the log; called once, before the first phase.
start_log() {
  mkdir -p "$build" 2>/dev/null && : 2>/dev/null >"$log" ||
    die "cannot write to $build: make the folder writable, or remove it if another user made it"
}

# --- phases -----------------------------------------------------------------------------------------------------------

# Shows the part of the log that a failed phase wrote, from its first error on.
show_failure() {
  local from=$1 text
  text=$(tail -n "+$from" "$log")
  printf '%s\n' "$text" | awk '/FAILED:|[Ee]rror/ { found = 1 } found' | head -n 60 >&3
  grep -qE 'FAILED:|[Ee]rror' <<<"$text" || printf '%s\n' "$text" | tail -n 40 >&3
  say "(the whole log: $log)"
}

# phase WHAT COMMAND...: prints one line with the time taken; if the command fails, shows its log and ends the script.
phase() {
  local what=$1 started=$SECONDS from
  shift
  from=$(($(wc -l <"$log") + 1))
  phase_text=$what
  printf '%s ... ' "$what" >&3
  if "$@" >>"$log" 2>&1 </dev/null; then
    printf '%d s\n' $((SECONDS - started)) >&3
  else
    printf 'failed\n' >&3
    show_failure "$from"
    exit 1
  fi
}

# Copies a build's output and counts its steps on a terminal.
count_steps() {
  local line terminal=
  [[ -t 3 ]] && terminal=yes
  while IFS= read -r line; do
    printf '%s\n' "$line"
    if [[ $terminal && $line =~ ^\[([0-9]+/[0-9]+)\] ]]; then
      printf '\r%s ... %s ' "$phase_text" "${BASH_REMATCH[1]}" >&3
    fi
  done
  [[ -z $terminal ]] || printf '\r\033[K%s ... ' "$phase_text" >&3
}

# --- packages ---------------------------------------------------------------------------------------------------------

# Missing packages of the given groups, one per line.
missing() {
  local group package command installed=" "
  local -a wanted=()
  while read -r group package command; do
    [[ " $* " == *" $group "* ]] || continue
    if [[ $command == "["* ]]; then
      [[ $command == "[$HOSTTYPE]" ]] || continue
      command=
    fi
    wanted+=("$package $command")
  done < <(sed 's/#.*//; /^[[:space:]]*$/d' "$root/cmake/packages.txt")
  ((${#wanted[@]})) || return 0
  if command -v dpkg-query >/dev/null; then
    installed=" $(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "${wanted[@]%% *}" 2>/dev/null |
      sed -n 's/ installed$//p' | tr '\n' ' ')"
  fi
  for package in "${wanted[@]}"; do
    command=${package#* }
    package=${package%% *}
    [[ $installed == *" $package "* ]] && continue
    [[ $command ]] && command -v "$command" >/dev/null && continue
    printf '%s\n' "$package"
  done
}

# Sets `as_root` to the prefix of apt-get; fails if this user may not install packages.
may_install() {
  as_root=()
  [[ ${RIDGE_INSTALL:-} != never ]] && command -v apt-get >/dev/null || return 1
  ((EUID == 0)) && return 0
  command -v sudo >/dev/null || return 1
  as_root=(sudo -n)
  sudo -n true 2>/dev/null && return 0
  as_root=(sudo)
  [[ -t 0 && -t 2 ]]
}

apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@"
}

# Installs all packages at once, or one by one if that fails, so that one unavailable package does not block the others.
apt_install() {
  apt install -y --no-install-recommends "$@" && return 0
  (($# > 1)) || return 1
  local package rc=0
  for package in "$@"; do apt install -y --no-install-recommends "$package" || rc=1; done
  return $rc
}

install_packages() {  # packages that could not be installed are found by checking again afterwards
  apt update || echo "apt-get update failed; trying the existing package lists"
  apt_install "$@" || true
}

# Without dpkg only commands can be checked; CMake reports missing libraries.
look_without_dpkg() {
  local name=this
  [[ -r /etc/os-release ]] && name=$(. /etc/os-release && printf '%s' "${PRETTY_NAME:-this}")
  say "$name is not a Debian system, so no packages are installed. Required packages, by their Debian names:"
  sed -n 's/^required *\([^ ]*\).*/  \1/p' "$root/cmake/packages.txt" >&3
  local command lacking=
  for command in cmake ninja c++; do command -v "$command" >/dev/null || lacking+=" $command"; done
  [[ -z $lacking ]] || die "These commands are missing:$lacking"
}

# The optional groups.
optional_groups() {
  case ${RIDGE_INSTALL:-} in
    lean) echo optional image python docs ;;
    peers) echo optional image python docs place peer ;;
    *) echo optional image python docs place ;;
  esac
}

# packages_here NEEDED-GROUPS WANTED-GROUPS: installs missing packages if it may; ends the script if a needed package is
# missing.
packages_here() {
  case ${RIDGE_INSTALL:-} in
    skip) return ;;
    lean) say "RIDGE_INSTALL=lean: packages of the placement compiler are left out; \`ridge place\` is built only if they are installed" ;;
    '' | never | peers) ;;
    *) die "RIDGE_INSTALL=$RIDGE_INSTALL: not one of never, skip, lean, peers" ;;
  esac
  if ! command -v dpkg-query >/dev/null; then
    look_without_dpkg
    return
  fi
  local needed wanted tried=$build/packages-not-found
  needed=$(missing $1)
  wanted=$(missing $2)
  # An optional package that could not be installed is not tried again until the build folder is new.
  if [[ -z $needed && -f $tried && $wanted == "$(<"$tried")" ]]; then wanted=; fi
  [[ -z $needed$wanted ]] && return
  if may_install; then
    [[ ${as_root[*]} != sudo ]] || sudo -v -p "[sudo] password of %u, to install packages: " || true
    phase "installing $(echo $needed $wanted)" install_packages $needed $wanted
    needed=$(missing $1)
    wanted=$(missing $2)
    rm -f "$tried"
    [[ -z $wanted ]] || printf '%s\n' "$wanted" >"$tried"
    [[ -z $needed$wanted ]] || grep '^[EW]: ' "$log" | sort -u | head -n 5 >&3 || true
  fi
  [[ -z $wanted ]] || say "Optional packages are missing: apt-get install $(echo $wanted)"
  [[ -z $needed ]] || die "Required packages are missing: apt-get install $(echo $needed)"
}

# --- building ---------------------------------------------------------------------------------------------------------

# One compiler per core, limited by memory at 1 GiB each.
count_jobs() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/^MemAvailable:/ { print int($2 / 1048576) }' /proc/meminfo 2>/dev/null || true)
  if [[ $memory ]] && ((memory < cores)); then cores=$((memory > 1 ? memory : 1)); fi
  printf '%s' "$cores"
}

cached() { [[ -f $build/CMakeCache.txt ]] && grep -q "^$1=$2\$" "$build/CMakeCache.txt"; }

# configure CMAKE-ARGUMENT...: the release build in build/. A new folder gets the settings for a full build; settings
# that a developer chose in an existing folder are kept.
configure() {
  local -a how=(-G Ninja -DRIDGE_UNITY=ON)
  if [[ -f $build/CMakeCache.txt ]]; then
    how=()
    # The cache of a copied or moved tree points to the old place.
    cached CMAKE_HOME_DIRECTORY:INTERNAL "$root" || how=(--fresh -G Ninja -DRIDGE_UNITY=ON)
  fi
  phase "configuring" cmake -S "$root" -B "$build" "${how[@]}" -DCMAKE_BUILD_TYPE=Release -DRIDGE_TARGETS="${RIDGE_TARGETS:-native}" "$@"
}

# The build runs the test programs to list their tests, so it needs without_aslr (see ./test).
without_aslr=()
compile() { "${without_aslr[@]}" cmake --build "$@" --parallel "$jobs" 2>&1 | count_steps; }

jobs=$(count_jobs)
# If the home folder is not writable, ccache would fail the build.
[[ -n ${CCACHE_DIR:-} || -w ${HOME:-/nonexistent} ]] || export CCACHE_DISABLE=1
