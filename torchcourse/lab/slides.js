// Lets views live on slides. The page of jupyterlab-rise 0.43 brings no @jupyterlab/console; the manager of
// ipywidgets asks for that module, though it can do without a console, and where the module is missing it
// does not start (jupyterlab-contrib/rise, issue 119). JupyterLab itself has the module and keeps its own.
window._JUPYTERLAB = window._JUPYTERLAB || {};
window._JUPYTERLAB["torchcourse-slides"] = {
  init(shared) {
    // The one name that the manager takes from it: a token that nobody on that page provides.
    const tokens = { IConsoleTracker: { name: "@jupyterlab/console:IConsoleTracker" } };
    shared["@jupyterlab/console"] ??= { "4.0.0": { from: "torchcourse-slides", loaded: true, get: () => () => tokens } };
  },
  get: async () => () => [], // no plugin
};
