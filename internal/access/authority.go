package access

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/files"
)

// An Authority is a certificate authority of one server: the files ca.pem and ca.key of a directory. It issues
// certificates for that server only.
type Authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

const (
	authorityFor = 10 * 365 * 24 * time.Hour
	// A server issues itself a certificate at its start, and again when two thirds of this are over.
	certificateFor = 90 * 24 * time.Hour
	// backdated is for clocks that differ.
	backdated = time.Hour
)

// InitAuthority creates an authority in a directory. It is an error of class conflict if one exists: clients that pin
// it would lose their server.
func InitAuthority(dir, name string) (*Authority, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	for _, f := range []string{"ca.pem", "ca.key"} {
		if _, err := os.Stat(filepath.Join(dir, f)); err == nil {
			return nil, assay.Errorf(assay.ClassConflict, "there is an authority in %s already", dir)
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	t := &x509.Certificate{
		SerialNumber: serial(), Subject: pkix.Name{CommonName: "assay " + name},
		NotBefore: now.Add(-backdated), NotAfter: now.Add(authorityFor),
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, t, t, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	// The certificate comes last: an authority without it is incomplete and does not count.
	err = files.WriteFile(filepath.Join(dir, "ca.key"),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}),
		0o600)
	if err == nil {
		err = files.WriteFile(filepath.Join(dir, "ca.pem"),
			pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
			0o600)
	}
	if err != nil {
		return nil, err
	}
	return OpenAuthority(dir)
}

// OpenAuthority opens the authority of a directory.
func OpenAuthority(dir string) (*Authority, error) {
	read := func(name, kind string) ([]byte, error) {
		path := filepath.Join(dir, name)
		b, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, assay.WithHint(usagef("%s: the server has no authority", path), "assay server init makes one")
		}
		if err != nil {
			return nil, err
		}
		block, _ := pem.Decode(b)
		if block == nil || block.Type != kind {
			return nil, usagef("%s: this is no %s in PEM", path, kind)
		}
		return block.Bytes, nil
	}
	info, err := os.Stat(filepath.Join(dir, "ca.key"))
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		return nil, usagef("%s can be read by other users (mode %04o)", filepath.Join(dir, "ca.key"), info.Mode().Perm())
	}
	der, err := read("ca.pem", "CERTIFICATE")
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, usagef("%s: %w", filepath.Join(dir, "ca.pem"), err)
	}
	secret, err := read("ca.key", "PRIVATE KEY")
	if err != nil {
		return nil, err
	}
	k, err := x509.ParsePKCS8PrivateKey(secret)
	if err != nil {
		return nil, usagef("%s: %w", filepath.Join(dir, "ca.key"), err)
	}
	key, ok := k.(*ecdsa.PrivateKey)
	if !ok || !key.PublicKey.Equal(cert.PublicKey) {
		return nil, usagef("%s: the key does not belong to the certificate", dir)
	}
	return &Authority{cert, key}, nil
}

// Fingerprint returns the SHA-256 of the authority's certificate, in hexadecimal.
func (a *Authority) Fingerprint() string {
	sum := sha256.Sum256(a.cert.Raw)
	return hex.EncodeToString(sum[:])
}

// PEM returns the authority's certificate, for programs that take a file of authorities.
func (a *Authority) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw})
}

func serial() *big.Int {
	n, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		panic(err) // the system has no random numbers
	}
	return n
}

// issue makes a certificate for a server of these names and addresses.
func (a *Authority) issue(hosts []string, now time.Time) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	t := &x509.Certificate{
		SerialNumber: serial(), Subject: pkix.Name{CommonName: "assay server"},
		NotBefore: now.Add(-backdated), NotAfter: now.Add(certificateFor),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
	}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			t.IPAddresses = append(t.IPAddresses, ip)
		} else if h != "" {
			t.DNSNames = append(t.DNSNames, h)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, t, a.cert, &key.PublicKey, a.key)
	if err != nil {
		return nil, err
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der, a.cert.Raw}, PrivateKey: key, Leaf: leaf}, nil
}

// ServerTLS returns the TLS of a server of these names and addresses. Its certificate is renewed while the server runs.
func (a *Authority) ServerTLS(hosts ...string) (*tls.Config, error) {
	hosts = slices.Compact(slices.Sorted(slices.Values(hosts)))
	var mu sync.Mutex
	var cert *tls.Certificate
	get := func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		mu.Lock()
		defer mu.Unlock()
		now := time.Now()
		if cert == nil || now.After(cert.Leaf.NotAfter.Add(-certificateFor/3)) {
			c, err := a.issue(hosts, now)
			if err != nil {
				return nil, err
			}
			cert = c
		}
		return cert, nil
	}
	if _, err := get(nil); err != nil {
		return nil, err
	}
	return &tls.Config{MinVersion: tls.VersionTLS13, GetCertificate: get}, nil
}

// Pinned returns the TLS of a client that knows one authority, by its fingerprint: the server must have
// a certificate for its name that this authority has issued. No other authority counts.
func Pinned(fingerprint string) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13,
		// VerifyConnection does all that is switched off here, with the one authority that counts.
		InsecureSkipVerify: true,
		VerifyConnection: func(s tls.ConnectionState) error {
			return verifyPinned(s.PeerCertificates, s.ServerName, fingerprint)
		},
	}
}

// verifyPinned checks the certificates that a server has shown.
func verifyPinned(chain []*x509.Certificate, name, fingerprint string) error {
	roots := x509.NewCertPool()
	known := false
	for _, c := range chain {
		if sum := sha256.Sum256(c.Raw); hex.EncodeToString(sum[:]) == fingerprint && c.IsCA {
			roots.AddCert(c)
			known = true
		}
	}
	if !known {
		return assay.WithHint(usagef("this is not the server that the token is from: its authority is another one"),
			"a server that was set up anew has new tokens")
	}
	_, err := chain[0].Verify(x509.VerifyOptions{
		Roots: roots, DNSName: name, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
	if err != nil {
		return usagef("the certificate of the server: %w", err)
	}
	return nil
}
