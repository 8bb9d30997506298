package tutorials

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// pages are the tutorials, each one person's day, and what the other two hospitals do. In one, a
// comment before a fenced block, or a comment alone, says what a reader does there:
//
//	<!-- 12 ada: run -->                 types the block, line by line; each line succeeds
//	<!-- 12 ada: run, answering yes -->  and answers the question of the last line
//	<!-- 12 ada: run, with numpy -->     where Python has it
//	<!-- 12 ada: start -->               the same in a new terminal, where it goes on
//	<!-- 12 ada: install -->             as root, where packages are tried
//	<!-- 12 ada: append FILE -->         adds the block to a file
//	<!-- 12 ada: edit FILE -->           replaces the keys of a TOML file that the block has
//	<!-- 12 ada: ctrl-c -->              ends what was started last
//	<!-- 12 ada: opens the link -->      that was printed by what was started last
//	<!-- 12 hub to ada: FILE -->         hands a file over
//	<!-- shows -->                       what the step before it printed, … for what varies
//
// Numbers are the order over all pages. Of several hosts each does the step.
var pages = []string{"docs/tutorial-operator.md", "docs/tutorial-data-manager.md", "docs/tutorial-analyst.md", "examples/clinic/README.md"}

// A reader reads 200 words a minute and needs 20 seconds for a command, or for anything else that
// the page says to do, and a page must not take more than a quarter of an hour.
const (
	wordsAMinute = 200
	action       = 20 * time.Second
	most         = 15 * time.Minute
)

// A step is what a reader does at one place of a page.
type step struct {
	page   string
	line   int // of the mark
	order  int
	hosts  []string
	to     []string // whom the file goes to
	verb   string   // run, start, reads, install, append, edit, ctrl-c, opens, hand
	object string   // a file
	answer string   // to the last command's question
	needs  string   // a package of Python without which a reader leaves the step out
	text   string   // the block
	shows  []string // lines that it prints, in this order
}

func (s step) String() string { return fmt.Sprintf("%s:%d (step %d)", s.page, s.line, s.order) }

// commands are the lines that are typed.
func (s step) commands() (out []string) {
	for line := range strings.SplitSeq(strings.ReplaceAll(s.text, "\\\n", ""), "\n") {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			out = append(out, line)
		}
	}
	return out
}

var (
	mark  = regexp.MustCompile(`^<!-- (\d+) ([a-z]+(?:, [a-z]+)*)(?: to ([a-z]+(?:, [a-z]+)*))?: (.+) -->$`)
	verbs = regexp.MustCompile(`^(?:(run|start|reads|install|ctrl-c|opens) ?(?:the link)?|(run), answering (\w+)|(run), with (numpy)|(append|edit) (\S+))$`)
)

// read returns the steps of a page, in its own order.
func read(name, text string) (out []step, err error) {
	var next *step     // its block is due
	var block []string // that is open
	open, shows := false, false
	for i, line := range strings.Split(text, "\n") {
		at := func(format string, args ...any) error {
			return fmt.Errorf("%s:%d: %s", name, i+1, fmt.Sprintf(format, args...))
		}
		switch m := mark.FindStringSubmatch(line); {
		case open && line == "```":
			open = false
			switch last := len(out) - 1; {
			case shows && (last < 0 || out[last].shows != nil || !slices.Contains([]string{"run", "start", "reads"}, out[last].verb)):
				return nil, at("nothing before this block prints something")
			case shows:
				out[last].shows, shows = block, false
			default:
				next.text = strings.Join(block, "\n")
				out, next = append(out, *next), nil
			}
		case open:
			block = append(block, line)
		case strings.HasPrefix(strings.TrimSpace(line), "```"):
			if next == nil && !shows || strings.HasPrefix(line, " ") {
				return nil, at("no comment says who does this")
			}
			open, block = true, nil
		case strings.HasPrefix(line, "    "):
			return nil, at("a block without fences: nobody runs it")
		case (next != nil || shows) && line != "":
			return nil, at("a block is due here")
		case line == "<!-- shows -->":
			shows = true
		case m != nil:
			s := step{page: name, line: i + 1, hosts: strings.Split(m[2], ", ")}
			s.order, _ = strconv.Atoi(m[1])
			if m[3] != "" {
				s.to, s.verb, s.object = strings.Split(m[3], ", "), "hand", m[4]
				out = append(out, s)
				break
			}
			v := verbs.FindStringSubmatch(m[4])
			if v == nil {
				return nil, at("nobody can %q", m[4])
			}
			s.verb, s.answer, s.needs, s.object = v[1]+v[2]+v[4]+v[6], v[3], v[5], v[7]
			if s.verb == "ctrl-c" || s.verb == "opens" || s.verb == "reads" {
				out = append(out, s)
			} else {
				next = &s
			}
		case strings.HasPrefix(line, "<!--"):
			return nil, at("not a comment that is known here")
		}
	}
	if open || shows || next != nil {
		return nil, fmt.Errorf("%s ends in a block, or before one", name)
	}
	return out, nil
}

// all returns the steps of all pages, in the order in which they are done.
func all(t *testing.T) (out []step) {
	t.Helper()
	for _, name := range pages {
		steps, err := read(name, content(t, name))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, steps...)
	}
	slices.SortStableFunc(out, func(a, b step) int { return cmp.Compare(a.order, b.order) })
	for i := 1; i < len(out); i++ {
		if a, b := out[i-1], out[i]; a.order == b.order {
			t.Errorf("%v and %v have one number", a, b)
		}
	}
	return out
}

func content(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestOrder: no two steps have one number.
func TestOrder(t *testing.T) {
	if n := len(all(t)); n < 40 {
		t.Errorf("the pages have %d steps; the pattern must be wrong", n)
	}
}

// TestLength: no page takes its reader more than a quarter of an hour.
func TestLength(t *testing.T) {
	comment := regexp.MustCompile(`(?s)<!--.*?-->`)
	for _, name := range pages {
		text := content(t, name)
		steps, err := read(name, text)
		if err != nil {
			t.Error(err)
			continue
		}
		words, commands, others := len(strings.Fields(comment.ReplaceAllString(text, ""))), 0, 0
		for _, s := range steps {
			n := len(s.commands())
			switch {
			case s.verb != "run" && s.verb != "start" && s.verb != "install":
				n = 0
				others += len(s.hosts)
			case s.answer != "":
				others += len(s.hosts)
			}
			commands += n * len(s.hosts)
		}
		took := time.Duration(words)*time.Minute/wordsAMinute + time.Duration(commands+others)*action
		t.Logf("%s: %d words, %d commands, %d other actions, %.1f minutes", name, words, commands, others, took.Minutes())
		if took > most {
			t.Errorf("%s takes %v: %d words, %d commands, %d other actions", name, took.Round(time.Second), words, commands, others)
		}
		if want := fmt.Sprintf("**%.0f minutes**", math.Ceil(took.Minutes())); !strings.Contains(text, want) {
			t.Errorf("%s does not say %q", name, want)
		}
	}
}

// TestRefused: a page whose commands nobody would run is a fault.
func TestRefused(t *testing.T) {
	for text, want := range map[string]string{
		"```sh\nls\n```":                                                     "no comment says",
		"<!-- 1 hub: run -->\n\n    ls\n":                                    "without fences",
		"Do this:\n\n    ls\n":                                               "without fences",
		"1. Do this:\n   ```sh\n   ls\n   ```":                               "no comment says",
		"<!-- 1 hub: run -->\nThen:\n```sh\nls\n```":                         "a block is due",
		"<!-- 1 hub: ponder -->\n```sh\nls\n```":                             "nobody can",
		"<!-- shows -->\n```text\nok\n```":                                   "nothing before",
		"<!-- 1 hub to ada: a.join -->\n<!-- shows -->\n```text\nok\n```":    "nothing before",
		"<!-- 1 hub: run -->\n```sh\nls\n":                                   "ends in a block",
		"<!-- a remark -->\n":                                                "not a comment",
		"<!-- 1 hub: run -->\n```sh\nls\n```\n\n```text\nwhat it shows\n```": "no comment says",
	} {
		if steps, err := read("page", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v", text, steps, err)
		}
	}
}

// TestTables: the three hospitals' files are what their program writes.
func TestTables(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("go", "run", "../../examples/clinic/make.go", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	names, err := filepath.Glob("../../examples/clinic/*.csv")
	if err != nil || len(names) != 3 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		have, err := os.ReadFile(name)
		made, err2 := os.ReadFile(filepath.Join(dir, filepath.Base(name)))
		if err := errors.Join(err, err2); err != nil || string(have) != string(made) {
			t.Errorf("%s is not what go run examples/clinic/make.go writes (%v)", name, err)
		}
	}
}

// replaced returns a TOML file with the keys of block as block has them, and an error if one of
// block's keys is not in the file.
func replaced(file, block string) (string, error) {
	for _, entry := range entries(block) {
		found := false
		for _, old := range entries(file) {
			if old.key == entry.key && old.table == entry.table {
				file, found = strings.Replace(file, old.text, entry.text, 1), true
			}
		}
		if !found {
			return "", fmt.Errorf("the file has no key %q", entry.key)
		}
	}
	return file, nil
}

// An entry is a key of a TOML file with its value, of several lines where brackets are open. A
// comment behind the value belongs to it.
type entry struct{ table, key, text string }

func entries(text string) (out []entry) {
	key := regexp.MustCompile(`^(\w+)\s*=`)
	table := ""
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		if strings.HasPrefix(lines[i], "[") {
			table = lines[i]
		}
		m := key.FindStringSubmatch(lines[i])
		if m == nil {
			continue
		}
		from := i
		for depth := 0; ; i++ {
			depth += strings.Count(lines[i], "[") - strings.Count(lines[i], "]")
			if depth <= 0 || i == len(lines)-1 {
				break
			}
		}
		out = append(out, entry{table, m[1], strings.Join(lines[from:i+1], "\n")})
	}
	return out
}

// TestReplaced: an edit takes a key's whole value, of its own table.
func TestReplaced(t *testing.T) {
	const file = "name = \"a\"  # b\ncolumns = [\n  \"x\", [1, 2],\n]\n\n[about]\nname = \"c\"\n"
	for block, want := range map[string]string{
		"columns = [\"y\"]":     "name = \"a\"  # b\ncolumns = [\"y\"]\n\n[about]\nname = \"c\"\n",
		"[about]\nname = \"d\"": "name = \"a\"  # b\ncolumns = [\n  \"x\", [1, 2],\n]\n\n[about]\nname = \"d\"\n",
		"name = [\n  \"e\",\n]": "name = [\n  \"e\",\n]\ncolumns = [\n  \"x\", [1, 2],\n]\n\n[about]\nname = \"c\"\n",
		"other = 1":             "",
	} {
		got, err := replaced(file, block)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", block, got, err)
		}
	}
}

// missing returns the first of the lines that output does not have, in this order, and "" if it
// has all. A line of output may be longer at no end but where … stands; runs of spaces are equal.
func missing(lines []string, output string) string {
	rest := strings.Split(output, "\n")
	for _, line := range lines {
		if strings.TrimSpace(line) == "" || strings.TrimSpace(line) == "…" {
			continue
		}
		at := slices.IndexFunc(rest, pattern(line).MatchString)
		if at < 0 {
			return line
		}
		rest = rest[at+1:]
	}
	return ""
}

func pattern(line string) *regexp.Regexp {
	words := strings.Fields(line)
	for i, w := range words {
		words[i] = strings.ReplaceAll(regexp.QuoteMeta(w), "…", ".*")
	}
	return regexp.MustCompile(`^\s*` + strings.Join(words, `\s+`) + `\s*$`)
}

// TestMissing: a sample output that a command does not print is found.
func TestMissing(t *testing.T) {
	const output = "SITE   STATE\nnorth  connected  k1\nsouth  away\ndone."
	for lines, want := range map[string]string{
		"SITE STATE\nnorth connected …\n…\ndone.": "",
		"north  connected":                        "north  connected",
		"south away\nnorth …":                     "north …",
		"one.":                                    "one.",
		"don.":                                    "don.",
	} {
		if got := missing(strings.Split(lines, "\n"), output); got != want {
			t.Errorf("%q: %q is missing, not %q", lines, got, want)
		}
	}
}
