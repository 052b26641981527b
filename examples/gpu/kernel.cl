// The product of two square matrices, C = A·B. A work group computes a square of SIDE·WORK rows and SIDE columns of C;
// each of its SIDE·SIDE work items WORK elements of it, in a loop that is unrolled UNROLL times. LOCAL says whether
// the squares of A and B that a group needs are copied into local memory first.
__kernel void multiply(__global float *c, __global const float *a, __global const float *b, const int n) {
  const int x = get_local_id(0), y = get_local_id(1);
  const int column = get_group_id(0) * SIDE + x, row = get_group_id(1) * SIDE * WORK + y;
  float sum[WORK];
  for (int w = 0; w < WORK; w++) sum[w] = 0;
#if LOCAL
  __local float left[SIDE * WORK][SIDE], right[SIDE][SIDE];
  for (int at = 0; at < n; at += SIDE) {
    for (int w = 0; w < WORK; w++) left[y + w * SIDE][x] = a[(row + w * SIDE) * n + at + x];
    right[y][x] = b[(at + y) * n + column];
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll UNROLL
    for (int k = 0; k < SIDE; k++)
      for (int w = 0; w < WORK; w++) sum[w] += left[y + w * SIDE][k] * right[k][x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
#else
#pragma unroll UNROLL
  for (int k = 0; k < n; k++)
    for (int w = 0; w < WORK; w++) sum[w] += a[(row + w * SIDE) * n + k] * b[k * n + column];
#endif
  for (int w = 0; w < WORK; w++) c[(row + w * SIDE) * n + column] = sum[w];
}
