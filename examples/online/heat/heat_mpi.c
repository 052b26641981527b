/* heat_mpi: heat over MPI, on one machine or several: each rank has its own band
 * of rows and one more on either side, which it gets from its neighbours after
 * each iteration. The configuration of a rank may differ from the others'.
 *
 *   mpiexec -n RANKS heat_mpi [-n SIZE] [-k ITERATIONS] [-x TILE] [-y TILE] [-u UNROLL]
 *
 * It prints what heat prints, and the same checksum.
 */
#include <mpi.h>

#include "kernel.h"

#define ASSAY_ONLINE_IMPLEMENTATION
#include "../../../clients/c/assay_online.h"

int main(int argc, char **argv) {
    int rank, ranks;
    long i, step;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    struct options o = options(argc, argv);
    long n = o.n, lo = first(n, rank, ranks), rows = first(n, rank + 1, ranks) - lo;
    double *grid[2];
    for (i = 0; i < 2; i++) {
        if (!(grid[i] = calloc((size_t)((rows + 2) * n), sizeof(double)))) {
            perror("heat_mpi");
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        for (step = 0; rank == 0 && step < n; step++) grid[i][step] = 1; /* the hot edge */
    }
    int above = rank > 0 ? rank - 1 : MPI_PROC_NULL, below = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;
    assay *tuner = assay_open(rank);
    double t0 = now();
    for (step = 0; step < o.k; step++) {
        double *to = grid[(step + 1) % 2];
        assay_fetch(tuner);
        double start = now();
        band(to, grid[step % 2], n, 1, rows + 1, assay_int(tuner, "tile_x", o.x), assay_int(tuner, "tile_y", o.y),
             assay_int(tuner, "unroll", o.unroll));
        assay_report(tuner, now() - start);
        MPI_Sendrecv(to + n, (int)n, MPI_DOUBLE, above, 0, to + (rows + 1) * n, (int)n, MPI_DOUBLE, below, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(to + rows * n, (int)n, MPI_DOUBLE, below, 1, to, (int)n, MPI_DOUBLE, above, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    assay_close(tuner);
    double seconds = now() - t0, sum = 0, total = 0, slowest = 0;
    double *last = grid[o.k % 2];
    for (i = rank == 0 ? 0 : n; i < (rows + (rank == ranks - 1 ? 2 : 1)) * n; i++) sum += last[i];
    MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("seconds %.4f\nchecksum %.10g\n", slowest, total);
    MPI_Finalize();
    return 0;
}
