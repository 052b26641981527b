// Sorts lines of text: cut into pieces, each sorted by itself, and merged. What is tuned comes as --pieces, --threads and
// --memory.
params.pieces = 8
params.threads = 1
params.memory = 4
params.lines = "lines.txt"

process cut {
  input: path lines
  output: path 'piece-*'
  script: "split -d -a 3 -n l/${params.pieces} ${lines} piece-"
}

process sort {
  cpus params.threads
  input: path piece
  output: path 'sorted'
  script: "LC_ALL=C sort --parallel=${task.cpus} -S ${params.memory}M ${piece} >sorted"
}

process merge {
  publishDir 'out', mode: 'copy'
  input: path 'sorted-*'
  output: path 'all'
  script: "LC_ALL=C sort -m sorted-* >all"
}

workflow {
  cut(Channel.fromPath(params.lines))
  sort(cut.out.flatten())
  merge(sort.out.collect())
}
