// Runs in each page before JupyterLab does, and answers the lane's questions about it.
// Nothing here has a limit of its own: `NotebookPage.ask` gives one to every question.
window.lane = (() => {
  const VIEW = "application/vnd.jupyter.widget-view+json";
  const CONTENT = "svg, canvas, img, input, button, select, textarea, table";
  const DEAD = ["dead", "restarting", "autorestarting"];

  const panel = () => window.jupyterapp?.shell?.currentWidget;
  const pause = (ms) => new Promise((done) => setTimeout(done, ms));
  const frame = () => new Promise((done) => requestAnimationFrame(done));

  async function until(what) {
    let value;
    while (!(value = what())) await pause(50);
    return value;
  }

  // JupyterLab calls itself idle before there is a kernel; this waits for one that answers.
  async function ready() {
    await (await until(() => window.jupyterapp)).restored;
    const { context, sessionContext } = await until(() => panel()?.context && panel());
    await context.ready;
    await sessionContext.ready;
    await (await until(() => sessionContext.session?.kernel)).info;
    jupyterapp.shell.collapseLeft();
    jupyterapp.shell.collapseRight();
    return true;
  }

  // "ran", or the state of a kernel that died meanwhile.
  function run() {
    const died = new Promise((done) =>
      panel().sessionContext.statusChanged.connect((_, status) => DEAD.includes(status) && done(status)),
    );
    const ran = jupyterapp.commands.execute("notebook:run-all-cells").then(() => "ran");
    return Promise.race([ran, died]);
  }

  function cells() {
    return panel().content.widgets.flatMap((cell, index) => {
      if (cell.model.type !== "code") return [];
      return {
        number: index + 1,
        source: cell.model.sharedModel.source,
        tags: cell.model.getMetadata("tags") ?? [],
        count: cell.model.executionCount,
        outputs: cell.model.sharedModel.outputs,
      };
    });
  }

  // Every output of the model that is a widget's view, beside what the page shows for it.
  function views() {
    const found = panel().content.widgets.flatMap((cell, index) => {
      const outputs = cell.model.type === "code" ? cell.model.sharedModel.outputs : [];
      return outputs.flatMap((output, place) => {
        if (!output.data?.[VIEW]) return [];
        const area = cell.outputArea.widgets[place]?.node;
        return { cell: index + 1, node: area?.querySelector(".jp-OutputArea-output") ?? null };
      });
    });
    found.forEach(({ node }, index) => node?.setAttribute("data-lane-view", index + 1));
    return found.map(({ cell, node }) => ({ cell, ...seen(node) }));
  }

  function seen(node) {
    const text = node?.innerText.trim() ?? "";
    const failed = /^(Error displaying widget|Loading widget)/.test(text);
    const content = node ? [...node.querySelectorAll(CONTENT)].some(visible) || (text && visible(node)) : false;
    return { shown: Boolean(content) && !failed, text: failed ? text : "", over: node ? over(node) : 0 };
  }

  function visible(element) {
    const { width, height } = element.getBoundingClientRect();
    return width >= 4 && height >= 4 && element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  }

  async function viewsShown() {
    await until(() => views().every((view) => view.shown));
    return true;
  }

  const over = (node) => node.scrollWidth - node.clientWidth;
  const pageOver = () => over(document.documentElement);

  const scroller = () => document.querySelector(".jp-WindowedPanel-outer") ?? panel().content.node;

  // Without the empty space that JupyterLab keeps under the last cell, which grows with the window.
  function contentHeight() {
    const last = panel().content.widgets.at(-1).node.getBoundingClientRect().bottom;
    return last - scroller().getBoundingClientRect().top + scroller().scrollTop + 20;
  }

  // The window's height at which the whole notebook is in sight.
  function wholeHeight() {
    return Math.ceil(window.innerHeight - scroller().clientHeight + contentHeight());
  }

  // Shows the notebook's windowful of that number (from 0); says whether one more comes after it.
  async function turnTo(number) {
    const { clientHeight } = scroller();
    scroller().scrollTop = number * clientHeight;
    await pause(300); // JupyterLab answers a scroll with a timer of its own
    await settled();
    return (number + 1) * clientHeight < contentHeight();
  }

  async function theme(light) {
    await until(() => document.body.dataset.jpThemeLight === String(light));
    await settled();
    return true;
  }

  // Two frames: a change of size or theme has been laid out and painted.
  async function settled() {
    await frame();
    await frame();
    return true;
  }

  async function violations() {
    const include = ["[data-lane-view] > *", ".tc-card"].filter((selector) => document.querySelector(selector));
    if (!include.length) return [];
    const found = await axe.run({ include: include.map((selector) => [selector]) }, { resultTypes: ["violations"] });
    return found.violations.flatMap(({ id, impact, help, nodes }) =>
      nodes.map(({ html, target }) => ({ id, impact, help, html, target: target.join(" ") })),
    );
  }

  const dialog = () => document.querySelector(".jp-Dialog")?.innerText ?? "";

  return { ready, run, cells, views, viewsShown, pageOver, wholeHeight, turnTo, theme, settled, violations, dialog };
})();
