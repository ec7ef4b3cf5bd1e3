#!/usr/bin/env bash
# http-waiting.sh CLASSPATH CONNECTIONS: the memory of each server in MB, before and while so many
# connections wait for a response. The class path is that of http-turns.sh. SERVERS names others.
set -eu
classpath=$1 connections=$2
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
flags="-Xmx4g -XX:+UseParallelGC --sun-misc-unsafe-memory-access=allow"
ulimit -n $((connections + 1000))
serve() { exec $java $flags -cp "$classpath" weir.bench.http.HttpServers "$1" 2>/dev/null; }
# within SECONDS COMMAND: runs it each second until it succeeds, at most so often.
within() { for _ in $(seq "$1"); do "${@:2}" && return; sleep 1; done; false; }
accepted() { [ "$(find "/proc/$process/fd" -lname 'socket:*' | wc -l)" -gt "$opened" ]; }
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
for server in ${SERVERS:-weir jetty jdk ember tapir}; do
  coproc serving { serve "$server"; }
  read -r port process <&"${serving[0]}"
  $java $flags -cp "$classpath" weir.bench.http.HttpLoad "$port" "$process" /hello 64 1 1 >/dev/null
  printf . >&"${serving[1]}"
  read -r before <&"${serving[0]}"
  rm -f "$folder"/*
  mkfifo "$folder/input"
  $java $flags -cp "$classpath" weir.bench.http.HttpWaiting "$port" "$connections" \
    <"$folder/input" >"$folder/opened" &
  exec {hold}>"$folder/input"
  within 120 test -s "$folder/opened" || true
  opened=$(cat "$folder/opened")
  opened=${opened:-0}
  within 60 accepted || echo "$server: the server has not accepted all of them"
  sleep "${SETTLE:-3}" # until the requests are read
  printf . >&"${serving[1]}"
  read -r while_waiting <&"${serving[0]}"
  echo "$server: before $before; with $opened of $connections $while_waiting"
  exec {hold}>&-
  wait $! || echo "$server: the figure is wrong, see above"
  exec {serving[1]}>&-
  wait "$serving_PID" 2>/dev/null || true
done
