"""The Littlest JupyterHub: this course's settings, for /opt/tljh/config/jupyterhub_config.d/.

The figures come from the load test (../measured.json); a test holds them to it.
"""

c = get_config()  # noqa: F821  (JupyterHub puts it here)

c.Spawner.mem_limit = "2G"
c.Spawner.cpu_limit = 2.0

# torch counts the cores of the machine, not those of the limit, and its threads then wait for one another.
c.Spawner.environment = {"OMP_NUM_THREADS": "1"}

# A notebook that nobody has open any more gives its memory back.
c.Spawner.args = ["--MappingKernelManager.cull_idle_timeout=1800", "--MappingKernelManager.cull_interval=120"]

# Everybody presses "start" in the same minute.
c.JupyterHub.concurrent_spawn_limit = 30
c.Spawner.start_timeout = 120
