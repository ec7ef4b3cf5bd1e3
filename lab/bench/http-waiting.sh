#!/usr/bin/env bash
# http-waiting.sh CLASSPATH CONNECTIONS: the memory of each server in MB, before and while so many
# connections wait for a response. The class path is that of http-turns.sh. SERVERS names others.
set -eu
classpath=$1 connections=$2
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
flags="-Xmx2g -XX:+UseParallelGC --sun-misc-unsafe-memory-access=allow"
ulimit -n $((connections + 1000))
serve() { exec $java $flags -cp "$classpath" weir.bench.http.HttpServers "$1" 2>/dev/null; }
for server in ${SERVERS:-weir jetty jdk ember}; do
  coproc serving { serve "$server"; }
  read -r port _ <&"${serving[0]}"
  $java $flags -cp "$classpath" weir.bench.http.HttpLoad "$port" $$ /hello 64 1 1 >/dev/null
  printf . >&"${serving[1]}"
  read -r before <&"${serving[0]}"
  hold() { exec $java $flags -cp "$classpath" weir.bench.http.HttpWaiting "$port" "$connections"; }
  exec {hold}> >(hold >&2)
  sleep "${SETTLE:-8}"
  printf . >&"${serving[1]}"
  read -r while_waiting <&"${serving[0]}"
  echo "$server: before $before; with $connections $while_waiting"
  exec {hold}>&-
  sleep 1
  exec {serving[1]}>&-
  wait "$serving_PID" 2>/dev/null || true
done
