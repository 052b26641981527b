/* compress FILE: compresses a file by LZ4 at three levels and checks that each is the file again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lz4.h"
#include "lz4hc.h"

static char in[1 << 20], packed[LZ4_COMPRESSBOUND(1 << 20)], out[1 << 20];

int main(int argc, char **argv) {
	FILE *f = argc == 2 ? fopen(argv[1], "rb") : NULL;
	if (!f) {
		fprintf(stderr, "usage: compress FILE\n");
		return 2;
	}
	int n = (int)fread(in, 1, sizeof in, f);
	fclose(f);
	for (int level = 0; level <= 6; level += 3) {
		int m = level ? LZ4_compress_HC(in, packed, n, sizeof packed, level) : LZ4_compress_default(in, packed, n, sizeof packed);
		if (m <= 0 || LZ4_decompress_safe(packed, out, m, sizeof out) != n || memcmp(in, out, (size_t)n)) {
			fprintf(stderr, "level %d: another file\n", level);
			return 1;
		}
	}
	return 0;
}
