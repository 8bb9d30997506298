package main

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"

	"github.com/rogpeppe/go-internal/testscript"
)

// proxies is "proxy ADDRESS": $PROXY is a CONNECT proxy that leads every name to ADDRESS,
// $PROXY_LOGIN one that wants a login, and $PROXY_REFUSING one that refuses.
func proxies(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: proxy address")
	}
	for name, refusal := range map[string]int{"PROXY": 0, "PROXY_LOGIN": http.StatusProxyAuthRequired, "PROXY_REFUSING": http.StatusForbidden} {
		p := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.Method != http.MethodConnect:
				http.Error(w, "CONNECT alone", http.StatusMethodNotAllowed)
			case refusal != 0:
				w.WriteHeader(refusal)
			default:
				tunnel(w, args[0])
			}
		}))
		ts.Defer(p.Close)
		ts.Setenv(name, p.URL)
	}
}

func tunnel(w http.ResponseWriter, address string) {
	there, err := net.Dial("tcp", address)
	if err != nil {
		http.Error(w, "no way", http.StatusBadGateway)
		return
	}
	here, buffered, err := w.(http.Hijacker).Hijack()
	if err != nil {
		there.Close()
		return
	}
	io.WriteString(here, "HTTP/1.1 200 Connection established\r\n\r\n")
	go func() { io.Copy(there, buffered); there.Close() }()
	io.Copy(here, there)
	here.Close()
}
