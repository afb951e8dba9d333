#!/usr/bin/env bash
# Texts generated from --help: the manual page and completion for three shells; and ridge fftw.
#   reference_test.sh RIDGE [DROP-IN]
source "$(dirname "${BASH_SOURCE[0]}")/../support/prelude.sh"
drop_in=${2:-}

# --- the manual page -------------------------------------------------------------------------------------------------
"$ridge" manual >ridge.1 || fail "ridge manual"
for word in '.TH RIDGE 1' '.SS ridge bench fft' '.SS ridge stencil heat' '\-\-device' 'ridge fftw'; do has "$word" ridge.1; done
for section in 'EXIT STATUS' ENVIRONMENT FILES; do has ".SH $section" ridge.1; done
# The page contains every environment variable for users from the table in HACKING.md.
for variable in $(sed -n 's/^| \(`RIDGE_.*`\) |.*/\1/p' "$(dirname "${BASH_SOURCE[0]}")/../../HACKING.md" | grep -oE 'RIDGE_[A-Z_]+'); do
  case $variable in RIDGE_MPI_* | RIDGE_PLACE_* | RIDGE_RUN_* | RIDGE_FFTW_SECONDS) ;; *) has "$variable" ridge.1 ;; esac
done
if command -v groff >/dev/null; then
  groff -man -Tutf8 -ww -z ridge.1 2>warnings
  grep -v "can't break line\|cannot adjust\|cannot break" warnings | grep -q . && fail "groff: $(head -n 3 warnings)"
fi
# The page contains every option of every command's --help.
for command in "fft" "bench stencil" "channelize" "flow" "place" "sar"; do
  # shellcheck disable=SC2086
  "$ridge" $command --help | grep -oE '^  (-[a-z],)?--[a-z-]+' | grep -oE -- '--[a-z-]+' | sort -u >options
  [ -s options ] || fail "no options in ridge $command --help"
  while read -r option; do has "${option//-/\\-}" ridge.1; done <options
done

# --- completion ------------------------------------------------------------------------------------------------------
for shell in bash zsh fish; do
  "$ridge" completion $shell >complete.$shell || fail "ridge completion $shell"
  has "channelize" complete.$shell
  if command -v $shell >/dev/null; then $shell -n complete.$shell || fail "$shell does not understand its completion"; fi
done
mistake "tcsh" "$ridge" completion tcsh

# completed WORDS...: bash's completions of the last word
completed() {
  # shellcheck disable=SC1091,SC2034
  (
    source ./complete.bash
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
    _ridge
    printf '%s\n' "${COMPREPLY[@]}"
  )
}
[[ $(completed ridge cha) == channelize ]] || fail "ridge cha: $(completed ridge cha)"
completed ridge bench fft -- >offered
has "--lengths" offered
completed ridge bench "" >offered
has "stencil" offered
completed ridge channelize in.raw out.raw --stat >offered
[[ $(cat offered) == --stations ]] || fail "ridge channelize in out --stat: $(cat offered)"
completed ridge completion "" >offered

# --- ridge fftw ------------------------------------------------------------------------------------------------------
if [ -n "$drop_in" ]; then
  [ "$("$ridge" fftw --where)" = "$(readlink -f "$drop_in")" ] || fail "--where: $("$ridge" fftw --where)"
  expect "^$(readlink -f "$drop_in")$" "$ridge" fftw -- sh -c 'echo $LD_PRELOAD'
  expect "^-q --help$" "$ridge" fftw -- echo -q --help
  "$ridge" fftw -- sh -c 'exit 7'
  [ $? -eq 7 ] || fail "the program's exit code"
  LD_PRELOAD=libm.so.6 "$ridge" fftw -- sh -c 'echo $LD_PRELOAD' | grep -q ":libm.so.6$" || fail "what was preloaded before"
  mistake "No such file" "$ridge" fftw -- /nonexistent/program
  mistake "no program" "$ridge" fftw
  # Programs unaffected by LD_PRELOAD are reported, and so is a trace that cannot be written.
  mistake "there is no folder" "$ridge" fftw --trace missing_folder/trace -- true
  if command -v cc >/dev/null; then
    echo 'int main(void) { return 0; }' >program.c
    if cc -static program.c -o linked_statically 2>/dev/null; then
      mistake "linked statically" "$ridge" fftw -- ./linked_statically
      printf '#!%s/linked_statically\n' "$PWD" >script && chmod +x script
      mistake "linked statically" "$ridge" fftw -- ./script
    fi
    echo 'const char* text = " fftw_wisdom #x%M"; int main(void) { return text[0] != 32; }' >inside.c
    cc inside.c -o inside && expect "warning: ./inside contains FFTW" "$ridge" fftw -- ./inside
    cc program.c -o outside && [ -z "$("$ridge" fftw -- ./outside 2>&1)" ] || fail "a dynamic program: $("$ridge" fftw -- ./outside 2>&1)"
  fi
  if command -v fftw-wisdom >/dev/null; then
    "$ridge" fftw --trace plans.txt -- fftw-wisdom -n -t 0.01 -o wisdom cof64 || fail "fftw-wisdom"
    grep -q '^plan' plans.txt || fail "no plan of Ridgeline: $(cat plans.txt)"
  else
    echo "fftw-wisdom is not installed: no program of FFTW's was run"
  fi
fi
finish
