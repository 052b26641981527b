/* kernel.h: what heat and heat_mpi have in common: the clock, the options, and the
 * update of a band of rows in tiles. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* One point, and blocks of u points in a row: the compiler may not vectorise
 * across the blocks, so that the unrolling matters. */
#define POINT(j) to[j] = 0.25 * (from[(j) - 1] + from[(j) + 1] + from[(j) - n] + from[(j) + n])
#define ROW(name, u, body)                                              \
    static void name(double *restrict to, const double *restrict from,  \
                     long n, long lo, long hi) {                        \
        long j = lo;                                                    \
        for (; j + (u) <= hi; j += (u)) { body }                        \
        for (; j < hi; j++) POINT(j);                                   \
    }
ROW(row1, 1, POINT(j);)
ROW(row2, 2, POINT(j); POINT(j + 1);)
ROW(row4, 4, POINT(j); POINT(j + 1); POINT(j + 2); POINT(j + 3);)
ROW(row8, 8, POINT(j); POINT(j + 1); POINT(j + 2); POINT(j + 3); POINT(j + 4); POINT(j + 5); POINT(j + 6); POINT(j + 7);)

/* band updates the rows lo to hi-1 in tiles of x columns and y rows. */
static void band(double *to, const double *from, long n, long lo, long hi, long x, long y, long unroll) {
    long i0, j0, i;
    for (i0 = lo; i0 < hi; i0 += y)
        for (j0 = 1; j0 < n - 1; j0 += x)
            for (i = i0; i < hi && i < i0 + y; i++) {
                long end = j0 + x < n - 1 ? j0 + x : n - 1;
                double *t = to + i * n;
                const double *f = from + i * n;
                switch (unroll) {
                case 8: row8(t, f, n, j0, end); break;
                case 4: row4(t, f, n, j0, end); break;
                case 2: row2(t, f, n, j0, end); break;
                default: row1(t, f, n, j0, end);
                }
            }
}

struct options {
    long n, k, ranks, x, y, unroll;
};

/* options reads the command line; it ends the program where that is wrong. */
static struct options options(int argc, char **argv) {
    struct options o = {1024, 400, 2, 8, 8, 1};
    int option;
    while ((option = getopt(argc, argv, "n:k:p:x:y:u:")) != -1) {
        long v = optarg ? atol(optarg) : 0;
        if (v < 1) {
            fprintf(stderr, "usage: %s [-n SIZE] [-k ITERATIONS] [-p RANKS] [-x TILE] [-y TILE] [-u UNROLL]\n", argv[0]);
            exit(2);
        }
        switch (option) {
        case 'n': o.n = v < 8 ? 8 : v; break;
        case 'k': o.k = v; break;
        case 'p': o.ranks = v > 256 ? 256 : v; break;
        case 'x': o.x = v; break;
        case 'y': o.y = v; break;
        case 'u': o.unroll = v; break;
        }
    }
    return o;
}

/* first is the first inner row of a rank of so many; the last one ends before
 * that of the next rank. */
static long first(long n, long rank, long ranks) { return 1 + (n - 2) * rank / ranks; }
