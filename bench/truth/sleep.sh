# sleep.sh SIZE KIND DEPTH: sleeps for 2 to 9 s.
sleep "$(awk -v size="$1" -v kind="$2" -v depth="$3" 'BEGIN {
	srand()
	print 2 + (size - 3) ^ 2 * 0.4 + (kind == "b" ? 0 : kind == "a" ? 2 : 1) + (depth - 2) ^ 2 * 0.35 + rand() / 50
}')"
