"""Fetch a data set's file from the Hugging Face hub with `huggingface_hub` and store it in
$EXPLAIN_HOME/datasets/hub.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from .. import files, policy
from ..home import home
from .files import LARGEST
from .items import DatasetError

SCHEME = "hf://"
_NAMED = re.compile(r"hf://(?P<repo>[\w.-]{1,96}/[\w.-]{1,96})/(?P<file>[\w./ +-]{1,300})")


def fetch(dataset: str) -> Path:
    """Return the local copy of the file `hf://OWNER/NAME/FILE`, fetching it from $HF_ENDPOINT or the public hub if
    needed.

    Raises DatasetError, even if there is only no network.
    """
    named = _NAMED.fullmatch(dataset)
    if named is None or ".." in dataset:
        raise DatasetError(f"{dataset[:200]!r} is no file on the hub. One is called hf://OWNER/NAME/FILE.")
    folder = home() / "datasets" / "hub" / named["repo"]
    kept = folder / named["file"]
    if kept.is_file():
        return kept
    if not policy.allows("downloads"):
        raise DatasetError("Here the host alone fetches files from the hub. Choose a data set that is here.")
    _download(dataset, named["repo"], named["file"], folder)
    return kept


def _download(dataset: str, repo: str, file: str, folder: Path) -> None:
    import httpx2
    from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError, OfflineModeIsEnabled

    hub = (os.environ.get("HF_ENDPOINT") or "https://huggingface.co").rstrip("/")
    advice = "Or fetch it in a browser, and put it into $EXPLAIN_HOME/datasets."
    try:
        about = get_hf_file_metadata(hf_hub_url(repo, file, repo_type="dataset", endpoint=hub), endpoint=hub)
        if about.size is None or about.size > LARGEST:
            size = f"{about.size / files.MB:,.0f} MB" if about.size is not None else "a size that the hub does not tell"
            raise DatasetError(f"{dataset} has {size}; at most {LARGEST // files.MB} MB are fetched.")
        hf_hub_download(repo, file, repo_type="dataset", local_dir=folder, endpoint=hub)
    except OfflineModeIsEnabled:
        raise DatasetError(f"{dataset} cannot be fetched: HF_HUB_OFFLINE is set. {advice}") from None
    except HfHubHTTPError as error:
        status = error.response.status_code
        why = {404: "has no such file", 401: "wants an account (set HF_TOKEN)", 403: "does not give it out"}
        raise DatasetError(f"{hub} {why.get(status, 'does not answer')} (HTTP {status}): {dataset}. {advice}") from None
    except (httpx2.RequestError, LocalEntryNotFoundError) as error:
        reason = str(error) if isinstance(error, httpx2.RequestError) else "the connection was cut"
        raise DatasetError(
            f"{hub} cannot be reached for {dataset}: {reason or type(error).__name__}. {advice}"
        ) from None
    except OSError as error:
        raise DatasetError(f"{dataset} could not be kept: {error.strerror or error}.") from None
