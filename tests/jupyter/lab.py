"""JupyterLab on the loopback with a profile of its own, and a headless Chromium to look at it."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.needs import IN_CI

PATIENCE = 90.0  # seconds
TOKEN = "test"
SETTINGS = {
    # off-screen outputs are taken out of the page otherwise
    "notebook-extension/tracker": {"windowingMode": "none"},
    # else it asks a server for news
    "apputils-extension/notification": {
        "checkForUpdates": False,
        "fetchNews": "false",
        "doNotDisturbMode": True,
    },
}
OPTIONS = (
    "--allow-root",
    "--no-browser",
    "--ServerApp.ip=127.0.0.1",
    "--ServerApp.port=0",
    f"--IdentityProvider.token={TOKEN}",
    "--LabApp.extension_manager=readonly",
    "--LabApp.expose_app_in_browser=True",
)
OPEN_NEXT = """async path => {
    jupyterapp.shell.currentWidget.dispose();
    const opened = await jupyterapp.commands.execute('docmanager:open', { path });
    jupyterapp.shell.activateById(opened.id);
}"""
RUN_ALL = """async () => {
    const context = jupyterapp.shell.currentWidget.sessionContext;
    await context.ready;
    await context.session.kernel.info;
    return await jupyterapp.commands.execute('notebook:run-all-cells');
}"""


def find_chromium() -> str | None:
    """Return the path of an installed Chromium, or None."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((path for name in names if (path := shutil.which(name))), None)


needs_chromium = pytest.mark.skipif(
    not (find_chromium() or IN_CI), reason="no Chromium is installed"
)


@contextlib.contextmanager
def lab(root: Path, home: Path, env: dict[str, str]) -> Iterator[str]:
    """Run JupyterLab and yield its address.

    Args:
      root: folder of notebooks.
      home: empty folder for settings and logs: nothing of the user's is read or changed.
      env: more environment variables, for the kernels.
    """
    for name, settings in SETTINGS.items():
        file = home / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(settings))
    command = [sys.executable, "-m", "jupyterlab", *OPTIONS, f"--ServerApp.root_dir={root}"]
    with (home / "log").open("w") as log:
        process = subprocess.Popen(command, env=_environment(home) | env, stdout=log, stderr=log)
        try:
            yield f"http://127.0.0.1:{_port(home)}"
        finally:
            process.terminate()
            process.wait(20)


@dataclass
class Browser:
    """A page that may talk to one address only.

    Attributes:
      page: Playwright's.
      problems: errors of the page, and requests to other addresses, which were refused.
      is_in_lab: whether it shows JupyterLab, which takes seconds to load.
    """

    page: Any
    problems: list[str] = field(default_factory=list)
    is_in_lab: bool = False

    def run_all_cells(self, base: str, notebook: str) -> bool:
        """Open a notebook in place of the one before, run it, and return whether it was fine."""
        milliseconds = PATIENCE * 1000
        if self.is_in_lab:
            self.page.evaluate(OPEN_NEXT, notebook)
        else:
            self.page.goto(
                f"{base}/lab/tree/{notebook}?token={TOKEN}&reset", wait_until="domcontentloaded"
            )
            self.is_in_lab = True
        self.page.wait_for_selector(".jp-NotebookPanel .jp-Notebook", timeout=milliseconds)
        self.page.wait_for_function(
            "window.jupyterapp?.shell?.currentWidget?.sessionContext", timeout=milliseconds
        )
        return self.page.evaluate(RUN_ALL)

    def outputs(self, selector: str) -> Any:
        """Return a locator of what `selector` finds in outputs, not in sources."""
        return self.page.locator(f".jp-OutputArea-output {selector}")


@contextlib.contextmanager
def browser(base: str) -> Iterator[Browser]:
    """Yield a `Browser` on an empty page."""
    from playwright.sync_api import sync_playwright

    arguments = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=find_chromium(), headless=True, args=arguments
        )
        context = chromium.new_context(
            viewport={"width": 1200, "height": 900}, reduced_motion="reduce"
        )
        found = Browser(context.new_page())
        found.page.on("pageerror", lambda error: found.problems.append(str(error)))
        found.page.route("**/*", lambda route: _guard(route, base, found.problems))
        yield found
        chromium.close()


def _guard(route: Any, base: str, problems: list[str]) -> None:
    url = route.request.url
    if url.startswith((base, base.replace("http", "ws", 1), "data:", "blob:")):
        route.continue_()
    else:
        problems.append(f"off-site request: {url}")
        route.abort()


def _environment(home: Path) -> dict[str, str]:
    folders = {
        "HOME": "",
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "IPYTHONDIR": "ipython",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
    }
    return dict(os.environ) | {name: str(home / folder) for name, folder in folders.items()}


def _port(home: Path) -> int:
    """Return the server's port, as soon as it has written its file."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        for file in (home / "runtime").glob("jpserver-*.json"):
            with contextlib.suppress(ValueError):  # half written
                return int(json.loads(file.read_text())["port"])
        time.sleep(0.1)
    raise TimeoutError(f"JupyterLab did not start: {(home / 'log').read_text()[-2000:]}")
