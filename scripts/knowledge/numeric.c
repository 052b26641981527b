/* numeric [ROUNDS]: a product of matrices, steps of a heat equation, a polynomial and a sum of reciprocals. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 160, GRID = 300, POINTS = 20000 };

static double a[N][N], b[N][N], c[N][N], heat[2][GRID][GRID], x[POINTS];

static void multiply(void) {
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) {
			double sum = 0;
			for (int k = 0; k < N; k++)
				sum += a[i][k] * b[k][j];
			c[i][j] = sum;
		}
}

static void diffuse(int from) {
	for (int i = 1; i < GRID - 1; i++)
		for (int j = 1; j < GRID - 1; j++)
			heat[!from][i][j] = heat[from][i][j] + 0.1 * (heat[from][i - 1][j] + heat[from][i + 1][j] + heat[from][i][j - 1] +
				heat[from][i][j + 1] - 4 * heat[from][i][j]);
}

static double evaluate(void) {
	static const double p[] = {0.3, -1.2, 0.7, 2.1, -0.4, 0.9, -0.1, 0.05};
	double sum = 0;
	for (int i = 0; i < POINTS; i++) {
		double y = 0;
		for (int k = 7; k >= 0; k--)
			y = y * x[i] + p[k];
		sum += y / (1 + x[i] * x[i]) + sqrt(1 + fabs(y));
	}
	return sum;
}

int main(int argc, char **argv) {
	int rounds = argc > 1 ? atoi(argv[1]) : 1;
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			a[i][j] = (i * 7 + j) % 13 - 6, b[i][j] = (i + j * 5) % 11 - 5;
	for (int i = 0; i < POINTS; i++)
		x[i] = (double)i / POINTS;
	heat[0][GRID / 2][GRID / 2] = 1000;
	double sum = 0;
	for (int r = 0; r < rounds; r++) {
		multiply();
		for (int s = 0; s < 20; s++)
			diffuse(s & 1);
		for (int s = 0; s < 10; s++) {
			sum += evaluate();
			x[s] += 1e-9;
		}
		a[r % N][0] += c[0][r % N] * 1e-6;
	}
	printf("%.6g %.6g\n", sum, heat[0][GRID / 2][GRID / 2 + 3] + c[3][5]);
	return 0;
}
