/* integer [ROUNDS]: a checksum, a hash table of words, a sort, a search for repeated text and a little interpreter. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 200000, TABLE = 1 << 15, COUNT = 30000 };

static unsigned char text[TEXT];
static uint32_t crcs[256], numbers[COUNT], state = 1;
static struct { uint32_t hash, count; } table[TABLE];

static uint32_t draw(void) {
	state ^= state << 13, state ^= state >> 17, state ^= state << 5;
	return state;
}

static uint32_t checksum(void) {
	uint32_t crc = ~0u;
	for (int i = 0; i < TEXT; i++)
		crc = crcs[(crc ^ text[i]) & 255] ^ crc >> 8;
	return ~crc;
}

static uint32_t words(void) {
	memset(table, 0, sizeof table);
	uint32_t most = 0, hash = 0;
	for (int i = 0; i < TEXT; i++) {
		if (text[i] != ' ') {
			hash = (hash ^ text[i]) * 16777619u;
			continue;
		}
		uint32_t at = hash % TABLE;
		while (table[at].count && table[at].hash != hash)
			at = (at + 1) % TABLE;
		table[at].hash = hash;
		if (++table[at].count > most)
			most = table[at].count;
		hash = 0;
	}
	return most;
}

static void sort(uint32_t *v, int n) {
	while (n > 16) {
		uint32_t pivot = v[n / 2];
		int i = 0, j = n - 1;
		while (i <= j) {
			while (v[i] < pivot)
				i++;
			while (v[j] > pivot)
				j--;
			if (i <= j) {
				uint32_t t = v[i];
				v[i++] = v[j], v[j--] = t;
			}
		}
		sort(v, j + 1);
		v += i, n -= i;
	}
	for (int i = 1; i < n; i++) {
		uint32_t t = v[i];
		int j = i;
		for (; j > 0 && v[j - 1] > t; j--)
			v[j] = v[j - 1];
		v[j] = t;
	}
}

static int repeats(void) {
	static int last[1 << 14];
	int saved = 0;
	memset(last, 0, sizeof last);
	for (int i = 1; i + 4 < TEXT; i++) {
		uint32_t key;
		memcpy(&key, text + i, 4);
		key = key * 2654435761u >> 18;
		int at = last[key], n = 0;
		while (i + n < TEXT && n < 64 && text[at + n] == text[i + n])
			n++;
		if (at && n > 3)
			saved += n, i += n - 1;
		last[key] = i;
	}
	return saved;
}

static uint32_t interpret(int steps) {
	static const unsigned char code[] = {0, 2, 1, 3, 4, 2, 0, 1, 5, 3, 6};
	uint32_t a = 1, b = 2, at = 0;
	while (steps--) {
		switch (code[at]) {
		case 0: a += b; break;
		case 1: b ^= a << 3; break;
		case 2: a = a * 31 + 7; break;
		case 3: b += a >> 5; break;
		case 4: if (a & 1) at++; break;
		case 5: a -= b; break;
		case 6: at = b & 3; continue;
		}
		if (++at >= sizeof code)
			at = 0;
	}
	return a ^ b;
}

int main(int argc, char **argv) {
	int rounds = argc > 1 ? atoi(argv[1]) : 1;
	for (uint32_t i = 0; i < 256; i++) {
		crcs[i] = i;
		for (int k = 0; k < 8; k++)
			crcs[i] = crcs[i] & 1 ? crcs[i] >> 1 ^ 0xedb88320u : crcs[i] >> 1;
	}
	for (int i = 0; i < TEXT; i++)
		text[i] = draw() % 6 ? 'a' + draw() % 5 * (draw() % 3) : ' ';
	uint32_t sum = 0;
	for (int r = 0; r < rounds; r++) {
		for (int i = 0; i < COUNT; i++)
			numbers[i] = draw();
		sort(numbers, COUNT);
		sum += checksum() + words() + numbers[COUNT / 2] + (uint32_t)repeats() + interpret(200000);
		text[r % TEXT] = 'z';
	}
	printf("%u\n", sum);
	return 0;
}
