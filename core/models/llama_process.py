"""Runs llama.cpp's server in a process of its own: loading a model there neither blocks this process nor can crash it.

Run as a script by `core.models.local`. It reads one line of JSON from standard input (the settings; the key is sent
this way because everyone can see a command line), writes one line of JSON with the server's address, and ends when
standard input does: that is, at the latest, when the process that started it ends, however that happens.
"""

import json
import os
import signal
import sys


def main() -> None:
    """Serve until standard input ends."""
    # Ctrl-C goes to every process of the terminal; the one that started this decides when it ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    settings = json.loads(sys.stdin.readline())
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = settings["path"]
    params.api_keys = [settings["key"]]
    params.n_ctx = settings["context"]
    params.n_parallel = 1
    # Between batches the server checks whether anyone still waits: small batches let a cancelled long prompt end soon.
    params.n_batch = params.n_ubatch = 256
    params.cpuparams.n_threads = settings["threads"]
    params.cpuparams_batch.n_threads = settings["threads"]
    params.cache_ram_mib = settings["prompt_cache_mib"]
    params.fit_params = False
    params.cors_origins = "http://127.0.0.1"
    params.endpoint_slots = False
    params.ui = False
    params.verbosity = 1
    server = xllamacpp.Server(params)
    print(json.dumps({"address": server.listening_address}), flush=True)
    sys.stdin.read()
    # The server's own shutdown waits for its threads, and waits forever if it has hardly begun.
    os._exit(0)


if __name__ == "__main__":
    main()
