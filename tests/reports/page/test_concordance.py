import math
from pathlib import Path

import pytest
from tests.reports.made_logs import made_log, scored

from genie_inspect.logs.reading import read_logs
from genie_inspect.reports.page.concordance import concordance

NAN = math.nan


def test_tau_is_taken_over_the_documents_that_both_keys_have_and_says_how_many(tmp_path: Path) -> None:
    values = [(1.0, 4.0), (2.0, 3.0), (3.0, 1.0), (4.0, 2.0), (5.0, NAN)]
    file = made_log(tmp_path, [{"genie": scored({"plot": plot, "style": style})} for plot, style in values])
    found = concordance(read_logs([file]), [("genie", "plot"), ("genie", "style")])
    # of 6 pairs 1 is in order and 5 reversed
    assert found.tau[0][1] == found.tau[1][0] == pytest.approx((1 - 5) / 6)
    assert found.documents == ((5, 4), (4, 4))
    assert found.names == ("plot", "style")


def test_one_value_throughout_puts_nothing_in_order_and_has_no_row(tmp_path: Path) -> None:
    values = [(1.0, 1.0), (1.0, 2.0), (NAN, NAN)]
    file = made_log(tmp_path, [{"genie": scored({"plot": plot, "style": style})} for plot, style in values])
    found = concordance(read_logs([file]), [("genie", "plot"), ("genie", "style")])
    assert (found.names, found.tau, found.unordered) == (("style",), ((1.0,),), ("plot",))


def test_one_value_among_the_documents_of_another_key_has_no_tau(tmp_path: Path) -> None:
    values = [{"plot": 1.0, "style": 1.0}, {"plot": 1.0, "style": 2.0}, {"plot": 2.0, "style": NAN}]
    found = concordance(
        read_logs([made_log(tmp_path, [{"genie": scored(value)} for value in values])]),
        [("genie", "plot"), ("genie", "style")],
    )
    assert math.isnan(found.tau[0][1])


def test_the_populations_own_documents_do_not_count(tmp_path: Path) -> None:
    own = [{"genie": scored({"plot": value}, left_out=["d"])} for value in (1.0, 2.0)]
    others = [{"genie": scored({"plot": value})} for value in (3.0, 4.0, 5.0)]
    files = [made_log(tmp_path, own), made_log(tmp_path, others)]
    assert concordance(read_logs(files), [("genie", "plot")]).documents == ((3,),)


def test_a_key_that_two_scorers_share_has_its_scorer_in_its_name(tmp_path: Path) -> None:
    value = {"plot_twist": 0.5, "style_of_speech": 0.5}
    samples = [
        {
            "genie": scored(dict.fromkeys(value, level)),
            "again": scored({"plot_twist": level}, "measure:again|version:0"),
        }
        for level in (0.5, 0.6)
    ]
    file = made_log(tmp_path, samples)
    keys = [("genie", "plot_twist"), ("genie", "style_of_speech"), ("again", "plot_twist")]
    assert concordance(read_logs([file]), keys).names == (
        "plot twist (genie)",
        "style of speech",
        "plot twist (again)",
    )


def test_keys_beyond_what_a_table_can_hold_are_counted(tmp_path: Path) -> None:
    keys = ["same", *(f"k{number}" for number in range(43))]
    samples = [{"genie": scored(dict.fromkeys(keys, value) | {"same": 0.5})} for value in (0.1, 0.2)]
    found = concordance(read_logs([made_log(tmp_path, samples)]), [("genie", key) for key in keys])
    assert (len(found.names), found.left_out, found.unordered) == (40, 3, ("same",))
