"""What the hub of the load test reads. Its numbers and folders come from `hub.py`, in one variable."""

import json
import os
import signal
import sys
import threading

told = json.loads(os.environ["TORCHCOURSE_CLASS"])
c = get_config()  # noqa: F821  (JupyterHub puts it here)


def end_with_the_test() -> None:
    """The test holds the other end of standard input: however it ends, even killed, this reading ends too."""
    os.read(0, 1)
    os.kill(os.getpid(), signal.SIGTERM)


threading.Thread(target=end_with_the_test, daemon=True).start()

c.JupyterHub.bind_url = told["url"]
c.JupyterHub.hub_bind_url = told["hub_url"]
c.JupyterHub.db_url = f"sqlite:///{told['folder']}/hub.sqlite"
c.JupyterHub.cookie_secret_file = f"{told['folder']}/cookie_secret"
c.JupyterHub.concurrent_spawn_limit = 0  # everybody at once, as in a class
c.JupyterHub.log_level = "WARN"

# The proxy in Python: pip brings it, with nothing beyond what Jupyter has. JupyterHub's own needs Node.js.
c.ConfigurableHTTPProxy.command = [
    sys.executable,
    "-c",
    "import configurable_http_proxy.cli as c; c.main()",
    "--log-level",
    "error",
]
c.ConfigurableHTTPProxy.api_url = told["proxy_url"]
c.ConfigurableHTTPProxy.auth_token = told["proxy_token"]
c.ConfigurableHTTPProxy.pid_file = f"{told['folder']}/proxy.pid"

# Nobody logs in: the test's token acts for all learners, and no other way is open.
c.JupyterHub.authenticator_class = "null"
c.JupyterHub.services = [{"name": "class", "api_token": told["token"]}]
c.JupyterHub.load_roles = [
    {"name": "class", "services": ["class"], "scopes": ["admin:users", "admin:servers", "access:servers"]}
]

c.JupyterHub.spawner_class = "simple"
c.SimpleLocalProcessSpawner.home_dir_template = told["folder"] + "/{username}"
c.Spawner.cmd = [sys.executable, "-m", "jupyterhub.singleuser"]
# The Python proxy passes no websocket subprotocol on: kernels speak the form that needs none.
c.Spawner.args = [
    "--log-level=WARN",
    "--ZMQChannelsWebsocketConnection.kernel_ws_protocol=",
    *(["--allow-root"] if os.geteuid() == 0 else []),
]
c.Spawner.notebook_dir = "~/work"
c.Spawner.ip = "127.0.0.1"
c.Spawner.environment = {
    "OMP_NUM_THREADS": str(told["threads"]),
    "TMPDIR": told["folder"],
    "TORCHCOURSE_CLASS_RUN": os.environ["TORCHCOURSE_CLASS_RUN"],
}
c.Spawner.start_timeout = c.Spawner.http_timeout = told["start_limit"]
