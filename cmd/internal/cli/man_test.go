package cli

import (
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// The page has every command and flag of the grammar but those that are hidden, and no text of it
// is an instruction to roff.
func TestManHasTheGrammar(t *testing.T) {
	var grammar struct {
		Folder string `short:"C" placeholder:"DIR" help:"The folder - of all."`
		Secret string `hidden:"" help:"no"`
		Study  struct {
			Show struct {
				Study string `arg:"" help:".sh is no request; \\fB no font."`
				Each  bool   `help:"All."`
			} `cmd:"" help:"'quoted' at the start."`
		} `cmd:""`
		Gone struct{} `cmd:"" hidden:"" help:"no"`
	}
	parser, err := kong.New(&grammar, kong.Name("tool"), kong.Writers(io.Discard, io.Discard))
	if err != nil {
		t.Fatal(err)
	}
	var page strings.Builder
	if err := writeMan(&page, parser.Model, "Does it. More. Data goes to stdout. Exit status: 0 done.", "1.2"); err != nil {
		t.Fatal(err)
	}
	text := page.String()
	for _, want := range []string{
		".TH TOOL 1 \"\" \"covey 1.2\" Covey\n", "tool \\- Does it\n", ".SS \"study show <study> [flags]\"\n\\&'quoted' at the start.\n",
		".I study\n\\&.sh is no request; \\efB no font.\n", ".B \\-\\-each\nAll.\n", ".B \\-C, \\-\\-folder=DIR\nThe folder \\- of all.\n", ".SH EXIT STATUS\n0 done.\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "gone") || strings.Contains(text, "secret") {
		t.Error("something hidden is shown")
	}
	roff, err := exec.LookPath("groff")
	if err != nil {
		return // the step release of .ci/run has it
	}
	check := exec.Command(roff, "-k", "-man", "-Tutf8", "-ww", "-z")
	check.Stdin = strings.NewReader(text)
	if out, err := check.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}
