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
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "kernel.h"

#define ASSAY_ONLINE_IMPLEMENTATION
#include "../../../clients/c/assay_online.h"

struct shared {
    pthread_barrier_t barrier;
};

int main(int argc, char **argv) {
    struct options o = options(argc, argv);
    long n = o.n, k = o.k, ranks = o.ranks, r, i, step;
    int failed = 0;
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
        long lo = first(n, r, ranks), hi = first(n, r + 1, ranks);
        assay *tuner = assay_open((int)r);
        for (step = 0; step < k; step++) {
            assay_fetch(tuner);
            double start = now();
            band(grid[(step + 1) % 2], grid[step % 2], n, lo, hi, assay_int(tuner, "tile_x", o.x),
                 assay_int(tuner, "tile_y", o.y), assay_int(tuner, "unroll", o.unroll));
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
