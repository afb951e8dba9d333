#!/usr/bin/env bash
# The five Debian packages: built by CPack from a build folder, without lintian errors and warnings, and usable after installation:
# as root they are installed by dpkg into a temporary overlay of this system and used there.
#   packages_test.sh BUILD        skipped (77) without dpkg, cpack or the build's shared library
set -euo pipefail
build=$(readlink -f "$1")
[ -n "${RIDGE_SLOW:-}" ] || { echo "skipped: takes minutes; RIDGE_SLOW=1 runs it"; exit 77; }
for tool in dpkg-deb cpack; do command -v $tool >/dev/null || { echo "skipped: no $tool"; exit 77; }; done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --build "$build" --target ridge_shared ridge_command ridge_fftw3 ridge_reference >/dev/null
(cd "$build" && cpack -G DEB -B "$work/debs" >"$work/log" 2>&1) || { cat "$work/log"; exit 1; }
for package in ridge libridge0 libridge-dev libridge-fftw3 python3-ridge; do
  ls "$work"/debs/${package}_*.deb >/dev/null
done
if command -v lintian >/dev/null; then
  # Releases are packaged with CMAKE_INSTALL_PREFIX=/usr. With another prefix libraries are not installed in a folder named
  # after the architecture; the two suppressed tags report only that.
  prefix=$(sed -n 's/^CMAKE_INSTALL_PREFIX:[A-Z]*=//p' "$build/CMakeCache.txt")
  other=()
  [ "$prefix" = /usr ] || other=(--suppress-tags maintscript-calls-ldconfig,pkg-config-unavailable-for-cross-compilation)
  lintian --allow-root "${other[@]}" --fail-on error,warning "$work"/debs/*.deb
  echo "lintian finds nothing${other[*]:+ (prefix $prefix: ${other[*]})}"
else
  echo "lintian is not installed: the packages were not checked"
fi
cat >"$work/use.sh" <<'U'
set -euo pipefail
dpkg -i /root/debs/*.deb >/dev/null
export HOME=/root RIDGE_BACKENDS=host
cd /
ridge --version
ridge devices | grep '^host' >/dev/null
gzip -dc /usr/share/man/man1/ridge.1.gz | grep '^.TH RIDGE 1' >/dev/null
bash -c 'source /usr/share/bash-completion/completions/ridge && complete -p ridge' | grep ridge >/dev/null
test -s /usr/share/zsh/vendor-completions/_ridge -a -s /usr/share/fish/vendor_completions.d/ridge.fish
ridge fftw -- sh -c 'case $LD_PRELOAD in /usr/lib/*libridge_fftw3*) ;; *) exit 1 ;; esac'
/usr/bin/python3 -c "import ridge; assert ridge.__file__.startswith('/usr/lib/python3/'); assert abs(ridge.fft.fft([1.0, 2.0])[0] - 3) < 1e-12"
printf '#include <ridge/fft.hpp>\nint main() { return ridge::fft::plan<float>(ridge::host(), {.shape = {8}}, {.effort = ridge::Effort::quick}).input_size() != 8; }\n' >/root/a.cpp
c++ -std=c++20 /root/a.cpp -o /root/a $(pkg-config --cflags --libs ridge)
/root/a
dpkg -r python3-ridge ridge libridge-dev libridge-fftw3 libridge0 >/dev/null
test ! -e /usr/bin/ridge
U
if [ "$(id -u)" = 0 ] && unshare -m --propagation private bash -c '
    mkdir "$0/over" && mount -t tmpfs tmpfs "$0/over" && mkdir "$0"/over/{upper,work,root} &&
    mount -t overlay overlay -o "lowerdir=/,upperdir=$0/over/upper,workdir=$0/over/work" "$0/over/root"' "$work" 2>/dev/null; then
  rmdir "$work/over"
  unshare -m --propagation private bash -euc '
    mkdir "$0/over" && mount -t tmpfs tmpfs "$0/over" && mkdir "$0"/over/{upper,work,root}
    mount -t overlay overlay -o "lowerdir=/,upperdir=$0/over/upper,workdir=$0/over/work" "$0/over/root"
    mount -t proc proc "$0/over/root/proc"; mount --rbind /dev "$0/over/root/dev"
    cp -r "$0/debs" "$0/use.sh" "$0/over/root/root/"
    chroot "$0/over/root" bash /root/use.sh' "$work"
  echo "installed, used and removed"
else
  for deb in "$work"/debs/*.deb; do dpkg-deb -x "$deb" "$work/root"; done
  RIDGE_BACKENDS=host "$work/root/usr/bin/ridge" --version
  echo "unpacked and used; not root, or no overlays: not installed"
fi
