package worker

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// A Machine has the properties that make runs comparable between machines.
type Machine struct {
	CPU     string // the model of the processors
	Sockets int
	Cores   int // of each socket
	Usable  int // processors that this process may use
	Memory  int64
	GPUs    []string // sorted
	Release string   // of the kernel, such as "6.1.0-31-amd64"
	Boot    string   // another one after each start of the machine
}

// ThisMachine returns this machine. Unknown properties are zero.
func ThisMachine() Machine {
	m := readMachine(os.DirFS("/"))
	m.Usable = runtime.NumCPU()
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		m.Release = unix.ByteSliceToString(u.Release[:])
	}
	return m
}

// readMachine reads the properties of a machine from the files below its root.
func readMachine(root fs.FS) Machine {
	var m Machine
	m.CPU, m.Sockets, m.Cores = readCPU(root)
	m.Memory = readMemory(root)
	m.GPUs = readGPUs(root)
	if b, err := fs.ReadFile(root, "proc/sys/kernel/random/boot_id"); err == nil {
		m.Boot = strings.TrimSpace(string(b))
	}
	return m
}

func readCPU(root fs.FS) (model string, sockets, cores int) {
	f, err := root.Open("proc/cpuinfo")
	if err != nil {
		return "", 0, 0
	}
	defer f.Close()
	processors, physical := 0, map[string]bool{}
	for s := bufio.NewScanner(f); s.Scan(); {
		key, value, _ := strings.Cut(s.Text(), ":")
		value = strings.TrimSpace(value)
		switch strings.TrimSpace(key) {
		case "processor":
			processors++
		case "model name", "Model", "cpu model", "cpu":
			if model == "" {
				model = value
			}
		case "physical id":
			physical[value] = true
		case "cpu cores":
			cores, _ = strconv.Atoi(value)
		}
	}
	if sockets = len(physical); sockets == 0 || cores == 0 {
		return model, 1, processors
	}
	return model, sockets, cores
}

func readMemory(root fs.FS) int64 {
	b, _ := fs.ReadFile(root, "proc/meminfo")
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "MemTotal:" {
			kib, _ := strconv.ParseInt(f[1], 10, 64)
			return kib << 10
		}
	}
	return 0
}

// readGPUs returns the compute devices: NVIDIA's by their names, others by the numbers of their vendor and device. The
// display adapter of a server board does not count.
func readGPUs(root fs.FS) (gpus []string) {
	if infos, _ := fs.Glob(root, "proc/driver/nvidia/gpus/*/information"); len(infos) > 0 {
		for _, name := range infos {
			b, _ := fs.ReadFile(root, name)
			for line := range strings.Lines(string(b)) {
				if model, ok := strings.CutPrefix(line, "Model:"); ok {
					gpus = append(gpus, strings.TrimSpace(model))
				}
			}
		}
		slices.Sort(gpus)
		return gpus
	}
	word := func(dir, name string) string {
		b, _ := fs.ReadFile(root, path.Join(dir, name))
		return strings.TrimSpace(string(b))
	}
	devices, _ := fs.ReadDir(root, "sys/bus/pci/devices")
	for _, d := range devices {
		dir := path.Join("sys/bus/pci/devices", d.Name())
		class, vendor := word(dir, "class"), word(dir, "vendor")
		compute := strings.HasPrefix(class, "0x0302") || strings.HasPrefix(class, "0x0380") ||
			strings.HasPrefix(class, "0x1200") ||
			strings.HasPrefix(class, "0x0300") && (vendor == "0x10de" || vendor == "0x1002")
		if compute {
			gpus = append(gpus, strings.TrimPrefix(vendor, "0x")+":"+strings.TrimPrefix(word(dir, "device"), "0x"))
		}
	}
	slices.Sort(gpus)
	return gpus
}

// memoryStep returns the size of memory in steps of an eighth of its power of two, so that the memory reserved by
// firmware and kernel does not make machines differ.
func memoryStep(bytes int64) int64 {
	if bytes <= 0 {
		return 0
	}
	step := math.Exp2(math.Floor(math.Log2(float64(bytes)))) / 8
	return int64(math.Round(float64(bytes)/step) * step)
}

// Class returns the name of the class of m. Machines of one class have comparable runs: they have the same processors
// in the same number, about as much memory, the same GPUs and a kernel of the same major version.
func (m Machine) Class() string {
	major, _, _ := strings.Cut(m.Release, ".")
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %d %d %d %d %q %s",
		m.CPU, m.Sockets, m.Cores, m.Usable, memoryStep(m.Memory), m.GPUs, major))
	return hex.EncodeToString(sum[:4])
}

// String returns the machine in words, such as "Xeon 6338, 2x32, 256 GB, linux 6.1".
func (m Machine) String() string {
	words := []string{cpuWords(m.CPU)}
	cores := fmt.Sprintf("%dx%d", m.Sockets, m.Cores)
	if all := m.Sockets * m.Cores; m.Usable > 0 && m.Usable < all {
		cores += fmt.Sprintf(" (%d usable)", m.Usable)
	}
	words = append(words, cores, memoryWords(m.Memory))
	words = append(words, countWords(m.GPUs)...)
	version := strings.SplitN(m.Release, ".", 3)
	if len(version) > 1 {
		words = append(words, "linux "+version[0]+"."+version[1])
	}
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), ", ")
}

// memoryWords returns a size of memory as machines are sold: 256 GB are 2^38 bytes.
func memoryWords(bytes int64) string {
	gb := float64(memoryStep(bytes)) / (1 << 30)
	return strconv.FormatFloat(gb, 'f', -1, 64) + " GB"
}

// countWords replaces equal words by one with their number.
func countWords(sorted []string) (out []string) {
	for i := 0; i < len(sorted); {
		n := i
		for n < len(sorted) && sorted[n] == sorted[i] {
			n++
		}
		word := sorted[i]
		if n-i > 1 {
			word = fmt.Sprintf("%dx %s", n-i, word)
		}
		out, i = append(out, word), n
	}
	return out
}

// cpuWords returns the model of a processor without marketing words.
func cpuWords(model string) string {
	model, _, _ = strings.Cut(model, "@")
	var out []string
	for _, w := range strings.Fields(strings.NewReplacer("(R)", "", "(TM)", "", "(r)", "", "(tm)", "").Replace(model)) {
		switch w {
		case "Intel", "AMD", "CPU", "Processor":
			continue
		}
		if n, ok := strings.CutSuffix(w, "-Core"); ok {
			if _, err := strconv.Atoi(n); err == nil {
				continue
			}
		}
		out = append(out, w)
	}
	if len(out) == 0 {
		return "unknown processor"
	}
	return strings.Join(out, " ")
}
