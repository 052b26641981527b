package stats

// mix is the finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014, fig. 19;
// constants of Stafford's mix 13): a bijection of 64-bit words in which every
// input bit changes every output bit with a probability near one half.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
