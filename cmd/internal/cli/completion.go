package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// Completion is the completion command of a program: it prints a shell's script for the program's
// commands, their flags and the words that a flag may have. Everything else is completed as a file.
type Completion struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help is kong's longer text.
func (Completion) Help() string {
	// Indented, since kong makes one paragraph of lines that are not.
	return `Where a script goes, with this program's name for PROGRAM:

    PROGRAM completion bash > ~/.local/share/bash-completion/completions/PROGRAM
    PROGRAM completion zsh > "${fpath[1]}/_PROGRAM"
    PROGRAM completion fish > ~/.config/fish/completions/PROGRAM.fish`
}

// Run prints the script.
func (c *Completion) Run(t *Terminal, k *kong.Context) error {
	return writeCompletion(t.Out, c.Shell, k.Model)
}

// at is what may follow a path of commands.
type at struct {
	path     string   // such as "study show"
	commands []string // the next ones
	flags    []string // with --
	words    map[string][]string
}

// writeCompletion prints the script for one shell: bash, zsh or fish.
func writeCompletion(w io.Writer, shell string, app *kong.Application) error {
	places := walk(app.Node, nil, nil)
	switch shell {
	case "bash":
		return bash(w, app.Name, places)
	case "zsh":
		if _, err := fmt.Fprintf(w, "#compdef %s\nautoload -U +X bashcompinit && bashcompinit\n", app.Name); err != nil {
			return err
		}
		return bash(w, app.Name, places)
	case "fish":
		return fish(w, app.Name, places)
	}
	return Bad("no completion for %q: must be bash, zsh or fish", shell)
}

// walk lists a node and all below it. A flag of a node is one of those below it, too.
func walk(n *kong.Node, path []string, above []*kong.Flag) []at {
	here := at{path: strings.Join(path, " "), words: map[string][]string{}}
	flags := append(slices.Clone(above), n.Flags...)
	for _, f := range flags {
		if f.Hidden {
			continue
		}
		here.flags = append(here.flags, "--"+f.Name)
		if f.Enum != "" {
			here.words["--"+f.Name] = f.EnumSlice()
		}
	}
	out := []at{here}
	for _, c := range n.Children {
		if c.Hidden || c.Type != kong.CommandNode {
			continue
		}
		out[0].commands = append(out[0].commands, c.Name)
		out = append(out, walk(c, append(slices.Clone(path), c.Name), flags)...)
	}
	return out
}

// bash finds the longest path of commands on the line, and offers what may follow it.
func bash(w io.Writer, name string, places []at) error {
	var b strings.Builder
	function := "_" + strings.ReplaceAll(name, "-", "_") + "_complete"
	fmt.Fprintf(&b, "%s() {\n  local cur=\"${COMP_WORDS[COMP_CWORD]}\" prev=\"${COMP_WORDS[COMP_CWORD-1]}\" at=\"\" word i\n", function)
	fmt.Fprintf(&b, "  for ((i = 1; i < COMP_CWORD; i++)); do\n    word=\"${COMP_WORDS[i]}\"\n    case \"$at $word\" in\n")
	for _, p := range places[1:] {
		fmt.Fprintf(&b, "      %q) at=%q ;;\n", " "+p.path, " "+p.path)
	}
	b.WriteString("    esac\n  done\n  local commands=\"\" flags=\"\"\n  case \"$at\" in\n")
	for _, p := range places {
		key := ""
		if p.path != "" {
			key = " " + p.path
		}
		fmt.Fprintf(&b, "    %q)\n      commands=%q\n      flags=%q\n      case \"$prev\" in\n", key, strings.Join(p.commands, " "), strings.Join(p.flags, " "))
		for _, flag := range p.flags {
			if words := p.words[flag]; len(words) > 0 {
				fmt.Fprintf(&b, "        %s) COMPREPLY=($(compgen -W %q -- \"$cur\")); return ;;\n", flag, strings.Join(words, " "))
			}
		}
		b.WriteString("        *) ;;\n      esac ;;\n")
	}
	b.WriteString("  esac\n  if [[ $cur == -* ]]; then\n    COMPREPLY=($(compgen -W \"$flags\" -- \"$cur\"))\n")
	b.WriteString("  elif [[ -n $commands ]]; then\n    COMPREPLY=($(compgen -W \"$commands\" -- \"$cur\"))\n  else\n    COMPREPLY=($(compgen -f -- \"$cur\"))\n  fi\n}\n")
	fmt.Fprintf(&b, "complete -o filenames -F %s %s\n", function, name)
	_, err := io.WriteString(w, b.String())
	return err
}

// fish compares the words on the line that are no flags with each path.
func fish(w io.Writer, name string, places []at) error {
	var b strings.Builder
	function := "__" + strings.ReplaceAll(name, "-", "_") + "_at"
	fmt.Fprintf(&b, "function %s\n  set -l words (commandline -opc)\n  set -e words[1]\n  test (string join ' ' -- (string match -v -- '-*' $words)) = \"$argv[1]\"\nend\n", function)
	for _, p := range places {
		if len(p.commands) > 0 {
			fmt.Fprintf(&b, "complete -c %s -n '%s \"%s\"' -f -a '%s'\n", name, function, p.path, strings.Join(p.commands, " "))
		}
		for _, flag := range p.flags {
			words := ""
			if v := p.words[flag]; len(v) > 0 {
				words = " -x -a '" + strings.Join(v, " ") + "'"
			}
			fmt.Fprintf(&b, "complete -c %s -n '%s \"%s\"' -l %s%s\n", name, function, p.path, strings.TrimPrefix(flag, "--"), words)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
