package store

import (
	"strings"
	"testing"
)

func TestMaskAddress(t *testing.T) {
	for at, want := range map[string]string{
		"a.db":                                  "a.db",
		"sqlite:odd:name@x.db":                  "sqlite:odd:name@x.db",
		"postgres://host/db":                    "postgres://host/db",
		"postgres://me@host/db":                 "postgres://me@host/db",
		"postgres://me:S3@host:5432/db":         "postgres://me:***@host:5432/db",
		"postgres://me:S3@S3/S3@host/db":        "postgres://me:***@host/db",
		"postgres://:S3@host/db":                "postgres://:***@host/db",
		"postgres:///db?host=/run&password=S3":  "postgres:///db?host=/run&password=***",
		"postgres:///db?sslpassword=S3&user=me": "postgres:///db?sslpassword=***&user=me",
		"postgres:///db?PassWord=S3#x":          "postgres:///db?PassWord=***#x",
		"postgres://me:S3%zz@host/db":           "postgres://me:***@host/db",
		"mysql://me:S3@host":                    "mysql://me:***@host",
		"postgres:host=h password=S3 user=me":   "postgres:host=h password=*** user=me",
	} {
		got := MaskAddress(at)
		if got != want || strings.Contains(got, "S3") {
			t.Errorf("%s: got %s, want %s", at, got, want)
		}
	}
}
