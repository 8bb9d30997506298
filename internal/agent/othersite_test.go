package agent

import (
	"strings"
	"testing"

	"covey/internal/siteconfig"
	"covey/test/must"
	"covey/test/port"
)

// TestOtherSitesFolder: an agent does not start with another site's certificate, whose identity and
// budgets it would use under this site's name.
func TestOtherSitesFolder(t *testing.T) {
	s := port.New(t)
	config, _ := joined(t, s)
	of := config.Site
	config.Site = "another"
	a, err := New(Options{Config: config})
	if a != nil {
		a.Close()
	}
	e := must.As[*siteconfig.Error](t, err)
	if !strings.Contains(e.Error(), `the certificate is for site "`+of+`", not "another"`) {
		t.Error(e)
	}
	config.Site = of
	if a, err = New(Options{Config: config}); err != nil {
		t.Fatal(err)
	}
	a.Close()
}
