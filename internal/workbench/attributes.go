package workbench

// An Attribute describes how far this machine can vary one attribute of an assignment.
type Attribute struct {
	Name      string `json:"name"`
	Unit      string `json:"unit"`
	Available bool   `json:"available"`
	How       string `json:"how,omitempty"` // the mechanism that varies it
	Why       string `json:"why,omitempty"` // why it is not, or not better
}

// Attributes returns the attributes that this machine, and this user, can vary.
func Attributes() []Attribute {
	var m machine
	as := []Attribute{
		{Name: CPU, Unit: "processors"},
		{Name: Memory, Unit: "B"},
		{Name: RTT, Unit: "s"},
		{Name: Bandwidth, Unit: "bit/s"},
		{Name: Disk, Unit: "B/s"},
	}
	cpu, memory := &as[0], &as[1]
	cpu.Available = true
	if err := m.canLimit("cpu"); err == nil {
		cpu.How = "quota of the scheduler (cgroup)"
	} else {
		cpu.How, cpu.Why = "stopping and continuing the program in turn", err.Error()
	}
	if err := m.canLimit("memory"); err == nil {
		memory.Available, memory.How = true, "limit of a cgroup, page cache included"
	} else {
		memory.Why = err.Error()
	}
	mount, tun := canStage(), canOpen("/dev/net/tun")
	for i := range as[2:4] {
		a := &as[2+i]
		if mount != nil {
			a.Why = mount.Error()
			continue
		}
		if tun != nil {
			a.Why = tun.Error()
			continue
		}
		a.Available, a.How = true, "emulated link (TUN) to a remote file system (FUSE)"
	}
	disk := &as[4]
	switch err := m.canLimit("blkio"); {
	case mount != nil:
		disk.Why = mount.Error()
	case err == nil:
		disk.Available, disk.How = true, "limit of a cgroup on the disk of the storage"
	default:
		disk.Available, disk.How, disk.Why = true, "by the storage itself", err.Error()
	}
	return as
}

// canLimit returns nil if groups with a controller can be made.
func (m machine) canLimit(controller string) error {
	h, err := m.hierarchy(controller)
	if err != nil {
		return err
	}
	return h.writable()
}
