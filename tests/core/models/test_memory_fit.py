"""Which local model is offered to a machine, and the estimated time."""

from pathlib import Path

import pytest

from core.models import local
from core.models.download import downloadable
from core.models.local import Fitting

GB = 1_000_000_000


def test_this_machine_tells_its_memory() -> None:
    has = local.memory()
    assert has is not None and GB / 4 < has < 100_000 * GB


def test_the_largest_that_fits_is_taken_and_the_one_that_ships_always(tmp_path: Path) -> None:
    shipped = local.shipped_weights()
    assert shipped is not None
    smallest = Fitting("local/smollm2-135m", shipped.stat().st_size)
    for name, size in (("middle", 400_000_000), ("large", GB)):
        with (tmp_path / f"{name}.gguf").open("wb") as file:
            file.truncate(size)
    for has, fits in (
        (None, smallest), (0, smallest), (GB // 2, smallest), (GB, Fitting("local/middle", 400_000_000)),
        (2 * GB - 1, Fitting("local/middle", 400_000_000)), (2 * GB, Fitting("local/large", GB)),
    ):  # fmt: skip
        assert local.largest_installed(tmp_path, has) == fits, has


@pytest.mark.parametrize(("has", "place"), [(10_000 * GB, -1), (int(2.0 * 300_000_000), 0)])
def test_what_is_offered_for_download_fits_too(has: int, place: int) -> None:
    model = downloadable()[place]
    assert local.largest_downloadable(has) == Fitting(f"local/{model.name}", model.size_bytes)
    assert local.largest_downloadable(None) is None is local.largest_downloadable(1000)


def test_time_goes_with_the_size_of_the_weights() -> None:
    assert local.seconds(Fitting("local/half", 500), tokens=240, rate=2.0, size=1000) == 60
