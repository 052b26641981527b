package descriptors

import "syscall"

// Least is how many open files a study takes that runs one trial at a time.
const Least = 32

func init() {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return
	}
	if text := lacking(limit.Max); text != "" {
		// A failed write is ignored: the exit code reports the failure.
		_, _ = syscall.Write(2, []byte(text))
		syscall.Exit(1)
	}
}

// lacking returns the message for a limit that is too low, "" for another. Below the hard limit, the
// runtime raises the soft one.
func lacking(hard uint64) string {
	if hard >= Least {
		return ""
	}
	return "assay: a process may have " + decimal(hard) + " open files here, and a study takes " + decimal(Least) +
		" (ulimit -Hn shows the limit, ulimit -n 1024 raises it where that is allowed)\n"
}

// decimal returns n in digits. strconv would come before this package.
func decimal(n uint64) string {
	digits := ""
	for ; n > 9; n /= 10 {
		digits = string(rune('0'+n%10)) + digits
	}
	return string(rune('0'+n)) + digits
}
