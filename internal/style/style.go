// Package style has the style sheet, icon and parts that all pages share, the coordinator's and a
// site's.
package style

import (
	"embed"
	"html/template"
	"io/fs"
	"net/http"
)

// Files are style.css, icon.svg and what Parts reads.
//
//go:embed style.css icon.svg parts.html
var Files embed.FS

// Parts returns the templates that every page begins from: "head" (up to the title), "logo", and
// "status": a word with a Class of the sheet, and a Mark for those who see no colors.
func Parts() *template.Template { return template.Must(template.ParseFS(Files, "parts.html")) }

// Serve serves the style sheet and the icon.
func Serve(mux *http.ServeMux) {
	for _, name := range []string{"style.css", "icon.svg"} {
		mux.HandleFunc("GET /"+name, func(w http.ResponseWriter, r *http.Request) { ServeFile(w, r, Files, name) })
	}
}

// ServeFile serves a file of a program: a browser asks each time whether it has changed.
func ServeFile(w http.ResponseWriter, r *http.Request, of fs.FS, name string) {
	w.Header().Set("Cache-Control", "no-cache")
	http.ServeFileFS(w, r, of, name)
}
