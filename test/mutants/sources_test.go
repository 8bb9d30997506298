//go:build mutants

package mutants

const (
	mariaDSN     = "internal/dataset/mariadb/dsn.go"
	mariaDB      = "internal/dataset/mariadb/mariadb.go"
	folderGo     = "internal/dataset/folder.go"
	agentReload  = "internal/agent/settings.go"
	configReload = "internal/siteconfig/reload.go"
)

// Where data lies, and agent.toml while the agent runs.
func init() {
	maria := func(run string) killer { return killer{pkg: "internal/dataset/mariadb", run: run} }
	tables = append(tables, []mutant{
		{"a database's certificate is any", 0, []edit{
			{mariaDSN, "&tls.Config{MinVersion", "&tls.Config{InsecureSkipVerify: true, MinVersion"},
		}, maria("TestDSN"), killer{}},
		{"a database over TCP has no TLS", 0, []edit{
			{mariaDSN, `if c.Net == "tcp" {`, `if c.Net == "tcp" && roots != nil {`},
		}, maria("TestTCPNeedsTLS"), killer{}},
		{"options of a connection string that nobody listed", 0, []edit{
			{mariaDSN, "\t\t\treturn nil, bad(\"the connection string has an option other than ca and timeout\")\n", ""},
		}, maria("TestDSN"), killer{}},
		{"a database reads the agent's files", 0, []edit{
			{mariaDSN, "c.CheckConnLiveness = false", "c.AllowAllFiles = true"},
		}, maria("TestServerAsksForAFile"), killer{}},
		{"a database is told that files can be had", 0, []edit{
			{mariaDSN, "c.DialFunc, c.Logger = dial, &mysql.NopLogger{}", "c.Logger = &mysql.NopLogger{}"},
		}, maria("TestHonestServer"), killer{}},
		{"a database's words are in errors", 0, []edit{
			{mariaDB, "\t\te.Reason += word(said.Number)\n", "\t\te.Reason += word(said.Number) + said.Message\n"},
		}, maria("TestServerSays"), killer{}},
		{"a query outside of a snapshot", 0, []edit{
			{mariaDB, "start transaction with consistent snapshot, read only", "start transaction read only"},
		}, maria("TestHonestServer"), killer{}},
		{"tables that no snapshot holds", 0, []edit{
			{mariaDB, `	if count != "0" {`, `	if count == "" {`},
		}, maria("TestServerSays"), killer{}},
		{"a folder is listed once", 0, []edit{
			{folderGo, "	names, err := f.list()\n	if err != nil || !slices", "	names, err := f.names, error(nil)\n	if err != nil || !slices"},
		}, in("dataset", "TestFolderChanges"), killer{}},
		{"a file of a folder is replaced by one as long", 0, []edit{
			{folderGo, "!os.SameFile(now, before) || ", ""},
		}, in("dataset", "TestFolderChanges"), killer{}},
		{"a folder's files in another order", 0, []edit{
			{folderGo, "	slices.Sort(names)\n", "	slices.Sort(names)\n	slices.Reverse(names)\n"},
		}, in("dataset", "TestFolderPin"), killer{}},
		{"a folder's file with other columns", 0, []edit{
			{folderGo, "if schemaOf(t) != schema {", "if schemaOf(t) != schema && i > maxFiles {"},
		}, killer{pkg: "internal/dataset/parquet", run: "TestBadParquetFolder"}, killer{}},
		{"a page's header is deeper than any", 0, []edit{
			{"internal/dataset/parquet/footer.go", "const maxThriftDepth = 64", "const maxThriftDepth = 96"},
		}, killer{pkg: "internal/dataset/parquet", run: "TestParquetClaims"}, killer{}},
		{"the header after a dictionary is not gone over", 0, []edit{
			{"internal/dataset/parquet/pages.go", "if head.Type != format.DictionaryPage {", "if head.Type != format.DictionaryPage || used > 0 {"},
		}, killer{pkg: "internal/dataset/parquet", run: "TestParquetClaims"}, killer{}},
		{"a folder's names are in errors", 0, []edit{
			{folderGo, `label := fmt.Sprintf("%s: file %d of %d", f.path, i+1, len(f.names))`, `label := fmt.Sprintf("%s: %s, file %d of %d", f.path, name, i+1, len(f.names))`},
		}, in("dataset", "TestFolderHolds"), killer{}},
		{"a restart takes another data set for an approved one", 0, []edit{
			{"internal/agent/sessions.go", "if len(approval.Config) > 0 {", "if len(approval.Config) < 0 {"},
		}, in("agent", "TestReloadAtEachPoint/prepared"), killer{}},
		{"a later policy approves what waits", 0, []edit{
			{"internal/agent/decision.go", "	if a.pending.Has(id) {\n		// It was left", "	if a.pending.Has(id) && a == nil {\n		// It was left"},
		}, in("agent", "TestReloadLeavesPending"), killer{}},
		{"an operator approves under what agent.toml said once", 0, []edit{
			{"internal/agent/dataset.go", "	if s.under == now {\n", "	if s.under != nil {\n"},
		}, in("agent", "TestReloadLeavesPending"), killer{}},
		{"a budget begins anew and nobody was asked", 0, []edit{
			{agentReload, "len(done.Anew) > 0 && !yes", "len(done.Anew) > 1000 && !yes"},
		}, in("agent", "TestReloadIsAllOrNothing"), killer{}},
		{"a running agent takes another coordinator's name", 0, []edit{
			{configReload, ` || key == "coordinator"`, ""},
		}, in("agent", "TestReloadIsAllOrNothing"), killer{}},
		{"a group writes agent.toml", 0, []edit{
			{configReload, "before.Mode().Perm()&0o022", "before.Mode().Perm()&0o002"},
		}, in("agent", "TestReloadIsAllOrNothing"), killer{}},
	})
}
