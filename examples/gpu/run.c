/* run KERNEL.cl N SIDE WORK UNROLL LOCAL: compiles the kernel for the first device of OpenCL, a graphics card if there is
 * one, runs it 12 times, checks the result, and prints the median of the times of the last ten. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void check(cl_int code, const char *what) {
  if (code == CL_SUCCESS) return;
  fprintf(stderr, "%s: OpenCL error %d\n", what, code);
  exit(1);
}

static int by_size(const void *a, const void *b) {
  double d = *(const double *)a - *(const double *)b;
  return (d > 0) - (d < 0);
}

static cl_device_id device(void) {
  cl_platform_id all[16];
  cl_uint n = 0;
  cl_device_id d;
  if (clGetPlatformIDs(16, all, &n) != CL_SUCCESS) n = 0;
  for (int cards = 1; cards >= 0; cards--)
    for (cl_uint i = 0; i < n && i < 16; i++)
      if (clGetDeviceIDs(all[i], cards ? CL_DEVICE_TYPE_GPU : CL_DEVICE_TYPE_ALL, 1, &d, NULL) == CL_SUCCESS) return d;
  fprintf(stderr, "no device of OpenCL: install the driver of the card, or pocl-opencl-icd to use the processor\n");
  exit(1);
}

int main(int argc, char **argv) {
  if (argc != 7) return fprintf(stderr, "usage: run KERNEL.cl N SIDE WORK UNROLL LOCAL\n"), 2;
  const int n = atoi(argv[2]), side = atoi(argv[3]), work = atoi(argv[4]), runs = 12;
  FILE *f = fopen(argv[1], "r");
  static char source[1 << 16];
  if (f == NULL || n <= 0 || side <= 0 || work <= 0 || n % (side * work) != 0)
    return fprintf(stderr, "no such kernel, or N is no multiple of SIDE * WORK\n"), 2;
  size_t length = fread(source, 1, sizeof source, f);
  const char *text = source;

  cl_int e;
  cl_device_id d = device();
  cl_context context = clCreateContext(NULL, 1, &d, NULL, NULL, &e);
  check(e, "context");
  cl_command_queue queue = clCreateCommandQueue(context, d, CL_QUEUE_PROFILING_ENABLE, &e);
  check(e, "queue");
  cl_program program = clCreateProgramWithSource(context, 1, &text, &length, &e);
  check(e, "program");
  char options[200];
  snprintf(options, sizeof options, "-cl-fast-relaxed-math -DSIDE=%d -DWORK=%d -DUNROLL=%d -DLOCAL=%d", side, work,
           atoi(argv[5]), atoi(argv[6]));
  if (clBuildProgram(program, 1, &d, options, NULL, NULL) != CL_SUCCESS) {
    static char log[1 << 14];
    clGetProgramBuildInfo(program, d, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
    return fprintf(stderr, "the kernel does not compile:\n%s\n", log), 1;
  }
  cl_kernel kernel = clCreateKernel(program, "multiply", &e);
  check(e, "kernel");

  size_t bytes = sizeof(float) * (size_t)n * (size_t)n;
  float *a = malloc(bytes), *b = malloc(bytes), *c = malloc(bytes);
  for (int i = 0; i < n * n; i++) a[i] = (float)(i * 7 % 13) / 13, b[i] = (float)(i * 5 % 11) / 11;
  cl_mem da = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, bytes, a, &e);
  check(e, "memory");
  cl_mem db = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, bytes, b, &e);
  check(e, "memory");
  cl_mem dc = clCreateBuffer(context, CL_MEM_WRITE_ONLY, bytes, NULL, &e);
  check(e, "memory");
  check(clSetKernelArg(kernel, 0, sizeof dc, &dc), "argument");
  check(clSetKernelArg(kernel, 1, sizeof da, &da), "argument");
  check(clSetKernelArg(kernel, 2, sizeof db, &db), "argument");
  check(clSetKernelArg(kernel, 3, sizeof n, &n), "argument");

  size_t local[2] = {(size_t)side, (size_t)side}, global[2] = {(size_t)n, (size_t)(n / work)};
  double ms[12];
  for (int i = 0; i < runs; i++) {
    cl_event event;
    cl_ulong from, to;
    check(clEnqueueNDRangeKernel(queue, kernel, 2, NULL, global, local, 0, NULL, &event), "run");
    check(clWaitForEvents(1, &event), "run");
    check(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof from, &from, NULL), "time");
    check(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof to, &to, NULL), "time");
    ms[i] = (double)(to - from) / 1e6;
    clReleaseEvent(event);
  }
  check(clEnqueueReadBuffer(queue, dc, CL_TRUE, 0, bytes, c, 0, NULL, NULL), "result");
  for (int i = 0; i < 200; i++) { /* elements that are spread over the matrix */
    int row = i * 37 % n, column = i * 101 % n;
    double want = 0;
    for (int k = 0; k < n; k++) want += (double)a[row * n + k] * b[k * n + column];
    if (fabs(c[row * n + column] - want) > 1e-3 * fabs(want))
      return fprintf(stderr, "element %d, %d is %g, not %g\n", row, column, c[row * n + column], want), 1;
  }
  qsort(ms + 2, (size_t)runs - 2, sizeof *ms, by_size);
  char name[200] = "";
  clGetDeviceInfo(d, CL_DEVICE_NAME, sizeof name - 1, name, NULL);
  printf("device %s\ntime %.4f ms\n", name, ms[2 + (runs - 2) / 2]);
  return 0;
}
