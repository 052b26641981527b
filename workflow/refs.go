package workflow

// This file holds the part of a Builder that works with numbers in place of
// names. A trace of a gigabyte names each task and file several times: a reader
// that looks a name up once and keeps its number spends no time on the other
// times, and none on strings.

// A TaskRef is a Builder's number for the name of a task, whether that task has
// been added yet or not. It is good for the Builder that gave it only.
//
// Numbers count from 0 in the order of first mention; readers use -1 for none.
type TaskRef int32

// A FileRef is a Builder's number for a file, good for that Builder only.
type FileRef int32

// Ref returns the number of a task's name, which the input mentions at pos. The
// place of the first mention is kept, for a name that turns out to mean nothing.
func (b *Builder) Ref(id []byte, pos Pos) TaskRef {
	i, isNew := b.names.number(id)
	if isNew {
		// Invariant: first, task and alias have one entry for each name.
		b.first = append(b.first, pos)
		b.task = append(b.task, -1)
		b.alias = append(b.alias, -1)
	}
	return TaskRef(i)
}

// RefNear is [Builder.Ref] for a name that is probably the name of *hint or the next one, because files
// list tasks in the same order over and over. It sets *hint to the number. Comparing two strings costs
// less than a look-up.
//
// A hint of 0 is good for a start. A hint must not be negative.
func (b *Builder) RefNear(hint *TaskRef, id []byte, pos Pos) TaskRef {
	for i := *hint; i <= *hint+1 && int(i) < len(b.names.said); i++ {
		if b.names.said[i] == string(id) {
			*hint = i
			return i
		}
	}
	*hint = b.Ref(id, pos)
	return *hint
}

// Said returns the name with the number r.
func (b *Builder) Said(r TaskRef) string { return b.names.said[r] }

// Defined returns the index of the task whose ID is r's name, or -1 if it has not
// been added.
func (b *Builder) Defined(r TaskRef) int { return int(b.task[r]) }

// Alias makes name a second name of task i. A name of several tasks stands for
// none of them. See Builder.Aliases.
//
// Aliases count only if Builder.Aliases is set; they are kept in any case, since it may be set
// later.
func (b *Builder) Alias(name TaskRef, i int) {
	if b.alias[name] == -1 || b.alias[name] == int32(i) {
		b.alias[name] = int32(i)
	} else {
		b.alias[name] = -2
	}
}

// EdgeRef is [Builder.Edge] by number.
func (b *Builder) EdgeRef(from, to TaskRef) {
	b.from, b.to = append(b.from, int32(from)), append(b.to, int32(to))
}

// FileRef returns the number of a file, which is added if it is new.
func (b *Builder) FileRef(id []byte) FileRef {
	i, isNew := b.files.number(id)
	if isNew {
		b.file = append(b.file, File{ID: b.files.said[i]})
	}
	return FileRef(i)
}

// FileRefNear is [Builder.FileRef] for a file that is probably the file of *hint or one of the next two.
// It sets *hint to the number.
func (b *Builder) FileRefNear(hint *FileRef, id []byte) FileRef {
	for i := *hint; i <= *hint+2 && int(i) < len(b.file); i++ {
		if b.file[i].ID == string(id) {
			*hint = i
			return i
		}
	}
	*hint = b.FileRef(id)
	return *hint
}

// SetSize is [Builder.SetFile] by number.
func (b *Builder) SetSize(f FileRef, size Bytes) { b.file[f].Size = size }

// InputRef is [Builder.Input] by number.
//
// A repeated pair counts once.
func (b *Builder) InputRef(i int, f FileRef) {
	b.inTask, b.inFile = append(b.inTask, int32(i)), append(b.inFile, int32(f))
}

// OutputRef is [Builder.Output] by number.
func (b *Builder) OutputRef(i int, f FileRef) {
	b.outTask, b.outFile = append(b.outTask, int32(i)), append(b.outFile, int32(f))
}

// Intern returns one copy of equal strings: the kinds of a million tasks are a
// few dozen.
//
// The result does not share memory with s. The Builder keeps every string for as long as it lives.
func (b *Builder) Intern(s []byte) string {
	if k, ok := b.kinds[string(s)]; ok {
		return k
	}
	if b.kinds == nil {
		b.kinds = map[string]string{}
	}
	k := string(s)
	b.kinds[k] = k
	return k
}
