#!/usr/bin/env python3
"""Grows spring wheat by PCSE's LINTUL3, a crop model with limited nitrogen, and prints what it yields.

    farm.py YEAR N1 N2 N3 N4 N5      doses of nitrogen in g/m2, four weeks apart, the first on 1 April
    farm.py --table [YEAR...]        a row for each year, 1978 to 1997, and each of the 1024 combinations of four doses

Crop, soil and weather (Wageningen) are those of PCSE's own tests: pip install pcse.
"""
import datetime
import gc
import itertools
import multiprocessing
import os
import sys
import traceback

import pcse
from pcse import signals
from pcse.base import ParameterProvider
from pcse.engine import Engine
from pcse.input import CABOWeatherDataProvider, PCSEFileReader

DOSES = (0, 3, 6, 12)
STAGES = 5
PRICE = 4.0  # of a gram of nitrogen, in grams of grain
DATA = os.path.join(os.path.dirname(pcse.__file__), "tests", "test_data")


def read(name):
    return PCSEFileReader(os.path.join(DATA, "lintul3_springwheat." + name))


PARAMETERS = {name: read(name) for name in ("crop", "soil", "site")}
WEATHER = CABOWeatherDataProvider("NL1", DATA, ETmodel="P")
gc.freeze()  # PCSE collects garbage after each run: it need not look at the loaded data


FIRST, APART = (4, 1), datetime.timedelta(weeks=4)  # day of the first dose, and from one to the next


class Season(Engine):
    """A season in which the doses are given on their days. The process goes on as one for each choice of a dose
    if there are several, so that it computes the seasons' common part once."""

    choices = given = None  # PCSE takes values of attributes that are there

    def __init__(self, year, choices):
        self.choices = dict(zip((datetime.date(year, *FIRST) + k * APART for k in range(len(choices))), choices))
        self.given = []
        calendar = {
            "crop_name": "wheat", "variety_name": "spring-wheat", "crop_start_date": datetime.date(year, 3, 31),
            "crop_start_type": "emergence", "crop_end_date": datetime.date(year, 10, 20), "crop_end_type": "earliest",
            "max_duration": 366,
        }
        plan = [{datetime.date(year, 3, 31): {"CropCalendar": calendar, "TimedEvents": None, "StateEvents": None}}]
        p = ParameterProvider(cropdata=PARAMETERS["crop"], soildata=PARAMETERS["soil"], sitedata=PARAMETERS["site"])
        super().__init__(p, WEATHER, agromanagement=plan, config="Lintul3.conf")

    def _get_driving_variables(self, day):
        if day in self.choices:
            dose = self.choose(self.choices.pop(day))
            self.given.append(dose)
            if dose > 0:
                self._send_signal(signal=signals.apply_n, amount=dose, recovery=0.7)
        return super()._get_driving_variables(day)

    def choose(self, choices):
        for dose in choices[:-1]:
            child = os.fork()
            if child == 0:
                return dose
            if os.waitpid(child, 0)[1] != 0:
                os._exit(1)
        return choices[-1]

    def grain(self):
        """Returns the grain at the end of the season in g/m2."""
        self.run(days=300)
        return max(day["WSO"] for day in self.get_output() if day["WSO"] is not None)


def year_of(year):
    """Returns the rows of a year: the doses and the gain, for each combination of doses."""
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            season = Season(year, [DOSES] * STAGES)
            grain = season.grain()
            for late in itertools.product(*season.choices.values()):  # after the harvest: they only cost
                doses = [*season.given, *late]
                text = "%d,%s,%.3f\n" % (year, ",".join(map(str, doses)), grain - PRICE * sum(doses))
                os.write(write_end, text.encode())
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    os.close(write_end)
    with open(read_end) as rows:
        text = rows.read()
    if os.waitpid(child, 0)[1] != 0 or text.count("\n") != len(DOSES) ** STAGES:
        raise RuntimeError("%d was not grown" % year)
    return text


def table(years):
    """Prints the gain of each combination of doses in each year, on all processors."""
    print("year,n1,n2,n3,n4,n5,gain", flush=True)
    with multiprocessing.Pool() as pool:
        for rows in pool.imap(year_of, years):
            print(rows, end="", flush=True)


def main(args):
    if args[:1] == ["--table"]:
        table([int(year) for year in args[1:]] or range(1978, 1998))
        return
    if len(args) != 6:
        sys.exit(__doc__)
    doses = [float(x) for x in args[1:]]
    grain = Season(int(args[0]), [[d] for d in doses]).grain()
    print("grain %.3f g/m2" % grain)
    print("gain %.3f g/m2" % (grain - PRICE * sum(doses)))


if __name__ == "__main__":
    main(sys.argv[1:])
