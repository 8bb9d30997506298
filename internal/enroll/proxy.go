package enroll

import (
	"cmp"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"covey/internal/frame"
)

// gRPC dials a proxy of HTTPS_PROXY as it dials a coordinator, and its errors do not say which of
// the two did not answer: their reader would call the coordinator's operator.

// throughProxy is the proxy that the environment names for coordinators, nil for none. gRPC asks
// the same function, which reads the environment once.
func throughProxy() *url.URL {
	proxy, err := http.ProxyFromEnvironment(&http.Request{URL: &url.URL{Scheme: "https", Host: "coordinator.invalid"}})
	if err != nil {
		return nil
	}
	return proxy
}

// noProxy returns why the environment's proxy was not reached, empty of another error.
func noProxy(err error) string {
	s, ok := status.FromError(err)
	if !ok || s.Code() != codes.Unavailable {
		return ""
	}
	text := strings.TrimSuffix(s.Message(), `"`)
	for _, framing := range []string{`connection error: desc = "transport: Error while dialing: dial tcp `, "name resolver error: dns: ", "dns: A record"} {
		if strings.HasPrefix(text, framing) {
			return proxyUnreached(text, throughProxy())
		}
	}
	return "" // the coordinator's own words
}

// proxyUnreached returns why a proxy was not reached, empty if an error's text is of another
// failure: of a dial to another address, or of a look-up of another name.
func proxyUnreached(text string, proxy *url.URL) string {
	if proxy == nil {
		return ""
	}
	host, port := proxy.Hostname(), cmp.Or(proxy.Port(), map[string]string{"http": "80", "https": "443"}[proxy.Scheme])
	why := frame.Quoted(strings.TrimSpace(text[strings.LastIndex(text, ":")+1:]))
	named := fmt.Sprintf("the proxy of HTTPS_PROXY, %s,", frame.Cleaned(net.JoinHostPort(host, port)))
	if _, name, ok := strings.Cut(text, ": lookup "+host); ok && strings.IndexAny(name, " :") == 0 {
		return named + " is not found: " + why
	}
	_, dialed, ok := strings.Cut(text, "dial tcp ")
	dialed, _, _ = strings.Cut(dialed, ": ")
	ip, at, err := net.SplitHostPort(dialed)
	if !ok || err != nil || at != port || net.ParseIP(host) != nil && !net.ParseIP(host).Equal(net.ParseIP(ip)) {
		return ""
	}
	return named + " does not answer: " + why
}
