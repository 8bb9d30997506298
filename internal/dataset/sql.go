package dataset

import "strings"

// checkQuery is [Query.Check] of PostgreSQL's.
func checkQuery(sql string) error { return checkTop(outermost(sql)) }

func checkTop(top string) error {
	switch {
	case strings.TrimSpace(top) == "":
		return &Error{Reason: "the query is empty"}
	case !ordered(top):
		return &Error{Reason: "the query must end in ORDER BY columns that tell every row from every other and are none of the measured values, such as a row's key"}
	}
	return nil
}

func ordered(top string) bool {
	words := strings.Fields(strings.ToLower(top))
	for i, w := range words {
		if w == "by" && i > 0 && words[i-1] == "order" {
			return true
		}
	}
	return false
}

// outermost is a statement without comments, without what stands in quotes and without what
// stands in parentheses.
func outermost(sql string) string {
	var out strings.Builder
	depth := 0
	for len(sql) > 0 {
		switch {
		case strings.HasPrefix(sql, "--"):
			_, sql, _ = strings.Cut(sql, "\n")
			out.WriteByte(' ')
			continue
		case strings.HasPrefix(sql, "/*"):
			sql = afterComment(sql)
			out.WriteByte(' ')
			continue
		case sql[0] == '\'' || sql[0] == '"':
			_, sql, _ = strings.Cut(sql[1:], sql[:1]) // '' is two strings side by side
			out.WriteByte(' ')
			continue
		case sql[0] == '$':
			if tag, rest, ok := strings.Cut(sql[1:], "$"); ok && !strings.ContainsAny(tag, " \t\n'\"();,") {
				_, sql, _ = strings.Cut(rest, "$"+tag+"$")
				out.WriteByte(' ')
				continue
			}
		case sql[0] == '(':
			depth++
			out.WriteByte(' ')
		case sql[0] == ')':
			depth = max(0, depth-1) // one too many closes nothing; the server refuses it
			sql = sql[1:]
			out.WriteByte(' ')
			continue
		}
		if depth <= 0 {
			out.WriteByte(sql[0])
		}
		sql = sql[1:]
	}
	return out.String()
}

// afterComment skips a comment; they nest.
func afterComment(sql string) string {
	depth := 0
	for len(sql) > 0 {
		switch {
		case strings.HasPrefix(sql, "/*"):
			depth++
			sql = sql[2:]
		case strings.HasPrefix(sql, "*/"):
			sql = sql[2:]
			if depth--; depth == 0 {
				return sql
			}
		default:
			sql = sql[1:]
		}
	}
	return ""
}

// outermostMariaDB is outermost in MariaDB's syntax: backticks are quotes, a backslash in a string
// takes the next character with it, # begins a comment and -- only with a space behind it, comments
// do not nest, and /*! and /*M! are no comments but statements.
func outermostMariaDB(sql string) string {
	var out strings.Builder
	depth := 0
	skip := func(after string) {
		sql = after
		out.WriteByte(' ')
	}
	for len(sql) > 0 {
		switch c := sql[0]; {
		case c == '#', strings.HasPrefix(sql, "--") && (len(sql) == 2 || sql[2] <= ' '):
			_, after, _ := strings.Cut(sql, "\n")
			skip(after)
			continue
		case strings.HasPrefix(sql, "/*!"), strings.HasPrefix(sql, "/*M!"):
			skip(sql[3:])
			continue
		case strings.HasPrefix(sql, "/*"):
			_, after, _ := strings.Cut(sql[2:], "*/")
			skip(after)
			continue
		case c == '\'' || c == '"' || c == '`':
			at := 1
			for at < len(sql) && sql[at] != c {
				if sql[at] == '\\' && c != '`' {
					at++
				}
				at++
			}
			skip(sql[min(at+1, len(sql)):])
			continue
		case c == '(':
			depth++
		case c == ')':
			depth = max(0, depth-1)
			skip(sql[1:])
			continue
		}
		if depth == 0 {
			out.WriteByte(sql[0])
		}
		sql = sql[1:]
	}
	return out.String()
}
