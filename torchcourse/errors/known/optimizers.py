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
            "'adam' object has no attribute '{name:w}'",
            "'adamw' object has no attribute '{name:w}'",
            "'rmsprop' object has no attribute '{name:w}'",
            "'adagrad' object has no attribute '{name:w}'",
            "'sgd' object has no attribute '{name:w}'",
            "sparseadam does not support dense gradients",
            "as a tensor is not supported for capturable=false",
            "sparseadam requires dense parameter tensors",
            "fused' does not support",
            "fused=true does not support",
            "all optimizer params should be with/without names",
            "all optimizer param groups should be with/without names",
            "weight_decay option is not compatible with sparse gradients",
            "'parameters' is an empty generator, no gradient clipping will occur",
            "params argument given to the optimizer should be an iterable of tensors or dicts, but got {got}",
            "params argument given to the optimizer should be an iterable",
            "optimizer can only optimize tensors, but one of the params is {got}",
            "optimizer can only optimize tensors",
            "optimizer parameters need to be organized in ordered collections",
            "parameter group didn't specify a value of required optimization parameter",
            "param_group must be a dict",
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
            "'adam' object",
            "'adamw' object",
            "'rmsprop' object",
            "'adagrad' object",
            "'sgd' object",
            "fused",
            "generator",
            "decay",
            "optimizer",
            "param",
            "torch",
            "sparse gradients",
            "weight_decay",
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
            "Names are given with some groups and not with others, or a number where a dict is needed.",
            "An option that this optimizer, device or dtype doesn't have (fused, capturable, sparse gradients).",
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
    Kind(
        slug="parameter-in-two-groups",
        chapter="optimizers",
        says=(
            "some parameters appear in more than one parameter group",
            "optimizer contains a parameter group with duplicate parameters",
        ),
        what=(
            "Each tensor belongs to one group, whose rate and decay are its own: in two groups it would be stepped "
            "twice."
        ),
        causes=(
            "One group holds `model.parameters()`, all of them, and another one a part again.",
            "Two layers share (tie) a weight, such as an embedding and the output layer.",
        ),
        mend=(
            "head = set(model.head.parameters())\n"
            "body = [p for p in model.parameters() if p not in head]\n"
            "opt = torch.optim.SGD([{'params': list(head), 'lr': 0.1}, {'params': body}], lr=0.01)"
        ),
        check="sum(len(g['params']) for g in opt.param_groups) == len(list(model.parameters())).",
    ),
    Kind(
        slug="optimizer-closure",
        chapter="optimizers",
        says=(
            "step() missing 1 required positional argument: 'closure'",
            "step() missing 1 required argument: 'closure'",
            "lbfgs doesn't support per-parameter options",
            "only 'strong_wolfe' is supported",
        ),
        needs=(
            "closure",
            "lbfgs",
            "strong_wolfe",
        ),
        what=(
            "LBFGS looks at the loss several times in one step, at different weights. So `step` takes a function "
            "that computes the loss anew; it has one group only."
        ),
        causes=(
            "The loop was written for SGD or Adam: `loss.backward(); opt.step()`.",
            "GradScaler or a framework calls step() without a closure.",
        ),
        mend=(
            "def closure():\n"
            "    opt.zero_grad()\n"
            "    loss = loss_fn(model(x), y)\n"
            "    loss.backward()\n"
            "    return loss\n"
            "opt.step(closure)"
        ),
        check="The loss that step returns falls from step to step.",
    ),
    Kind(
        slug="optimizer-setting",
        chapter="optimizers",
        says=(
            "betas must be either both floats or both tensors",
            "nesterov momentum requires a momentum and zero dampening",
            "invalid learning rate: {value}",
            "invalid learning rate",
            "invalid beta parameter at index {index:d}: {value}",
            "invalid beta parameter at index",
            "invalid weight_decay value: {value}",
            "invalid weight_decay",
            "invalid momentum value: {value}",
            "invalid momentum value",
            "invalid epsilon value: {value}",
            "invalid epsilon value",
            "invalid rho value",
            "invalid alpha value",
            "invalid lr_decay value",
            "invalid eta values",
            "invalid decay value",
        ),
        here=("Here: {value}.",),
        types=(
            "ValueError",
            "TypeError",
        ),
        needs=(
            "torch/optim",
            "torch",
            "optim",
            "rho",
            "alpha",
            "eta values",
            "decay",
            "learning rate",
            "momentum",
            "beta",
            "epsilon",
        ),
        unless=(
            "keras",
            "tensorflow",
            "sklearn",
            "xgboost",
            "lightgbm",
        ),
        what="An optimizer checks its settings when it is made: rates and decays are numbers from 0 on, betas below 1.",
        causes=(
            "A setting is negative, NaN, or was computed (a rate scaled by the batch size, by a factor of 0).",
            "A text from a config file or the command line: YAML reads `1e-3` as a text (`1.0e-3` is a number).",
            "Arguments are in another order than the function takes them.",
        ),
        mend="opt = torch.optim.AdamW(model.parameters(), lr=float(config['lr']), betas=(0.9, 0.999))",
        check="opt.defaults shows what it took.",
    ),
    Kind(
        slug="optimizer-setting-text",
        chapter="optimizers",
        says=("'<=' not supported between instances of 'float' and 'str'",),
        types=("TypeError",),
        needs=("torch/optim",),
        anybodys=True,
        what="An optimizer compares its settings with numbers when it is made, and one of them is a text.",
        causes=(
            "A config file or the command line gave it: YAML reads `1e-3` as a text (`1.0e-3` is a number).",
        ),
        mend="opt = torch.optim.AdamW(model.parameters(), lr=float(config['lr']))",
        check="{k: type(v) for k, v in config.items()}.",
    ),
    Kind(
        slug="optimizer-wants-parameters",
        chapter="optimizers",
        says=("typeerror: '{type:w}' object is not iterable",),
        here=("Here: a {type} was given.",),
        types=("TypeError",),
        needs=("torch/optim/",),
        anybodys=True,
        what="An optimizer takes the tensors that it steps, as a list or an iterator; a module is neither.",
        causes=("The model was given, not `model.parameters()`.",),
        mend="opt = torch.optim.Adam(model.parameters(), lr=1e-3)",
        check="len(opt.param_groups[0]['params']).",
    ),
    Kind(
        slug="optimizer-state-of-another",
        chapter="optimizers",
        says=(
            "keyerror: 'param_groups'",
            "keyerror: 'state'",
            "keyerror: parameter containing",
        ),
        types=("KeyError",),
        needs=("torch/optim/",),
        anybodys=True,
        what=(
            "An optimizer's state_dict has two entries, `state` and `param_groups`, and files each parameter's "
            "tensors. What was loaded has none for this one."
        ),
        causes=(
            "Another object's state: the scheduler's, the model's, or the whole checkpoint.",
            "The parameters were replaced after the load (`model.cuda()`, a new layer), so their state isn't theirs.",
        ),
        mend=(
            "model.to(device)                                  # first\n"
            "opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)\n"
            "opt.load_state_dict(saved['optimizer'])"
        ),
        check="list(saved['optimizer']) == ['state', 'param_groups'].",
    ),
)
