"""tiles.py DIR COLUMNS ROWS SIZE: writes overlapping FITS images of a made-up sky.

Every image has noise, a sloping background of its own that the mosaic has to
level out, and the stars that fall into it. The same arguments give the same images.
"""
import array
import math
import os
import random
import sys

folder, columns, rows, size = sys.argv[1], *map(int, sys.argv[2:5])
rng = random.Random(20)
DEGREE = 1 / 3600  # a pixel is an arc second
STEP = 0.85 * size * DEGREE
stars = [(150 + rng.uniform(-1, 1) * columns * STEP / 2, 2 + rng.uniform(-1, 1) * rows * STEP / 2,
          rng.uniform(50, 5000)) for _ in range(60 * columns * rows)]


def card(key, value):
    if value is True:
        value = "T"
    return ("%-8s= %20s" % (key, value)).ljust(80)


def padded(data, fill):
    return data + fill * (-len(data) % 2880)


def image(ra, dec, turn):
    level, slope_x, slope_y = rng.uniform(80, 120), rng.uniform(-.01, .01), rng.uniform(-.01, .01)
    pixel = array.array("f", (level + slope_x * x + slope_y * y + rng.gauss(0, 3)
                              for y in range(size) for x in range(size)))
    cos, sin = math.cos(math.radians(turn)), math.sin(math.radians(turn))
    for star_ra, star_dec, flux in stars:
        east = -(star_ra - ra) * math.cos(math.radians(dec)) / DEGREE
        north = (star_dec - dec) / DEGREE
        x, y = cos * east + sin * north + size / 2, cos * north - sin * east + size / 2
        for j in range(max(0, int(y) - 5), min(size, int(y) + 6)):
            for i in range(max(0, int(x) - 5), min(size, int(x) + 6)):
                pixel[j * size + i] += flux * math.exp(-((i - x) ** 2 + (j - y) ** 2) / 4)
    if sys.byteorder == "little":
        pixel.byteswap()
    return pixel.tobytes()


os.makedirs(folder, exist_ok=True)
for n in range(columns * rows):
    ra = 150 + (n % columns - (columns - 1) / 2) * STEP
    dec = 2 + (n // columns - (rows - 1) / 2) * STEP
    turn = rng.uniform(-3, 3)
    header = "".join(card(*c) for c in [
        ("SIMPLE", True), ("BITPIX", -32), ("NAXIS", 2), ("NAXIS1", size), ("NAXIS2", size),
        ("CTYPE1", "'RA---TAN'"), ("CTYPE2", "'DEC--TAN'"), ("EQUINOX", 2000.0),
        ("CRVAL1", ra), ("CRVAL2", dec), ("CRPIX1", size / 2 + .5), ("CRPIX2", size / 2 + .5),
        ("CDELT1", -DEGREE), ("CDELT2", DEGREE), ("CROTA2", turn)]) + "END".ljust(80)
    with open(os.path.join(folder, "t%02d.fits" % (n + 1)), "wb") as f:
        f.write(padded(header.encode(), b" ") + padded(image(ra, dec, turn), b"\0"))
