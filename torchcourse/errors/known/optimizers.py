"""Optimizers: what they are given, what they keep."""

from ..data import Kind

KINDS = (
    Kind(
        slug="optimizer-empty",
        chapter="optimizers",
        says=("got an empty parameter list",),
        what=(
            "`model.parameters()` gave nothing: only `nn.Parameter`s, and those of registered submodules, are "
            "listed. A generator gives its elements once."
        ),
        causes=(
            "Layers keep their weights as plain tensors, or modules stand in a Python list or dict.",
            "The generator was used up before (`filter(...)`, a count of parameters).",
            "All parameters are frozen and filtered out.",
        ),
        mend=(
            "self.weight = nn.Parameter(torch.randn(3, 3))\n"
            "self.layers = nn.ModuleList(layers)\n"
            "params = [p for p in net.parameters() if p.requires_grad]      # a list"
        ),
        check=(
            "len(list(model.parameters())) > 0; torchcourse.modules.missed(model) names what was not "
            "registered."
        ),
    ),
    Kind(
        slug="optimizer-non-leaf",
        chapter="optimizers",
        says=(
            "can't optimize a non-leaf tensor",
            "can't optimize a non-leaf",
        ),
        what=(
            "An optimizer writes a tensor's value and reads its `.grad`; both belong to leaves. `.to()`, `* "
            "0.01` and other operations give a result with a history, not a leaf."
        ),
        causes=(
            "requires_grad=True, then an operation: `torch.randn(3, requires_grad=True) * 0.01`.",
            (
                "`.to(device)` or `.double()` after requires_grad (it only is an operation where it changes "
                "something: on the GPU)."
            ),
        ),
        mend="x = (torch.randn(3, device=device) * 0.01).requires_grad_()",
        check="x.is_leaf is True.",
    ),
    Kind(
        slug="optimizer-argument",
        chapter="optimizers",
        says=(
            "sparseadam does not support dense gradients",
            "betas must be either both floats or both tensors",
            "as a tensor is not supported for capturable=false",
            "sparseadam requires dense parameter tensors",
            "invalid rho value",
            "invalid alpha value",
            "invalid lr_decay value",
            "invalid eta values",
            "fused' does not support",
            "fused=true does not support",
            "all optimizer params should be with/without names",
            "all optimizer param groups should be with/without names",
            "only 'strong_wolfe' is supported",
            "invalid decay value",
            "weight_decay option is not compatible with sparse gradients",
            "'parameters' is an empty generator, no gradient clipping will occur",
            "invalid weight_decay",
            "params argument given to the optimizer should be an iterable of tensors or dicts, but got {got}",
            "params argument given to the optimizer should be an iterable",
            "optimizer can only optimize tensors, but one of the params is {got}",
            "optimizer can only optimize tensors",
            "some parameters appear in more than one parameter group",
            "optimizer contains a parameter group with duplicate parameters",
            "invalid learning rate: {rate}",
            "invalid learning rate",
            "invalid beta parameter at index",
            "invalid weight_decay value",
            "invalid momentum value",
            "invalid epsilon value",
            "optimizer parameters need to be organized in ordered collections",
            "nesterov momentum requires a momentum and zero dampening",
            "parameter group didn't specify a value of required optimization parameter",
            "param_group must be a dict",
            "lbfgs doesn't support per-parameter options",
            "step() missing 1 required positional argument: 'closure'",
            "step() missing 1 required argument: 'closure'",
            "does not support sparse gradients",
            "some parameters that don't require grad",
            "optimizer got{...}parameter",
            "'optimizer' object has no attribute",
            "tensor lr must be 1-element",
            "lr as a tensor",
            "'generator' object{...}param_groups",
            "fused{...}requires all the params to be",
            "fused=true requires all the params to be floating point",
            "'fused=true' requires all the params",
            "'fused' and 'foreach' cannot be true together",
            "parameters of{...}optimizer should",
            "optimizer{...}is not an optimizer",
        ),
        types=(
            "ValueError",
            "TypeError",
            "RuntimeError",
            "AttributeError",
            "UserWarning",
        ),
        needs=(
            "rho",
            "alpha",
            "eta values",
            "fused",
            "strong_wolfe",
            "generator",
            "decay",
            "optimizer",
            "param",
            "torch",
            "learning rate",
            "momentum",
            "closure",
            "sparse gradients",
            "beta",
            "weight_decay",
            "epsilon",
            "lr ",
        ),
        unless=(
            "keras",
            "tensorflow",
            "sklearn",
            "initial_lr",
            "xgboost",
            "lightgbm",
            "loaded state dict",
        ),
        what=(
            "An optimizer takes an ordered list of tensors, or dicts with `params` and their own settings; "
            "each tensor once."
        ),
        causes=(
            "The model, one tensor or a set was given, not `model.parameters()`.",
            "A shared (tied) parameter stands in two groups.",
            "A setting is negative or of the wrong type (a learning rate as a text from a file).",
        ),
        mend=(
            "opt = torch.optim.Adam(model.parameters(), lr=1e-3)\n"
            "opt = torch.optim.SGD([{'params': head, 'lr': 0.1}, {'params': body}], lr=0.01)"
        ),
        check="len({id(p) for g in opt.param_groups for p in g['params']}) equals the number listed.",
    ),
    Kind(
        slug="optimizer-state-groups",
        chapter="optimizers",
        says=(
            "doesn't match the size of optimizer's group",
            "different number of parameter groups",
            "loaded state dict contains a parameter group that",
        ),
        what=(
            "An optimizer's state is filed by position: group by group, parameter by parameter. Another number "
            "of either cannot be assigned."
        ),
        causes=(
            "The saved run trained more (or fewer) parameters: frozen layers, a new head.",
            "Groups were split (weight decay, two learning rates) since it was saved.",
            "It is the state of another optimizer (a GAN has two).",
        ),
        mend=(
            "model.load_state_dict(saved['model'])\n"
            "opt = torch.optim.Adam(model.parameters())     # the same groups in the same order as when saved\n"
            "opt.load_state_dict(saved['optimizer'])"
        ),
        check=(
            "[len(g['params']) for g in opt.param_groups] == [len(g['params']) for g in "
            "saved['optimizer']['param_groups']]."
        ),
        wrong=(
            "Leaving the state out: the run goes on, with Adam's averages at zero again; the loss jumps.",
        ),
    ),
    Kind(
        slug="optimizer-state-elsewhere",
        chapter="optimizers",
        says=(
            "keyerror: 'exp_avg_sq'",
            "keyerror: 'max_exp_avg_sq'",
            "keyerror: 'square_avg'",
            "keyerror: 'weight_decay'",
            "if capturable=false, state_steps should not be cuda tensors",
            "state_steps should not be",
            "params and state_steps must be",
            "expected dtype {a:w} for 'end' but got dtype {b:w}",
            "for 'end' but got dtype",
            "'step' is a tensor{...}capturable",
            "'state_steps' argument must contain a list of singleton tensors",
            "state_steps",
            "expected backend cpu and dtype {a:w} but got backend cuda and dtype {b:w}",
            "expected backend cuda and dtype {a:w} but got backend cpu",
            "but got backend cuda",
            "but got backend cpu",
            "expected backend",
            "api has changed, 'state_steps' argument must contain",
            "keyerror: 'exp_avg'",
            "keyerror: 'step'",
            "keyerror: 'momentum_buffer'",
            "keyerror: 'betas'",
            "keyerror: 'amsgrad'",
            "keyerror: 'foreach'",
            "keyerror: 'capturable'",
            "keyerror: 'differentiable'",
            "keyerror: 'maximize'",
            "keyerror: 'decoupled_weight_decay'",
            "object has no attribute 'defaults'",
            "has no attribute 'amsgrad'",
            "a of type {a:w} and b of type",
            "tensors of the same length must be passed to{...}foreach",
        ),
        here=("Here: {a} and {b}.",),
        needs=(
            "'betas'",
            "'amsgrad'",
            "'sgd' object",
            "'adam' object",
            "'adamw' object",
            "torch",
            "optim",
            "state_steps",
            "dtype",
            "backend",
            "exp_avg",
            "momentum_buffer",
            "amsgrad",
            "capturable",
            "foreach",
            "decoupled_weight_decay",
        ),
        unless=(
            "tensorflow",
            "keras",
            "jax",
            "pandas",
        ),
        what=(
            "An optimizer keeps tensors per parameter (Adam: exp_avg, exp_avg_sq, step), made at the first "
            "step on the parameter's device and in its dtype. Moving or casting the model afterwards leaves "
            "them where they were."
        ),
        causes=(
            (
                "`model.cuda()`, `.double()` or `.half()` after the first step or after load_state_dict of the "
                "optimizer."
            ),
            "An optimizer pickled whole, or its state from another version (`capturable` in torch 1.12.0).",
            "A learning-rate schedule or a library replaced the parameters.",
        ),
        mend=(
            "model.to(device)                                  # first\n"
            "opt = torch.optim.Adam(model.parameters())\n"
            "opt.load_state_dict(saved['optimizer'])           # casts the state to the parameters' device and "
            "dtype"
        ),
        check="{v.device for s in opt.state.values() for v in s.values() if torch.is_tensor(v)}.",
        wrong=(
            "Deleting the optimizer state from the checkpoint: the run jumps.",
            "Downgrading torch to get around capturable: mended in 1.12.1.",
        ),
    ),
)
