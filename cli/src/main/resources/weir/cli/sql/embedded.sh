# Runs a Postgres that nobody else knows of until standard input ends, then removes its folder.
#
# sh -c SCRIPT embedded POSTGRES FOLDER [PORT]
#
# The program holds the other end of standard input and cannot keep it open when it dies, even of a
# kill. A Ctrl-C on the terminal reaches this script too, which has to outlive the program; pg_ctl
# gives the server a session of its own.
trap '' INT HUP TERM
# With PORT it listens there on this machine too, over TCP.
postgres=$1 folder=$2 listen=${3:+127.0.0.1} port=${3:-5432} as=

# Postgres refuses to run as root. In a user namespace nobody is, and the files are still the
# caller's.
if [ "$(id -u)" = 0 ]; then
  if unshare -U true 2>/dev/null; then as='unshare -U'
  elif command -v setpriv >/dev/null && chown -R 65534:65534 "$folder"; then
    as='setpriv --reuid=65534 --regid=65534 --clear-groups'
  fi
fi

init() {
  $as "$postgres/bin/initdb" -D "$folder/data" -N -A trust -U postgres -E UTF8 "--locale=$1"
}

# A server that has not come up yet cannot be stopped: so it waits for that, which the program finds
# out by itself, sooner. No machine lacks the locale C. With the server's own small buffers two
# COPYs at once wait for each other to write the log. On a busy machine the start may take minutes.
start() {
  init C.UTF-8 || init C || return 1
  $as "$postgres/bin/pg_ctl" start -w -t 600 -s -D "$folder/data" -l "$folder/server.log" \
    -o "-k '$folder' -c port=$port -c listen_addresses=$listen \
    -c fsync=off -c synchronous_commit=off -c full_page_writes=off \
    -c shared_buffers=256MB -c wal_buffers=64MB -c max_wal_size=4GB"
}

if start >"$folder/start.log" 2>&1; then
  while read -r _; do :; done
  $as "$postgres/bin/pg_ctl" stop -s -m immediate -D "$folder/data" >/dev/null 2>&1
else
  cat "$folder/start.log" >&2
fi
rm -rf "$folder"
