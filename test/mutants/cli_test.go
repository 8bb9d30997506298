//go:build mutants

package mutants

// Decisions of an operator by the commands.
func init() {
	const commands, terminal = "cmd/agent/commands.go", "cmd/internal/cli/terminal.go"
	tables = append(tables, []mutant{
		{"cli: a yes that no person typed confirms", 0, []edit{
			{terminal, "!ok || !term.IsTerminal(int(f.Fd()))", "ok && f == nil && term.IsTerminal(0)"},
		}, killer{pkg: "cmd/internal/cli", run: "TestConfirm"}, killer{}},
		{"cli: --yes decides by name", 0, []edit{
			{commands, "if _, err := proposal.ParseDigest(c.Study); err != nil {\n\t\t\t// The", "if _, err := proposal.ParseDigest(c.Study); err != nil && c.Study == \"\" {\n\t\t\t// The"},
		}, killer{pkg: "cmd/agent", run: "TestOperatorCommands"}, killer{}},
		{"cli: a study is left without a question", 0, []edit{
			{commands, "found, err := c.agreed(t, question, undone)", "found, err := c.resolve(t)"},
		}, killer{pkg: "cmd/agent", run: "TestOperatorCommands"}, killer{}},
		{"cli: another study than the one that was meant is left", 0, []edit{
			{commands, "\"studies\", found.Digest.String(), word)\n\tif err != nil {\n\t\treturn err\n\t}\n\tif err := same(s.Digest, found.Digest); err != nil {", "\"studies\", found.Digest.String(), word)\n\tif err != nil {\n\t\treturn err\n\t}\n\tif err := same(s.Digest, s.Digest); err != nil {"},
		}, killer{pkg: "cmd/agent", run: "TestAnotherStudyIsNotDecided"}, killer{}},
		{"cli: data that could not be written is a success", 0, []edit{
			{terminal, "	return w.err\n", "	return nil\n"},
		}, killer{pkg: "cmd/internal/cli", run: "TestPrintFails"}, killer{}},
	})
}
