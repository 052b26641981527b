#!/usr/bin/env python3
"""Grows spring wheat by PCSE's LINTUL3, a crop model with limited nitrogen, and prints what it yields.

    farm.py YEAR N1 N2 N3 N4 N5      doses of nitrogen in g/m2, four weeks apart, the first on 1 April
    farm.py --table                  a row for each year and each of the 1024 combinations of four doses

Crop, soil and weather (Wageningen) are those of PCSE's own tests: pip install pcse.
"""
import csv
import datetime
import itertools
import os
import sys

import pcse
from pcse.base import ParameterProvider
from pcse.engine import Engine
from pcse.input import CABOWeatherDataProvider, PCSEFileReader

DOSES = (0, 3, 6, 12)
PRICE = 4.0  # of a gram of nitrogen, in grams of grain
DATA = os.path.join(os.path.dirname(pcse.__file__), "tests", "test_data")


def read(name):
    return PCSEFileReader(os.path.join(DATA, "lintul3_springwheat." + name))


PARAMETERS = {name: read(name) for name in ("crop", "soil", "site")}
WEATHER = CABOWeatherDataProvider("NL1", DATA, ETmodel="P")


def grow(year, doses):
    """Returns the grain of a year in g/m2."""
    first = datetime.date(year, 4, 1)
    applied = [{first + datetime.timedelta(weeks=4 * k): {"amount": d, "recovery": 0.7}}
               for k, d in enumerate(doses) if d > 0]
    events = [{"event_signal": "apply_n", "name": "nitrogen", "comment": "", "events_table": applied}] if applied else None
    calendar = {
        "crop_name": "wheat", "variety_name": "spring-wheat", "crop_start_date": datetime.date(year, 3, 31),
        "crop_start_type": "emergence", "crop_end_date": datetime.date(year, 10, 20), "crop_end_type": "earliest",
        "max_duration": 366,
    }
    plan = [{datetime.date(year, 3, 31): {"CropCalendar": calendar, "TimedEvents": events, "StateEvents": None}}]
    p = ParameterProvider(cropdata=PARAMETERS["crop"], soildata=PARAMETERS["soil"], sitedata=PARAMETERS["site"])
    engine = Engine(p, WEATHER, agromanagement=plan, config="Lintul3.conf")
    engine.run(days=300)
    return max(day["WSO"] for day in engine.get_output() if day["WSO"] is not None)


def gain(year, doses):
    """Returns the grain less what the nitrogen costs, in g/m2."""
    return grow(year, doses) - PRICE * sum(doses)


def main(args):
    if args == ["--table"]:
        out = csv.writer(sys.stdout)
        out.writerow(["year", "n1", "n2", "n3", "n4", "n5", "gain"])
        for year in range(1978, 1998):
            for doses in itertools.product(DOSES, repeat=5):
                out.writerow([year, *doses, "%.3f" % gain(year, doses)])
        return
    if len(args) != 6:
        sys.exit(__doc__)
    doses = [float(x) for x in args[1:]]
    print("grain %.3f g/m2" % grow(int(args[0]), doses))
    print("gain %.3f g/m2" % gain(int(args[0]), doses))


if __name__ == "__main__":
    main(sys.argv[1:])
