#!/bin/sh
# Measures how Weir's speed grows with the number of processors of this machine.
#
#   run.sh [MINUTES] [FOLDER] [OPTION...]
#
# Ends within MINUTES, 7 if there are none. Writes to FOLDER, which is results/ beside this script
# if there is none: scale.json and scale.html, again and again during the run, and machine.txt.
# Each OPTION goes to the program: --help lists them.
#
# Needs Linux with glibc and coreutils, on the kind of processor that the bundle was made on. Uses
# taskset, of util-linux, if it is there.
# Exit code: the program's own (0, or 1 when a figure is missing), 2 for bad input, 124 or 137 if
# the program had to be ended.
set -u
PATH=/usr/bin:/bin
export PATH

die() { printf 'run.sh: %s\n' "$*" >&2; exit 2; }

here=$(dirname -- "$(readlink -f -- "$0")")
minutes=${1:-7}
case $minutes in
  *[!0-9]* | 0* | ?????*) die "MINUTES was '$minutes'. It must be a whole number from 1 to 9999." ;;
esac
out=${2:-$here/results}
mkdir -p -- "$out" 2>/dev/null ||
  die "cannot create the folder $out. Name another one: run.sh $minutes FOLDER"
out=$(CDPATH='' cd -- "$out" && pwd) || die "cannot use the folder $out."
{ : >"$out/machine.txt"; } 2>/dev/null ||
  die "cannot write to the folder $out. Name another one: run.sh $minutes FOLDER"
[ $# -lt 1 ] || shift
[ $# -lt 1 ] || shift

java=$here/jdk/bin/java
"$java" -version >/dev/null 2>&1 ||
  die "the JDK of this bundle does not start here. It needs @PLATFORM@ with glibc," \
    "and this is $(uname -sm)."

# The words after the colon of the first line of the file $1 that begins with $2.
field() {
  while IFS=: read -r key value; do
    # shellcheck disable=SC2086 # words, without the blanks between them
    case $key in "$2"*) echo $value; return ;; esac
  done <"$1"
}

# How many lines of the file $1 begin with $2.
count() {
  lines=0
  while IFS= read -r text; do
    case $text in "$2"*) lines=$((lines + 1)) ;; esac
  done <"$1"
  echo "$lines"
}

# What the file $1 holds, if it is there, as $2.
note() { [ ! -r "$1" ] || printf '%s: %s\n' "$2" "$(cat "$1")"; }

machine() {
  echo "date: $(date -u '+%Y-%m-%d %H:%M UTC')"
  echo "system: $(uname -a)"
  echo "processors: $(count /proc/cpuinfo processor) of $(field /proc/cpuinfo 'model name')"
  echo "processors of this process: $(nproc)"
  note /sys/devices/system/cpu/cpu0/topology/thread_siblings_list 'processors of the first core'
  note /sys/fs/cgroup/cpu.max 'limit of processor time'
  echo "memory: $(field /proc/meminfo MemTotal)"
  note /proc/loadavg 'load before the run'
  cat "$here/commit.txt" "$here/jdk/release"
}
machine >"$out/machine.txt" 2>/dev/null

# Without any locale Java would read file names as ASCII.
[ -n "${LC_ALL-}${LC_CTYPE-}${LANG-}" ] || { LC_CTYPE=C.UTF-8; export LC_CTYPE; }

# In a process group of its own, which `timeout` ends as a whole: first politely, then not.
timeout -k 3 "$((minutes * 60 - 4))" "$java" -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 \
  --enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow \
  -Dweir.lab="$here" -Dweir.commit=@COMMIT@ -cp "$here/bench/lib/*" weir.program.Main \
  scale --minutes "$minutes" --json "$out/scale.json" --report "$out/scale.html" "$@" </dev/null &
program=$!
trap 'kill "$program"' INT TERM HUP
wait "$program"
code=$?
# After a signal `wait` ends before the program does.
while kill -0 "$program" 2>/dev/null; do wait "$program"; code=$?; done
note /proc/loadavg 'load after the run' >>"$out/machine.txt"
[ ! -f "$out/scale.json" ] || echo "The results are in $out."
exit "$code"
