package siteconfig

import (
	"bytes"
	"text/template"

	"covey/internal/pki"
)

// Sample is the agent.toml that a join leaves.
func Sample(join pki.Join) ([]byte, error) {
	var out bytes.Buffer
	err := sampleTemplate.Execute(&out, join)
	return out.Bytes(), err
}

var sampleTemplate = template.Must(template.New(File).Parse(`# The agent of site {{.Site}}. Fill the commented parts in, then: agent check
# An unknown key is an error. Paths are relative to this file.

site = {{printf "%q" .Site}}
coordinator = [{{range $i, $a := .Coordinator}}{{if $i}}, {{end}}{{printf "%q" $a}}{{end}}]

# A population is whom a privacy budget protects. All studies of its data sets,
# over all time, stay within the budget together. Its name is the budget's
# identity: adding rows or moving files does not make a fresh one, and you must
# not make one by renaming it. By the accountant "gdp", default of a new budget
# and of a study, a budget holds more than by "zcdp", as long as no study by "zcdp"
# is charged to it: docs/data.md.
#
# [[population]]
# name = "icu-patients"
# budget = { epsilon = 3.0, delta = 1e-6, accountant = "gdp" }   # or: cap_rho = 0.2

# A data set is one file: .csv, .csv.gz, .parquet, .npy or .npz. The coordinator sees
# its name and its number of rows (of units, where unit is given), never its path or
# columns. docs/data.md says what each format may hold.
#
# [[dataset]]
# name = "icu"
# path = "icu.csv"
# population = "icu-patients"
# unit = "patient_id"    # the column that says whose a row is, by the study's name; without it every row is a unit
# workers = 0            # threads that sum rows; 0: one a processor
# precision = "float64"  # or "float32": half the memory, each value rounded once
# cache = "study"        # rows in the clear in cache/, as long as a study; or "keep", or "memory"
# format = "csv"         # where the name does not say it
# separator = ";"        # or "tab", "|"; these six are of a CSV file that is not written in the usual way
# decimal = ","
# thousands = "."
# encoding = "latin-1"   # or "windows-1252", "utf-16"
# skip_rows = 2          # lines before the header
# skip_last = 1          # records at the end that are no rows, such as totals
# missing_values = ["NULL", "-9"]   # in addition to empty, NA and NaN
# dates = "DD.MM.YYYY"   # how text has dates: DD, MM and YYYY in another order, or with "/" or "-"
# strict = false         # true: a cell that cannot be read ends reading, also where rows with gaps are left out
#
# Names, units of measurement and categories of your own, by the study's names. "agent data profile icu"
# shows what is in the file, and lines for here.
#
# [dataset.columns]
# age = "Alter"
# creatinine = { from = "Kreatinin", multiply = 88.4, add = 0 }   # mg/dL to µmol/L
# admitted = { from = "Aufnahme", dates = "DD.MM.YYYY" }          # of this column alone
# sex = { from = "Geschlecht", names = { "w" = "F", "m" = "M" } }
#
# A NumPy matrix has no names of its own; without names its columns are c0, c1, ...
#
# [[dataset]]
# name = "waves"
# path = "waves.npz"
# names = ["age", "hr"]
# population = "icu-patients"
#
# A path may be a folder of .parquet files. Or a data set is the answer of PostgreSQL to a query,
# asked read-only; docs/data.md has MariaDB's:
#
# [[dataset]]
# name = "icu-db"
# query = "select patient_id, age, hr from icu where stay_end < '2026-01-01' order by stay_id"
# dsn_file = "icu.dsn"   # host=db.example user=covey dbname=icu sslmode=verify-full; chmod 600
# query_timeout = "10m"
# population = "icu-patients"
# unit = "patient_id"

# Which studies this site enters without asking you. Every other one waits for
# "agent study approve". "agent study show" says what each limit says of a study.
#
[policy]
approve = "ask"          # or "within-limits", with the limits below
# outside = "ask"        # or "reject": what becomes of a study outside the limits
# max_epsilon = 1.0      # of one study
# max_delta = 1e-6
# peers = { south = "abcd-efgh-ijkl-mnop-qrst-uvwx" }   # other sites, by the fingerprints that they read to you; needed
# coordinator_key = "abcd-efgh-ijkl-mnop-qrst-uvwx"     # that signs releases, as the coordinator's operator read it to you
# noise = ["distributed"]            # nobody sees exact sums; "central" shows them to the coordinator's leader
# on_dropout = ["wait"]              # if not given, "continue" too where noise is distributed
# min_sites = 3
# min_corrupt = 3                    # colluding sites that a study must withstand; if not given, a third of its sites
# picture_by_site = false            # true: studies may picture each site by itself; otherwise they are refused
# quantum_safe_links = false         # true: no link to the coordinator that a later quantum computer could open
# columns = ["age", "hr"]            # that studies may use; any if not given
# dictionary = { creatinine = { measure = "µmol/L", offset = 90, scale = 25 } }   # columns as you agreed on them
#
# [policy.analysts]      # whose studies are let in; with it none that no analyst signed
# ada = { key = "abcd-efgh-ijkl-mnop-qrst-uvwx", max_epsilon_total = 2.0 }   # as ada read it to you; of all her studies of a population
#
# [policy.dataset.icu]   # of one data set; columns and dictionary replace those above
# max_epsilon = 0.5
# columns = ["age"]

# Who is told that a study awaits you, or is over: a program, which gets JSON on standard input, or
# an https webhook. docs/operations.md has the events.
#
# [[notify]]
# command = ["/usr/local/bin/tell-the-office"]
# names = false          # true: with the study's name
`))
