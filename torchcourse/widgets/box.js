// A view's text box: the one place where a view asks the kernel something.

/** The text box: one message to the kernel for each Enter, and a sentence where none answers. */
function chainBox(model, parts) {
  const input = make("input", {
    type: "text", tabindex: "-1", maxlength: "400", spellcheck: "false", autocomplete: "off", autocapitalize: "off",
    placeholder: ".t()[:, ::2]", ...OURS,
  });
  const first = make("code", {});
  const answer = make("span", { class: "tc-answer", role: "status" });
  const help = "Press / and write view operations, then Enter.";
  let waiting = null;
  let timer = 0;
  parts.tools.append(make("label", { class: "tc-box" }, first, input), answer);

  function tell(text, wrong = false) {
    answer.replaceChildren(...coded(text));
    answer.classList.toggle("tc-no", wrong);
    input.setAttribute("aria-invalid", String(wrong));
  }
  function ask() {
    waiting = `${Date.now()} ${Math.random()}`;
    tell("Asking the kernel …");
    clearTimeout(timer);
    timer = setTimeout(() => tell("No kernel answers. This box needs one: run the cell again, or wait while it is busy.", true), 5000);
    try {
      model.send({ chain: input.value, id: waiting });
    } catch {
      clearTimeout(timer);
      tell("This page has no kernel, and this box needs one: open the notebook on Binder, or by `run.py lab`, and run its cells.", true);
    }
  }
  function hear(message) {
    if (!message || message.id !== waiting) return;
    clearTimeout(timer);
    tell(message.answer, message.refused);
  }
  input.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Enter") ask();
    if (event.key === "Escape") parts.body.focus();
    if (event.key === "Enter" || event.key === "Escape") event.preventDefault();
  });
  model.on("msg:custom", hear);
  tell(help);
  return {
    open: () => parts.tools.hidden || (input.focus(), input.select()),
    close: () => (clearTimeout(timer), model.off("msg:custom", hear)),
    name: (text) => {
      parts.tools.hidden = !text;
      first.textContent = text;
      input.setAttribute("aria-label", `A chain of view operations on ${text}`);
    },
  };
}
