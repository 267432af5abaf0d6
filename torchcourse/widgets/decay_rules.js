// SGD and Adam for the decay playground, as in torchcourse/optimizers/rules.py; a test holds both together.
// The momentum is kept in two parts, what the gradient brought and what decay brought: their sum is the buffer.

/** One weight, one step of SGD: where it goes, and the three parts of the move. */
function sgdStep(value, gradient, state, { lr, momentum }, decay) {
  const carried = momentum * (state.fromGradient ?? 0);
  const fromGradient = carried + gradient;
  const fromDecay = momentum * (state.fromDecay ?? 0) + decay * value;
  return {
    value: value - lr * (fromGradient + fromDecay),
    state: { fromGradient, fromDecay },
    parts: { gradient: -lr * gradient, momentum: -lr * carried, decay: -lr * fromDecay },
  };
}

/** One weight, one step of Adam; decoupled: of AdamW. */
function adamStep(value, gradient, state, { lr, betas, decoupled }, decay) {
  const [beta1, beta2] = betas;
  const step = (state.step ?? 0) + 1;
  const shrink = decoupled ? -lr * decay * value : 0;
  const added = decoupled ? 0 : decay * value;
  const carried = beta1 * (state.fromGradient ?? 0);
  const fromGradient = carried + (1 - beta1) * gradient;
  const fromDecay = beta1 * (state.fromDecay ?? 0) + (1 - beta1) * added;
  const v = beta2 * (state.v ?? 0) + (1 - beta2) * (gradient + added) ** 2;
  const rate = lr / (1 - beta1 ** step) / (Math.sqrt(v / (1 - beta2 ** step)) + 1e-8);
  return {
    value: value + shrink - rate * (fromGradient + fromDecay),
    state: { step, fromGradient, fromDecay, v },
    parts: { gradient: -rate * (1 - beta1) * gradient, momentum: -rate * carried, decay: shrink - rate * fromDecay },
  };
}

/** The gradient of ½ (w − best)ᵀ A (w − best), plus λ·w where the penalty stands in the loss. */
function gradientAt({ curvature, best }, [x, y], penalty) {
  const [dx, dy] = [x - best[0], y - best[1]];
  return [curvature[0][0] * dx + curvature[0][1] * dy + penalty * x, curvature[1][0] * dx + curvature[1][1] * dy + penalty * y];
}

/** Where one way of using λ leads: the points, and the parts of each move. Ends where a number is not finite. */
function decayPath(problem, way, settings) {
  const step = way.optimizer === "SGD" ? sgdStep : adamStep;
  const chosen = { ...settings, decoupled: way.optimizer === "AdamW" };
  const [penalty, decay] = way.in_loss ? [settings.decay, 0] : [0, settings.decay];
  const points = [problem.start];
  const moves = [];
  let states = [{}, {}];
  for (let k = 0; k < settings.steps; k++) {
    const at = points[k];
    const gradient = gradientAt(problem, at, penalty);
    const next = [0, 1].map((i) => step(at[i], gradient[i], states[i], chosen, decay));
    if (!next.every(({ value }) => Number.isFinite(value))) break;
    states = next.map(({ state }) => state);
    points.push(next.map(({ value }) => value));
    moves.push(Object.fromEntries(["gradient", "momentum", "decay"].map((part) => [part, next.map(({ parts }) => parts[part])])));
  }
  return { points, moves };
}
