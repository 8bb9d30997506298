package pki

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"covey/internal/fsync"
)

const (
	secretMode = 0o600
	publicMode = 0o644
	maxFile    = 1 << 20
)

// ReplaceFile writes a file whole and on disk, or leaves the old one. It has the mode from the
// moment that it is there.
func ReplaceFile(path string, data []byte, mode fs.FileMode) error {
	tmp, err := writeTemp(path, data, mode)
	if err != nil {
		return err
	}
	if err := os.Rename(tmp, path); err != nil {
		os.Remove(tmp)
		return unwritten(path, err)
	}
	return fsync.Dir(filepath.Dir(path))
}

// createFile writes a whole file, or returns an [*ExistsError] and touches nothing.
func createFile(path string, data []byte, mode fs.FileMode) error {
	tmp, err := writeTemp(path, data, mode)
	if err != nil {
		return err
	}
	defer os.Remove(tmp)
	// A rename would replace; a link fails if the name is taken, even by a
	// process that came in between.
	if os.Link(tmp, path) != nil { // taken, or a file system without links
		if err := absent(path); err != nil {
			return err
		}
		if err := os.Rename(tmp, path); err != nil {
			return unwritten(path, err)
		}
	}
	return fsync.Dir(filepath.Dir(path))
}

// writeTemp writes and syncs a new file beside path. The mode is set when the file
// is created: a secret is at no moment open to others.
func writeTemp(path string, data []byte, mode fs.FileMode) (string, error) {
	tmp := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+rand.Text()[:12]+".tmp")
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return "", unwritten(path, err)
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		os.Remove(tmp)
		return "", unwritten(path, err)
	}
	return tmp, nil
}

// unwritten is the error of writing a file by way of another, whose name is random: what is tried
// again is told as the same, and a person is told of the file that they know.
func unwritten(path string, err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	} else if e, ok := errors.AsType[*os.LinkError](err); ok {
		err = e.Err
	}
	return &fs.PathError{Op: "write", Path: path, Err: err}
}

// absent returns an [*ExistsError] for the first of paths that is there.
func absent(paths ...string) error {
	for _, path := range paths {
		_, err := os.Lstat(path)
		if err == nil {
			return &ExistsError{path}
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// readFile reads a bounded file; a secret must not be open to others. Access by
// the group is left to the operator: volume managers of clusters set it.
func readFile(path string, secret bool) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, unreadable(path, err)
	}
	if secret && runtime.GOOS != "windows" && info.Mode().Perm()&0o007 != 0 {
		return nil, &ModeError{path, info.Mode()}
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, unreadable(path, err)
	}
	if len(data) > maxFile {
		return nil, &FileError{Path: path, Reason: "is over 1 MiB"}
	}
	return data, nil
}

func unreadable(path string, err error) *FileError {
	reason := err
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		reason = p.Err
	}
	return &FileError{path, "cannot be read: " + reason.Error(), err}
}

// createKey makes a new Ed25519 key as a PKCS #8 PEM file.
func createKey(path string) (ed25519.PrivateKey, error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	return key, writeKey(path, key)
}

func writeKey(path string, key ed25519.PrivateKey) error {
	raw, err := keyPEM(key)
	if err != nil {
		return err
	}
	return createFile(path, raw, secretMode)
}

func keyPEM(key crypto.Signer) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

// readKey reads a CA's key, which an organization may bring: Ed25519, ECDSA or RSA.
func readKey(path string) (secret[crypto.Signer], error) {
	data, err := readFile(path, true)
	if err != nil {
		return nil, err
	}
	key, err := parseKey(data)
	if err != nil {
		return nil, &FileError{path, err.Error(), nil}
	}
	return key, nil
}

// parseKey's errors repeat nothing: a parser's own may repeat bytes of the key.
func parseKey(data []byte) (secret[crypto.Signer], error) {
	der, err := onePEM(data, "PRIVATE KEY")
	if err != nil {
		return nil, errors.New("is not one PEM private key")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(der)
	key, ok := parsed.(crypto.Signer)
	if err != nil || !ok {
		return nil, errors.New("is not a private key in PKCS #8")
	}
	return hide(key), nil
}

// readEd25519 reads a key of our own making.
func readEd25519(path string) (secret[ed25519.PrivateKey], error) {
	signer, err := readKey(path)
	if err != nil {
		return nil, err
	}
	key, ok := signer().(ed25519.PrivateKey)
	if !ok {
		return nil, &FileError{path, "is not an Ed25519 private key in PKCS #8", nil}
	}
	return hide(key), nil
}

func readCertificate(path string) (*x509.Certificate, error) {
	data, err := readFile(path, false)
	if err != nil {
		return nil, err
	}
	cert, err := parseCertificate(data)
	if err != nil {
		return nil, &FileError{path, "is not one PEM certificate", err}
	}
	return cert, nil
}

func parseCertificate(data []byte) (*x509.Certificate, error) {
	der, err := onePEM(data, "CERTIFICATE")
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}

// readBundle reads one to maxBundle CA certificates.
func readBundle(path string) ([]*x509.Certificate, error) {
	data, err := readFile(path, false)
	if err != nil {
		return nil, err
	}
	var out []*x509.Certificate
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil || block.Type != "CERTIFICATE" || len(block.Headers) != 0 {
			return nil, &FileError{path, "is not PEM certificates alone", err}
		}
		out = append(out, cert)
	}
	if len(out) == 0 || len(out) > maxBundle {
		return nil, &FileError{Path: path, Reason: "is not 1 to 6 PEM certificates"}
	}
	return out, nil
}

func bundlePEM(certs []*x509.Certificate) []byte {
	var out []byte
	for _, c := range certs {
		out = append(out, certificatePEM(c.Raw)...)
	}
	return out
}

func certificatePEM(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// onePEM returns the content of exactly one block of a type.
func onePEM(data []byte, kind string) ([]byte, error) {
	block, rest := pem.Decode(data)
	if block == nil || block.Type != kind || len(block.Headers) != 0 {
		return nil, errors.New("no PEM block of type " + kind)
	}
	if next, _ := pem.Decode(rest); next != nil {
		return nil, errors.New("more than one PEM block")
	}
	return block.Bytes, nil
}
