"""The one unit table: every unit name a card may use, and what each is worth.

Names are a closed list, because a unit library reads too much into a string: ``pH`` would be a
picohenry, ``M☉`` a molarity, ``c`` the speed of light. pint supplies factor and dimension of each
entry; what pint lacks is defined below with its source.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

from cards.dimensions import BASES, Unit
from cards.errors import UnitError

_PREFIXED: dict[str, str] = {
    "g": "gram", "m": "meter", "s": "second", "A": "ampere", "K": "kelvin", "mol": "mole", "cd": "candela",
    "Hz": "hertz", "N": "newton", "Pa": "pascal", "J": "joule", "W": "watt", "C": "coulomb", "V": "volt",
    "F": "farad", "ohm": "ohm", "Ω": "ohm", "S": "siemens", "Wb": "weber", "T": "tesla", "H": "henry",
    "lm": "lumen", "lx": "lux", "Bq": "becquerel", "Gy": "gray", "Sv": "sievert", "kat": "katal",
    "L": "liter", "l": "liter", "eV": "electron_volt", "bar": "bar", "pc": "parsec", "yr": "year",
    "Jy": "jansky", "mag": "magnitude", "cal": "calorie", "Da": "dalton", "M": "molar", "t": "metric_ton",
    "rad": "radian", "sr": "steradian", "erg": "erg", "dyn": "dyne", "P": "poise", "St": "stokes",
    "gram": "gram", "meter": "meter", "metre": "meter", "second": "second", "ampere": "ampere",
    "kelvin": "kelvin", "mole": "mole", "hertz": "hertz", "newton": "newton", "pascal": "pascal",
    "joule": "joule", "watt": "watt", "coulomb": "coulomb", "volt": "volt", "farad": "farad",
    "siemens": "siemens", "tesla": "tesla", "henry": "henry", "liter": "liter", "litre": "liter",
    "electronvolt": "electron_volt", "parsec": "parsec", "jansky": "jansky",
}  # fmt: skip
"""Names that take an SI prefix, with pint's name."""

_PLAIN: dict[str, str] = {
    "min": "minute", "minute": "minute", "h": "hour", "hr": "hour", "hour": "hour", "d": "day", "day": "day",
    "year": "year", "a": "year", "week": "week",
    "deg": "degree", "degree": "degree", "°": "degree", "arcmin": "arcminute", "arcsec": "arcsecond",
    "mas": "milliarcsecond", "radian": "radian", "steradian": "steradian", "rpm": "revolutions_per_minute",
    "rev": "turn", "turn": "turn",
    "atm": "standard_atmosphere", "mmHg": "millimeter_Hg", "Torr": "torr", "torr": "torr", "psi": "psi",
    "Angstrom": "angstrom", "angstrom": "angstrom", "Å": "angstrom", "micron": "micron",
    "au": "astronomical_unit", "AU": "astronomical_unit", "ly": "light_year",
    "ha": "hectare", "acre": "acre", "cc": "cubic_centimeter",
    "in": "inch", "inch": "inch", "ft": "foot", "yd": "yard", "mi": "mile", "lb": "pound",
    "lbf": "force_pound",
    "oz": "ounce", "mph": "mile_per_hour", "knot": "knot", "hp": "horsepower", "Btu": "british_thermal_unit",
    "u": "unified_atomic_mass_unit", "amu": "unified_atomic_mass_unit", "Ci": "curie", "debye": "debye",
    "%": "percent", "percent": "percent", "ppm": "ppm", "ppb": "part_per_billion",
    "dex": "dex", "magnitude": "magnitude",
    "M_sun": "solar_mass", "Msun": "solar_mass", "solMass": "solar_mass", "solar_mass": "solar_mass",
    "L_sun": "solar_luminosity", "Lsun": "solar_luminosity", "solar_luminosity": "solar_luminosity",
    "R_sun": "solar_radius", "Rsun": "solar_radius", "solar_radius": "solar_radius",
    "M_earth": "earth_mass", "M_jup": "jupiter_mass", "R_earth": "earth_radius", "R_jup": "jupiter_radius",
    "count": "one", "counts": "one", "cell": "one", "cells": "one", "individual": "one", "individuals": "one",
    "particle": "one", "particles": "one", "molecule": "one", "molecules": "one", "photon": "one",
    "photons": "one", "dimensionless": "one",
}  # fmt: skip
"""Names that take no prefix."""

_PREFIXES: dict[str, int] = {
    "q": -30, "r": -27, "y": -24, "z": -21, "a": -18, "f": -15, "p": -12, "n": -9, "u": -6, "μ": -6, "m": -3,
    "c": -2, "d": -1, "da": 1, "h": 2, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18, "Z": 21, "Y": 24,
    "R": 27, "Q": 30, "nano": -9, "micro": -6, "milli": -3, "centi": -2, "deci": -1, "kilo": 3, "mega": 6,
    "giga": 9, "tera": 12,
}  # fmt: skip

# Nominal solar and planetary values: IAU 2015 Resolution B3. A mass is its nominal GM over the
# CODATA 2018 value of G.
_DEFINITIONS = (
    "magnitude = [magnitude]",
    "dex = [dex]",
    "one = []",
    "part_per_billion = 1e-9",
    "jansky = 1e-26 * watt / meter ** 2 / hertz",
    "solar_mass = 1.3271244e20 / 6.67430e-11 * kilogram",
    "solar_luminosity = 3.828e26 * watt",
    "solar_radius = 6.957e8 * meter",
    "earth_mass = 3.986004e14 / 6.67430e-11 * kilogram",
    "jupiter_mass = 1.2668653e17 / 6.67430e-11 * kilogram",
    "earth_radius = 6.3781e6 * meter",
    "jupiter_radius = 7.1492e7 * meter",
)

_OFFSET = {
    "degC", "degF", "°C", "°F", "celsius", "Celsius", "fahrenheit", "Fahrenheit", "degree_Celsius",
    "degree_Fahrenheit",
}  # fmt: skip
_LOGARITHMIC = {
    "dB", "dBm", "dBW", "dBu", "dBV", "dBi", "Np", "neper", "bel", "B", "octave", "decade", "pH", "pKa",
    "ABmag", "mag_AB",
}  # fmt: skip
_GAUSSIAN = {"G", "gauss", "Gauss", "Oe", "oersted", "statC", "esu", "Mx", "maxwell"}
_CONSTANTS = {
    "c", "hbar", "k", "k_B", "kB", "R", "N_A", "e", "m_e", "m_p", "m_u", "epsilon_0", "mu_0", "sigma_SB",
    "pi",
}  # fmt: skip


@cache
def atom(name: str) -> Unit:
    """Return the unit that one name stands for.

    Raises:
        UnitError: for an unknown name, an offset temperature, a logarithmic or Gaussian unit, or a
            physical constant in a unit's place; the message says what to use.
    """
    _refuse_known_traps(name)
    if name in _PLAIN:
        return _from_pint(_PLAIN[name])
    if name in _PREFIXED:
        return _from_pint(_PREFIXED[name])
    for length in (1, 2, 4, 5):
        prefix, rest = name[:length], name[length:]
        if prefix in _PREFIXES and rest in _PREFIXED:
            base = _from_pint(_PREFIXED[rest])
            return Unit(base.scale * float(f"1e{_PREFIXES[prefix]}"), base.exponents)
    raise UnitError(
        f"'{name}' is not a unit of the unit table.",
        "Use SI names or symbols (kg, m, s, A, K, mol, cd and those derived from them).",
    )


def _refuse_known_traps(name: str) -> None:
    if name in _OFFSET:
        raise UnitError(
            f"'{name}' is an offset temperature scale.", "Use kelvin (K), for differences of temperature too."
        )
    if name in _LOGARITHMIC:
        raise UnitError(
            f"'{name}' is a logarithmic unit.",
            "Use a ratio (a plain number), or mag or dex for a difference.",
        )
    if name in _GAUSSIAN:
        raise UnitError(f"'{name}' belongs to the Gaussian system.", "Use the SI unit (T, C, A/m, Wb).")
    if name in _CONSTANTS:
        raise UnitError(
            f"'{name}' is a physical constant, not a unit.",
            "Declare it as a told parameter with value and unit.",
        )


@cache
def _registry() -> Any:
    import pint  # 0.4 s: only when a unit is read for the first time

    registry: Any = pint.UnitRegistry()
    for definition in _DEFINITIONS:
        registry.define(definition)
    return registry


@cache
def _from_pint(name: str) -> Unit:
    quantity = _registry().Quantity(1.0, name).to_base_units()
    dimension = quantity.dimensionality
    exponents = tuple(Fraction(dimension.get(f"[{_PINT.get(base, base)}]", 0)) for base, _ in BASES)
    return Unit(float(quantity.magnitude), exponents)


_PINT = {"amount": "substance"}
"""Where pint names a dimension otherwise than we do."""
