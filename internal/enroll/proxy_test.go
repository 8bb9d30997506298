package enroll

import (
	"net/url"
	"testing"
)

// TestProxyIsNamed: a proxy that does not answer, or is not found, is not taken for the
// coordinator, nor the coordinator for the proxy, whose password is not told.
func TestProxyIsNamed(t *testing.T) {
	const dialing = `connection error: desc = "transport: Error while dialing: dial tcp `
	for _, c := range []struct{ proxy, text, want string }{
		{"http://10.0.0.8:3128", dialing + "10.0.0.8:3128: connect: connection refused", `the proxy of HTTPS_PROXY, 10.0.0.8:3128, does not answer: "connection refused"`},
		{"http://ada:secret@proxy.example:3128", dialing + "10.0.0.8:3128: i/o timeout", `the proxy of HTTPS_PROXY, proxy.example:3128, does not answer: "i/o timeout"`},
		{"http://proxy.example", dialing + "[2001:db8::8]:80: connect: no route to host", `the proxy of HTTPS_PROXY, proxy.example:80, does not answer: "no route to host"`},
		{"http://[2001:db8::8]:80", dialing + "[2001:DB8::8]:80: connect: no route to host", `the proxy of HTTPS_PROXY, [2001:db8::8]:80, does not answer: "no route to host"`},
		{"http://proxy.example:3128", "dns: A record lookup error: lookup proxy.example on 10.0.0.9:53: no such host", `the proxy of HTTPS_PROXY, proxy.example:3128, is not found: "no such host"`},
		{"http://proxy.example:3128", "name resolver error: dns: A record lookup error: lookup proxy.example: i/o timeout", `the proxy of HTTPS_PROXY, proxy.example:3128, is not found: "i/o timeout"`},
		// what NO_PROXY sends another way is the coordinator's
		{"http://proxy.example:3128", dialing + "10.0.0.8:7443: connect: connection refused", ""},
		{"http://10.0.0.8:3128", dialing + "10.0.0.7:3128: connect: connection refused", ""},
		{"http://proxy.example:3128", "dns: A record lookup error: lookup hub.example on 10.0.0.9:53: no such host", ""},
		{"http://10.0.0.8:3128", `connection error: desc = "error reading server preface: read tcp 10.0.0.1:3128->10.0.0.8:3128: read: connection reset by peer`, ""},
		{"", dialing + "10.0.0.8:3128: connect: connection refused", ""},
	} {
		var proxy *url.URL
		if c.proxy != "" {
			var err error
			if proxy, err = url.Parse(c.proxy); err != nil {
				t.Fatal(err)
			}
		}
		if got := proxyUnreached(c.text, proxy); got != c.want {
			t.Errorf("%s, %s:\n%s\nwant %s", c.proxy, c.text, got, c.want)
		}
	}
}
