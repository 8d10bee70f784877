"""A process in which everything is imported; each client gets a fork of it, which runs every order in one of its own.

Run as a script: on standard input the processes of a run of the tests call, and send clients' sockets (`processes.py`).
"""

import gc
import importlib
import json
import os
import pkgutil
import random
import resource
import runpy
import signal
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import packages_distributions
from select import select
from typing import Any

import anyio
from inspect_ai._cli import main as inspect_cli  # the command `inspect`, in no public way
from inspect_ai._util import package, zipfile  # what looks for packages and makes a log's file, in no public way
from inspect_ai.model import ModelAPI, ModelOutput, ModelUsage, get_model_info, modelapi

import genie_inspect
from genie_inspect.cli import main as genie
from genie_inspect.engines.embedders import static_token_count
from genie_inspect.graders.stand_ins import rehearsed
from genie_inspect.prompting.templates import unfenced
from genie_inspect.prompting.texts import refuses
from genie_inspect.reports.page import template

# what commands import when they come to need it; a second or more of each command that does
LATE = [
    *("acp", "altair", "anyio._backends._asyncio", "click._textwrap", "filelock", "huggingface_hub.file_download"),
    *("infini_gram.engine", "inspect_ai._eval.task.run", "inspect_ai.hooks._startup", "model2vec.persistence"),
    *("narwhals", "pyarrow.parquet", "regex", "rich._emoji_codes", "safetensors.numpy", "scipy.stats"),
    *("sklearn.cluster", "sklearn.feature_extraction.text", "tokenizers", "vl_convert"),
]


@modelapi(name="atonce")
class AtOnce(ModelAPI):
    """A model that says what a rehearsal says, soon."""

    async def generate(self, input: Any, tools: Any, tool_choice: Any, config: Any) -> ModelOutput:  # noqa: A002
        await anyio.sleep(random.random() / 50)
        output = ModelOutput.from_content("atonce", rehearsed(unfenced(input[-1].text)))
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output


def load_all() -> None:
    ours = [module.name for module in pkgutil.walk_packages(genie_inspect.__path__, "genie_inspect.")]
    for name in [*ours, *LATE]:
        with suppress(ImportError):
            importlib.import_module(name)
    # what each of them would read, compile or look for once
    get_model_info("openai/gpt-4o")
    refuses("Sorry. I can't write that.")
    template()
    static_token_count("the static model")
    installed = packages_distributions()
    vars(package)["packages_distributions"] = lambda: installed


def program(order: dict[str, Any]) -> Callable[[], object]:
    name, arguments = order["program"], order["arguments"]
    sys.argv = [name, *arguments]
    if name == "genie":
        return lambda: genie(arguments, prog_name="genie")
    if name == "inspect":
        return inspect_cli.main
    sys.path.insert(0, os.path.dirname(name))
    return lambda: runpy.run_path(name, run_name="__main__")


def end(run: Callable[[], object]) -> None:
    """Run something and end as Python ends, without the seconds that it takes to clear what was imported."""
    code: object = 1
    try:
        run()
        code = 0
    except SystemExit as error:
        code = error.code or 0
    except BaseException as error:  # noqa: BLE001  # Ctrl-C too: whatever ends a process
        sys.excepthook(type(error), error, error.__traceback__)
    try:
        sys.stdout.flush()
    except OSError as error:
        sys.stderr.write(f"Exception ignored: {error}\n")
        code = 120
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 1)


def child(order: dict[str, Any], memory: int) -> None:
    for number, path in enumerate([os.devnull, order["stdout"], order["stderr"]]):
        os.dup2(os.open(path, os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT, 0o600), number)
    if order["closed"]:
        reading, writing = os.pipe()
        os.close(reading)
        os.dup2(writing, 1)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.umask(0o022)
    os.chdir(order["folder"])
    if memory:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    run = program(order)
    while time.time() < order["start"]:
        pass
    end(run)


def serve(client: socket.socket) -> None:
    """Carry out a client's orders, each in a process of its own, one after the other."""
    with client.makefile("r") as orders:
        setting = json.loads(orders.readline())
        os.environ.clear()
        os.environ.update(setting["environment"])
        for line in orders:
            order = json.loads(line)
            pid = os.fork()
            if pid == 0:
                child(order, setting["memory"])
            if order["interrupt"] is not None:
                time.sleep(order["interrupt"])
                os.kill(pid, signal.SIGINT)
            client.sendall(f"{os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])}\n".encode())


def listen() -> None:
    """Serve each client whose socket comes from a process of the tests, in a process of its own, while one is left.

    Standard input is a socket on which they call.
    """
    load_all()
    zipfile._ZSTD_THREADS = 0  # twelve for each of a log's files, which are small here
    gc.freeze()
    clients: list[int] = []
    with socket.socket(fileno=os.dup(0)) as door:
        calling = [door.accept()[0]]
        while calling:
            for ready in select([door, *calling], [], [])[0]:
                if ready is door:
                    calling.append(door.accept()[0])
                    continue
                _, files, _, _ = socket.recv_fds(ready, 1, 1)
                if not files:
                    calling.remove(ready)
                    ready.close()
                    continue
                with socket.socket(fileno=files[0]) as client:
                    clients.append(os.fork())
                    if clients[-1] == 0:
                        serve(client)
                        os._exit(0)
        os.unlink(door.getsockname())
    for pid in clients:
        os.waitpid(pid, 0)


if __name__ == "__main__":
    listen()
