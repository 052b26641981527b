"""The same kernel by Kernel Tuner: python3 tune.py [CACHE [N]] tries N random configurations (default 40) and writes
CACHE.json (default cache.json). Needs kernel-tuner and pyopencl of PyPI. Its measurements can help a study of assay:

    assay study import cache.json --study by-kernel-tuner
    assay tune assay.yaml --prior by-kernel-tuner
"""

import sys

import numpy
from kernel_tuner import tune_kernel

n = 256
a = (numpy.arange(n * n) * 7 % 13 / 13).astype(numpy.float32)
b = (numpy.arange(n * n) * 5 % 11 / 11).astype(numpy.float32)
c = numpy.zeros_like(a)
tune_kernel(
    "multiply",
    open("kernel.cl").read(),
    (n, n),
    [c, a, b, numpy.int32(n)],
    {"SIDE": [2, 4, 8, 16, 32], "WORK": [1, 2, 4, 8], "UNROLL": [1, 2, 4, 8], "LOCAL": [0, 1]},
    restrictions=["SIDE * SIDE <= 1024", "SIDE * WORK <= 256"],
    block_size_names=["SIDE", "SIDE"],
    grid_div_x=["SIDE"],
    grid_div_y=["SIDE", "WORK"],
    answer=[a.reshape(n, n) @ b.reshape(n, n), None, None, None],
    atol=1e-2,
    lang="OpenCL",
    strategy="random_sample",
    strategy_options={"max_fevals": int(sys.argv[2]) if len(sys.argv) > 2 else 40},
    cache=sys.argv[1] if len(sys.argv) > 1 else "cache",
)
