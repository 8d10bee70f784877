from genie_inspect.reports.page.short_names import short_names


def test_a_long_name_keeps_its_beginning_and_its_end() -> None:
    long = "provider/" + "x" * 60 + "-instruct"
    short = short_names([long, "mock/a"], 20)
    assert short == {long: "provi…xxxxx-instruct", "mock/a": "mock/a"}
    assert len(short[long]) == 20


def test_forty_two_characters_stand_above_a_ridge() -> None:
    assert short_names(["x" * 42, "y" * 43]) == {"x" * 42: "x" * 42, "y" * 43: "y" * 10 + "…" + "y" * 31}


def test_names_that_would_be_the_same_stay_whole() -> None:
    names = [f"provider/{middle * 40}-instruct-model" for middle in "xy"]
    assert short_names(names, 20) == dict(zip(names, names, strict=True))
