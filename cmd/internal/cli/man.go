package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"covey/internal/frame"
)

// Man prints the program's manual page, in man(7), from the same grammar that --help is printed
// from. It is for packages: deploy/release.sh calls it.
type Man struct{}

// Run prints the page.
func (Man) Run(t *Terminal, p *Program, k *kong.Context) error {
	return writeMan(t.Out, k.Model, p.Description, frame.Release())
}

func writeMan(w io.Writer, app *kong.Application, description, version string) error {
	var b strings.Builder
	about, status, _ := strings.Cut(description, "Exit status: ")
	about, data, _ := strings.Cut(about, "Data goes to")
	fmt.Fprintf(&b, ".TH %s 1 \"\" %s Covey\n", strings.ToUpper(app.Name), quoted("covey "+version))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", app.Name, line(firstSentence(about)))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n.I command\n[flags]\n", app.Name)
	fmt.Fprintf(&b, ".SH DESCRIPTION\n%s\n", line(about))
	if data != "" {
		fmt.Fprintf(&b, ".PP\n%s\n", line("Data goes to"+data))
	}
	b.WriteString(".SH OPTIONS\n")
	for _, f := range app.Flags {
		flag(&b, f)
	}
	b.WriteString(".SH COMMANDS\n")
	for _, leaf := range app.Leaves(true) {
		fmt.Fprintf(&b, ".SS %s\n%s\n", quoted(strings.TrimPrefix(leaf.Summary(), app.Name+" ")), line(leaf.Help))
		for _, paragraph := range strings.Split(leaf.Detail, "\n\n") {
			if paragraph != "" {
				fmt.Fprintf(&b, ".PP\n%s\n", lines(paragraph))
			}
		}
		for _, a := range leaf.Positional {
			if a.Help != "" {
				fmt.Fprintf(&b, ".TP\n.I %s\n%s\n", line(a.Name), line(a.Help))
			}
		}
		for _, f := range leaf.Flags {
			flag(&b, f)
		}
	}
	if status != "" {
		fmt.Fprintf(&b, ".SH EXIT STATUS\n%s\n", line(status))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func flag(b *strings.Builder, f *kong.Flag) {
	if f.Hidden {
		return
	}
	b.WriteString(".TP\n")
	names := "\\-\\-" + line(f.Name)
	if f.Short != 0 {
		names = "\\-" + string(f.Short) + ", " + names
	}
	if !f.IsBool() {
		names += "=" + line(f.FormatPlaceHolder())
	}
	fmt.Fprintf(b, ".B %s\n%s\n", names, line(f.Help))
}

func firstSentence(text string) string {
	first, _, _ := strings.Cut(text, ".")
	return strings.TrimSpace(first)
}

// line is text as one line that roff takes as it stands: no escape, no request.
func line(text string) string {
	text = strings.NewReplacer("\\", "\\e", "-", "\\-").Replace(strings.Join(strings.Fields(text), " "))
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = "\\&" + text
	}
	return text
}

// lines is a paragraph; one that is indented keeps its lines.
func lines(text string) string {
	if !strings.HasPrefix(text, " ") {
		return line(text)
	}
	var out []string
	for _, l := range strings.Split(text, "\n") {
		out = append(out, line(l))
	}
	return ".nf\n" + strings.Join(out, "\n") + "\n.fi"
}

func quoted(text string) string { return "\"" + strings.ReplaceAll(line(text), "\"", "\\(dq") + "\"" }
