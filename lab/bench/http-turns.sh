#!/usr/bin/env bash
# http-turns.sh CLASSPATH ROUNDS SECONDS: the servers in turns, each scenario in a JVM of its own,
# and the load generator in another. Prints a line for each. The class path is that of the module:
#   sbt 'export bench/Runtime/fullClasspathAsJars'
# SERVERS, SCENARIOS (path:connections) and WARM (seconds) name others than the usual ones.
set -eu
classpath=$1 rounds=$2 seconds=$3
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
flags="-Xmx1g -XX:+UseParallelGC --sun-misc-unsafe-memory-access=allow"
serve() { exec $java $flags -cp "$classpath" weir.bench.http.HttpServers "$1" 2>/dev/null; }
for round in $(seq "$rounds"); do
  for scenario in ${SCENARIOS:-hello:64 json:64 bytes:4}; do
    for server in ${SERVERS:-weir jetty jdk ember tapir}; do
      coproc serving { serve "$server"; }
      read -r port process <&"${serving[0]}"
      result=$($java $flags -cp "$classpath" weir.bench.http.HttpLoad "$port" "$process" \
        "/${scenario%:*}" "${scenario#*:}" "${WARM:-$seconds}" "$seconds")
      echo "$round $server ${scenario%:*}: $result"
      exec {serving[1]}>&-
      wait "$serving_PID" 2>/dev/null || true
    done
  done
done
