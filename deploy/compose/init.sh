#!/bin/sh
# The federation's first hour, once: three coordinators, then five sites. Each step is what a person at
# that machine would run. COMPOSE is "docker-compose" or "docker compose".
set -eu
cd "$(dirname "$0")"
compose() { ${COMPOSE:-docker-compose} "$@"; }
wait_for() { # what, then a command that succeeds once it is so
  what=$1; shift
  for _ in $(seq 60); do
    if "$@" >/dev/null 2>&1; then return; fi
    sleep 1
  done
  echo "init: waited a minute for $what; the last try said:" >&2
  "$@"
}
init() { # service, then flags
  service=$1; shift
  compose run --rm --no-deps -T "$service" coordinator init /data \
    --listen :7443 --address "$service:7443" --peer-listen :7444 --peer-address "$service:7444" "$@"
}
leads() { compose exec -T one coordinator raft peers --json | grep -q '"leader":"[^"]'; }
entered() { compose exec -T one coordinator raft peers | grep -q "$1:7444"; }

[ -d rows ] || ./rows.sh

# The first coordinator makes the federation's keys.
init one
compose up -d --no-deps one
wait_for "the first coordinator to lead" leads
# The others take them over. A join file is good once.
n=2
for service in two three; do
  compose exec -T one coordinator raft add "$n" --out "/nodes/$n.join"
  init "$service" --join "/nodes/$n.join"
  compose up -d --no-deps "$service"
  wait_for "$service to enter" entered "$service"
  n=$((n + 1))
done

for site in fair good very-good premium ideal; do
  compose exec -T one coordinator site invite "$site" --out "/handover/$site.join"
  compose run --rm --no-deps -T "$site" agent join "/handover/$site.join" -o /data
done
compose up -d
