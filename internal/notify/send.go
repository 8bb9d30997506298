package notify

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// How long a target may take, and how much a notice and a reply hold.
const (
	webhookTime = 5 * time.Second
	commandTime = 10 * time.Second
	maxBody     = 2048
)

// signatureHeader holds the time of the try, in seconds since 1970, a point, and [signature] in
// hex.
const signatureHeader = "Covey-Signature"

// signature returns HMAC-SHA-256 under a webhook's key over the time of a try in decimal, a point,
// the notice's id, a point, and the body (RFC 2104). A receiver that compares it, and refuses times
// that are long past and ids that it had, takes no forged or repeated notice.
func signature(key []byte, seconds int64, id string, body []byte) []byte {
	h := hmac.New(sha256.New, key)
	fmt.Fprintf(h, "%d.%s.", seconds, id)
	h.Write(body)
	return h.Sum(nil)
}

// errPlace says that a webhook leads to an address where no receiver can be.
var errPlace = errors.New("the address is of this network's own machinery (link-local, multicast or unspecified)")

// reachable refuses addresses where no receiver of notices is: those of a cloud's metadata, for
// one. It sees the address that is dialed, after the name was looked up.
func reachable(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	ip := at.Addr().Unmap()
	if ip.IsLinkLocalUnicast() || ip.IsMulticast() || ip.IsUnspecified() {
		return errPlace
	}
	return nil
}

// client posts notices: no proxy, no redirect, no connection kept.
func client() *http.Client {
	return &http.Client{
		Timeout:       webhookTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext:            (&net.Dialer{Timeout: webhookTime, Control: reachable}).DialContext,
			DisableKeepAlives:      true,
			MaxResponseHeaderBytes: 64 << 10,
		},
	}
}

// body is the notice as it leaves. A name that is too long is left out.
func (n Notice) body() ([]byte, error) {
	raw, err := json.Marshal(n)
	if err == nil && len(raw) > maxBody {
		n.Name = ""
		raw, err = json.Marshal(n)
	}
	return raw, err
}

// send delivers a notice. The error never holds what the target replied or printed, nor the URL.
func (t Target) send(ctx context.Context, n Notice, body []byte, now time.Time, web *http.Client) error {
	if len(t.Command) > 0 {
		return t.run(ctx, body)
	}
	key, err := t.key()
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, t.Webhook, bytes.NewReader(body))
	if err != nil {
		return errors.New("no request can be made of the URL")
	}
	seconds := now.Unix()
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "covey")
	r.Header.Set(signatureHeader, strconv.FormatInt(seconds, 10)+"."+hex.EncodeToString(signature(key, seconds, n.ID, body)))
	reply, err := web.Do(r)
	if err != nil {
		switch {
		case errors.Is(err, errPlace):
			return errPlace
		case errors.Is(err, context.DeadlineExceeded):
			return fmt.Errorf("no answer in %s", webhookTime)
		}
		return errors.New("cannot be reached, or its certificate is not trusted")
	}
	io.CopyN(io.Discard, reply.Body, maxBody)
	reply.Body.Close()
	switch {
	case reply.StatusCode >= 300 && reply.StatusCode < 400:
		return fmt.Errorf("answers %d: redirects are not followed; configure the place itself", reply.StatusCode)
	case reply.StatusCode < 200 || reply.StatusCode >= 300:
		return fmt.Errorf("answers %d", reply.StatusCode)
	}
	return nil
}

// run starts the command with the notice as its standard input, no environment and no output.
func (t Target) run(ctx context.Context, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, commandTime)
	defer cancel()
	c := exec.CommandContext(ctx, t.Command[0], t.Command[1:]...)
	c.Stdin, c.Env, c.Dir, c.WaitDelay = bytes.NewReader(body), []string{"PATH=/usr/bin:/bin"}, "/", time.Second
	err := c.Run()
	if ctx.Err() != nil {
		return fmt.Errorf("did not end in %s", commandTime)
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return fmt.Errorf("ended with status %d", exit.ExitCode())
	}
	if err != nil {
		return errors.New("cannot be started")
	}
	return nil
}
