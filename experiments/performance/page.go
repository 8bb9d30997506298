package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// writePage makes each table's CSV from its text, and the page's tables from the CSVs.
func writePage(root string) error {
	at := filepath.Join(root, page)
	text, err := os.ReadFile(at)
	if err != nil {
		return err
	}
	made, files, err := makePage(root, string(text))
	if err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(root, results, name), content, 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(at, []byte(made), 0o644)
}

// makePage returns the page with its tables made anew, and the CSV files by name. A table that was
// never measured is marked as such.
func makePage(root, text string) (made string, files map[string][]byte, err error) {
	files = map[string][]byte{}
	for _, t := range tables {
		raw, err := os.ReadFile(filepath.Join(root, results, t.name+".txt"))
		content := "Not measured.\n"
		if err == nil {
			var out bytes.Buffer
			if err := read(string(raw)).write(&out); err != nil {
				return "", nil, err
			}
			files[t.name+".csv"] = out.Bytes()
			s, err := readCSV(bytes.NewReader(out.Bytes()))
			if err != nil {
				return "", nil, fmt.Errorf("%s: %w", t.name, err)
			}
			content = fmt.Sprintf("[%s](figures/performance/%s.csv), %g min%s", t.name, t.name, t.minutes, on(string(raw)))
			if t.show == nil {
				content += ".\n"
			} else {
				content += ":\n\n" + strings.TrimSpace(t.show(s)) + "\n"
			}
		} else if !errors.Is(err, os.ErrNotExist) {
			return "", nil, err
		}
		if text, err = replace(text, t.name, content); err != nil {
			return "", nil, err
		}
	}
	return text, files, nil
}

var processor = regexp.MustCompile(`(?m)^cpu: *(.*\S) *$`)

// on names the processor that a text's numbers are of, if it says so.
func on(text string) string {
	if m := processor.FindStringSubmatch(text); m != nil {
		return ", " + m[1]
	}
	return ""
}

// replace puts content between a table's markers.
func replace(text, name, content string) (string, error) {
	begin, end := "<!--"+name+"-->\n", "<!--/"+name+"-->\n"
	head, rest, ok := strings.Cut(text, begin)
	_, tail, also := strings.Cut(rest, end)
	if !ok || !also {
		return "", fmt.Errorf("%s has no place for the table %s", page, name)
	}
	return head + begin + content + end + tail, nil
}
