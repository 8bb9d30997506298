package main

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	shared "covey/cmd/internal/cli"
	"covey/internal/agent"
	"covey/internal/dataset"
	"covey/internal/egress"
	"covey/internal/frame"
	"covey/internal/ledger"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/score"
	"covey/internal/siteconfig"
	"covey/internal/study"
)

type projectCmd struct {
	Result   string    `arg:"" help:"A result file, or a study's name or digest, whose result is then fetched."`
	Dataset  string    `arg:"" help:"The data set's name in agent.toml."`
	Out      string    `required:"" placeholder:"FILE" help:"The file to write: .csv, .parquet or .npy, mode 0600. An existing file is not replaced."`
	Quantile []float64 `default:"0.99" help:"Flag rows beyond these quantiles of T² and of the squared prediction error (${default})."`
	Rotate   string    `default:"none" enum:"none,varimax" help:"varimax: scores on rotated axes, which are not principal components (${default})."`
	Foreign  bool      `help:"Accept the result of a study that this site did not approve, signed by whichever key is in it."`
}

// Help is kong's longer text.
func (projectCmd) Help() string {
	return `Writes a line for each row of the data set: its scores on the result's components, its squared
prediction error (the squared distance from their span), Hotelling's T² where the study bought
variances, and whether these exceed the stated quantiles of their distributions for normal rows.
Rows are read as the study read them. Nothing is sent. Scores are individual data of this
site, and NOT private.`
}

// maxResultFile bounds what is read of a result.
const maxResultFile = 1 << 30

func (c *projectCmd) Run(t *terminal) error {
	format := score.Format(strings.ToLower(strings.TrimPrefix(filepath.Ext(c.Out), ".")))
	if !slices.Contains([]score.Format{score.CSV, score.Parquet, score.NPY}, format) {
		return shared.Bad("--out: the file's name must end in .csv, .parquet or .npy")
	}
	config, err := siteconfig.Read(t.dir)
	if err != nil {
		return err
	}
	d, ok := config.Dataset(c.Dataset)
	if !ok {
		return config.Errorf("dataset", "no data set is named %q", c.Dataset)
	}
	r, plan, h, err := c.result(t)
	if err != nil {
		return err
	}
	m, err := score.New(r, plan)
	if err != nil {
		return &shared.InputError{Err: err}
	}
	if _, err := m.Limits(c.Quantile); err != nil {
		return shared.Bad("--quantile: %w", err)
	}
	c.say(t, d.Name, plan.Proposal.Spec)
	var rotated *score.Rotation
	if c.Rotate == "varimax" {
		turned := m.Rotate()
		rotated = &turned
		t.Say("%s", rotationText(rotated))
	}
	q := d.Request(plan.Proposal.Spec)
	q.Unit, q.Strict = d.Unit, false
	if q.Missing == dataset.MissingError {
		q.Missing = dataset.MissingDropFaulty
	}
	done := &projection{File: c.Out, Digest: r.Digest, Rotated: rotated, unsure: unsure(r)}
	switch {
	case r.VarianceUnknown():
		done.unknown = r.VarianceNote
	case r.Center == proposal.CenterPairs && len(r.ExplainedVariance) > 0:
		done.unknown = "explained variance is about each site's mean, which a study of pairs does not release, and rows are projected about the offsets"
	}
	options := score.Options{Format: format, Quantiles: c.Quantile, Gaps: plan.Proposal.Spec.KeepsGaps(), Read: dataset.ReadOptions{Progress: progress(t.Err)}}
	err = c.write(t.Ctx, func(to io.WriteSeeker) (err error) {
		done.Summary, err = projected(t.Ctx, func() (*score.Summary, error) {
			return score.Project(m, config.Source(d), q, to, options)
		})
		return err
	}, done)
	if options.Read.Progress != nil {
		fmt.Fprintf(shared.Raw(t.Err), "\r%*s\r", progressWidth, "")
	}
	if err != nil {
		return err
	}
	done.Changed = otherRows(h, plan.Proposal.Spec, d, done.Read)
	if err := record(t, config, done); err != nil {
		return errors.Join(fmt.Errorf("egress.jsonl has no line about the file, which is removed: %w", err), os.Remove(c.Out))
	}
	t.Say("%s", done.text())
	return t.Print(done, func(w io.Writer) { fmt.Fprintln(w, c.Out) })
}

// projection is project's --json.
type projection struct {
	File   string          `json:"file"`
	Digest proposal.Digest `json:"digest"`
	*score.Summary
	Rotated *score.Rotation `json:"rotated,omitempty"`
	Changed bool            `json:"changed,omitempty"` // the rows are not those of the study
	written
	unknown string // why variances that the study bought cannot be used
	unsure  bool   // whether the limits come from variances that are mostly noise
}

// written is a file's length and hash.
type written struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// mostUnsure is the share of a variance by which noise may change it without a warning.
const mostUnsure = 0.25

// unsure reports whether noise may change a variance behind the limits by more than mostUnsure:
// that of a component, or what the total leaves to other directions.
func unsure(r *result.Result) bool {
	if r.TotalInterval == nil {
		return false
	}
	half := func(in [2]float64) float64 { return (in[1] - in[0]) / 2 }
	rest, of := r.TotalVariance, half(*r.TotalInterval)
	for i, v := range r.ExplainedVariance {
		h := half(r.VarianceInterval[i])
		if h > mostUnsure*v {
			return true
		}
		rest, of = rest-v, math.Hypot(of, h)
	}
	return r.K < r.D-len(r.LeftOut) && of > mostUnsure*rest
}

// text is the summary in words.
func (p *projection) text() string {
	text := fmt.Sprintf("%s: %s, mode 0600. These are individual data of this site and NOT private: with the result's components they are nearly the rows. Nothing was sent.", p.File, frame.Count(p.Rows, "row", "rows"))
	if strings.HasSuffix(p.File, ".npy") { // which holds no names
		text += "\nIts columns are " + strings.Join(p.Columns, ", ") + "."
	}
	if p.Changed {
		text += "\nThese are not the rows that the study used: the data set, or its mapping in agent.toml, has changed since."
	}
	if p.LeftOut > 0 {
		text += fmt.Sprintf("\n%s no scores: the study would leave them out, since a value is missing or at fault.", frame.Count(p.LeftOut, "row has", "rows have"))
	}
	for i, l := range p.Limits {
		if l.T2 == 0 && l.SPE == 0 {
			text += "\nNo row is flagged: " + cmp.Or(p.unknown, "the study did not buy explained variance") + "; T² and its limit, and that of the squared prediction error, need it."
			break
		}
		kept := max(1, p.Rows-p.LeftOut)
		text += fmt.Sprintf("\nQuantile %g: %s (%.3g%%) flagged;", l.Quantile, frame.Count(p.Flagged[i], "row", "rows"), 100*float64(p.Flagged[i])/float64(kept))
		if l.T2 > 0 {
			text += fmt.Sprintf(" T² above %.4g;", l.T2)
		} else {
			text += " no limit of T², since a component's released variance is 0;"
		}
		if l.SPE > 0 {
			text += fmt.Sprintf(" squared prediction error above %.4g;", l.SPE)
		} else {
			text += " no limit of the squared prediction error, for which the released variances leave nothing;"
		}
		text += fmt.Sprintf(" each limit alone flags %.3g%% of normal rows.", 100*(1-l.Quantile))
		if p.unsure {
			text += " But noise may move the variances that these limits come from by more than a quarter: many more normal rows, or far fewer, may be flagged."
		}
		if l.Quantile >= 0.9 && 2*p.Flagged[i] > kept {
			text += " More than half are flagged: is a column here in another unit of measurement than the study's?"
		}
	}
	return text
}

// otherRows reports whether the rows that were read are others than the study's, as far as the
// ledger knows which those were. Of another data set say tells.
func otherRows(h *agent.Held, spec proposal.Spec, d siteconfig.Dataset, read [32]byte) bool {
	return h != nil && h.Data != proposal.Digest{} && spec.Dataset == d.Name && d.Pin(read) != h.Data
}

// say tells what a reader of scores should know of the result.
func (c *projectCmd) say(t *terminal, name string, spec proposal.Spec) {
	if spec.Dataset != name {
		t.Say("The study used data set %s; these are rows of %s, read with its own mapping.", frame.Quoted(spec.Dataset), frame.Quoted(name))
	}
	if spec.KeepsGaps() {
		t.Say("Cells without a value are filled as in the study (missing = %q). A filled cell adds next to nothing to the squared prediction error.", spec.Missing)
	}
}

func rotationText(r *score.Rotation) string {
	text := "Scores are on varimax axes, which span what the components span: T², the squared prediction error and distances between rows stay the same. They are not principal components: the first does not have the most variance that it can, and scores on two are correlated."
	if r.Variances != nil {
		var shares []string
		for _, v := range r.Variances {
			shares = append(shares, strconv.FormatFloat(v, 'g', 4, 64))
		}
		text += " Variance along each: " + strings.Join(shares, ", ") + ", in all as much as the components have."
	}
	return text
}

// result reads the result file, or fetches that of a study, and checks it. What this site has on
// record of the study is nil where there is no ledger.
func (c *projectCmd) result(t *terminal) (*result.Result, *study.Plan, *agent.Held, error) {
	r, v, err := c.read(t)
	if err != nil {
		return nil, nil, nil, err
	}
	h, why := held(t, v.Digest)
	switch {
	case h != nil && h.Approved():
		if err := h.Check(v); err != nil {
			return nil, nil, nil, err
		}
	case !c.Foreign && h == nil:
		return nil, nil, nil, shared.Bad("the result cannot be compared with this site's ledger (%s): --foreign uses it as it is", why)
	case !c.Foreign:
		return nil, nil, nil, shared.Bad("study %s was not approved here: --foreign uses its result, if you trust the person who gave it to you", v.Digest.String()[:12])
	default:
		t.Say("This site did not approve study %s; its result is signed by the key in it, and only you can tell whose key that is.", v.Digest.String()[:12])
	}
	plan, err := study.NewPlan(r.Proposal)
	return r, plan, h, err
}

// read reads the result of the file, or of the study, if it verifies.
func (c *projectCmd) read(t *terminal) (*result.Result, *result.Verified, error) {
	file, err := shared.OpenTwice(c.Result)
	if errors.Is(err, fs.ErrNotExist) {
		s, wrong := (ref{c.Result}).resolve(t)
		if wrong != nil {
			return nil, nil, shared.Bad("%.80q is neither a file nor a study of this site: %w", c.Result, wrong)
		}
		file, err = fetch(t, s)
	}
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	r, v, err := result.Read(&bounded{file, maxResultFile})
	if err != nil {
		return nil, nil, (&shared.Verify{File: c.Result}).Refuse(t.Terminal, err)
	}
	return r, v, nil
}

// bounded reads at most so many bytes from where it was last sought; more are an error.
type bounded struct {
	io.ReadSeeker
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.ReadSeeker.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, fmt.Errorf("more than %d MiB", maxResultFile>>20)
	}
	return n, err
}

func (b *bounded) Seek(offset int64, whence int) (int64, error) {
	b.left = maxResultFile
	return b.ReadSeeker.Seek(offset, whence)
}

// write makes the file, whole or not at all, and notes its length and hash.
func (c *projectCmd) write(ctx context.Context, content func(io.WriteSeeker) error, done *projection) error {
	f, err := os.OpenFile(c.Out, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, os.ErrExist) {
		return shared.Bad("%s: file exists and is not overwritten: delete it, or name another with --out", c.Out)
	}
	if err != nil {
		return &shared.InputError{Err: err}
	}
	err = f.Chmod(0o600) // whatever the umask adds or takes
	if err == nil {
		err = finish(f, content)
	}
	if err == nil {
		done.written, err = projected(ctx, func() (written, error) { return hashed(f, sha256.New()) })
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(c.Out))
	}
	return nil
}

var errInterrupted = errors.New("interrupted: no file was left")

// projected returns what work returns, and after Ctrl-C waits for nothing: a database may take
// minutes to the first row, and a second Ctrl-C ends the process, which would leave a file without
// a record.
func projected[T any](ctx context.Context, work func() (T, error)) (T, error) {
	done, err := shared.Await(ctx, work)
	if errors.Is(err, shared.ErrInterrupted) {
		err = errInterrupted
	}
	return done, err
}

// finish writes through a buffer.
func finish(f *os.File, content func(io.WriteSeeker) error) error {
	w := &buffered{bufio.NewWriterSize(f, 1<<20), f}
	if err := content(w); err != nil {
		return err
	}
	return w.Flush()
}

// buffered is a file with a buffer before it.
type buffered struct {
	*bufio.Writer
	f *os.File
}

// Seek empties the buffer first.
func (b *buffered) Seek(offset int64, whence int) (int64, error) {
	if err := b.Flush(); err != nil {
		return 0, err
	}
	return b.f.Seek(offset, whence)
}

func hashed(f *os.File, h hash.Hash) (written, error) {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return written{}, err
	}
	n, err := io.Copy(h, f)
	return written{n, hex.EncodeToString(h.Sum(nil))}, err
}

// record puts a line of kind local into egress.jsonl: through the agent where one runs, since the
// file is its own then.
func record(t *terminal, config *siteconfig.Config, done *projection) error {
	_, err := ask[struct{}](t, "POST", "studies", done.Digest.String(), "local", strconv.FormatInt(done.Bytes, 10), done.SHA256)
	if err != nil && t.Ctx.Err() != nil {
		return errInterrupted
	}
	if !shared.Is[*shared.DialError](err) {
		return err
	}
	if _, err := os.Stat(config.LedgerDir()); err != nil {
		return nil // no agent ever ran here: there is no record
	}
	l, err := ledger.Open(config.LedgerDir()) // nobody else has the record while this is held
	if err != nil {
		return err
	}
	log, err := egress.Open(config.DataDir(), shared.NewLogger(t.Err, "text", 0))
	if err == nil {
		err = log.Record(egress.Line{Kind: egress.KindLocal, Study: &done.Digest, Bytes: int(done.Bytes), SHA256: done.SHA256}, time.Now())
		err = errors.Join(err, log.Close())
	}
	return errors.Join(err, l.Close())
}
