#!/bin/sh
# Splits the demo's diamonds by cut into rows/SITE.csv, one file a site. The rows are public; a site's own
# file would be readable by the agent's user alone.
set -eu
cd "$(dirname "$0")"
mkdir -p rows
gzip -dc ../../cmd/coordinator/diamonds/diamonds.csv.gz | awk -F, '
  NR == 1 { header = $0; for (i = 1; i <= NF; i++) if ($i == "cut" || $i == "\"cut\"") cut = i; next }
  { site = tolower($cut); gsub(/"/, "", site); gsub(/ /, "-", site); file = "rows/" site ".csv"
    if (!(file in made)) { print header > file; made[file] = 1 }
    print > file }'
chmod 0644 rows/*.csv
wc -l rows/*.csv >&2
