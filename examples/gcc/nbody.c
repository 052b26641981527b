/* The outer planets for N steps: forces, a sieve of close pairs and a checksum, with the energy to
   six places in energy.txt, which no flag may change. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { BODIES = 8 };

struct body { double x, y, z, vx, vy, vz, mass; };

static struct body sky[BODIES];

static double square(double x) { return x * x; }

static double distance2(const struct body *a, const struct body *b)
{
	return square(a->x - b->x) + square(a->y - b->y) + square(a->z - b->z) + 0.01;
}

static void pull(struct body *a, struct body *b, double dt)
{
	double d2 = distance2(a, b), k = dt / (d2 * sqrt(d2));
	double dx = b->x - a->x, dy = b->y - a->y, dz = b->z - a->z;
	a->vx += dx * b->mass * k; a->vy += dy * b->mass * k; a->vz += dz * b->mass * k;
	b->vx -= dx * a->mass * k; b->vy -= dy * a->mass * k; b->vz -= dz * a->mass * k;
}

static double energy(void)
{
	double e = 0;
	for (int i = 0; i < BODIES; i++) {
		e += 0.5 * sky[i].mass * (square(sky[i].vx) + square(sky[i].vy) + square(sky[i].vz));
		for (int j = i + 1; j < BODIES; j++)
			e -= sky[i].mass * sky[j].mass / sqrt(distance2(&sky[i], &sky[j]));
	}
	return e;
}

int main(int argc, char **argv)
{
	long steps = argc > 1 ? atol(argv[1]) : 100000;
	for (int i = 0; i < BODIES; i++) {
		struct body b = {cos(i * 2.1) * (i + 1), sin(i * 2.1) * (i + 1), 0.1 * i, -sin(i * 2.1) / sqrt(i + 1),
		                 cos(i * 2.1) / sqrt(i + 1), 0, i ? 0.001 : 1};
		sky[i] = b;
	}
	long near = 0;
	for (long s = 0; s < steps; s++) {
		for (int i = 0; i < BODIES; i++)
			for (int j = i + 1; j < BODIES; j++) {
				pull(&sky[i], &sky[j], 1e-6);
				if (distance2(&sky[i], &sky[j]) < 2)
					near++;
			}
		for (int i = 0; i < BODIES; i++) {
			sky[i].x += sky[i].vx * 1e-6; sky[i].y += sky[i].vy * 1e-6; sky[i].z += sky[i].vz * 1e-6;
		}
	}
	FILE *f = fopen("energy.txt", "w");
	fprintf(f, "%.6f %ld\n", energy(), near);
	return fclose(f) != 0;
}
