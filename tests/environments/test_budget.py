"""Budgets are named meters that only go down."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from environments.budget import Budget

charge = st.dictionaries(st.sampled_from(["calls", "turns", "rows"]), st.integers(0, 5))


@given(st.lists(charge, max_size=20))
def test_no_meter_rises_or_falls_below_zero(spent: list[dict[str, int]]) -> None:
    """Whatever is spent, what is left never grows and is never negative."""
    budget = Budget({"calls": 10, "turns": 3})
    for charge in spent:
        before = budget.remaining
        enough = budget.lacking(charge) is None
        budget.spend(charge)
        after = budget.remaining
        assert set(after) == {"calls", "turns"}
        for name, left in after.items():
            assert 0 <= left <= before[name]
            if enough:
                assert left == before[name] - charge.get(name, 0)


def test_an_absent_meter_is_unlimited_and_not_shown() -> None:
    """A charge on a meter that the budget does not have costs nothing and shows nothing."""
    budget = Budget({"calls": 1})
    assert budget.lacking({"experiments": 10**6}) is None
    budget.spend({"experiments": 10**6})
    assert budget.remaining == {"calls": 1}


def test_the_lacking_meter_is_named() -> None:
    """The first meter that cannot bear a charge is named."""
    assert Budget({"calls": 5, "turns": 1}).lacking({"calls": 1, "turns": 2}) == "turns"
