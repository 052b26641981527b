#include <stdio.h>
double sum(const double *x, int n) { double s = 0; for (int i = 0; i < n; i++) s += x[i] * x[i]; return s; }
int main(void) { double x[64]; for (int i = 0; i < 64; i++) x[i] = i; printf("%.0f\\n", sum(x, 64)); return 0; }
