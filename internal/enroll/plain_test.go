package enroll

import (
	"errors"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"covey/internal/wire"
)

// TestDialErrorInWords: nobody there and a refusal are told apart, in words without gRPC's.
func TestDialErrorInWords(t *testing.T) {
	const framed = `connection error: desc = "transport: Error while dialing: `
	for _, c := range []struct {
		code        codes.Code
		text        string
		plain, dial string
	}{
		{codes.Unavailable, framed + `dial tcp 10.0.0.1:7443: connect: connection refused"`,
			`nobody answers there: "connection refused"`,
			`no coordinator answers at hub:7443: "connection refused". Check the address and this machine's network, or ask the coordinator's operator whether it runs`},
		{codes.Unavailable, framed + `the proxy says "no: never""`,
			`nobody answers there: "the proxy says 'no: never'"`,
			`no coordinator answers at hub:7443: "the proxy says 'no: never'". Check the address and this machine's network, or ask the coordinator's operator whether it runs`},
		{codes.Unavailable, framed + `failed to do connect handshake, response: \"HTTP/1.1 503 Service Unavailable\\r\\nDate: Mon, 30 Nov 2026 15:25:19 GMT\\r\\n\\r\\n<html>\""`,
			`nobody answers there: "the proxy refuses the tunnel: HTTP/1.1 503 Service Unavailable"`, ""},
		{codes.Unavailable, framed + `reading server HTTP response: read tcp 127.0.0.1:39712->127.0.0.1:3128: read: connection reset by peer"`,
			`nobody answers there: "connection reset by peer"`, ""},
		{codes.PermissionDenied, "this site was revoked", `PermissionDenied: "this site was revoked"`, `the coordinator at hub:7443 refuses: "this site was revoked"`},
		{codes.Unavailable, "the coordinator stops", `Unavailable: "the coordinator stops"`, `no coordinator answers at hub:7443: Unavailable: "the coordinator stops"`},
		{codes.Internal, framed + `x"`, "", ""},
		{codes.Unavailable, `connection error: desc = "error reading server preface: remote error: tls: expired certificate"`,
			"the coordinator refuses this certificate as expired: it has ended, or clocks differ",
			`no coordinator answers at hub:7443: the coordinator refuses this certificate as expired: it has ended, or clocks differ`},
		{codes.Unavailable, "name resolver error: produced zero addresses", `the name of its address is not found: "no such host": check it and this machine's DNS; behind a proxy set HTTPS_PROXY`, ""},
		{codes.Unavailable, "dns: A record lookup error: lookup hub on 10.0.0.9:53: read udp 10.0.0.1:58415->10.0.0.9:53: i/o timeout",
			`the name of its address is not found: "i/o timeout": check it and this machine's DNS; behind a proxy set HTTPS_PROXY`, ""},
		{codes.Unavailable, "the coordinator says: remote error: tls: expired certificate", `Unavailable: "the coordinator says: remote error: tls: expired certificate"`, ""},
		{codes.Unavailable, "error reading from server: EOF", "the connection broke off: the other end closed it", ""},
		{codes.Unavailable, "write tcp 127.0.0.1:39712->127.0.0.1:9301: write: broken pipe", `the connection broke off: "broken pipe"`, ""},
		{codes.Unavailable, `connection error: desc = "error reading server preface: read tcp 127.0.0.1:39712->127.0.0.1:9301: read: connection reset by peer"`,
			`the connection broke off: "connection reset by peer"`, ""},
	} {
		err := status.Error(c.code, c.text)
		if got := Plain(err); c.plain != "" && got != c.plain {
			t.Errorf("%s\nwant %s", got, c.plain)
		}
		if got := (&DialError{[]string{"hub:7443"}, err}).Error(); c.dial != "" && got != c.dial {
			t.Errorf("%s\nwant %s", got, c.dial)
		}
	}
	other := &VersionError{Agent: wire.Version{Protocol: 1, Oldest: 1, Software: "a"}, Coordinator: wire.Version{Protocol: 2, Oldest: 2, Software: "c"}}
	if got := (&DialError{[]string{"hub:7443"}, other}).Error(); got != "at hub:7443 "+other.Error() || !strings.Contains(got, "upgrade the agent") {
		t.Errorf("%q", got)
	}
	if got := (&DialError{[]string{"hub:1", "h\x1b[2J:2", "it works"}, errors.New("x")}).Error(); !strings.Contains(got, "at hub:1, \"h") || !strings.Contains(got, ", \"it works\": ") || strings.Contains(got, "\x1b") {
		t.Errorf("%q", got)
	}
}
