"""Learning-rate schedulers."""

from ..data import Kind

KINDS = (
    Kind(
        slug="scheduler-order",
        chapter="training",
        says=(
            "detected call of 'lr_scheduler.step()' before 'optimizer.step()'",
            "before 'optimizer.step()'",
            "optimizer.step()' has been overridden",
        ),
        what=(
            "A scheduler sets the rate for the next optimizer step; called first, it skips the first rate. "
            "PyTorch tells by a counter that `optimizer.step()` raises."
        ),
        causes=(
            "The two calls are in the wrong order.",
            "GradScaler skipped the first optimizer.step() because of infinities: harmless, once.",
            "`optimizer.step` was replaced (a library) after the scheduler was made.",
        ),
        mend=("loss.backward()\noptimizer.step()\nscheduler.step()"),
        check="scheduler.get_last_lr() before and after the first step.",
    ),
    Kind(
        slug="plateau-needs-metric",
        chapter="optimizers",
        says=(
            "step() missing 1 required positional argument: 'metrics'",
            "argument: 'metrics'",
            "reducelronplateau{...}metrics",
        ),
        needs=("metrics",),
        what=(
            "ReduceLROnPlateau looks at a measured value, so its `step` takes one; other schedulers count "
            "steps."
        ),
        causes=(
            "`scheduler.step()` without a value.",
            "One loop for several kinds of schedulers.",
        ),
        mend="scheduler.step(validation_loss)",
        check="scheduler.best is the lowest value so far.",
    ),
    Kind(
        slug="scheduler-steps-exceeded",
        chapter="optimizers",
        says=(
            "tried to step {steps:d} times. the specified number of total steps is {total:d}",
            "the specified number of total steps is",
            "the specified number of steps is",
            "tried to step {steps:d} times",
        ),
        here=("Here: step {steps}, and the schedule has {total}.",),
        what="OneCycleLR is a curve with a fixed number of points; a step beyond its end has no rate.",
        causes=(
            "It is stepped per batch, and total_steps counts epochs (or forgets the last, smaller batch).",
            "A resumed run adds steps to a finished schedule.",
            "It is stepped twice per step (once by a library).",
        ),
        mend="scheduler = OneCycleLR(opt, max_lr=0.1, epochs=epochs, steps_per_epoch=len(loader))",
        check="epochs * len(loader) == scheduler.total_steps.",
    ),
    Kind(
        slug="scheduler-initial-lr",
        chapter="optimizers",
        says=(
            "param 'initial_lr' is not specified in param_groups[{group:d}] when resuming an optimizer",
            "'initial_lr' is not specified",
            "keyerror: 'initial_lr'",
        ),
        here=("Here: param_groups[{group}].",),
        what=(
            "A scheduler computes from the rate at which the run began, which it files as `initial_lr` in each "
            "group. With last_epoch other than -1 it expects to find it there."
        ),
        causes=("The scheduler is made with `last_epoch=n` over a fresh optimizer.",),
        mend=(
            "opt.load_state_dict(saved['optimizer'])                    # brings initial_lr\n"
            "scheduler = StepLR(opt, 10, last_epoch=saved['epoch'])\n"
            "scheduler.load_state_dict(saved['scheduler'])              # or only this, with last_epoch left "
            "out"
        ),
        check="[g['initial_lr'] for g in opt.param_groups].",
    ),
    Kind(
        slug="scheduler-argument",
        chapter="optimizers",
        says=(
            "'steplr' object is not callable",
            "'cosineannealinglr' object is not callable",
            "'lambdalr' object is not callable",
            "'onecyclelr' object is not callable",
            "'multisteplr' object is not callable",
            "lr' object has no attribute 'step",
            "expects at least one scheduler",
            "expects all schedulers to belong to the same optimizer",
            "does not support 'reducelronplateau' scheduler",
            "expected positive integer total_steps",
            "expected positive integer epochs",
            "expected positive integer steps_per_epoch",
            "expected integer t_mult",
            "expected float or int eta_min",
            "lr_lambda should be a function",
            "multiplicative factor expected",
            "threshold mode",
            "mode {mode:w} is unknown!",
            "differs from when 'reducelronplateau' was initialized",
            "expected non-negative epoch",
            "anneal_strategy must be one of",
            "anneal_epochs must be",
            "sets the learning rate{...}scheduler",
            "expected number of milestones",
            "milestones to be",
            "{name} is not an optimizer",
            "is not an optimizer",
            "expected {expected:d} lr_lambdas, but got {got:d}",
            "lr_lambdas, but got",
            "expected {expected:d} values for",
            "you must define either total_steps",
            "milestones should be a list of increasing integers",
            "the epoch parameter in 'scheduler.step()' was not necessary",
            "please use 'get_last_lr()'",
            "expected positive integer t_0",
            "expected float between 0 and 1 pct_start",
            "object has no attribute 'get_last_lr'",
            "optimizer must support momentum",
            "sequential schedulers expects",
            "sequentiallr",
            "chainedscheduler expects",
            "save the state of the optimizer when saving or loading the scheduler",
            "please also save or load the state of the optimizer when saving or loading the scheduler",
            "the verbose parameter is deprecated. please use get_last_lr()",
            "lr.__init__() got an unexpected keyword argument 'verbose'",
            "plateau.__init__() got an unexpected keyword argument 'verbose'",
            "expected exactly one",
            "min_lrs, got",
        ),
        needs=(
            "'steplr'",
            "lr' object",
            "steps_per_epoch",
            "t_mult",
            "eta_min",
            "lr_lambda",
            "multiplicative factor",
            "mode ",
            "anneal",
            "epoch",
            "scheduler",
            "optimizer",
            "lr_lambdas",
            "total_steps",
            "milestones",
            "factor should",
            "get_last_lr",
            "pct_start",
            "t_0",
            "reducelronplateau",
            "lr_scheduler",
            "sequentiallr",
            "min_lrs",
        ),
        unless=(
            "keras",
            "tensorflow",
        ),
        what=(
            "A scheduler works on a PyTorch optimizer and its groups: one value or function for all groups, or "
            "one for each."
        ),
        causes=(
            "Something else than an optimizer was given (a wrapper, a scaler, the model).",
            "The number of values is not the number of groups.",
            "A signature of another version (`verbose`, `epoch`).",
        ),
        mend=(
            "scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lr_lambda=lambda step: 0.95**step)\n"
            "scheduler.step()\n"
            "scheduler.get_last_lr()"
        ),
        check="len(optimizer.param_groups) equals the number of values given.",
    ),
)
