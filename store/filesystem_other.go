//go:build !linux

package store

// checkFileSystem accepts every file system: only Linux tells which is which.
func checkFileSystem(string) error { return nil }
