package sitepage

import (
	"crypto/sha256"
	"net/http"
	"slices"
	"strings"

	"covey/internal/frame"
	"covey/internal/proposal"
)

// same compares a secret with what came, in a time that does not depend on where they differ.
func same(secret, text string) bool { return equal(sha256.Sum256([]byte(secret)), text) }

// decide takes a decision about one proposal: the one whose whole digest the form carries and the
// address has, by its typed name, with the letters that the terminal printed for that digest.
func (p *Page) decide(w http.ResponseWriter, r *http.Request, s *session) {
	id, err := proposal.ParseDigest(r.PathValue("digest"))
	if err != nil {
		p.refuse(w, http.StatusNotFound, "There is no such page.")
		return
	}
	// The second click of two, or another tab, is answered by what the first one decided: while the
	// agent approves, it would be told that nothing was.
	select {
	case p.deciding <- struct{}{}:
		defer func() { <-p.deciding }()
	case <-r.Context().Done():
		return
	}
	again := func(why string) { p.show(w, r, s, id, http.StatusUnprocessableEntity, why) }
	word := r.PostForm.Get("decision")
	d, err := p.load(r.Context(), id, word == "approve") // a rejection waits for no rows
	var seen string
	if err == nil {
		seen, err = d.Seen()
	}
	if err != nil {
		p.fail(w, s, err)
		return
	}
	switch {
	case r.PostForm.Get("digest") != id.String() || d.Digest != id:
		again("This form belongs to another proposal. Read this one, then decide.")
		return
	case !d.Open:
		again("It can no longer be decided on.")
		return
	case word != "approve" && word != "reject":
		again("Choose one: approve or reject.")
		return
	case !names(r.PostForm.Get("name"), d.Name):
		again("The name that you typed is not this study's. Copy it from the top of this page, without quotation marks.")
		return
	}
	if word == "approve" && r.PostForm.Get("seen") != seen {
		again("This site's rows, budget or rules are not what the page showed. It shows them as they are now: read them, then decide.")
		return
	}
	switch p.door.guess(s, id, strings.ToUpper(strings.TrimSpace(r.PostForm.Get("letters")))) {
	case lettersRight:
	case lettersOver:
		p.tell("Letters were wrong three times: the page is closed. If that was not you, somebody else has its cookie. Press Enter for a new link.")
		p.refuse(w, http.StatusForbidden, "The letters were wrong three times. Nothing was decided, and this page is closed.")
		return
	case lettersNone:
		again("These letters were used, or none were printed yet. The terminal has new ones now.")
		return
	default:
		p.tell("Wrong letters were typed for study " + name(id, d.Name) + ".")
		again("These are not the letters that the terminal printed for this study.")
		return
	}
	act, did := p.source.Approve, "approved"
	if word == "reject" {
		act, did = p.source.Reject, "rejected"
	}
	if err := act(r.Context(), id); err != nil {
		again("The agent refuses: " + frame.Cleaned(err.Error()))
		return
	}
	p.tell("Study " + name(id, d.Name) + " is " + did + ", from the page.")
	back(w, r, id)
}

// names reports whether a person typed a study's name, as it is or as the page shows it, with its
// quotes or without: a browser shows several spaces as one, and frame.Word a quote as an apostrophe
// and a backslash twice.
func names(typed, name string) bool {
	plain := func(s string) string { return strings.ReplaceAll(strings.Join(strings.Fields(s), " "), `"`, "'") }
	return slices.Contains([]string{plain(name), plain(frame.Printable(name)), plain(frame.Word(name))}, plain(typed))
}

// name names a study at the terminal.
func name(id proposal.Digest, words string) string { return frame.Word(words) + " (" + short(id) + ")" }
