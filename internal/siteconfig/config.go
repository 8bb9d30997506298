package siteconfig

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"covey/internal/dataset"
	"covey/internal/name"
	"covey/internal/noise"
	"covey/internal/notify"
	"covey/internal/pki"
	"covey/internal/strict"
)

// File is the name of the configuration in a data directory.
const File = "agent.toml"

// maxConfig bounds the file, and maxEntries its data sets and its populations.
const (
	maxConfig  = 1 << 20
	maxEntries = 1000
)

// Config is agent.toml. An unknown key is an error.
type Config struct {
	// Site is this site's name, as in its certificate.
	Site string `toml:"site"`
	// Coordinator lists host:port addresses; they are tried in order.
	Coordinator []string `toml:"coordinator"`
	// Data is the directory of keys, ledger and socket, relative to this file.
	// Its own directory if not given.
	Data string `toml:"data,omitempty"`
	// Populations are the groups of people, or other units, that have a privacy
	// budget. A budget belongs to the population, not to a file.
	Populations []Population `toml:"population"`
	// Datasets are what this site offers to studies.
	Datasets []Dataset `toml:"dataset"`
	// Policy says which studies need the operator.
	Policy Policy `toml:"policy"`
	// Notify is whom the agent tells that it needs its operator.
	Notify []notify.Target `toml:"notify,omitempty"`

	dir  string // of the file: what relative paths start from
	file string // for messages
}

// Population is a budget: all studies of its data sets, over all time, together
// stay within it.
type Population struct {
	// Name of the population, such as "icu-patients". It is the budget's
	// identity in the ledger: renaming it makes a fresh budget, so do not.
	Name string `toml:"name"`
	// Budget is the cap as an (epsilon, delta) pair. Give it or cap_rho.
	Budget *Budget `toml:"budget,omitempty"`
	// CapRho is the cap in ρ.
	CapRho float64 `toml:"cap_rho,omitempty"`
}

// Budget is an (epsilon, delta) pair.
type Budget struct {
	Epsilon float64 `toml:"epsilon"`
	Delta   float64 `toml:"delta"`
	// Accountant is how the pair becomes ρ: "zcdp", or "gdp", the Gaussian's exact curve: more ρ,
	// for as long as all that the population is charged is by studies of accountant = "gdp". If not
	// given, Population.Curve chooses.
	Accountant string `toml:"accountant,omitempty"`
}

// Dataset is one [[dataset]] table: a file, a folder or a query that holds rows.
type Dataset struct {
	// Name by which studies ask for it. The coordinator sees it.
	Name string `toml:"name"`
	// Path of the file, relative to this file. It never leaves the site.
	Path string `toml:"path,omitempty"`
	// Query is asked of a database server instead (dataset.Query), once for a proposal and
	// once for its approval.
	Query string `toml:"query,omitempty"`
	// Server is the server's kind (dataset.Servers). Empty: "postgres".
	Server string `toml:"server,omitempty"`
	// DSNFile holds the connection string, relative to this file and of mode 0600; DSNEnv is the
	// environment variable that holds it instead.
	DSNFile string `toml:"dsn_file,omitempty"`
	DSNEnv  string `toml:"dsn_env,omitempty"`
	// QueryTimeout such as "30m"; empty: dataset.QueryTimeout.
	QueryTimeout string `toml:"query_timeout,omitempty"`
	// Format of the file, where its name does not say it (dataset.Formats).
	Format string `toml:"format,omitempty"`
	// Names of the columns of an NPY or NPZ matrix, which has none of its own. Empty: c0, c1 and
	// so on.
	Names []string `toml:"names,omitempty"`
	// Separator, Decimal, Thousands and Encoding are how a text file is written; SkipRows are the
	// lines before its header, SkipLast the records at its end that are no rows (dataset.Mapping).
	Separator string `toml:"separator,omitempty"` // "," ";" "|" or "tab"
	Decimal   string `toml:"decimal,omitempty"`
	Thousands string `toml:"thousands,omitempty"`
	Encoding  string `toml:"encoding,omitempty"`
	SkipRows  int    `toml:"skip_rows,omitempty"`
	SkipLast  int    `toml:"skip_last,omitempty"`
	// MissingValues stand for a missing value, beside empty, NA and NaN.
	MissingValues []string `toml:"missing_values,omitempty"`
	// Dates is the form of dates in text (dataset.DateForms). Empty: YYYY-MM-DD.
	Dates string `toml:"dates,omitempty"`
	// Columns are what the file has for columns of studies, by the studies' names: the file's name,
	// or a table of from, multiply, add, names and dates (dataset.From).
	Columns map[string]any `toml:"columns,omitempty"`
	// Strict makes a value that is no number a fault that ends reading, where a study takes rows
	// with missing values. A policy's approval leaves such a row out nevertheless.
	Strict bool `toml:"strict,omitempty"`
	// Precision in which studies keep its values: "float64", or "float32", which takes half the
	// memory and time and rounds each value once. Empty: "float64".
	Precision string `toml:"precision,omitempty"`
	// Cache says what becomes of the rows as a study reads them, which are kept in the clear in
	// a file beside the ledger: "study" removes it with the study, "keep" keeps it for later
	// studies, "memory" makes none. Empty: "study", and "memory" for rows of up to 4 MiB.
	Cache string `toml:"cache,omitempty"`
	// Population whose budget its studies are charged to.
	Population string `toml:"population"`
	// Unit names the column whose value says which rows are one unit of the
	// population, such as "patient_id". Empty: every row is a unit. A study must
	// name the same, and every study of these people should: a budget is spent a
	// unit.
	Unit string `toml:"unit,omitempty"`
	// Workers is how many threads sum its rows; 0: one a processor.
	Workers int `toml:"workers,omitempty"`
}

// Error is a configuration that cannot be: it names the file, the key and
// the bound.
type Error struct {
	File   string
	Key    string // empty where the whole file is meant
	Reason string
	Line   int // of the key; 0 if it has none
}

func (e *Error) Error() string {
	s := e.File + ": " + strict.At(e.Line)
	if e.Key != "" {
		s += e.Key + ": "
	}
	return s + e.Reason
}

// Read reads the configuration in path: the file, or a directory that
// holds an agent.toml. Every error is an *Error.
func Read(path string) (*Config, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, File)
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &Error{File: path, Reason: Reason(err) + "; -C or COVEY_AGENT_DIR names the folder that \"agent join\" made"}
	}
	if err != nil {
		return nil, unread(path, err)
	}
	if info.Size() > maxConfig {
		return nil, &Error{File: path, Reason: fmt.Sprintf("is longer than %d bytes", maxConfig)}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, unread(path, err)
	}
	return Parse(text, path)
}

// unread is the error of a configuration that cannot be read.
func unread(path string, err error) *Error {
	reason := Reason(err)
	if errors.Is(err, fs.ErrPermission) {
		reason += ": run this as the user that runs the agent"
	}
	return &Error{File: path, Reason: reason}
}

// Reason is an I/O error without the path, which the caller names.
func Reason(err error) string {
	if at, ok := errors.AsType[*os.PathError](err); ok {
		return at.Err.Error()
	}
	return err.Error()
}

// Parse reads the text of a configuration that stands in file: relative
// paths start from that file's directory. Every error is an *Error.
func Parse(text []byte, file string) (*Config, error) {
	c := &Config{file: file, dir: filepath.Dir(file)}
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // some editors begin a file with it
	if bad, ok := errors.AsType[*strict.Error](c.decode(text)); ok {
		return nil, &Error{File: file, Key: bad.Key, Reason: bad.Reason}
	}
	err := c.check()
	if err == nil {
		err = c.Policy.checkGiven(c, strict.Given(text, c, "policy"))
	}
	if bad, ok := errors.AsType[*Error](err); ok {
		bad.Line = strict.Line(text, bad.Key)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Errorf returns an [*Error] of this configuration about a key.
func (c *Config) Errorf(key, format string, args ...any) error {
	return &Error{File: c.file, Key: key, Reason: fmt.Sprintf(format, args...)}
}

func (c *Config) check() error {
	if err := pki.ValidName(c.Site); err != nil {
		return c.Errorf("site", "%v", err)
	}
	if len(c.Coordinator) == 0 {
		return c.Errorf("coordinator", "at least one host:port is needed")
	}
	for i, address := range c.Coordinator {
		if err := CheckAddress(address); err != nil {
			return c.Errorf(fmt.Sprintf("coordinator[%d]", i), "%v", err)
		}
	}
	if len(c.Populations) > maxEntries || len(c.Datasets) > maxEntries {
		return c.Errorf("", "at most %d populations and %d data sets", maxEntries, maxEntries)
	}
	populations := map[string]bool{}
	for i, p := range c.Populations {
		key := fmt.Sprintf("population[%d]", i)
		if err := checkText(p.Name); err != nil {
			return c.Errorf(key+".name", "%v", err)
		}
		if populations[p.Name] {
			return c.Errorf(key+".name", "%q appears twice", p.Name)
		}
		populations[p.Name] = true
		if _, err := p.Cap(); err != nil {
			return c.Errorf(key, "%v", err)
		}
	}
	if bad, ok := errors.AsType[*notify.TargetError](notify.Check(c.Notify)); ok {
		return c.Errorf(bad.Key, "%s", bad.Reason)
	}
	datasets := map[string]bool{}
	for i, d := range c.Datasets {
		key := fmt.Sprintf("dataset[%d]", i)
		if err := checkText(d.Name); err != nil {
			return c.Errorf(key+".name", "%v", err)
		}
		if datasets[d.Name] {
			return c.Errorf(key+".name", "%q appears twice", d.Name)
		}
		datasets[d.Name] = true
		if err := c.checkDataset(key, d); err != nil {
			return err
		}
	}
	return c.Policy.check(c)
}

// checkDataset checks a [[dataset]] table but for its name.
func (c *Config) checkDataset(key string, d Dataset) error {
	if err := c.checkQuery(key, d); err != nil {
		return err
	}
	if f := dataset.Format(d.Format); f != "" && !slices.Contains(dataset.Formats, f) {
		return c.Errorf(key+".format", "must be one of %v, got %q", dataset.Formats, d.Format)
	}
	if d.Query == "" && d.Format == "" && dataset.FormatOf(d.Path) == "" {
		return c.Errorf(key+".path", `the name ends in none of %v; give format, which is "csv" for text and "parquet" for a folder of Parquet files. Of a workbook, save the sheet as CSV`, dataset.Formats)
	}
	if err := c.checkNames(key, d); err != nil {
		return err
	}
	if err := c.checkMapping(key, d); err != nil {
		return err
	}
	if !slices.Contains([]string{"", string(dataset.Float64), string(dataset.Float32)}, d.Precision) {
		return c.Errorf(key+".precision", `must be "float64" or "float32", got %q`, d.Precision)
	}
	if !slices.Contains([]string{"", CacheStudy, CacheKeep, CacheMemory}, d.Cache) {
		return c.Errorf(key+".cache", `must be "study", "keep" or "memory", got %q`, d.Cache)
	}
	if !slices.ContainsFunc(c.Populations, func(p Population) bool { return p.Name == d.Population }) {
		return c.Errorf(key+".population", "no [[population]] is named %q", d.Population)
	}
	if d.Unit != "" {
		if err := checkText(d.Unit); err != nil {
			return c.Errorf(key+".unit", "%v", err)
		}
		if d.Unit != strings.Trim(d.Unit, " \t") {
			return c.Errorf(key+".unit", "has spaces around it")
		}
	}
	if d.Workers < 0 || d.Workers > 1024 {
		return c.Errorf(key+".workers", "must be in 0..1024, got %d", d.Workers)
	}
	return nil
}

// maxQueryTimeout bounds a statement: a site that reads for longer has lost its study.
const maxQueryTimeout = 24 * time.Hour

var (
	variable   = regexp.MustCompile(`^[-._a-zA-Z][-._a-zA-Z0-9]*$`)
	connection = regexp.MustCompile(`(?i)://|password *=|@(tcp|unix)?\(|^[^/]*:.*@\w*/`) // of PostgreSQL or MariaDB
)

// checkQuery checks where a data set's rows come from.
func (c *Config) checkQuery(key string, d Dataset) error {
	switch {
	case d.Query == "" && d.Path == "":
		return c.Errorf(key+".path", "must be given, or query")
	case d.Query == "" && d.Server+d.DSNFile+d.DSNEnv+d.QueryTimeout != "":
		return c.Errorf(key+".query", "must be given with server, dsn_file, dsn_env or query_timeout")
	case d.Query == "":
		return nil
	case d.Path+d.Format != "":
		return c.Errorf(key+".path", "give path or query, not both")
	case (d.DSNFile == "") == (d.DSNEnv == ""):
		return c.Errorf(key+".dsn_file", "give dsn_file or dsn_env with a query")
	// Errors and logs name the file or the variable: it must not be the password.
	case d.DSNEnv != "" && !variable.MatchString(d.DSNEnv):
		return c.Errorf(key+".dsn_env", "must be the name of an environment variable, not the connection string that it holds")
	case connection.MatchString(d.DSNFile):
		return c.Errorf(key+".dsn_file", "must be the path of a file, not the connection string that it holds")
	}
	if d.Server != "" && !slices.Contains(dataset.Servers, d.Server) {
		return c.Errorf(key+".server", "must be one of %q, got %q", dataset.Servers, d.Server)
	}
	if err := c.Source(d).Query.Check(); err != nil {
		return c.Errorf(key+".query", "%v", err)
	}
	if d.QueryTimeout == "" {
		return nil
	}
	if limit, err := time.ParseDuration(d.QueryTimeout); err != nil || limit < time.Second || limit > maxQueryTimeout {
		return c.Errorf(key+".query_timeout", `must be in 1s..24h, such as "10m", got %q`, d.QueryTimeout)
	}
	return nil
}

// checkNames checks the columns' names of a data set that has none of its own.
func (c *Config) checkNames(key string, d Dataset) error {
	f := c.Source(d).Kind()
	if len(d.Names) > 0 && !f.Unnamed() {
		return c.Errorf(key+".names", "are for .npy and .npz; the columns of other formats have their own")
	}
	for i, name := range d.Names {
		if err := checkText(name); err != nil {
			return c.Errorf(fmt.Sprintf("%s.names[%d]", key, i), "%v", err)
		}
		if name != strings.Trim(name, " \t") {
			return c.Errorf(fmt.Sprintf("%s.names[%d]", key, i), "has spaces around it")
		}
		if slices.Contains(d.Names[:i], name) {
			return c.Errorf(fmt.Sprintf("%s.names[%d]", key, i), "%q appears twice", name)
		}
	}
	return nil
}

// checkText keeps names readable on one line, as proposals do: a coordinator takes no others in a
// hello, so that a site which had one could not be linked.
func checkText(v string) error {
	switch {
	case v == "":
		return errors.New("must be given")
	case len(v) > 200:
		return fmt.Errorf("at most 200 bytes, got %d", len(v))
	}
	if why := name.Fault(v); why != "" {
		return errors.New(why)
	}
	return nil
}

// Cap is the population's budget in ρ, whatever studies are charged to it. A budget of (ε, δ)
// becomes the largest ρ that noise.BudgetRho proves to be (ε, δ)-DP, the checks of releases
// included: studies are charged in ρ, which adds up, so that all of them together stay (ε, δ)-DP.
func (p Population) Cap() (float64, error) { return p.cap(noise.ZCDP) }

// Curve is how the budget becomes ρ while all charges have the bridge (ledger.Population.Cap): by
// the accountant that agent.toml names. If it names none it is gdp, as a study's, but where bridged
// is false (ledger.Population.Bridged): no cap that studies were held to grows by itself.
func (p Population) Curve(bridged bool) noise.Curve {
	switch {
	case p.Budget == nil:
	case p.Budget.Accountant != "":
		return noise.Curve(p.Budget.Accountant)
	case bridged:
		return noise.GDP
	}
	return noise.ZCDP
}

// Caps are the budget in ρ: Cap's, and that by Curve while all charges have the bridge.
func (p Population) Caps(bridged bool) (zcdp, gdp float64, err error) {
	zcdp, err = p.Cap()
	if err != nil || p.Curve(bridged) != noise.GDP {
		return zcdp, zcdp, err
	}
	gdp, err = p.cap(noise.GDP)
	return zcdp, gdp, err
}

// Promise is the budget as (ε, δ): of a cap in ρ by zCDP, at a usual δ. Beyond what is computed, ε
// is infinite.
func (p Population) Promise() (epsilon, delta float64) {
	if p.Budget != nil {
		return p.Budget.Epsilon, p.Budget.Delta
	}
	const usual = 1e-6
	epsilon, err := noise.ZCDP.Epsilon(p.CapRho, usual)
	if err != nil {
		epsilon = math.Inf(1)
	}
	return epsilon, usual
}

func (p Population) cap(curve noise.Curve) (float64, error) {
	switch {
	case p.Budget != nil && p.CapRho != 0:
		return 0, errors.New("give budget or cap_rho, not both")
	case p.Budget != nil:
		b := p.Budget
		if !(b.Epsilon > 0) || b.Epsilon > 1000 {
			return 0, fmt.Errorf("budget.epsilon must be in (0, 1000], got %v", b.Epsilon)
		}
		if !(b.Delta > 0 && b.Delta < 1) {
			return 0, fmt.Errorf("budget.delta must be in (0, 1), got %v", b.Delta)
		}
		if a := noise.Curve(b.Accountant); a != "" && a != noise.ZCDP && a != noise.GDP {
			return 0, fmt.Errorf(`budget.accountant must be "zcdp" or "gdp", got %q`, b.Accountant)
		}
		return curve.BudgetRho(b.Epsilon, b.Delta)
	case !(p.CapRho > 0) || math.IsInf(p.CapRho, 0):
		return 0, errors.New("a budget or a positive cap_rho is needed")
	}
	return p.CapRho, nil
}

// Population returns a population by name; check made sure that a data set's exists.
func (c *Config) Population(name string) (Population, bool) {
	i := slices.IndexFunc(c.Populations, func(p Population) bool { return p.Name == name })
	if i < 0 {
		return Population{}, false
	}
	return c.Populations[i], true
}

// Dataset returns a data set by name.
func (c *Config) Dataset(name string) (Dataset, bool) {
	i := slices.IndexFunc(c.Datasets, func(d Dataset) bool { return d.Name == name })
	if i < 0 {
		return Dataset{}, false
	}
	return c.Datasets[i], true
}

// path resolves a path of the configuration.
func (c *Config) path(p string) string {
	if filepath.IsAbs(p) {
		return filepath.Clean(p)
	}
	return filepath.Join(c.dir, p)
}

// Source is where a data set's rows are.
func (c *Config) Source(d Dataset) dataset.Source {
	if d.Query != "" {
		q := &dataset.Query{SQL: d.Query, Server: d.Server, DSNEnv: d.DSNEnv}
		if d.DSNFile != "" {
			q.DSNFile = c.path(d.DSNFile)
		}
		q.Timeout, _ = time.ParseDuration(d.QueryTimeout) // check read it before
		return dataset.Source{Query: q, Mapping: d.Mapping()}
	}
	return dataset.Source{Path: c.path(d.Path), Format: dataset.Format(d.Format), Names: d.Names, Mapping: d.Mapping()}
}

// File is the configuration's file, for messages.
func (c *Config) File() string { return c.file }

// DataDir is the directory of keys, ledger and socket.
func (c *Config) DataDir() string { return c.path(c.Data) }

// Targets are whom the agent notifies, with the paths of their keys.
func (c *Config) Targets() []notify.Target { return notify.Under(c.dir, c.Notify) }

// LedgerDir is the directory of the ledger's files.
func (c *Config) LedgerDir() string { return filepath.Join(c.DataDir(), "ledger") }

// CheckAddress checks that an address is host:port.
func CheckAddress(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil || host == "" {
		return fmt.Errorf("%q: must be host:port", address)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return fmt.Errorf("%q: the port must be in 1..65535", address)
	}
	return nil
}
