"""NaN, infinities, profilers."""

from ..data import Kind

KINDS = (
    Kind(
        slug="nan-in-backward",
        says=(
            "function '{node:w}' returned nan values in its {output:w} output",
            "returned nan values in its",
            "function {node:w} returned nan values",
        ),
        reads=("function '{node:w}' returned nan values in its {output:w} output",),
        here=("Here: {node}, output {output}.",),
        what=(
            "Anomaly mode checks every gradient. This node's backward gave NaN: a slope of infinity met a 0 "
            "(sqrt, norm and pow at 0; division by 0; log of 0), or a NaN came in. `torch.where` and a mask "
            "after the operation do not help: 0 × NaN is NaN."
        ),
        causes=(
            "sqrt, norm, std, a power or acos at the edge of its domain.",
            "0/0 whose NaN is masked afterwards: the forward looks fine, the gradient is NaN.",
            "The forward already had inf or NaN: a learning rate too high, half precision.",
        ),
        mend=(
            "y = (x**2).sum().add(1e-12).sqrt()                    # away from 0\n"
            "safe = torch.where(mask, x, 1.0)                      # before the operation\n"
            "y = torch.where(mask, 1 / safe, 0.0)"
        ),
        check=(
            "torchcourse.debugging.find_nan(model, x) names the operator and its inputs; the first traceback "
            "shows the forward line."
        ),
        wrong=("`nan_to_num` on gradients: the step still goes into a direction that means nothing.",),
    ),
    Kind(
        slug="anomaly-mode-on",
        chapter="debugging",
        says=(
            "anomaly detection has been enabled",
            "error detected in {node:w}. traceback of forward call that caused the error",
            "traceback of forward call that caused the error",
            "no forward pass information available",
        ),
        reads=("error detected in {node:w}",),
        here=("Here: {node}.",),
        what=(
            "Anomaly mode keeps a traceback for every node and checks every gradient for NaN: good to find a "
            "fault, several times slower."
        ),
        causes=("`detect_anomaly()` or `set_detect_anomaly(True)` is on.",),
        mend=(
            "with torch.autograd.detect_anomaly():\n"
            "    loss_fn(model(x), y).backward()           # around one step, not around the training"
        ),
        check="torch.is_anomaly_enabled() is False in the training proper.",
    ),
    Kind(
        slug="nan-in-probabilities",
        chapter="debugging",
        says=(
            "input is not positive-definite",
            "the parameter loc has invalid values",
            "the parameter scale has invalid values",
            "the parameter probs has invalid values",
            "the parameter logits has invalid values",
            "the parameter covariance_matrix has invalid values",
            "probability tensor contains either",
            "invalid multinomial distribution",
            (
                "expected parameter {parameter:w} {...}to satisfy the constraint {constraint}, but found invalid "
                "values"
            ),
            "to satisfy the constraint",
            "the value argument must be within the support",
            "the parameter {parameter:w} has invalid values",
            "expected value argument {...}to be within the support",
            "to be within the support",
            "invalid values: tensor(",
            "p >= 0. && p <= 1.",
            "cumdist[size - 1] > static_cast",
            "linalg.eigh: ",
            "linalg.svd: the algorithm failed to converge",
            "input matrix contained non-finite values",
            "failed to converge because the input matrix is ill-conditioned",
            "linalg.cholesky: ",
            "cholesky{...}is not positive-definite",
            (
                "linalg.inv: the diagonal element {n:d} is zero, the inversion could not be completed because the "
                "input matrix is singular"
            ),
            "the input matrix is singular",
            "lapack: ",
            "svdcuda",
            "cholesky_cpu",
            "torch.linalg.solve: the solver failed",
            "torch._c._linalgerror",
        ),
        reads=(
            "expected parameter {parameter:w}",
            "of distribution {distribution:w}",
        ),
        here=(
            "Here: {parameter} of {distribution}.",
            "Here: parameter {parameter}.",
        ),
        needs=(
            "torch",
            "tensor",
            "probability",
            "multinomial",
            "support",
            "constraint",
            "linalg.",
            "cholesky",
            "lapack",
            "p >= 0.",
        ),
        unless=(
            "numpy.linalg",
            "scipy",
            "sqlalchemy",
            "sklearn",
            "statsmodels",
        ),
        what=(
            "A distribution or a decomposition got numbers that cannot be: NaN, infinity, a negative "
            "probability or deviation, a singular matrix. Nearly always the network's output was already NaN."
        ),
        causes=(
            (
                "The training diverged a few steps before: a rate too high, exploding gradients, log or division "
                "of 0."
            ),
            "Half precision overflowed (above 65504), e.g. in logits or attention.",
            "A scale without softplus or exp is negative; a covariance is not positive definite.",
        ),
        mend=(
            "assert torch.isfinite(logits).all(), step        # find the first step\n"
            "scale = F.softplus(raw) + 1e-4\n"
            "nn.utils.clip_grad_norm_(model.parameters(), 1.0)"
        ),
        check="torchcourse.debugging.find_nan(model, x) names where it is born.",
        wrong=("`validate_args=False`: it hides the NaN, not its cause.",),
    ),
    Kind(
        slug="gradient-norm-not-finite",
        chapter="debugging",
        says=(
            "the total norm of order {order:n} for gradients from 'parameters' is non-finite",
            "for gradients from 'parameters' is non-finite",
            "is non-finite, so it cannot be clipped",
            "total norm {...}is non-finite",
            "loss is nan, stopping training",
            "loss is {value:w}, stopping training",
            "nan or inf found in input tensor",
            "nan loss encountered",
            "the loss returned in {...} is nan or inf",
            "detected nan",
            "gradient overflow. skipping step, loss scaler",
            "gradient overflow",
        ),
        needs=(
            "gradient",
            "torch",
            "loss",
            "tensor",
        ),
        unless=(
            "keras",
            "tensorflow",
            "sklearn",
            "jax",
        ),
        what=(
            "The gradients' norm is inf or NaN: at least one gradient is. Clipping would multiply all of them "
            "by 0 or NaN."
        ),
        causes=(
            "The loss exploded: a rate too high, no warm-up, a division or log near 0.",
            "Half precision without a scaler overflowed.",
            "One bad sample: inf or NaN in the data.",
        ),
        mend=(
            "assert torch.isfinite(x).all() and torch.isfinite(loss)\n"
            "[n for n, p in model.named_parameters() if p.grad is not None and not p.grad.isfinite().all()]"
        ),
        check="torchcourse.debugging.find_nan(model, x); the first step at which the norm is not finite.",
        wrong=("`error_if_nonfinite=False` to go on: every weight becomes NaN with that step.",),
    ),
    Kind(
        slug="profiler-misuse",
        chapter="debugging",
        says=(
            "profiler context manager is not reentrant",
            "profiler didn't finish running",
            "required for memory profiling",
            "metric should be one of",
            "profiler step count has increased more than",
            "device profiling activity collection was stopped",
            "events() is not available",
            "profiler won't be using warmup, this can skew profiler results",
            "can't disable kineto profiler when it's not running",
            "profiler is already enabled",
            "can't disable profiler when it's not running",
            "cupti_error",
            "cupti initialization failed",
            "cupti_status",
            "cuda is not available, disabling cuda profiling",
            "external init callback must run in same thread as registerclient",
            "profiler clears events at the end of each cycle",
            "profiler not initialized",
            "cannot set 'schedule'",
            "profiler {...}step()",
            "use_cuda is deprecated, use activities",
            "kineto is not available",
            "no trace{...}profiler",
            "incorrect schedule",
            "kinetolibrary",
        ),
        needs=(
            "profil",
            "cupti",
            "torch",
            "kineto",
        ),
        what=(
            "The profiler records in cycles: wait, warm-up, active. `step()` moves it on; the handler gets the "
            "events of one active cycle only. For the GPU it needs CUPTI, which one process uses at a time."
        ),
        causes=(
            "`prof.step()` is missing in the loop, or the schedule is longer than the loop.",
            "A profiler inside another, or stopped twice.",
            "CUPTI is not permitted (driver setting), or another tool uses it.",
        ),
        mend=(
            "with torch.profiler.profile(schedule=torch.profiler.schedule(wait=1, warmup=1, active=3)) as "
            "prof:\n"
            "    for batch in loader:\n"
            "        train_step(batch)\n"
            "        prof.step()"
        ),
        check="len(prof.key_averages()) > 0; torchcourse.debugging.diagnose(prof).",
    ),
)
