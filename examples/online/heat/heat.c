/* heat: the heat equation on a square, by Jacobi's method, in parallel: one
 * process for each rank, the grid in shared memory, a barrier after each
 * iteration. Ranks own bands of rows. Each asks assay for the size of its tiles
 * and how far to unroll before an iteration, and reports the time of its own
 * band after it, without the waiting.
 *
 *   heat [-n SIZE] [-k ITERATIONS] [-p RANKS] [-x TILE] [-y TILE] [-u UNROLL]
 *
 * -x, -y and -u are the configuration of a rank that is not tuned. It prints the
 * time of all iterations, and a checksum that does not depend on how it ran.
 */
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ASSAY_ONLINE_IMPLEMENTATION
#include "../../../clients/c/assay_online.h"

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

struct shared {
    pthread_barrier_t barrier;
};

int main(int argc, char **argv) {
    long n = 1024, k = 400, ranks = 2, x = 8, y = 8, unroll = 1, r, i, step;
    int option, failed = 0;
    while ((option = getopt(argc, argv, "n:k:p:x:y:u:")) != -1) {
        long v = optarg ? atol(optarg) : 0;
        if (v < 1) {
            fprintf(stderr, "usage: heat [-n SIZE] [-k ITERATIONS] [-p RANKS] [-x TILE] [-y TILE] [-u UNROLL]\n");
            return 2;
        }
        switch (option) {
        case 'n': n = v < 8 ? 8 : v; break;
        case 'k': k = v; break;
        case 'p': ranks = v > 256 ? 256 : v; break;
        case 'x': x = v; break;
        case 'y': y = v; break;
        case 'u': unroll = v; break;
        }
    }
    size_t bytes = (size_t)(n * n) * sizeof(double);
    void *memory = mmap(NULL, sizeof(struct shared) + 64 + 2 * bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        perror("heat");
        return 1;
    }
    struct shared *shared = (struct shared *)memory;
    double *grid[2];
    grid[0] = (double *)((char *)memory + ((sizeof *shared + 63) & ~(size_t)63));
    grid[1] = grid[0] + n * n;
    for (i = 0; i < n; i++) grid[0][i] = grid[1][i] = 1; /* the hot edge */

    pthread_barrierattr_t attr;
    pthread_barrierattr_init(&attr);
    pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&shared->barrier, &attr, (unsigned)ranks);

    double t0 = now();
    for (r = 0; r < ranks; r++) {
        pid_t child = fork();
        if (child < 0) {
            perror("heat");
            return 1; /* the ranks that run wait for ever: end them */
        }
        if (child) continue;
        long lo = 1 + (n - 2) * r / ranks, hi = 1 + (n - 2) * (r + 1) / ranks;
        assay *tuner = assay_open((int)r);
        for (step = 0; step < k; step++) {
            assay_fetch(tuner);
            double start = now();
            band(grid[(step + 1) % 2], grid[step % 2], n, lo, hi, assay_int(tuner, "tile_x", x),
                 assay_int(tuner, "tile_y", y), assay_int(tuner, "unroll", unroll));
            assay_report(tuner, now() - start);
            pthread_barrier_wait(&shared->barrier);
        }
        assay_close(tuner);
        _exit(0);
    }
    for (r = 0; r < ranks; r++) {
        int status;
        if (wait(&status) < 0 || status) failed = 1;
    }
    double seconds = now() - t0, sum = 0;
    for (i = 0; i < n * n; i++) sum += grid[k % 2][i];
    printf("seconds %.4f\nchecksum %.10g\n", seconds, sum);
    return failed;
}
